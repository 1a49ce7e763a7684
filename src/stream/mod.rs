//! Single-threaded dataflow on a task: elements, channels, operators, watermarks, keyed state.

mod aggregate;
mod body;
mod channel;
mod checkpointing;
mod closing;
#[cfg(feature = "csv")]
mod csv_error;
mod deployment;
mod element;
mod gate;
mod harness;
mod induced;
mod inputs;
mod key_group;
mod keyed;
mod link;
mod local;
mod one_input;
mod operator;
mod ops;
mod output;
mod pace;
mod partition;
mod partitioner;
mod report;
mod setting;
mod sink;
mod sink_harness;
mod sinks;
mod source;
mod source_body;
mod source_harness;
mod sources;
mod split;
mod state;
mod surroundings;
mod taking_part;
mod task;
mod timers;
mod watermark;
mod window;

pub use aggregate::{
    AggregateFunction, Count, CountAndSum, Counted, Fold, Max, Min, Reduce, Sum, Summand,
};
pub use channel::{ChannelState, Codec, InputChannel, ResumeError};
pub use checkpointing::{
    CheckpointNotice, EncodeState, OperatorSnapshot, RestoredOperator, RestoredSubtask, StateBytes,
};
#[cfg(feature = "csv")]
pub use csv_error::CsvError;
pub use deployment::{Deployment, EdgeId};
pub use element::{
    Alignment, ChannelId, CheckpointBarrier, CheckpointId, CheckpointOptions, Element, Event,
    LatencyMarker, Record, SnapshotType, StopMode, Watermark, WatermarkStatus,
};
pub use gate::{GateError, Gave, InputGate};
pub use harness::OperatorHarness;
pub use induced::{Induced, InducedCheckpoints};
pub use inputs::{
    FromInput, InputLeftOut, InputSelection, MultipleInputOperator, NothingSelected, TooManyInputs,
    TwoInputOperator,
};
pub use key_group::{Key, KeyGroupRange, hash_of, key_group_of, subtask_of};
pub use keyed::{
    Keyed, KeyedAggregate, KeyedCoProcess, KeyedCoProcessFunction, KeyedContext, KeyedProcess,
    KeyedProcessFunction, KeyedReduce, NotOpen,
};
pub use link::{Link, LinkFactory};
pub use operator::Operator;
pub use ops::{CoMap, Filter, FlatMap, Map, TryMap};
pub use output::{Output, Progress, Readiness};
pub use partition::RouteError;
pub use partitioner::{Broadcast, ByKey, Custom, Forward, Partitioner, Rebalance, Route};
pub use report::{Latency, OperatorReport, Reports, TaskReport};
pub use setting::{Setting, Subtask};
pub use sink::{Sink, SinkFactory};
pub use sink_harness::SinkHarness;
pub use sinks::{Call, CallRecord, Collect, Collecting, Discard};
#[cfg(feature = "csv")]
pub use sinks::{CsvSink, CsvWriter, csv_sink};
pub use source::{Polled, Source, SourceFactory, Stopping};
pub use source_harness::SourceHarness;
#[cfg(feature = "csv")]
pub use sources::{CsvReader, CsvSource, FromRow, csv_source};
pub use sources::{
    FeedError, FeedReader, FeedSource, Feeder, FromIter, Generator, GeneratorSource, HoldTooLong,
    IterSource, LegacyReader, LegacySource, Paced, PacedSource, PositionError, RateError,
    SourceContext, SourceFunction, SourceHold, feed,
};
pub use state::{
    AggregatingState, CurrentKey, ForeignKey, FrozenGroup, KeyedSnapshot, KeyedStates, ListState,
    MapState, ReducingState, StateError, StateKind, StateSnapshot, StateValue, TableSnapshot,
    ValueState,
};
pub use task::StreamTask;
pub use timers::{FiredTimer, FrozenTimers, TimeDomain, TimersSnapshot};
pub use watermark::{
    AssignWatermarks, BoundedOutOfOrderness, CombinedWatermarkStatus, MonotonousTimestamps,
    StatusOutput, StatusWatermarkValve, WatermarkEffect, WatermarkEffects, WatermarkGenerator,
    WithIdleness,
};
pub use window::{
    NoTimestamp, Sliding, SlidingWindows, TimeWindow, Tumbling, WindowAssigner, WindowError,
    WindowOperator, WindowOutput, Windowed,
};

pub(crate) use body::Body;
pub(crate) use checkpointing::{ChainSnapshot, Checkpointed, MakeParticipant, Participant};
pub(crate) use deployment::Pace;
pub(crate) use inputs::{ManyInputs, MultipleInputProcessor, TwoInputs};
pub(crate) use link::ChainedFactory;
pub(crate) use one_input::OneInput;
pub(crate) use partition::PartitionFactory;
pub(crate) use sink::SinkLinkFactory;
pub(crate) use source_body::SourceBody;
pub(crate) use split::SplitFactory;
pub(crate) use state::stored_name;
pub(crate) use surroundings::Origin;
pub(crate) use task::{ProcessInput, TaskEnding, TaskParts};

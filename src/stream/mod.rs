//! Single-threaded dataflow on a task: elements, channels, operators, watermarks, keyed state.

mod aggregate;
mod element;
mod harness;
mod key_group;
mod operator;
mod output;
mod setting;
mod state;
mod watermark;

pub use aggregate::{
    AggregateFunction, Count, CountAndSum, Counted, Fold, Max, Min, Sum, Summand,
};
pub use element::{
    CheckpointBarrier, CheckpointId, Element, Event, LatencyMarker, Record, StopMode, Watermark,
    WatermarkStatus,
};
pub use harness::OperatorHarness;
pub use key_group::{Key, KeyGroupRange, hash_of, key_group_of, subtask_of};
pub use operator::Operator;
pub use output::{Output, Progress, Readiness};
pub(crate) use setting::Surroundings;
pub use setting::{Setting, Subtask};
pub use state::{
    AggregatingState, CurrentKey, ForeignKey, FrozenGroup, KeyedSnapshot, KeyedStates, ListState,
    MapState, ReducingState, StateError, StateSnapshot, StateValue, TableSnapshot, ValueState,
};
pub use watermark::{
    AssignWatermarks, BoundedOutOfOrderness, CombinedWatermarkStatus, MonotonousTimestamps,
    StatusOutput, StatusWatermarkValve, WatermarkEffect, WatermarkEffects, WatermarkGenerator,
    WithIdleness,
};

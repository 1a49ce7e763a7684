//! Single-threaded dataflow on a task: elements, channels, operators, watermarks, keyed state.

mod element;
mod harness;
mod key_group;
mod operator;
mod output;
mod setting;

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

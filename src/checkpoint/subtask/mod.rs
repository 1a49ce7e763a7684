//! A subtask's side of checkpoints: what a task does when one reaches it, and what beside it.

mod aborted;
mod async_part;
mod coordinator;
mod environment;
mod error;
mod leaving;
#[cfg(test)]
mod tests;

pub(crate) use coordinator::{SubtaskCheckpointCoordinator, SubtaskOptions};
pub(crate) use environment::{EncodedOperator, SubtaskEnvironment};
pub use error::CheckpointError;

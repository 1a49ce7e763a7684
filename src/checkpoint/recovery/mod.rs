//! Which state of a completed checkpoint goes to which subtask of the job that goes on from it.

mod assignment;
mod error;
mod finished;
mod matching;
mod redistribution;
mod target;

pub use assignment::{StateAssignment, SubtaskAssignment};
pub use error::{NonRestored, RestoreError};
pub use target::{NonRestoredState, RestoreTarget, TargetVertex};

#[cfg(test)]
mod tests;

//! What a checkpoint alone fails by, and not the task.

use crate::checkpoint::CheckpointFailureReason;
use core::fmt;

/// A failure that says itself what reason it is told as. One that storing state fails by and that is
/// none of these is told as [`CheckpointFailureReason::AsyncException`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointError {
    /// Why the checkpoint is declined.
    pub reason: CheckpointFailureReason,
    /// What happened, for who reads the history.
    pub detail: Box<str>,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.detail.is_empty() {
            self.reason.fmt(f)
        } else {
            write!(f, "{}: {}", self.reason, self.detail)
        }
    }
}

impl core::error::Error for CheckpointError {}

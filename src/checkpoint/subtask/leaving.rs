//! Whether a task whose data has ended may end.
//!
//! L1. It waits for a checkpoint that it took part in after its data had ended, or a later one, to be
//!     complete: what its operators hold back for a checkpoint is made visible by that.
//! L2. In that one its operators had finished: later ones do without its state. Where they do not finish,
//!     since the job goes on later, it is one that was triggered after all sources had come to their
//!     end: the states of all tasks are in it, and no later one is needed.

use crate::stream::CheckpointId;

/// See above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Its data has not ended.
    NotYet,
    /// No such checkpoint has come since.
    ForACheckpoint,
    /// One has, and is not complete.
    ForCompletion(CheckpointId),
    /// It may end.
    Free,
}

impl Leaving {
    pub(super) fn data_ended(&mut self, waits: bool) {
        *self = if waits {
            Self::ForACheckpoint
        } else {
            Self::Free
        };
    }

    /// The task took part in a checkpoint; `is_last`: none after it needs the task's state.
    pub(super) fn took_part(&mut self, id: CheckpointId, is_last: bool) {
        if *self == Self::ForACheckpoint && is_last {
            *self = Self::ForCompletion(id);
        }
    }

    /// A checkpoint is complete.
    pub(super) fn completed(&mut self, id: CheckpointId) {
        if let Self::ForCompletion(first) = *self
            && id >= first
        {
            *self = Self::Free;
        }
    }
}

//! What follows from one thing that came to a barrier handler.

use crate::checkpoint::CheckpointFailureReason;
use crate::stream::{ChannelId, CheckpointBarrier, CheckpointId};
use core::fmt;

/// How long the barriers of a checkpoint were on their way to a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AlignmentMetrics {
    /// From the begin of the checkpoint to the task's first barrier of it, in nanoseconds.
    pub start_delay_ns: u64,
    /// From the first barrier to the last one, in nanoseconds; 0 where there was but one.
    pub alignment_ns: u64,
}

/// Why a task takes no part in a checkpoint any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AbortReason {
    /// A newer checkpoint reached the task before all barriers of this one.
    Subsumed,
    /// A channel said that the barrier will not come.
    CancellationBarrier,
    /// A channel ended before its barrier came, and checkpoints are not taken after tasks finish.
    InputEndOfStream,
    /// All barriers came, but the snapshot could not be taken.
    TriggerFailed,
}

impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subsumed => "a newer checkpoint came before all of its barriers",
            Self::CancellationBarrier => "a task before this one cancelled it",
            Self::InputEndOfStream => "an input ended before its barrier",
            Self::TriggerFailed => "the snapshot could not be triggered",
        })
    }
}

impl From<AbortReason> for CheckpointFailureReason {
    fn from(reason: AbortReason) -> Self {
        match reason {
            AbortReason::Subsumed => Self::Subsumed,
            AbortReason::CancellationBarrier => Self::DeclinedOnCancellationBarrier,
            AbortReason::InputEndOfStream => Self::InputEndOfStream,
            AbortReason::TriggerFailed => Self::Declined,
        }
    }
}

/// One thing that the task is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierEffect {
    /// Lets a channel that was blocked by a barrier give again.
    Resume(ChannelId),
    /// Takes the task's snapshot: the barrier goes out, and the state is copied, before anything
    /// else is done.
    Trigger {
        /// The barrier that is passed on, as it came first.
        barrier: CheckpointBarrier,
        /// How long its like were on their way.
        alignment: AlignmentMetrics,
    },
    /// Declines a checkpoint, and passes on that its barrier will not come.
    Abort {
        /// The checkpoint.
        id: CheckpointId,
        /// Why.
        reason: AbortReason,
    },
}

//! What subtasks and the coordinator tell each other.

use super::failure_reason::CheckpointFailureReason;
use super::state_handle::{SubtaskId, SubtaskState};
use crate::stream::{CheckpointBarrier, CheckpointId};
use serde::{Deserialize, Serialize};

/// Which run of a job a message is of: it rises with every start and restart, so that what an
/// earlier run has sent is known for stale.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Epoch(
    /// The number.
    pub u64,
);

/// What a subtask measured of a checkpoint; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubtaskCheckpointMetrics {
    /// From when the checkpoint was begun until its first barrier was read.
    pub start_delay_ns: u64,
    /// From the first barrier to the last.
    pub alignment_ns: u64,
    /// For how long the task did nothing else.
    pub sync_ns: u64,
    /// For how long state was encoded and stored beside the task.
    pub async_ns: u64,
    /// How much state was stored, in bytes.
    pub state_bytes: u64,
}

/// A subtask has stored its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledge {
    /// The run.
    pub epoch: Epoch,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The subtask.
    pub subtask: SubtaskId,
    /// Its state.
    pub state: SubtaskState,
    /// Whether its operators had finished: they are not to be run again after a restore.
    pub is_finished: bool,
    /// What was measured.
    pub metrics: SubtaskCheckpointMetrics,
}

/// A subtask does not take part, or could not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decline {
    /// The run.
    pub epoch: Epoch,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The subtask.
    pub subtask: SubtaskId,
    /// Why.
    pub reason: CheckpointFailureReason,
    /// Why, in the words of what failed; empty where the reason says all.
    pub detail: Box<str>,
}

/// What a subtask tells the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// Its state is stored.
    Acknowledge(Acknowledge),
    /// It does not take part.
    Decline(Decline),
}

/// What the coordinator tells a subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToSubtask {
    /// The checkpoint begins here: sent to sources, and to tasks all of whose inputs have ended.
    Trigger(CheckpointBarrier),
    /// The checkpoint is complete: what was held back for it can be made visible.
    NotifyComplete(CheckpointId),
    /// The checkpoint will not be completed.
    NotifyAborted {
        /// The checkpoint.
        id: CheckpointId,
        /// The last that was completed, for who has not heard of it.
        latest_completed: Option<CheckpointId>,
    },
    /// The checkpoint is kept no more.
    NotifySubsumed(CheckpointId),
}

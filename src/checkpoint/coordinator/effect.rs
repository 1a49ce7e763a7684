//! What the coordinator asks its surroundings to do.

use super::report::{CheckpointFailure, CheckpointReport, CheckpointSummary};
use crate::checkpoint::completed::CompletedCheckpoint;
use crate::checkpoint::message::ToSubtask;
use crate::checkpoint::state_handle::{SubtaskId, SubtaskState};
use crate::stream::{CheckpointId, CheckpointOptions};
use crate::sync::PlainArc;

/// Who waits for a checkpoint to be completed; the number is the asker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromiseId(
    /// The number.
    pub u64,
);

/// State that was given by something with a name.
pub type NamedStates = Vec<(Box<str>, Vec<u8>)>;

/// What the coordinator asks its surroundings to do, in the order in which it is to be begun. Those
/// that are to be answered say by what; an answer may come in any order, late, or never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Makes room in storage for a checkpoint; answered by
    /// [`location_initialized`](super::CheckpointCoordinator::location_initialized).
    InitLocation {
        /// The checkpoint.
        id: CheckpointId,
        /// How it is taken.
        options: CheckpointOptions,
    },
    /// Asks the coordinators of operators for their state; answered by
    /// [`operator_coordinators_acknowledged`](super::CheckpointCoordinator::operator_coordinators_acknowledged).
    SnapshotOperatorCoordinators(CheckpointId),
    /// Calls the hooks of the job; answered by
    /// [`master_hooks_acknowledged`](super::CheckpointCoordinator::master_hooks_acknowledged).
    CallMasterHooks(CheckpointId),
    /// Tells a subtask; where it cannot be told to begin, answered by
    /// [`trigger_failed`](super::CheckpointCoordinator::trigger_failed).
    Tell {
        /// The subtask.
        subtask: SubtaskId,
        /// What.
        message: ToSubtask,
    },
    /// The checkpoint that coordinators of operators were asked for is complete.
    CompleteOperatorCoordinators(CheckpointId),
    /// The checkpoint that coordinators of operators were asked for will not be completed: what they
    /// still do for it can be given up.
    AbortOperatorCoordinators(CheckpointId),
    /// Writes the metadata of a checkpoint and its record; answered by
    /// [`committed`](super::CheckpointCoordinator::committed). The next is not asked for before the
    /// answer.
    Commit(PlainArc<CompletedCheckpoint>),
    /// Deletes the room that was made for a checkpoint.
    DiscardLocation(CheckpointId),
    /// Deletes state that no checkpoint holds; answered by
    /// [`discarded`](super::CheckpointCoordinator::discarded).
    DiscardStates {
        /// The checkpoint that it was stored for.
        id: CheckpointId,
        /// The state.
        states: Vec<SubtaskState>,
    },
    /// Deletes a checkpoint that is kept no more; answered by
    /// [`discarded`](super::CheckpointCoordinator::discarded).
    DiscardCheckpoint(Box<CompletedCheckpoint>),
    /// Tells who waits for a checkpoint.
    CompletePromise {
        /// Who.
        promise: PromiseId,
        /// What came of it.
        result: Result<CheckpointSummary, CheckpointFailure>,
    },
    /// The job is to fail.
    FailJob(CheckpointFailure),
    /// An attempt has ended.
    Report(Box<CheckpointReport>),
}

/// How the commit of a checkpoint failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitFailureKind {
    /// Another coordinator has taken over.
    Fenced,
    /// The record was not written, and will not be.
    NotWritten,
    /// The record may have been written.
    MaybeWritten,
}

/// Why the commit of a checkpoint failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitFailure {
    /// How.
    pub kind: CommitFailureKind,
    /// Why, in the words of what failed.
    pub detail: Box<str>,
}

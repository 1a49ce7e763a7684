//! Why a checkpoint was not completed, and which of these count against the job.

use core::fmt;
use serde::{Deserialize, Serialize};

/// Why a checkpoint was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CheckpointFailureReason {
    /// A newer one was completed, or its barrier came, first.
    Subsumed,
    /// It took longer than its timeout.
    Expired,
    /// A subtask said no, for a reason of its own.
    Declined,
    /// Storing a subtask's state failed.
    AsyncException,
    /// Reading or writing storage failed.
    IoException,
    /// All subtasks had answered, and the record could not be written.
    FinalizeFailure,
    /// Some task that has to take part is not running.
    NotAllRequiredTasksRunning,
    /// A subtask that was asked is not running, or not yet.
    TaskNotReady,
    /// A subtask could not be asked.
    TriggerFailure,
    /// Another subtask's barrier was cancelled.
    DeclinedOnCancellationBarrier,
    /// An input ended in the midst of it, and the job does not go on with ended inputs.
    InputEndOfStream,
    /// A task failed, and the job with it or starts again.
    JobFailover,
    /// The coordinator was suspended: some task does not run any more.
    CoordinatorSuspend,
    /// The coordinator was shut down with the job.
    CoordinatorShutdown,
    /// Another coordinator has taken over the directory.
    Fenced,
    /// The last one ended less than the minimum pause ago.
    MinimumTimeBetweenCheckpoints,
    /// Too many wait to be begun.
    TooManyCheckpointRequests,
    /// Periodic checkpoints are stopped.
    PeriodicSchedulerShutdown,
    /// A coordinator of an operator failed to take part.
    OperatorCoordinatorFailure,
    /// A hook of the job failed.
    MasterHookFailure,
}

impl CheckpointFailureReason {
    /// Whether it counts among the failures that a job tolerates so many of.
    #[must_use]
    pub const fn counts(self) -> bool {
        match self {
            Self::Expired
            | Self::Declined
            | Self::AsyncException
            | Self::IoException
            | Self::FinalizeFailure => true,
            Self::Subsumed
            | Self::NotAllRequiredTasksRunning
            | Self::TaskNotReady
            | Self::TriggerFailure
            | Self::DeclinedOnCancellationBarrier
            | Self::InputEndOfStream
            | Self::JobFailover
            | Self::CoordinatorSuspend
            | Self::CoordinatorShutdown
            | Self::Fenced
            | Self::MinimumTimeBetweenCheckpoints
            | Self::TooManyCheckpointRequests
            | Self::PeriodicSchedulerShutdown
            | Self::OperatorCoordinatorFailure
            | Self::MasterHookFailure => false,
        }
    }
}

impl fmt::Display for CheckpointFailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subsumed => "a newer checkpoint took its place",
            Self::Expired => "it took longer than its timeout",
            Self::Declined => "a subtask declined",
            Self::AsyncException => "a subtask's state could not be stored",
            Self::IoException => "storage failed",
            Self::FinalizeFailure => "its record could not be written",
            Self::NotAllRequiredTasksRunning => "not all tasks that take part are running",
            Self::TaskNotReady => "a task is not ready",
            Self::TriggerFailure => "a task could not be triggered",
            Self::DeclinedOnCancellationBarrier => "a barrier was cancelled",
            Self::InputEndOfStream => "an input ended in the midst of it",
            Self::JobFailover => "a task failed",
            Self::CoordinatorSuspend => "the coordinator was suspended",
            Self::CoordinatorShutdown => "the coordinator was shut down",
            Self::Fenced => "another coordinator has taken over",
            Self::MinimumTimeBetweenCheckpoints => "the minimum pause is not over",
            Self::TooManyCheckpointRequests => "too many checkpoints wait to begin",
            Self::PeriodicSchedulerShutdown => "periodic checkpoints are stopped",
            Self::OperatorCoordinatorFailure => "an operator's coordinator failed",
            Self::MasterHookFailure => "a hook failed",
        })
    }
}

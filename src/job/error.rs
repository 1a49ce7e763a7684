//! Why a job was not started, or did not finish.

use super::report::JobReport;
use super::restart::RestartStrategyError;
use crate::letter::{BoxError, shown};
use crate::processor::Failure;
use crate::ring::CapacityError;
use crate::stream::TooManyInputs;
use crate::task::{BuildError, SpawnError};
use core::fmt;

/// A job was not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum JobError {
    /// A stream has no sink.
    NoEnd {
        /// The vertex that it ends in.
        vertex: String,
    },
    /// It has no stream at all.
    Empty,
    /// Streams of two jobs were brought together.
    TwoJobs {
        /// The vertex that was to have both.
        vertex: String,
    },
    /// A vertex takes more streams than an operator can have inputs.
    TooManyInputs {
        /// The vertex.
        vertex: String,
        /// How many streams there are.
        error: TooManyInputs,
    },
    /// A vertex has no subtask, or more than there are key groups.
    Parallelism {
        /// The vertex.
        vertex: String,
        /// How many subtasks were asked for.
        asked: u32,
        /// The most that are allowed.
        max: u32,
    },
    /// Each subtask of one vertex is to send to that of the same number of another, which has more or
    /// fewer.
    ForwardBetween {
        /// The sender, and how many subtasks it has.
        from: (String, u32),
        /// The receiver, and how many subtasks it has.
        to: (String, u32),
    },
    /// Its restart strategy cannot be followed.
    Restart(RestartStrategyError),
    /// What it was to begin with could not be restored.
    Recovery(BoxError),
    /// A factory of its operators, or what copies one, panicked.
    Deployment(Failure),
    /// The engine has not as many free slots as the job has subtasks.
    TooFewSlots {
        /// How many the job needs.
        needed: usize,
        /// How many are free.
        free: usize,
    },
    /// A channel could not be made.
    Channel(CapacityError),
    /// A task could not be spawned.
    Spawn {
        /// The task.
        task: String,
        /// Why.
        error: SpawnError,
    },
    /// The thread that looks after the job could not be started.
    Master(BuildError),
    /// How its checkpoints are to be taken cannot be.
    #[cfg(feature = "checkpoint")]
    CheckpointSettings(crate::checkpoint::CheckpointSettingsError),
    /// Its hooks cannot take part in its checkpoints.
    #[cfg(feature = "checkpoint")]
    MasterHooks(crate::checkpoint::MasterHookError),
    /// What takes its checkpoints could not be started.
    #[cfg(feature = "checkpoint")]
    Checkpoints(BoxError),
    /// The engine has been shut down.
    ShutDown,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEnd { vertex } => write!(f, "the stream of vertex {vertex} has no sink"),
            Self::Empty => f.write_str("the job has no stream"),
            Self::TwoJobs { vertex } => {
                write!(
                    f,
                    "vertex {vertex} takes streams of two jobs; each job has its own"
                )
            }
            Self::TooManyInputs { vertex, error } => write!(f, "vertex {vertex}: {error}"),
            Self::Parallelism { vertex, asked, max } => write!(
                f,
                "vertex {vertex} cannot have {asked} subtasks: 1 to {max} are allowed"
            ),
            Self::ForwardBetween { from, to } => write!(
                f,
                "vertex {} has {} subtasks and cannot forward to {}, which has {}: \
                 as many are needed, or rebalance",
                from.0, from.1, to.0, to.1
            ),
            Self::Restart(error) => error.fmt(f),
            Self::Recovery(error) => {
                write!(f, "the job cannot be restored: {}", shown(error))
            }
            Self::Deployment(failure) => failure.fmt(f),
            Self::TooFewSlots { needed, free } => {
                write!(f, "the job needs {needed} slots and {free} are free")
            }
            Self::Channel(error) => write!(f, "a channel cannot be made: {error}"),
            Self::Spawn { task, error } => write!(f, "task {task} cannot be spawned: {error}"),
            Self::Master(error) => {
                write!(
                    f,
                    "the thread that looks after the job cannot be started: {error}"
                )
            }
            #[cfg(feature = "checkpoint")]
            Self::CheckpointSettings(error) => error.fmt(f),
            #[cfg(feature = "checkpoint")]
            Self::MasterHooks(error) => error.fmt(f),
            #[cfg(feature = "checkpoint")]
            Self::Checkpoints(error) => write!(f, "the job cannot take checkpoints: {error}"),
            Self::ShutDown => f.write_str("the engine has been shut down"),
        }
    }
}

impl core::error::Error for JobError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::TooManyInputs { error, .. } => Some(error),
            Self::Restart(error) => Some(error),
            Self::Recovery(error) => Some(&**error),
            Self::Deployment(failure) => Some(failure),
            Self::Channel(error) => Some(error),
            Self::Spawn { error, .. } => Some(error),
            Self::Master(error) => Some(error),
            #[cfg(feature = "checkpoint")]
            Self::CheckpointSettings(error) => Some(error),
            #[cfg(feature = "checkpoint")]
            Self::MasterHooks(error) => Some(error),
            #[cfg(feature = "checkpoint")]
            Self::Checkpoints(error) => Some(&**error),
            _ => None,
        }
    }
}

/// A job did not finish.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// It was not started.
    NotStarted(JobError),
    /// A task failed; the others were cancelled, and the job was not run again.
    Failed {
        /// The task that failed first in the last attempt; the job where that could not be deployed.
        task: Box<str>,
        /// Why.
        cause: Failure,
        /// What the tasks have done.
        report: Box<JobReport>,
    },
    /// It was cancelled.
    Canceled(Box<JobReport>),
    /// Whoever looked after it is gone: the engine's process is ending.
    Gone,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => error.fmt(f),
            Self::Failed {
                task,
                cause,
                report,
            } => {
                let what = if **task == *report.job { "job" } else { "task" };
                write!(f, "{what} {task} failed")?;
                match report.restarts {
                    0 => {}
                    1 => f.write_str(" after 1 restart")?,
                    restarts => write!(f, " after {restarts} restarts")?,
                }
                write!(f, ": {cause}")
            }
            Self::Canceled(report) => write!(f, "job {} was cancelled", report.job),
            Self::Gone => f.write_str("nobody looks after the job any more"),
        }
    }
}

impl core::error::Error for RunError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotStarted(error) => Some(error),
            Self::Failed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

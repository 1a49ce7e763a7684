//! How a task ended.

use super::state::TaskState;
use crate::processor::Failure;
use core::fmt;

/// How a task ended; clones are the same end. With the feature `serde` it can be serialized; its
/// cause is a text then.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Outcome {
    /// The task's name.
    pub name: Box<str>,
    /// Which attempt of that name it was, as it was spawned.
    pub attempt: u32,
    /// The engine's thread it was on, counted from 0.
    pub thread: usize,
    /// [`Finished`](TaskState::Finished), [`Canceled`](TaskState::Canceled) or
    /// [`Failed`](TaskState::Failed).
    pub state: TaskState,
    /// Why it failed.
    pub cause: Option<Failure>,
    /// Letters that were accepted and not run.
    pub undelivered: usize,
}

impl Outcome {
    /// The outcome, if the task has finished.
    ///
    /// # Errors
    /// The outcome, if it was cancelled or has failed.
    pub fn finished(self) -> Result<Self, Self> {
        match self.state {
            TaskState::Finished => Ok(self),
            _ => Err(self),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} ", self.name)?;
        if self.attempt > 1 {
            write!(f, "(attempt {}) ", self.attempt)?;
        }
        match &self.cause {
            Some(cause) => write!(f, "{}: {cause}", self.state)?,
            None => write!(f, "{}", self.state)?,
        }
        match self.undelivered {
            0 => Ok(()),
            1 => f.write_str("; 1 letter was not delivered"),
            letters => write!(f, "; {letters} letters were not delivered"),
        }
    }
}

impl core::error::Error for Outcome {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// A task was not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// It goes on, and the time is over.
    Timeout,
    /// It goes on, and is driven by the calling thread, which so would wait for itself.
    WouldDeadlock,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the task has not ended in time",
            Self::WouldDeadlock => {
                "the task has not ended, and the thread that would wait for it is its own"
            }
        })
    }
}

impl core::error::Error for JoinError {}

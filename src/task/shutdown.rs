//! How an engine is ended, and what comes of it.

use super::hooks::Stuck;
use super::outcome::Outcome;
use super::state::TaskState;
use crate::wait::Answer;
use core::fmt;
use core::time::Duration;
use std::time::Instant;

/// How an engine is to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    drain: Option<Duration>,
    grace: Duration,
}

impl Shutdown {
    const GRACE: Duration = Duration::from_secs(30);

    /// Every task is cancelled: the letters that run are its last.
    #[must_use]
    pub const fn now() -> Self {
        Self {
            drain: None,
            grace: Self::GRACE,
        }
    }

    /// Every task runs what it has accepted, and finishes; those that have not after `time` are
    /// cancelled.
    #[must_use]
    pub const fn drain_within(time: Duration) -> Self {
        Self {
            drain: Some(time),
            grace: Self::GRACE,
        }
    }

    /// How long to wait for tasks that were cancelled and go on; 30 seconds without this. Their
    /// threads are left to themselves then.
    #[must_use]
    pub const fn grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    pub(super) fn is_now(self) -> bool {
        self.drain.is_none()
    }
}

/// What came of a shutdown.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// How the tasks ended that lived when the shutdown began, in the order in which they ended.
    pub outcomes: Vec<Outcome>,
    /// Tasks that did not end.
    pub stuck: Vec<Stuck>,
    /// The time to drain was over before all was.
    pub timed_out: bool,
}

impl Report {
    /// Letters that were accepted and not run, of all tasks together.
    #[must_use]
    pub fn undelivered(&self) -> usize {
        self.outcomes
            .iter()
            .map(|outcome| outcome.undelivered)
            .sum()
    }

    /// Whether every task has finished, and every letter was run.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let all_finished = self
            .outcomes
            .iter()
            .all(|outcome| outcome.state == TaskState::Finished);
        self.stuck.is_empty() && all_finished && self.undelivered() == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |state| {
            let there = self
                .outcomes
                .iter()
                .filter(|outcome| outcome.state == state);
            there.count()
        };
        write!(
            f,
            "{} finished, {} cancelled, {} failed; {} letters undelivered",
            count(TaskState::Finished),
            count(TaskState::Canceled),
            count(TaskState::Failed),
            self.undelivered()
        )?;
        for stuck in &self.stuck {
            write!(f, "; {stuck}")?;
        }
        Ok(())
    }
}

/// An engine has not ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ShutdownError {
    /// Tasks go on that were told to end; their threads are left to themselves.
    Stuck(Report),
    /// The calling thread is the engine's own. The shutdown has begun, and goes on when the letter
    /// that asked for it is done.
    WouldDeadlock,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck(report) => write!(f, "tasks go on: {report}"),
            Self::WouldDeadlock => f.write_str(
                "the shutdown has begun, and cannot be waited for on a thread of the engine",
            ),
        }
    }
}

impl core::error::Error for ShutdownError {}

/// Where a shutdown is.
pub(super) enum Ending {
    /// None has begun.
    No {
        waiting: Vec<Answer<Report>>,
    },
    /// Tasks finish until the deadline, then they are cancelled; after another they are left.
    Begun {
        drained_by: Option<Instant>,
        grace: Duration,
        left_by: Option<Instant>,
        report: Report,
        waiting: Vec<Answer<Report>>,
    },
    Done(Report),
}

impl Default for Ending {
    fn default() -> Self {
        Self::No {
            waiting: Vec::new(),
        }
    }
}

impl Ending {
    /// Whether this call has begun it, or hastened it.
    pub(super) fn begin(&mut self, shutdown: Shutdown, now: Instant) -> bool {
        let drained_by = shutdown.drain.and_then(|drain| now.checked_add(drain));
        let left_by = match shutdown.drain {
            None => now.checked_add(shutdown.grace),
            Some(_) => None,
        };
        match self {
            Self::No { waiting } => {
                let waiting = core::mem::take(waiting);
                *self = Self::Begun {
                    drained_by,
                    grace: shutdown.grace,
                    left_by,
                    report: Report::default(),
                    waiting,
                };
                true
            }
            Self::Begun {
                drained_by: before,
                left_by: left_before @ None,
                ..
            } if shutdown.is_now() => {
                *before = None;
                *left_before = left_by;
                true
            }
            Self::Begun { .. } | Self::Done(_) => false,
        }
    }

    /// Keeps how a task ended; whether it is of any interest.
    pub(super) fn add(&mut self, outcome: Outcome) -> bool {
        match self {
            Self::Begun { report, .. } => {
                report.outcomes.push(outcome);
                true
            }
            Self::No { .. } | Self::Done(_) => false,
        }
    }

    pub(super) fn report(&self, stuck: Vec<Stuck>) -> Report {
        match self {
            Self::No { .. } => Report::default(),
            Self::Begun { report, .. } | Self::Done(report) => Report {
                stuck,
                ..report.clone()
            },
        }
    }
}

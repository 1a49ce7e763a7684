//! How an engine is ended, and what comes of it.

use super::hooks::Stuck;
use super::outcome::Outcome;
use super::state::TaskState;
use crate::wait::{Answer, Reply, reply};
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
    /// cancelled. When all have ended, so do the jobs of the I/O pool, in what is left of the time.
    #[must_use]
    pub const fn drain_within(time: Duration) -> Self {
        Self {
            drain: Some(time),
            grace: Self::GRACE,
        }
    }

    /// How long to wait for tasks that were cancelled and go on, and for jobs that run; 30 seconds without this. Their
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

impl fmt::Display for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drain {
            None => write!(f, "now"),
            Some(Duration::MAX) => write!(f, "drain"),
            Some(time) => write!(f, "drain within {time:?}"),
        }
    }
}

/// What came of a shutdown. With the feature `serde` it can be serialized.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// How the tasks ended that lived when the shutdown began, in the order in which they ended.
    pub outcomes: Vec<Outcome>,
    /// Tasks that did not end.
    pub stuck: Vec<Stuck>,
    /// The time to drain was over before all was.
    pub timed_out: bool,
    /// Jobs of the engine's I/O pool that were accepted and not started; they were dropped.
    pub io_dropped: usize,
    /// Jobs of that pool that did not end; their threads are left to themselves.
    pub io_running: usize,
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

    /// Whether every task has finished, and every letter and job was run.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let all_finished = self
            .outcomes
            .iter()
            .all(|outcome| outcome.state == TaskState::Finished);
        !self.goes_on() && all_finished && self.undelivered() == 0 && self.io_dropped == 0
    }

    /// Whether something of the engine goes on.
    pub(super) fn goes_on(&self) -> bool {
        !self.stuck.is_empty() || self.io_running > 0
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
        if self.io_dropped > 0 {
            write!(f, "; {} I/O jobs dropped", self.io_dropped)?;
        }
        if self.io_running > 0 {
            write!(f, "; {} I/O jobs go on", self.io_running)?;
        }
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
    /// Tasks, or jobs of the I/O pool, go on that were told to end; their threads are left to
    /// themselves.
    Stuck(Report),
    /// The calling thread is the engine's own. The shutdown has begun, and goes on when the letter
    /// that asked for it is done.
    WouldDeadlock,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck(report) => write!(f, "not all has ended: {report}"),
            Self::WouldDeadlock => f.write_str(
                "the shutdown has begun, and cannot be waited for on a thread of the engine",
            ),
        }
    }
}

impl core::error::Error for ShutdownError {}

/// The moment `time` after `now`, or one that nobody lives to see.
pub(super) fn after(now: Instant, time: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_secs(1 << 32);
    now.checked_add(time).unwrap_or(now + FOR_EVER)
}

/// Where a shutdown is.
pub(super) enum Ending {
    /// None has begun.
    No {
        waiting: Vec<Answer<Report>>,
    },
    /// Tasks finish until the first deadline, then they are cancelled, and left after the second. That
    /// which is ahead is there; while the first is, jobs of the I/O pool are run.
    Begun {
        drained_by: Option<Instant>,
        grace: Duration,
        left_by: Option<Instant>,
        /// Tasks whose end had been told by then, though their threads were not done with them: they are
        /// no part of the report.
        ended_before: Vec<u64>,
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
    pub(super) fn begin(
        &mut self,
        shutdown: Shutdown,
        now: Instant,
        ended_before: Vec<u64>,
    ) -> bool {
        match self {
            Self::No { waiting } => {
                let waiting = core::mem::take(waiting);
                *self = Self::Begun {
                    drained_by: shutdown.drain.map(|time| after(now, time)),
                    grace: shutdown.grace,
                    left_by: shutdown.is_now().then(|| after(now, shutdown.grace)),
                    ended_before,
                    report: Report::default(),
                    waiting,
                };
                true
            }
            Self::Begun {
                drained_by,
                grace,
                left_by,
                ..
            } => match shutdown.drain {
                None => {
                    let by = after(now, shutdown.grace);
                    let is_sooner = left_by.is_none_or(|before| by < before);
                    if is_sooner {
                        *drained_by = None;
                        *left_by = Some(by);
                    }
                    is_sooner
                }
                Some(time) => {
                    let by = after(now, time);
                    let is_sooner = drained_by.is_some_and(|before| by < before);
                    if is_sooner {
                        *drained_by = Some(by);
                        *grace = shutdown.grace.min(*grace);
                    }
                    is_sooner
                }
            },
            Self::Done(_) => false,
        }
    }

    /// Answered when all has ended; what came of it, where it has.
    pub(super) fn ended(&mut self) -> Result<Reply<Report>, Report> {
        match self {
            Self::Done(report) => Err(report.clone()),
            Self::Begun { waiting, .. } | Self::No { waiting } => {
                waiting.retain(Answer::is_wanted);
                let (answer, told) = reply();
                waiting.push(answer);
                Ok(told)
            }
        }
    }

    /// Keeps how task `id` ended, where that is of interest.
    pub(super) fn add(&mut self, id: u64, outcome: Outcome) {
        if let Self::Begun {
            ended_before,
            report,
            ..
        } = self
            && !ended_before.contains(&id)
        {
            report.outcomes.push(outcome);
        }
    }

    /// Jobs of the I/O pool were dropped.
    pub(super) fn has_dropped_jobs(&mut self, count: usize) {
        if let Self::Begun { report, .. } = self {
            report.io_dropped += count;
        }
    }

    pub(super) fn report(&self, stuck: Vec<Stuck>, io_running: usize) -> Report {
        match self {
            Self::No { .. } => Report::default(),
            Self::Begun { report, .. } | Self::Done(report) => Report {
                stuck,
                io_running,
                ..report.clone()
            },
        }
    }
}

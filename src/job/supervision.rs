//! What becomes of a job, by what happens to its tasks: a plain state machine, told the time.
//!
//! V1. The first failure of an attempt decides what follows it; what fails while tasks end is a
//!     consequence.
//! V2. The next attempt begins when all tasks of the one before have ended, and not before.
//! V3. A job that was asked to stop, or cancelled, has no further attempt.
//! V4. A job that was never deployed in full has no further attempt: who starts it is told why.
//! V5. What makes a further attempt impossible ends the job wherever it is, also between two of them.

use super::report::{JobFailure, JobReport, JobState};
use super::restart::{RestartStrategy, Verdict};
use crate::processor::Failure;
use crate::stream::StopMode;
use core::time::Duration;
use std::collections::VecDeque;
use std::time::Instant;

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// What it begins with is being found, and it is deployed then.
    Recovering,
    /// It is deployed; so many tasks are not open yet.
    Running { opening: usize },
    /// Its tasks end.
    Ending(Then),
    /// All its tasks have ended, and the next one comes after a delay.
    Waiting,
    /// The job is over.
    Ended { state: JobState, after: Duration },
}

/// What comes when all tasks of an attempt have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Restart(Duration),
    Fail,
    Cancel,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "nothing is done by itself"]
pub(super) enum Next {
    Nothing,
    /// What the attempt begins with is to be found.
    Recover,
    /// All tasks of the attempt run.
    AllRunning,
    /// The sources are to be stopped.
    StopSources(StopMode),
    /// The tasks are to be cancelled.
    CancelTasks,
    /// The delay is to be waited for.
    Wait(Duration),
    /// The job is over.
    End,
}

/// See above.
#[derive(Debug)]
pub(super) struct Supervision {
    strategy: RestartStrategy,
    started: Instant,
    attempt: u32,
    restarts: u32,
    /// The last ones.
    failures: VecDeque<JobFailure>,
    stage: Stage,
    /// Whether an attempt was deployed in full (V4).
    was_deployed: bool,
    is_stopped: bool,
}

impl Supervision {
    pub(super) fn new(strategy: RestartStrategy, attempt: u32, started: Instant) -> Self {
        Self {
            strategy,
            started,
            attempt,
            restarts: 0,
            failures: VecDeque::new(),
            stage: Stage::Recovering,
            was_deployed: false,
            is_stopped: false,
        }
    }

    /// Whether there may be another attempt.
    pub(super) fn may_restart(&self) -> bool {
        !self.has_ended() && !matches!(self.strategy, RestartStrategy::Never)
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    pub(super) fn restarts(&self) -> u32 {
        self.restarts
    }

    /// The last failures, the oldest one first.
    pub(super) fn failures(&self) -> impl Iterator<Item = &JobFailure> {
        self.failures.iter()
    }

    pub(super) fn state(&self) -> JobState {
        match self.stage {
            Stage::Running { .. } => JobState::Running,
            Stage::Ending(Then::Cancel) => JobState::Canceling,
            Stage::Ending(_) => JobState::Failing,
            Stage::Recovering | Stage::Waiting => JobState::Restarting,
            Stage::Ended { state, .. } => state,
        }
    }

    /// Whether a delay is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        self.stage == Stage::Waiting
    }

    /// Whether the job is over.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    /// How long the job has taken so far; how long it took, if it is over.
    pub(super) fn duration(&self, now: Instant) -> Duration {
        match self.stage {
            Stage::Ended { after, .. } => after,
            _ => now.saturating_duration_since(self.started),
        }
    }

    /// Whether that attempt is to be deployed, when it is known what it begins with.
    pub(super) fn is_recovering(&self, attempt: u32) -> bool {
        self.stage == Stage::Recovering && self.attempt == attempt
    }

    /// All tasks of the attempt were deployed, so many.
    pub(super) fn deployed(&mut self, tasks: usize) {
        if self.stage == Stage::Recovering {
            self.was_deployed = true;
            self.stage = Stage::Running { opening: tasks };
        }
    }

    /// A task of the attempt is open.
    pub(super) fn task_opened(&mut self, now: Instant) -> Next {
        let Stage::Running { opening } = &mut self.stage else {
            return Next::Nothing;
        };
        *opening = opening.saturating_sub(1);
        if *opening > 0 {
            return Next::Nothing;
        }
        self.strategy.running(now);
        Next::AllRunning
    }

    /// A task of the attempt has failed, or its deployment has.
    pub(super) fn failed(&mut self, task: &str, cause: Failure, now: Instant) -> Next {
        if !matches!(self.stage, Stage::Recovering | Stage::Running { .. }) {
            return Next::Nothing;
        }
        self.note(task, cause, now);
        let is_final = self.is_stopped || !self.was_deployed;
        let verdict = match is_final {
            true => Verdict::GiveUp,
            false => self.strategy.failed(now),
        };
        self.stage = Stage::Ending(match verdict {
            Verdict::RestartAfter(delay) => Then::Restart(delay),
            Verdict::GiveUp => Then::Fail,
        });
        Next::CancelTasks
    }

    fn note(&mut self, task: &str, cause: Failure, now: Instant) {
        if self.failures.len() == JobReport::FAILURES_MAX {
            self.failures.pop_front();
        }
        self.failures.push_back(JobFailure {
            task: task.into(),
            cause,
            attempt: self.attempt,
            after: now.saturating_duration_since(self.started),
        });
    }

    /// The job is to fail, and no attempt to follow (V5).
    pub(super) fn failed_for_good(&mut self, task: &str, cause: Failure, now: Instant) -> Next {
        let next = match self.stage {
            Stage::Recovering | Stage::Running { .. } => Next::CancelTasks,
            Stage::Ending(Then::Restart(_)) => Next::Nothing,
            Stage::Waiting => Next::End,
            Stage::Ending(_) | Stage::Ended { .. } => return Next::Nothing,
        };
        self.note(task, cause, now);
        if next == Next::End {
            return self.end(JobState::Failed, now);
        }
        self.stage = Stage::Ending(Then::Fail);
        next
    }

    /// A task of the attempt was cancelled: where it runs, by somebody else, and the job is not what it
    /// was without it.
    pub(super) fn task_canceled(&mut self, now: Instant) -> Next {
        match self.stage {
            Stage::Running { .. } => self.cancel(now),
            _ => Next::Nothing,
        }
    }

    /// The engine is gone: there is nothing to deploy the job on any more.
    pub(super) fn give_up(&mut self) {
        if let Stage::Ending(then @ Then::Restart(_)) = &mut self.stage {
            *then = Then::Fail;
        }
    }

    /// All tasks of the attempt have ended.
    pub(super) fn all_ended(&mut self, now: Instant) -> Next {
        match self.stage {
            Stage::Running { .. } => self.end(JobState::Finished, now),
            Stage::Ending(Then::Fail) => self.end(JobState::Failed, now),
            Stage::Ending(Then::Cancel) => self.end(JobState::Canceled, now),
            Stage::Ending(Then::Restart(delay)) => {
                self.stage = Stage::Waiting;
                Next::Wait(delay)
            }
            Stage::Recovering | Stage::Waiting | Stage::Ended { .. } => Next::Nothing,
        }
    }

    /// The delay is over that was to be waited for.
    pub(super) fn delay_over(&mut self) -> Next {
        if self.stage != Stage::Waiting {
            return Next::Nothing;
        }
        self.attempt = self.attempt.saturating_add(1);
        self.restarts = self.restarts.saturating_add(1);
        self.stage = Stage::Recovering;
        Next::Recover
    }

    /// The job is to be cancelled.
    pub(super) fn cancel(&mut self, now: Instant) -> Next {
        match self.stage {
            Stage::Running { .. } => {
                self.stage = Stage::Ending(Then::Cancel);
                Next::CancelTasks
            }
            Stage::Ending(Then::Restart(_)) => {
                self.stage = Stage::Ending(Then::Cancel);
                Next::Nothing
            }
            Stage::Recovering | Stage::Waiting => self.end(JobState::Canceled, now),
            Stage::Ending(_) | Stage::Ended { .. } => Next::Nothing,
        }
    }

    /// The sources are to stop. A job that has failed, and is not deployed again yet, cannot bring to its
    /// end what it had begun: it has failed for good then.
    pub(super) fn stop(&mut self, mode: StopMode, now: Instant) -> Next {
        self.is_stopped = true;
        match self.stage {
            Stage::Running { .. } => Next::StopSources(mode),
            Stage::Ending(Then::Restart(_)) => {
                self.stage = Stage::Ending(Then::Fail);
                Next::Nothing
            }
            Stage::Recovering | Stage::Waiting => self.end(JobState::Failed, now),
            Stage::Ending(_) | Stage::Ended { .. } => Next::Nothing,
        }
    }

    fn end(&mut self, state: JobState, now: Instant) -> Next {
        let after = now.saturating_duration_since(self.started);
        self.stage = Stage::Ended { state, after };
        Next::End
    }
}

#[cfg(test)]
mod tests;

//! A job that was started.

use super::error::RunError;
use super::master::{Master, Status};
use super::members::{Member, Members};
use super::report::{JobReport, JobSnapshot, JobState};
use crate::mailbox::PostError;
use crate::processor::Executor;
use crate::stream::{StopMode, StreamTask, TaskReport};
use crate::sync::{Clock as _, SharedClock};
use crate::task::{Engine, TaskHandle, TaskState};
use crate::wait::{Reply, ReplyTimeout, reply};
use core::time::Duration;
use std::time::Instant;

/// A job that was started, through all its [restarts](super::Job::restart). Dropping it cancels the
/// job, and waits for nothing but what has threads of the job's own, 30 seconds at most: the loops of its
/// [legacy sources](crate::stream::LegacySource), and what is being written for a checkpoint.
///
/// ```
/// use mailring::job::{Job, JobState};
/// use mailring::stream::{Discard, Generator, StopMode};
/// use mailring::task::Engine;
/// use std::time::Duration;
///
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("numbers")
///     .source("numbers", Generator::new(|number| number).per_second(1_000)?)
///     .sink("discard", Discard)
///     .start(&engine)?;
/// // It never ends by itself.
/// assert!(!job.wait_timeout(Duration::from_millis(5)));
/// println!("{} numbers", job.snapshot().records_in("numbers"));
/// job.stop(StopMode::Drain);
/// assert_eq!(job.wait()?.state, JobState::Finished);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JobHandle {
    pub(super) name: Box<str>,
    pub(super) members: Members,
    pub(super) master: TaskHandle<Master>,
    pub(super) started: Instant,
    pub(super) clock: SharedClock,
    #[cfg(feature = "checkpoint")]
    pub(super) checkpoints: Option<super::JobCheckpoints>,
    /// Whose first thread looks after the job; the others are those of subtasks that have their own.
    pub(super) _engine: Engine,
}

impl JobHandle {
    /// How long a snapshot waits for the tasks to answer.
    const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(1);

    /// The job's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the job's end, and for what that leaves to be done in the storage of its checkpoints: 30
    /// seconds at most, and as long again for what is being written then.
    ///
    /// # Errors
    /// [`RunError::Failed`] with the first failure of a task in the last attempt, or
    /// [`RunError::Canceled`].
    pub fn wait(self) -> Result<JobReport, RunError> {
        let (answer, told) = reply();
        let asked = self.master.post(move |master| master.tell(answer));
        if asked.is_err() {
            return Err(RunError::Gone);
        }
        let ended = told.wait().unwrap_or(Err(RunError::Gone));
        #[cfg(feature = "checkpoint")]
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.wait_for_rest();
        }
        ended
    }

    /// The job's checkpoints; `None` where it takes none.
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn checkpoints(&self) -> Option<super::JobCheckpoints> {
        self.checkpoints.clone()
    }

    /// An executor of the task of a subtask, counted from 0: what is posted by it is run between two
    /// records. `None` where the job has no such subtask. It is that of the present attempt: after a
    /// restart it takes nothing any more, and there is another one.
    #[must_use]
    pub fn executor(&self, vertex: &str, subtask: u32) -> Option<Executor<StreamTask>> {
        let name = format!("{}/{vertex}/{subtask}", self.name);
        Some(self.members.find(&name)?.handle.executor())
    }

    /// Whether all tasks of the job have ended, and it is not run again.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.members.has_ended()
    }

    /// Waits for the job's end, for at most `timeout`; whether it has ended. [`wait`](Self::wait) tells
    /// how.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let (answer, told) = reply();
        let asked = self.master.post(move |master| master.tell_watching(answer));
        // A master that is gone has ended the job.
        asked.is_err() || !matches!(told.wait_timeout(timeout), Err(ReplyTimeout::Timeout(_)))
    }

    /// Cancels the job: its tasks end, and what is under way is lost. One that waits to be run again is
    /// not. Does not wait for it.
    pub fn cancel(&self) {
        // A master that is gone looks after nothing any more.
        let _gone = self.master.post(Master::cancel);
    }

    /// Has the sources stop: what they have made goes all the way, and with [`StopMode::Drain`] windows
    /// fire and operators finish. Does not wait for it.
    ///
    /// The job is not run again after that: if a task fails it has failed. One that has failed just now,
    /// and waits to be run again, cannot bring to its end what was under way, and has failed for good.
    pub fn stop(&self, mode: StopMode) {
        // A master that is gone looks after nothing any more.
        let _gone = self.master.post(move |master| master.stop(mode));
    }

    /// What the job has done so far: each task is asked between two records, and answers within a
    /// second or is missing.
    #[must_use]
    pub fn snapshot(&self) -> JobSnapshot {
        self.snapshot_within(Self::SNAPSHOT_TIMEOUT)
    }

    fn snapshot_within(&self, timeout: Duration) -> JobSnapshot {
        // In one letter: the tasks are those of the attempt that is told of.
        let status = self.master.ask(|master| master.status());
        let status = status.ok().and_then(|status| status.wait().ok());
        let Status {
            state,
            duration,
            restarts,
            failures,
            members,
        } = status.unwrap_or_else(|| self.without_master());
        let now = Instant::now();
        let deadline = now + timeout;
        let ask = |member: &Member, until| {
            let executor = member.handle.executor();
            executor.ask_deadline(until, |task| task.report())
        };
        let asked = members.iter().map(|member| match member.handle.state() {
            TaskState::Created | TaskState::Deploying | TaskState::Initializing => Asked::TooEarly,
            TaskState::Running => match ask(member, now) {
                Ok(asked) => Asked::Letter(asked),
                // When all others are asked.
                Err(PostError::Timeout(_)) => Asked::NoRoom,
                // It ends by itself, and is running for as long as it has letters left.
                Err(_) => Asked::TooLate,
            },
            TaskState::Canceling
            | TaskState::Finished
            | TaskState::Canceled
            | TaskState::Failed => Asked::TooLate,
        });
        let asked: Vec<_> = asked.collect();
        let answered = members.iter().zip(asked).filter_map(|(member, asked)| {
            let asked = match asked {
                Asked::TooEarly => return None,
                Asked::Letter(asked) => Some(asked),
                Asked::NoRoom => ask(member, deadline).ok(),
                Asked::TooLate => None,
            };
            let answer = asked.and_then(|asked| asked.wait_deadline(deadline).ok());
            answer.or_else(|| last_report(member, deadline))
        });
        let tasks: Vec<_> = answered.collect();
        JobSnapshot {
            job: self.name.clone(),
            state,
            duration,
            restarts,
            failures,
            missing: members.len() - tasks.len(),
            tasks,
        }
    }

    /// What there is to tell where the master is gone: it has ended the job.
    fn without_master(&self) -> Status {
        Status {
            state: JobState::Canceled,
            duration: self.clock.now().saturating_duration_since(self.started),
            restarts: 0,
            failures: Vec::new(),
            members: self.members.now(),
        }
    }
}

/// How a task was asked what it has done.
enum Asked {
    /// Not at all: it takes no letters yet.
    TooEarly,
    Letter(Reply<TaskReport>),
    /// Not yet: its mailbox is full.
    NoRoom,
    /// Not at all: it takes no letters any more.
    TooLate,
}

/// What a task has done that takes no letters any more: it says so behind its last call.
fn last_report(member: &Member, deadline: Instant) -> Option<TaskReport> {
    let left = deadline.saturating_duration_since(Instant::now());
    // One that does not end in time is missing.
    let _ended = member.handle.join_timeout(left);
    Some(member.last_words.get()?.report.clone())
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        // The master ends those that it deploys just now, when it goes with its engine.
        for member in self.members.now() {
            member.handle.cancel();
        }
    }
}

impl core::fmt::Debug for JobHandle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("JobHandle")
            .field("name", &self.name)
            .field("tasks", &self.members.now().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

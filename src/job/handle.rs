//! A job that was started.

use super::error::RunError;
use super::master::{Master, Member};
use super::report::{JobReport, JobSnapshot};
use crate::processor::Executor;
use crate::stream::{StopMode, StreamTask};
use crate::sync::{Clock as _, SharedClock};
use crate::task::{Engine, TaskHandle, TaskState};
use crate::wait::reply;
use core::time::Duration;
use std::time::Instant;

/// A job that was started. Dropping it cancels the job, and waits for nothing but the loops of its
/// [legacy sources](crate::stream::LegacySource), which have threads of their own.
pub struct JobHandle {
    pub(super) name: Box<str>,
    pub(super) members: Vec<Member>,
    pub(super) master: TaskHandle<Master>,
    pub(super) started: Instant,
    pub(super) clock: SharedClock,
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

    /// Waits for the job's end.
    ///
    /// # Errors
    /// [`RunError::Failed`] with the first failure of a task, or [`RunError::Canceled`].
    pub fn wait(self) -> Result<JobReport, RunError> {
        let (answer, told) = reply();
        let asked = self.master.post(move |master| master.tell(answer));
        if asked.is_err() {
            return Err(RunError::Gone);
        }
        told.wait().unwrap_or(Err(RunError::Gone))
    }

    /// An executor of the task of a subtask, counted from 0: what is posted by it is run between two
    /// records. `None` where the job has no such subtask.
    #[must_use]
    pub fn executor(&self, vertex: &str, subtask: u32) -> Option<Executor<StreamTask>> {
        let name = format!("{}/{vertex}/{subtask}", self.name);
        let mut members = self.members.iter();
        let member = members.find(|member| member.handle.name() == name)?;
        Some(member.handle.executor())
    }

    /// Whether all tasks of the job have ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let mut members = self.members.iter();
        members.all(|member| member.handle.outcome().is_some())
    }

    /// Waits for the job's end, for at most `timeout`; whether it has ended. [`wait`](Self::wait) tells
    /// how.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        self.members.iter().all(|member| {
            let left = deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            member.handle.join_timeout(left).is_ok()
        })
    }

    /// Cancels the job: its tasks end, and what is under way is lost. Does not wait for it.
    pub fn cancel(&self) {
        // A master that is gone looks after nothing any more.
        let _gone = self.master.post(Master::cancel);
    }

    /// Has the sources stop: what they have made goes all the way, and with [`StopMode::Drain`] windows
    /// fire and operators finish. Does not wait for it.
    pub fn stop(&self, mode: StopMode) {
        for member in &self.members {
            // One that takes no letters has ended.
            let _ended = member.handle.post(move |task| {
                task.stop(mode);
            });
        }
    }

    /// What the job has done so far: each task is asked between two records, and answers within a
    /// second or is missing.
    #[must_use]
    pub fn snapshot(&self) -> JobSnapshot {
        let deadline = Instant::now() + Self::SNAPSHOT_TIMEOUT;
        let asked: Vec<_> = self
            .members
            .iter()
            .map(|member| match member.handle.state() {
                TaskState::Running => member.handle.ask(|task| task.report()).ok(),
                _ => None,
            })
            .collect();
        let state = self.master.ask(|master| master.state());
        let answered = self.members.iter().zip(asked).map(|(member, asked)| {
            let answer = asked.and_then(|asked| asked.wait_deadline(deadline).ok());
            answer.or_else(|| member.last_words.get().cloned())
        });
        let tasks: Vec<_> = answered.flatten().collect();
        let state = state.ok().and_then(|state| state.wait().ok());
        JobSnapshot {
            job: self.name.clone(),
            state: state.unwrap_or(super::JobState::Canceled),
            duration: self.clock.now().saturating_duration_since(self.started),
            missing: self.members.len() - tasks.len(),
            tasks,
        }
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        for member in &self.members {
            member.handle.cancel();
        }
    }
}

impl core::fmt::Debug for JobHandle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("JobHandle")
            .field("name", &self.name)
            .field("tasks", &self.members.len())
            .finish_non_exhaustive()
    }
}

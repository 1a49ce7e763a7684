//! What a job has done.

use crate::processor::Failure;
use crate::stream::TaskReport;
use core::fmt;
use core::time::Duration;

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum JobState {
    /// Its tasks run.
    Running,
    /// A task has failed, and the others end.
    Failing,
    /// A task has failed, and all have ended: the job waits to be deployed again, or is being so.
    Restarting,
    /// It was cancelled, and its tasks end.
    Canceling,
    /// All tasks have finished.
    Finished,
    /// A task has failed, all have ended, and the job is not run again.
    Failed,
    /// It was cancelled, and all tasks have ended.
    Canceled,
}

/// What failed a job, or one of its attempts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JobFailure {
    /// The task that failed first; the job itself where it could not be deployed again.
    pub task: Box<str>,
    /// Why.
    pub cause: Failure,
    /// Which attempt of the job it ended.
    pub attempt: u32,
    /// How long after the job's start.
    pub after: Duration,
}

impl fmt::Display for JobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            task,
            cause,
            attempt,
            after,
        } = self;
        write!(
            f,
            "{task} failed in attempt {attempt}, after {after:.1?}: {cause}"
        )
    }
}

/// What a job has done until it ended.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JobReport {
    /// Its name.
    pub job: Box<str>,
    /// How it ended.
    pub state: JobState,
    /// How long it ran, with all its attempts and the time between them.
    pub duration: Duration,
    /// How often it was run again after a failure.
    pub restarts: u32,
    /// The last of what failed it, at most [`FAILURES_MAX`](Self::FAILURES_MAX), the oldest one first;
    /// one for each attempt that failed.
    pub failures: Vec<JobFailure>,
    /// What each task of the last attempt has done that came as far as to be opened, by vertex and
    /// subtask.
    pub tasks: Vec<TaskReport>,
}

impl JobReport {
    /// How many failures are kept.
    pub const FAILURES_MAX: usize = 16;

    /// How many records came in at all subtasks of a vertex; of a source, how many it made.
    #[must_use]
    pub fn records_in(&self, vertex: &str) -> u64 {
        records_in(&self.tasks, vertex)
    }
}

/// What a job has done so far; see [`JobHandle::snapshot`](super::JobHandle::snapshot).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JobSnapshot {
    /// Its name.
    pub job: Box<str>,
    /// Where it is.
    pub state: JobState,
    /// How long it has run, with all its attempts and the time between them.
    pub duration: Duration,
    /// How often it was run again after a failure.
    pub restarts: u32,
    /// The last of what failed it, as in a [`JobReport`].
    pub failures: Vec<JobFailure>,
    /// What each task of the present attempt has done so far, by vertex and subtask. A task that did
    /// not answer in time is missing.
    pub tasks: Vec<TaskReport>,
    /// How many tasks are missing: not opened yet, or too busy to answer.
    pub missing: usize,
}

impl JobSnapshot {
    /// How many records came in at all subtasks of a vertex so far; of a source, how many it made.
    #[must_use]
    pub fn records_in(&self, vertex: &str) -> u64 {
        records_in(&self.tasks, vertex)
    }
}

fn records_in(tasks: &[TaskReport], vertex: &str) -> u64 {
    let of_vertex = tasks.iter().filter(|task| &*task.vertex == vertex);
    of_vertex.map(|task| task.records_in).sum()
}

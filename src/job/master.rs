//! Who looks after a job: told of each task's end, it ends the others where one failed.

use super::error::RunError;
use super::report::{JobReport, JobState};
use crate::processor::Failure;
use crate::stream::{StreamTask, TaskReport};
use crate::sync::{PlainArc, SetOnce};
use crate::task::{Ended, Outcome, TaskHandle, TaskState};
use crate::wait::Answer;
use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

/// What a task has done, told when it has ended.
pub(super) type LastWords = PlainArc<SetOnce<TaskReport>>;

/// One task of the job.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) handle: TaskHandle<StreamTask>,
    pub(super) last_words: LastWords,
}

/// Who waits for the end of the job.
pub(super) type Waiting = Answer<Result<JobReport, RunError>>;

/// See above.
pub(super) struct Master {
    job: Box<str>,
    members: Vec<Member>,
    /// `None`: ended.
    ended: Vec<Option<Ended>>,
    /// Wakes the master at a task's end.
    waker: Waker,
    state: JobState,
    /// The task that failed first, and why.
    failed: Option<(Box<str>, Failure)>,
    waiting: Vec<Waiting>,
    duration: Option<Duration>,
}

impl Master {
    pub(super) fn new(job: Box<str>, waker: Waker) -> Self {
        Self {
            job,
            members: Vec::new(),
            ended: Vec::new(),
            waker,
            state: JobState::Running,
            failed: None,
            waiting: Vec::new(),
            duration: None,
        }
    }

    /// Looks after these tasks from now on.
    pub(super) fn look_after(&mut self, members: Vec<Member>, elapsed: Duration) {
        self.ended = members
            .iter()
            .map(|member| Some(member.handle.ended()))
            .collect();
        self.members = members;
        self.task_ended(elapsed);
    }

    pub(super) fn state(&self) -> JobState {
        self.state
    }

    /// Cancels the job, unless it is ending.
    pub(super) fn cancel(&mut self) {
        if self.state == JobState::Running {
            self.end_others(JobState::Canceling);
        }
    }

    /// Has `waiting` told of the end.
    pub(super) fn tell(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.tell_all();
    }

    fn end_others(&mut self, state: JobState) {
        self.state = state;
        for member in &self.members {
            member.handle.cancel();
        }
    }

    /// Some task may have ended.
    pub(super) fn task_ended(&mut self, elapsed: Duration) {
        for index in 0..self.ended.len() {
            let mut cx = Context::from_waker(&self.waker);
            let ended = self.ended[index].as_mut();
            if let Some(Poll::Ready(outcome)) = ended.map(|ended| Pin::new(ended).poll(&mut cx)) {
                self.ended[index] = None;
                self.meet(outcome);
            }
        }
        if self.duration.is_none() && self.ended.iter().all(Option::is_none) {
            self.duration = Some(elapsed);
            self.state = match self.state {
                JobState::Running => JobState::Finished,
                JobState::Failing => JobState::Failed,
                _ => JobState::Canceled,
            };
        }
        self.tell_all();
    }

    fn meet(&mut self, outcome: Outcome) {
        match (outcome.state, outcome.cause) {
            (TaskState::Finished, _) => {}
            (TaskState::Failed, cause) => {
                if let (None, Some(cause)) = (&self.failed, cause) {
                    self.failed = Some((outcome.name, cause));
                }
                if self.state == JobState::Running {
                    self.end_others(JobState::Failing);
                }
            }
            // Somebody cancelled that task alone: the job is not what it was without it.
            _ => self.cancel(),
        }
    }

    fn tell_all(&mut self) {
        let Some(duration) = self.duration else {
            return;
        };
        for waiting in core::mem::take(&mut self.waiting) {
            let tasks = self.members.iter();
            let report = JobReport {
                job: self.job.clone(),
                state: self.state,
                duration,
                tasks: tasks
                    .filter_map(|member| member.last_words.get().cloned())
                    .collect(),
            };
            let told = match (&self.failed, self.state) {
                (_, JobState::Finished) => Ok(report),
                (Some((task, cause)), JobState::Failed) => Err(RunError::Failed {
                    task: task.clone(),
                    cause: cause.clone(),
                    report: Box::new(report),
                }),
                _ => Err(RunError::Canceled(Box::new(report))),
            };
            let _gone = waiting.send(told);
        }
    }
}

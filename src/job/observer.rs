//! Who is told of what becomes of a job's tasks, and says what each attempt begins with: where
//! checkpoints are joined to a job.

use super::master::Master;
use super::members::Member;
use super::report::{JobFailure, JobState};
use crate::letter::{BoxError, Outcome};
use crate::stream::{Deployment, StopMode};
use crate::task::TaskHandle;

/// What an attempt begins with: it is given each subtask's deployment before any task is spawned.
pub(super) type Restored = Box<dyn FnMut(&mut Deployment) -> Outcome + Send>;

/// See above. All of it is called by the master's thread, between two of its letters, and must not
/// block. Attempts come one after the other: a call that names one is about the present one.
pub(super) trait JobObserver: Send {
    /// The attempt is to be deployed: says by `recovery` what it begins with, at once or later.
    fn recover(&mut self, attempt: u32, recovery: Recovery) {
        let _ = attempt;
        recovery.answer(Ok(Box::new(|_deployment| Ok(()))));
    }

    /// All tasks of the attempt are open. Some may have finished already.
    fn all_running(&mut self, attempt: u32, members: &[Member]) {
        let _ = (attempt, members);
    }

    /// A task has finished, the one at that place among the members.
    fn task_finished(&mut self, attempt: u32, task: usize) {
        let _ = (attempt, task);
    }

    /// The attempt has failed: its other tasks are about to be cancelled.
    fn failed(&mut self, failure: &JobFailure) {
        let _ = failure;
    }

    /// The attempt is no longer running, whether it has failed, was cancelled or has finished; told
    /// once of each attempt that was deployed.
    fn left_running(&mut self, attempt: u32) {
        let _ = attempt;
    }

    /// The sources of the job are to stop.
    fn stopping(&mut self, mode: StopMode) {
        let _ = mode;
    }

    /// The job is over.
    fn ended(&mut self, state: JobState) {
        let _ = state;
    }
}

/// A job that nobody observes: each attempt begins with nothing.
pub(super) struct Unobserved;

impl JobObserver for Unobserved {}

/// Has the master go on with an attempt, from any thread. Dropped without an answer, it fails the
/// attempt.
pub(super) struct Recovery {
    master: Option<TaskHandle<Master>>,
    attempt: u32,
}

impl Recovery {
    pub(super) fn new(master: TaskHandle<Master>, attempt: u32) -> Self {
        Self {
            master: Some(master),
            attempt,
        }
    }

    /// What the attempt begins with, or why it cannot begin.
    pub(super) fn answer(mut self, restored: Result<Restored, BoxError>) {
        self.post(restored);
    }

    fn post(&mut self, restored: Result<Restored, BoxError>) {
        let attempt = self.attempt;
        if let Some(master) = self.master.take() {
            // Urgent: who answers may be on the master's own thread, and cannot wait there for room. There
            // is some, since users do not post so, and one attempt at most is recovered. A master that is
            // gone begins nothing any more.
            let _gone = master.post_urgent(move |master| master.recovered(attempt, restored));
        }
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        self.post(Err("nobody says what the attempt begins with".into()));
    }
}

#[cfg(test)]
mod tests;

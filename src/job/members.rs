//! The tasks of a job's present attempt, as whoever has the job finds them.

use crate::stream::{StreamTask, TaskEnding};
use crate::sync::{Mutex, PlainArc, SetOnce};
use crate::task::TaskHandle;

/// How a task has ended, told when it has.
pub(super) type LastWords = PlainArc<SetOnce<TaskEnding>>;

/// One task of the job.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) handle: TaskHandle<StreamTask>,
    pub(super) last_words: LastWords,
    /// Set when the task is open: it runs.
    pub(super) opened: PlainArc<SetOnce<()>>,
}

/// See above: written by the job's master, read from any thread. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Members(PlainArc<Mutex<Present>>);

#[derive(Default)]
struct Present {
    members: Vec<Member>,
    has_ended: bool,
}

impl Members {
    /// Those of the next attempt take the place of those before.
    pub(super) fn replace(&self, members: Vec<Member>) {
        let before = core::mem::replace(&mut self.0.lock().members, members);
        // The last handle of a task drops what is the caller's, not under the lock.
        drop(before);
    }

    /// By vertex and subtask.
    pub(super) fn now(&self) -> Vec<Member> {
        self.0.lock().members.clone()
    }

    /// The member whose task is called `name`.
    pub(super) fn find(&self, name: &str) -> Option<Member> {
        let present = self.0.lock();
        let mut members = present.members.iter();
        members.find(|member| member.handle.name() == name).cloned()
    }

    /// The job has ended for good.
    pub(super) fn end(&self) {
        self.0.lock().has_ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.lock().has_ended
    }
}

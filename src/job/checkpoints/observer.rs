//! Tells the keeper of a job's checkpoints what becomes of the job.

use super::keeper::Keeper;
use crate::checkpoint::{JobEnd, SubtaskId};
use crate::job::members::Member;
use crate::job::observer::{JobObserver, Recovery};
use crate::job::report::{JobFailure, JobState};
use crate::stream::StopMode;
use crate::task::TaskHandle;

/// See above.
#[derive(Clone)]
pub(in crate::job) struct CheckpointObserver {
    pub(in crate::job) keeper: TaskHandle<Keeper>,
    /// By place among the members.
    pub(in crate::job) subtasks: Vec<SubtaskId>,
    /// By place among the members.
    pub(in crate::job) names: Vec<String>,
}

impl CheckpointObserver {
    fn tell(&self, tell: impl FnOnce(&mut Keeper) + Send + 'static) {
        // A keeper that is gone keeps nothing any more.
        let _gone = self.keeper.post(tell);
    }
}

impl JobObserver for CheckpointObserver {
    fn recover(&mut self, _attempt: u32, recovery: Recovery) {
        self.tell(move |keeper| keeper.recover(recovery));
    }

    fn all_running(&mut self, _attempt: u32, members: &[Member]) {
        let mut executors: Vec<Vec<_>> = Vec::new();
        for (member, subtask) in members.iter().zip(&self.subtasks) {
            executors.resize_with((subtask.vertex as usize + 1).max(executors.len()), Vec::new);
            executors[subtask.vertex as usize].push(member.handle.executor());
        }
        self.tell(move |keeper| keeper.running(executors));
    }

    fn task_finished(&mut self, _attempt: u32, task: usize) {
        if let Some(&subtask) = self.subtasks.get(task) {
            self.tell(move |keeper| keeper.task_finished(subtask));
        }
    }

    fn failed(&mut self, failure: &JobFailure) {
        let task = self.names.iter().position(|name| **name == *failure.task);
        let subtask = task.map(|task| self.subtasks[task]);
        let detail = failure.cause.to_string();
        self.tell(move |keeper| keeper.task_failed(subtask, &detail));
    }

    fn left_running(&mut self, _attempt: u32) {
        self.tell(Keeper::left_running);
    }

    fn stopping(&mut self, mode: StopMode) {
        self.tell(move |keeper| keeper.stopping(mode));
    }

    fn ended(&mut self, state: JobState) {
        let end = match state {
            JobState::Finished => JobEnd::Finished,
            JobState::Failed => JobEnd::Failed,
            _ => JobEnd::Cancelled,
        };
        self.tell(move |keeper| keeper.ended(end));
    }
}

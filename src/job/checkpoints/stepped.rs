//! The checkpoints of a job that is stepped by hand: the keeper is one more of those that are stepped,
//! and so is what blocks.

use super::beside::{Beside, ByHand};
use super::checkpointing::Checkpointing;
use super::handle::CheckpointPromise;
use super::keeper::{Keeper, KeeperParts, LastWords};
use super::starting::{describe, no_words};
use crate::checkpoint::{CheckpointFailure, CheckpointStatistics, JobEnd, SubtaskId};
use crate::job::error::JobError;
use crate::job::observer::Restored;
use crate::job::plan::Blueprint;
use crate::letter::{BoxError, Mail};
use crate::processor::{Executor, Failure, MailboxProcessor, Step};
use crate::ring::Budget;
use crate::stream::{Origin, StopMode, StreamTask};
use crate::sync::{Mutex, PlainArc, SharedClock};
use crate::task::SpawnError;
use crate::wait::reply;
use std::time::Instant;

/// See above.
pub(in crate::job) struct SteppedCheckpoints {
    processor: MailboxProcessor<Keeper, Mail<Keeper>>,
    pool: ByHand,
    /// By number of the task.
    subtasks: Vec<SubtaskId>,
    /// Why checkpoints have the job fail.
    failure: PlainArc<Mutex<Option<CheckpointFailure>>>,
    is_running: bool,
}

impl SteppedCheckpoints {
    /// The checkpoints of a job, and what its tasks begin with: read at once.
    pub(in crate::job) fn new(
        blueprint: &Blueprint,
        checkpointing: Checkpointing,
        clock: &SharedClock,
        origin: Origin,
    ) -> Result<(Self, Restored), JobError> {
        checkpointing.check()?;
        let job = PlainArc::new(describe(blueprint, &checkpointing));
        let subtasks = job.coordinated.topology.subtasks().collect();
        let pool = ByHand::default();
        let failure = PlainArc::default();
        let told: PlainArc<Mutex<Option<CheckpointFailure>>> = PlainArc::clone(&failure);
        let prepared = MailboxProcessor::builder().shared_clock(clock.clone());
        let prepared = prepared.prepare().map_err(|error| JobError::Spawn {
            task: "checkpoint-coordinator".to_owned(),
            error: SpawnError::Capacity(error),
        })?;
        prepared.owned_by_this_thread();
        let parts = KeeperParts {
            checkpointing,
            job,
            clock: clock.clone(),
            started: origin.at,
            started_ms: origin.at_ms,
            fail: Box::new(move |failure| *told.lock() = Some(failure)),
        };
        let beside: PlainArc<dyn Beside> = PlainArc::new(pool.clone());
        let last_words: LastWords = no_words();
        let hook_thread = PlainArc::clone(&beside);
        let me = prepared.executor();
        let mut keeper = Keeper::new(parts, me, beside, hook_thread, last_words);
        let restored = keeper.recover_here().map_err(JobError::Recovery)?;
        let stepped = Self {
            processor: prepared.build_with(keeper, crate::processor::NoAction),
            pool,
            subtasks,
            failure,
            is_running: false,
        };
        Ok((stepped, restored))
    }

    fn tell(&mut self, tell: impl FnOnce(&mut Keeper)) {
        self.processor.with_owner(tell);
    }

    /// All tasks are open; told once.
    pub(in crate::job) fn all_open(
        &mut self,
        executors: impl Iterator<Item = Executor<StreamTask>>,
    ) {
        if core::mem::replace(&mut self.is_running, true) {
            return;
        }
        let mut by_vertex: Vec<Vec<_>> = Vec::new();
        for (executor, subtask) in executors.zip(&self.subtasks) {
            let vertex = subtask.vertex as usize;
            by_vertex.resize_with((vertex + 1).max(by_vertex.len()), Vec::new);
            by_vertex[vertex].push(executor);
        }
        self.tell(|keeper| keeper.running(by_vertex));
    }

    pub(in crate::job) fn task_finished(&mut self, task: usize) {
        let subtask = self.subtasks[task];
        self.tell(|keeper| keeper.task_finished(subtask));
    }

    pub(in crate::job) fn task_failed(&mut self, task: usize, cause: &Failure) {
        let (subtask, detail) = (self.subtasks[task], cause.to_string());
        self.tell(|keeper| keeper.task_failed(Some(subtask), &detail));
    }

    pub(in crate::job) fn stopping(&mut self, mode: StopMode) {
        self.tell(|keeper| keeper.stopping(mode));
    }

    pub(in crate::job) fn ended(&mut self, end: JobEnd) {
        self.tell(|keeper| {
            keeper.left_running();
            keeper.ended(end);
        });
    }

    /// Why checkpoints have the job fail; told once.
    pub(in crate::job) fn take_failure(&mut self) -> Option<Failure> {
        let failure = self.failure.lock().take();
        failure.map(|failure| Failure::error("checkpoint", BoxError::from(failure)))
    }

    /// Runs letters of the coordinator.
    pub(in crate::job) fn step(&mut self, budget: Budget) -> Result<Step, Failure> {
        self.processor.step(budget)
    }

    /// Runs one thing that blocks; whether there was one.
    pub(in crate::job) fn run_beside(&mut self) -> bool {
        self.pool.run_one()
    }

    /// Whether neither has anything to do.
    pub(in crate::job) fn is_idle(&self) -> bool {
        self.processor.is_idle() && self.pool.len() == 0
    }

    pub(in crate::job) fn next_timer(&self) -> Option<Instant> {
        self.processor.next_timer()
    }

    pub(in crate::job) fn statistics(&mut self) -> CheckpointStatistics {
        self.processor.with_owner(|keeper| keeper.statistics())
    }

    pub(in crate::job) fn trigger(&mut self) -> CheckpointPromise {
        let (answer, told) = reply();
        self.tell(|keeper| keeper.trigger(answer));
        CheckpointPromise::new(told)
    }
}

//! Keeps a job's checkpoints: the coordinator on its own mailbox, with its effects carried out.
//!
//! What blocks runs on the I/O pool, and answers with a letter. Nothing here waits for a task.
//!
//! Q1. All messages of an attempt carry its epoch: what comes late from an earlier one is known.

use super::beside::{Beside, Job, Refused};
use super::checkpointing::Checkpointing;
use super::hooks::HookCalls;
use super::outbox::Outbox;
use super::unanswered::Unanswered;
use crate::checkpoint::{
    CheckpointCoordinator, CheckpointFailure, CheckpointFailureReason, CheckpointStatistics,
    CheckpointSummary, CommitChain, CoordinatedJob, Effect, Epoch, JobEnd, PromiseId,
    RestoreTarget, SubtaskId, ToCoordinator, Writers,
};
use crate::job::observer::Recovery;
use crate::processor::{Executor, Timer};
use crate::stream::{StopMode, StreamTask};
use crate::sync::{Clock as _, Mutex, PlainArc, SharedClock};
use crate::wait::Answer;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// What somebody is told who asked for a checkpoint.
pub(in crate::job) type Promised = Result<CheckpointSummary, CheckpointFailure>;

/// What there is to tell of a job's checkpoints, for who asks when the keeper is gone.
pub(in crate::job) type LastWords = PlainArc<Mutex<CheckpointStatistics>>;

/// A job, as its checkpoints see it.
#[derive(Debug)]
pub(in crate::job) struct JobDescription {
    pub(in crate::job) coordinated: CoordinatedJob,
    pub(in crate::job) restored_as: RestoreTarget,
}

/// What a keeper begins with.
pub(in crate::job) struct KeeperParts {
    pub(in crate::job) checkpointing: Checkpointing,
    pub(in crate::job) job: PlainArc<JobDescription>,
    pub(in crate::job) clock: SharedClock,
    pub(in crate::job) started: Instant,
    pub(in crate::job) started_ms: i64,
    /// Has the job fail, for good.
    pub(in crate::job) fail: Box<dyn FnMut(CheckpointFailure) + Send>,
}

/// See above.
pub(in crate::job) struct Keeper {
    pub(super) parts: KeeperParts,
    pub(super) me: Executor<Self>,
    pub(super) pool: PlainArc<dyn Beside>,
    pub(super) hooks: HookCalls,
    /// What the pool had no room for, in order.
    unsubmitted: VecDeque<Job>,
    /// `None` before the first attempt is recovered.
    pub(super) coordinator: Option<CheckpointCoordinator>,
    pub(super) chain: ChainRef,
    /// `None` before the first attempt (Q3).
    pub(super) writers: Option<Writers>,
    pub(super) outbox: Outbox,
    effects: VecDeque<Effect>,
    is_carrying_out: bool,
    pub(super) promises: BTreeMap<PromiseId, Answer<Promised>>,
    next_promise: u64,
    timer: Option<(u64, Timer)>,
    /// An attempt that waits to be recovered (Q2).
    pub(super) recovering: Option<Recovery>,
    pub(super) storage: Unanswered,
    /// Whether a record may be written that the coordinator has not.
    pub(super) has_unclear_record: bool,
    pub(super) statistics: LastWords,
    /// What runs on the pool and is to be answered.
    unanswered: usize,
    /// Who waits until nothing does.
    waiting_for_rest: Vec<Answer<()>>,
    pub(super) end: Option<JobEnd>,
    /// Whether the job was asked to stop so that it can go on later.
    is_suspending: bool,
}

/// The job's hold on the chain, once it has taken over.
pub(super) type ChainRef = PlainArc<Mutex<Option<CommitChain>>>;

impl Keeper {
    /// When a pool without room is tried again.
    pub(super) const RETRY_AFTER: Duration = Duration::from_millis(1);
    /// How many attempts at checkpoints the history keeps.
    pub(in crate::job) const HISTORY_MAX: usize = 64;

    pub(in crate::job) fn new(
        parts: KeeperParts,
        me: Executor<Self>,
        pool: PlainArc<dyn Beside>,
        hook_thread: PlainArc<dyn Beside>,
        statistics: LastWords,
    ) -> Self {
        let hooks = HookCalls::new(parts.checkpointing.hooks.clone(), hook_thread);
        Self {
            parts,
            me,
            pool,
            hooks,
            unsubmitted: VecDeque::new(),
            coordinator: None,
            chain: ChainRef::default(),
            writers: None,
            outbox: Outbox::default(),
            effects: VecDeque::new(),
            is_carrying_out: false,
            promises: BTreeMap::new(),
            next_promise: 0,
            timer: None,
            recovering: None,
            storage: Unanswered::default(),
            has_unclear_record: false,
            statistics,
            unanswered: 0,
            waiting_for_rest: Vec::new(),
            end: None,
            is_suspending: false,
        }
    }

    pub(super) fn now_ns(&self) -> u64 {
        let since = self.parts.clock.now();
        let since = since.saturating_duration_since(self.parts.started);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Gives the coordinator an input, and carries out what that comes to.
    pub(super) fn input(
        &mut self,
        input: impl FnOnce(&mut CheckpointCoordinator, u64) -> Vec<Effect>,
    ) {
        let now_ns = self.now_ns();
        let Some(coordinator) = &mut self.coordinator else {
            return;
        };
        let effects = input(coordinator, now_ns);
        self.carry_out(effects);
    }

    /// Carries out effects, and behind them those of what they are answered by at once.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        self.effects.extend(effects);
        if core::mem::replace(&mut self.is_carrying_out, true) {
            return;
        }
        while let Some(effect) = self.effects.pop_front() {
            self.carry_out_one(effect);
        }
        self.is_carrying_out = false;
        self.set_timer();
        self.discard_unclear();
        // Q2.
        self.begin_recovery();
    }

    /// The coordinator has those deleted that it knows of, when the job is over and keeps none; there may be
    /// one more.
    fn discard_unclear(&mut self) {
        if self.has_unclear_record && self.keeps_none() {
            self.has_unclear_record = false;
            self.discard_all_beside();
        }
    }

    /// Runs `work` on the pool, and `then` here with what it gives.
    pub(super) fn beside<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        self.unanswered += 1;
        let me = self.me.clone();
        let job = move || {
            let given = work();
            // A keeper that is gone heeds nothing any more.
            let _gone = me.execute(move |keeper: &mut Self| {
                keeper.unanswered -= 1;
                then(keeper, given);
                keeper.rest();
            });
        };
        self.unsubmitted.push_back(Box::new(job));
        // Where others wait, they are tried again, and this one behind them.
        if self.unsubmitted.len() == 1 {
            self.submit();
        }
    }

    /// Hands over what waits; tries again later, where there is no room.
    fn submit(&mut self) {
        while let Some(job) = self.unsubmitted.pop_front() {
            // The pool is closed when the keeper is dropped, and not before.
            if let Err(Refused { job, is_full: true }) = self.pool.try_run(job) {
                self.unsubmitted.push_front(job);
                self.me.run_after(Self::RETRY_AFTER, Self::submit);
                return;
            }
        }
    }

    /// Tells who waits that nothing is left to be done beside, or that it may never be.
    pub(super) fn rest(&mut self) {
        let is_recovering = self.recovering.is_some() || self.hooks.are_restoring();
        let is_answered = self.unanswered == 0 || self.storage.has_given_up();
        if is_answered && !is_recovering {
            for waiting in self.waiting_for_rest.drain(..) {
                let _gone = waiting.send(());
            }
        }
    }

    /// Has `waiting` told when all that runs beside is done.
    pub(in crate::job) fn tell_at_rest(&mut self, waiting: Answer<()>) {
        self.waiting_for_rest.push(waiting);
        self.rest();
    }

    pub(super) fn receive(&mut self, message: ToCoordinator) {
        self.input(|coordinator, now_ns| coordinator.receive(message, now_ns));
    }

    pub(super) fn data_ended(&mut self, epoch: Epoch, subtask: SubtaskId) {
        self.input(|coordinator, now_ns| {
            if coordinator.epoch() == epoch {
                coordinator.data_ended(subtask, now_ns)
            } else {
                Vec::new()
            }
        });
    }

    /// All tasks of the attempt run.
    pub(in crate::job) fn running(&mut self, executors: Vec<Vec<Executor<StreamTask>>>) {
        self.outbox.address(executors);
        self.input(CheckpointCoordinator::job_running);
    }

    pub(in crate::job) fn task_finished(&mut self, subtask: SubtaskId) {
        self.input(|coordinator, now_ns| coordinator.task_finished(subtask, now_ns));
    }

    pub(in crate::job) fn task_failed(&mut self, subtask: Option<SubtaskId>, detail: &str) {
        self.input(|coordinator, now_ns| match subtask {
            Some(subtask) => coordinator.task_failed(subtask, detail, now_ns),
            None => coordinator.job_left_running(now_ns),
        });
    }

    pub(in crate::job) fn left_running(&mut self) {
        self.input(CheckpointCoordinator::job_left_running);
        self.outbox.clear();
    }

    /// The job was asked to stop.
    pub(in crate::job) fn stopping(&mut self, mode: StopMode) {
        self.is_suspending |= mode == StopMode::NoDrain;
    }

    /// The job is over.
    pub(in crate::job) fn ended(&mut self, end: JobEnd) {
        let end = match end {
            JobEnd::Finished if self.is_suspending => JobEnd::Suspended,
            end => end,
        };
        self.end = Some(end);
        self.input(|coordinator, now_ns| coordinator.shutdown(end, now_ns));
        self.give_up_hooks();
        if self.coordinator.is_none() {
            self.refuse_all();
        }
    }

    /// Somebody asks for a checkpoint.
    pub(in crate::job) fn trigger(&mut self, answer: Answer<Promised>) {
        self.next_promise += 1;
        let promise = PromiseId(self.next_promise);
        self.promises.insert(promise, answer);
        self.input(|coordinator, now_ns| coordinator.trigger_checkpoint(promise, now_ns));
        if self.coordinator.is_none() {
            self.refuse_all();
        }
    }

    /// No coordinator is there yet to keep promises.
    fn refuse_all(&mut self) {
        for (_, answer) in core::mem::take(&mut self.promises) {
            let _gone = answer.send(Err(CheckpointFailure {
                id: None,
                reason: CheckpointFailureReason::NotAllRequiredTasksRunning,
                detail: "".into(),
            }));
        }
    }

    pub(in crate::job) fn statistics(&self) -> CheckpointStatistics {
        match &self.coordinator {
            Some(coordinator) => coordinator.statistics(self.now_ns()),
            None => self.statistics.lock().clone(),
        }
    }

    /// Has the coordinator called when it wants to be.
    fn set_timer(&mut self) {
        let deadline_ns = self
            .coordinator
            .as_ref()
            .and_then(|of| of.next_deadline_ns());
        if self.timer.as_ref().map(|(at_ns, _)| *at_ns) == deadline_ns {
            return;
        }
        if let Some((_, timer)) = self.timer.take() {
            timer.cancel();
        }
        let Some(at_ns) = deadline_ns else { return };
        if let Some(at) = self.parts.started.checked_add(Duration::from_nanos(at_ns)) {
            let timer = self.me.run_at(at, |keeper: &mut Self| {
                keeper.timer = None;
                keeper.input(CheckpointCoordinator::timer);
            });
            self.timer = Some((at_ns, timer));
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.write_down();
        // Nobody is to wait for storage to be told that there is no checkpoint.
        self.promises.clear();
        if self.end.is_none() {
            // No checkpoint follows, and tasks would wait for their last one.
            (self.parts.fail)(CheckpointFailure {
                id: None,
                reason: CheckpointFailureReason::CoordinatorShutdown,
                detail: "it has ended before the job".into(),
            });
        }
    }
}

#[cfg(test)]
mod tests;

//! Attempts at a job: what each begins with is found out, and the keeper set up for it.
//!
//! Q2. An attempt is not deployed before it is known what became of a record that was being written
//!     when the one before it failed.
//! Q3. The chain is taken over for a further attempt only while it is the job's own, and the job is not
//!     over: whoever has it by now keeps it.

use super::beside::caught;
use super::environment::TaskEnvironment;
use super::keeper::Keeper;
use super::recovering::{Loaded, RecoveryJob, by_whom, collect};
use super::unanswered::Progress;
use crate::checkpoint::{
    CheckpointCoordinator, CommitError, CoordinatorSetup, Overtaken, Restart, StorageError, Writers,
};
use crate::job::observer::{Recovery, Restored};
use crate::letter::BoxError;
use crate::sync::PlainArc;

impl Keeper {
    /// An attempt is to be deployed: finds out what it begins with.
    pub(super) fn recover(&mut self, recovery: Recovery) {
        self.outbox.clear();
        self.input(CheckpointCoordinator::job_left_running);
        self.recovering = Some(recovery);
        self.begin_recovery();
        self.wait_to_begin();
    }

    pub(super) fn begin_recovery(&mut self) {
        let is_committing = |of: &CheckpointCoordinator| of.is_committing();
        let is_committing = self.coordinator.as_ref().is_some_and(is_committing);
        if self.recovering.is_none() || is_committing || self.storage.is_record_overdue() {
            return;
        }
        let recovery = self.recovering.take();
        let is_shut_down = |of: &CheckpointCoordinator| of.is_shut_down();
        if self.coordinator.as_ref().is_some_and(is_shut_down) {
            // Q3. The master knows.
            if let Some(recovery) = recovery {
                recovery.answer(Err("no attempt follows".into()));
            }
            self.rest();
            return;
        }
        let job = self.recovery_job();
        let number = recovery.map(|recovery| self.wait_for(recovery, job.progress.clone()));
        self.beside(
            move || caught("restoring a checkpoint", || job.run()),
            move |keeper, loaded| {
                // One that was given up is answered already.
                if let Some(recovery) = number.and_then(|number| keeper.storage.answered(number)) {
                    keeper.recovered(recovery, loaded);
                }
            },
        );
    }

    fn recovered(&mut self, recovery: Recovery, loaded: Result<Loaded, BoxError>) {
        match loaded {
            Ok(loaded) => self.restore_hooks(recovery, loaded),
            Err(error) => self.deploy(recovery, Err(error)),
        }
    }

    /// All is there that the attempt begins with, or it cannot begin.
    pub(super) fn deploy(&mut self, recovery: Recovery, loaded: Result<Loaded, BoxError>) {
        match loaded.and_then(|loaded| self.set_up(loaded)) {
            Ok(restored) => {
                recovery.answer(Ok(restored));
                // What earlier attempts have left; a commit does the rest.
                self.collect_beside();
            }
            Err(error) => {
                if let Some(CommitError::Fenced { record, cause }) = error.downcast_ref()
                    && self.coordinator.is_some()
                {
                    // Q3. That ends the job for good, before the answer comes.
                    let detail = by_whom(record, cause.as_ref());
                    self.input(|coordinator, now_ns| coordinator.fenced(&detail, now_ns));
                }
                recovery.answer(Err(error));
                if self.keeps_none() {
                    // The job was ended while its chain was taken over once more.
                    self.discard_all_beside();
                }
            }
        }
    }

    /// Storage has failed by `cause`, and the chain's head is another coordinator's, as far as whoever has
    /// looked could know.
    pub(super) fn overtaken(&mut self, by: &Overtaken, cause: &StorageError) {
        let is_own = |writers: &Writers| writers.contain(by.writer);
        if !self.writers.as_ref().is_some_and(is_own) {
            let detail = by_whom(&by.record, Some(cause));
            self.input(|coordinator, now_ns| coordinator.fenced(&detail, now_ns));
        }
    }

    /// What the only attempt begins with: found out at once, on this thread.
    pub(in crate::job) fn recover_here(&mut self) -> Result<Restored, BoxError> {
        let loaded = self.recovery_job().run()?;
        let failed = collect(&self.chain);
        let target = loaded.hook_target(true);
        self.hooks.restore_here(target.as_ref())?;
        let restored = self.set_up(loaded)?;
        self.not_deleted(failed);
        Ok(restored)
    }

    fn recovery_job(&mut self) -> RecoveryJob {
        let writers = self
            .writers
            .take()
            .map_or_else(Writers::first, Writers::next);
        self.writers = Some(writers.clone());
        RecoveryJob {
            writers,
            checkpointing: self.parts.checkpointing.clone(),
            job: PlainArc::clone(&self.parts.job),
            is_first: self.coordinator.is_none(),
            chain: PlainArc::clone(&self.chain),
            progress: Progress::default(),
        }
    }

    /// The coordinator of the attempt, and what its tasks begin with.
    fn set_up(&mut self, mut loaded: Loaded) -> Result<Restored, BoxError> {
        let recovered = core::mem::take(&mut loaded.recovered);
        self.has_unclear_record = false;
        let now_ns = self.now_ns();
        let effects = match &mut self.coordinator {
            Some(coordinator) => coordinator.restarted(
                Restart {
                    epoch: loaded.epoch,
                    recovered,
                    restored: loaded.restored_id(),
                },
                now_ns,
            )?,
            None => {
                self.coordinator = Some(CheckpointCoordinator::new(CoordinatorSetup {
                    job: self.parts.job.coordinated.clone(),
                    settings: self.parts.checkpointing.settings.clone(),
                    epoch: loaded.epoch,
                    first_id: loaded.first_id,
                    recovered,
                    restored: loaded.restored_id(),
                    clock_zero_ms: self.parts.started_ms,
                    seed: loaded.epoch.0.wrapping_mul(0x9E37_79B9_7F4A_7C15),
                    history_max: Self::HISTORY_MAX,
                }));
                Vec::new()
            }
        };
        self.carry_out(effects);
        let environment = PlainArc::new(TaskEnvironment {
            clock: self.parts.clock.clone(),
            started: self.parts.started,
            pool: PlainArc::downgrade(&self.pool),
            storage: self.parts.checkpointing.stored(),
            writers: self.writers.clone(),
            keeper: self.me.clone(),
        });
        let settings = self.parts.checkpointing.settings.clone();
        Ok(loaded.into_restored(environment, settings))
    }
}

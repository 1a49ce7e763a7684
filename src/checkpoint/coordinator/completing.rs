//! The second half of a checkpoint's life: its record, its place in the store, its promise, and who is
//! told.

use super::effect::{CommitFailure, CommitFailureKind, Effect};
use super::ended::Ended;
use super::pending::{PendingCheckpoint, Stage};
use super::report::{CheckpointStatus, CheckpointSummary};
use super::schedule::FinalCheckpoint;
use super::state_machine::{Activity, CheckpointCoordinator};
use super::statistics::FailedDeletions;
use super::store::CheckpointInUse;
use crate::checkpoint::completed::CompletedCheckpoint;
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::ToSubtask;
use crate::stream::CheckpointId;
use crate::sync::PlainArc;

impl CheckpointCoordinator {
    /// The answer to [`Effect::Commit`]. Where the checkpoint that came with it has been let go of
    /// before, it is not copied.
    #[must_use = "effects are to be carried out"]
    pub fn committed(
        &mut self,
        id: CheckpointId,
        result: Result<(), CommitFailure>,
        now_ns: u64,
    ) -> Vec<Effect> {
        let is_awaited = self.pending.get(&id).is_some_and(|of| of.is_committing());
        if is_awaited {
            match result {
                Ok(()) => self.complete(id, now_ns),
                Err(failure) => self.commit_failed(id, &failure, now_ns),
            }
        }
        self.settle(now_ns)
    }

    /// What was to be deleted is, or could not be: both are the same to the coordinator. The answer
    /// to [`Effect::DiscardStates`] and to [`Effect::DiscardCheckpoint`].
    #[must_use = "effects are to be carried out"]
    pub fn discarded(&mut self, now_ns: u64) -> Vec<Effect> {
        self.cleaning.end();
        self.settle(now_ns)
    }

    /// Something could not be deleted; told beside [`discarded`](Self::discarded), and in the statistics.
    pub(crate) fn not_deleted(&mut self, failed: FailedDeletions) {
        self.statistics.not_deleted(failed);
    }

    /// The right to read a completed checkpoint, which is not deleted before it is
    /// [released](Self::release); `None` if it is not kept.
    #[must_use]
    pub fn acquire(&mut self, id: CheckpointId) -> Option<CheckpointInUse> {
        self.store.acquire(id)
    }

    /// Gives a right back: a checkpoint that is kept no more is deleted now.
    #[must_use = "effects are to be carried out"]
    pub fn release(&mut self, right: CheckpointInUse, now_ns: u64) -> Vec<Effect> {
        if let Some(checkpoint) = self.store.release(right) {
            self.discard_checkpoint(checkpoint);
        }
        self.settle(now_ns)
    }

    /// Has the next record written, if one waits and none is being written (C4).
    pub(super) fn write_next_record(&mut self) {
        if self.is_committing() {
            return;
        }
        let mut pending = self.pending.values_mut();
        let next = pending.find(|pending| matches!(pending.stage, Stage::Acknowledged));
        if let Some(pending) = next {
            let checkpoint = PlainArc::new(pending.finalize(&self.job));
            pending.stage = Stage::Committing(PlainArc::clone(&checkpoint));
            self.effects.push(Effect::Commit(checkpoint));
        }
    }

    fn complete(&mut self, id: CheckpointId, now_ns: u64) {
        let Some(mut pending) = self.pending.remove(&id) else {
            return;
        };
        let Stage::Committing(checkpoint) =
            core::mem::replace(&mut pending.stage, Stage::Acknowledged)
        else {
            return;
        };
        let checkpoint = PlainArc::unwrap_or_clone(checkpoint);
        let state_bytes = checkpoint.state_bytes();
        self.last_completion_ns = Some(now_ns);
        self.failures.on_success(id);
        self.ended.add(id, Ended::Kept);
        let subsumed = if pending.is_savepoint() {
            None
        } else {
            self.store_completed(checkpoint)
        };
        if let Some(promise) = pending.promise {
            let summary = CheckpointSummary {
                epoch: pending.epoch,
                id,
                duration_ns: now_ns.saturating_sub(pending.begun_ns),
                state_bytes,
            };
            debug_assert!(
                pending.is_savepoint() || self.store.latest().is_some_and(|of| of.id == id),
                "C5"
            );
            self.effects.push(Effect::CompletePromise {
                promise,
                result: Ok(summary),
            });
        }
        let report = pending.report(CheckpointStatus::Completed, now_ns);
        self.statistics.ended(&report);
        self.effects.push(Effect::Report(Box::new(report)));
        if pending.is_savepoint() {
            return;
        }
        if pending.is_final {
            self.schedule.final_checkpoint = FinalCheckpoint::Completed;
        }
        self.subsume_older(id, now_ns);
        if self.activity == Activity::Running {
            self.tell_all(&pending, ToSubtask::NotifyComplete(id));
            self.effects.push(Effect::CompleteOperatorCoordinators(id));
            if let Some(subsumed) = subsumed {
                self.tell_all(&pending, ToSubtask::NotifySubsumed(subsumed));
            }
        }
    }

    /// Puts a checkpoint into the store, and has those deleted that are kept no more: the newest of
    /// them, if there is one.
    pub(super) fn store_completed(
        &mut self,
        checkpoint: CompletedCheckpoint,
    ) -> Option<CheckpointId> {
        let subsumption = match self.store.add(checkpoint) {
            Ok(subsumption) => subsumption,
            Err(error) => {
                debug_assert!(
                    false,
                    "records are written in the order of numbers: {error}"
                );
                return None;
            }
        };
        for checkpoint in subsumption.to_discard {
            self.discard_checkpoint(checkpoint);
        }
        subsumption.subsumed
    }

    /// Has a checkpoint deleted, unless it is another coordinator's by now (C6).
    pub(super) fn discard_checkpoint(&mut self, checkpoint: CompletedCheckpoint) {
        if self.activity == Activity::Fenced {
            return;
        }
        self.cleaning.begin();
        self.effects
            .push(Effect::DiscardCheckpoint(Box::new(checkpoint)));
    }

    /// Older ones on their way will not be needed; savepoints are the user's.
    fn subsume_older(&mut self, id: CheckpointId, now_ns: u64) {
        let older = self.pending.range(..id);
        let older = older.filter(|(_, pending)| !pending.is_savepoint());
        let older: Vec<_> = older.map(|(older, _)| *older).collect();
        for older in older {
            let detail = format!("checkpoint {id} is complete");
            self.abort(older, CheckpointFailureReason::Subsumed, &detail, now_ns);
        }
    }

    fn commit_failed(&mut self, id: CheckpointId, failure: &CommitFailure, now_ns: u64) {
        let (reason, ended) = match failure.kind {
            CommitFailureKind::Fenced => return self.fence(&failure.detail, now_ns),
            CommitFailureKind::NotWritten => {
                (CheckpointFailureReason::FinalizeFailure, Ended::Discarded)
            }
            CommitFailureKind::MaybeWritten => {
                (CheckpointFailureReason::FinalizeFailure, Ended::Kept)
            }
        };
        if let Some(pending) = self.pending.remove(&id) {
            self.end_aborted(pending, ended, reason, &failure.detail, now_ns);
        }
    }

    /// Tells those that a checkpoint is committed to, and that are still there.
    pub(super) fn tell_all(&mut self, pending: &PendingCheckpoint, message: ToSubtask) {
        for &subtask in &pending.plan.to_commit_to {
            if self.tasks.get(subtask).takes_part() {
                self.effects.push(Effect::Tell { subtask, message });
            }
        }
    }
}

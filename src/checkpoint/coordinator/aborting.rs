//! How checkpoints come to nothing, one or all.

use super::effect::Effect;
use super::ended::Ended;
use super::failure_manager::FailureVerdict;
use super::pending::PendingCheckpoint;
use super::report::{CheckpointFailure, CheckpointStatus};
use super::schedule::FinalCheckpoint;
use super::state_machine::{Activity, CheckpointCoordinator};
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::ToSubtask;
use crate::stream::{CheckpointId, SnapshotType};

impl CheckpointCoordinator {
    /// Gives a checkpoint up; not one whose record is being written (C4).
    pub(super) fn abort(
        &mut self,
        id: CheckpointId,
        reason: CheckpointFailureReason,
        detail: &str,
        now_ns: u64,
    ) {
        let pending = self.pending.get(&id);
        if pending.is_none_or(PendingCheckpoint::is_committing) {
            return;
        }
        if let Some(pending) = self.pending.remove(&id) {
            self.end_aborted(pending, Ended::Discarded, reason, detail, now_ns);
        }
    }

    /// Gives up all that were begun and all that were asked for, but for one whose record is being
    /// written.
    pub(super) fn abort_all(&mut self, reason: CheckpointFailureReason, detail: &str, now_ns: u64) {
        for request in self.decider.abort_all() {
            self.refuse(request, reason, detail, now_ns);
        }
        let ids: Vec<_> = self.pending.keys().copied().collect();
        for id in ids {
            self.abort(id, reason, detail, now_ns);
        }
    }

    /// The one end of all checkpoints that come to nothing; it is pending no more (C2, C3).
    pub(super) fn end_aborted(
        &mut self,
        pending: PendingCheckpoint,
        ended: Ended,
        reason: CheckpointFailureReason,
        detail: &str,
        now_ns: u64,
    ) {
        let id = pending.id;
        let failure = CheckpointFailure {
            id: Some(id),
            reason,
            detail: detail.into(),
        };
        if let Some(promise) = pending.promise {
            self.effects.push(Effect::CompletePromise {
                promise,
                result: Err(failure.clone()),
            });
        }
        let status = CheckpointStatus::Failed {
            reason,
            detail: detail.into(),
        };
        let report = pending.report(status, now_ns);
        self.statistics.ended(&report);
        self.effects.push(Effect::Report(Box::new(report)));
        self.ended.add(id, ended);
        if pending.is_final || self.would_have_been_final(&pending) {
            self.schedule.retry_final(now_ns);
        }
        let snapshot = pending.options.snapshot;
        if self.activity != Activity::Fenced {
            let latest_completed = self.store.latest().map(|latest| latest.id);
            let message = ToSubtask::NotifyAborted {
                id,
                latest_completed,
            };
            self.tell_all(&pending, message);
            if pending.has_asked_operator_coordinators() {
                self.effects.push(Effect::AbortOperatorCoordinators(id));
            }
            if ended == Ended::Discarded {
                let has_location = pending.has_location();
                self.discard_states(id, pending.into_states());
                if has_location {
                    self.effects.push(Effect::DiscardLocation(id));
                }
            }
        }
        self.count_failure(failure, snapshot, now_ns);
    }

    /// Whether it would have been the final one, had tasks been told of it.
    fn would_have_been_final(&self, pending: &PendingCheckpoint) -> bool {
        pending.is_triggering()
            && !pending.is_savepoint()
            && self.schedule.final_checkpoint == FinalCheckpoint::Unrequested
            && self.tasks.have_sources_ended(&self.job.topology)
    }

    /// Counts a failure, and fails the job if there are too many in a row.
    pub(super) fn count_failure(
        &mut self,
        failure: CheckpointFailure,
        snapshot: SnapshotType,
        now_ns: u64,
    ) {
        let CheckpointFailure { id, reason, detail } = &failure;
        let verdict = self.failures.on_failure(*id, snapshot, *reason);
        let FailureVerdict::Exceeded {
            failures,
            tolerable,
        } = verdict
        else {
            return;
        };
        if self.activity != Activity::Running {
            return;
        }
        let words = match &**detail {
            "" => format!("{failures} failed in a row, {tolerable} are tolerated"),
            detail => format!("{detail}; {failures} failed in a row, {tolerable} are tolerated"),
        };
        self.effects.push(Effect::FailJob(CheckpointFailure {
            detail: words.into(),
            ..failure
        }));
        let cause = "too many checkpoints failed";
        self.suspend(CheckpointFailureReason::JobFailover, cause, now_ns);
    }

    /// Nothing begins any more before all tasks run again.
    pub(super) fn suspend(&mut self, reason: CheckpointFailureReason, detail: &str, now_ns: u64) {
        if self.activity == Activity::Running {
            self.activity = Activity::Suspended;
        }
        self.abort_all(reason, detail, now_ns);
        self.schedule.stop();
    }

    /// Another coordinator has taken over: everything ends at once, and all that is stored is left
    /// to it (C6).
    pub(super) fn fence(&mut self, detail: &str, now_ns: u64) {
        if self.is_shut_down() {
            return;
        }
        let reason = CheckpointFailureReason::Fenced;
        self.activity = Activity::Fenced;
        for request in self.decider.abort_all() {
            self.refuse(request, reason, detail, now_ns);
        }
        for (_, pending) in core::mem::take(&mut self.pending) {
            self.end_aborted(pending, Ended::Kept, reason, detail, now_ns);
        }
        self.schedule.stop();
        self.effects.push(Effect::FailJob(CheckpointFailure {
            id: None,
            reason,
            detail: detail.into(),
        }));
    }
}

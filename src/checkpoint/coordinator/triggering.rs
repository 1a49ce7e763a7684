//! The first half of a checkpoint's life: asked for, planned, numbered, begun, and told to subtasks.

use super::decider::Decision;
use super::effect::{Effect, NamedStates, PromiseId};
use super::ended::Ended;
use super::pending::{Beginning, PendingCheckpoint, Stage};
use super::report::{CheckpointCause, CheckpointFailure};
use super::request::CheckpointRequest;
use super::schedule::FinalCheckpoint;
use super::state_machine::{Activity, CheckpointCoordinator};
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::ToSubtask;
use crate::checkpoint::state_handle::SubtaskId;
use crate::stream::{Alignment, CheckpointId, CheckpointOptions, SnapshotType};

impl CheckpointCoordinator {
    /// Somebody asks for a checkpoint: it does not wait for the minimum pause, but for those on
    /// their way. The promise is completed in any case, once.
    #[must_use = "effects are to be carried out"]
    pub fn trigger_checkpoint(&mut self, promise: PromiseId, now_ns: u64) -> Vec<Effect> {
        let number = self.take_request_number();
        self.promise(CheckpointRequest::checkpoint(number), promise, now_ns);
        self.settle(now_ns)
    }

    /// Somebody asks for a savepoint: it waits for nothing but one that is being begun. The promise
    /// is completed in any case, once.
    #[must_use = "effects are to be carried out"]
    pub fn trigger_savepoint(&mut self, promise: PromiseId, now_ns: u64) -> Vec<Effect> {
        let number = self.take_request_number();
        self.promise(CheckpointRequest::savepoint(number), promise, now_ns);
        self.settle(now_ns)
    }

    /// The answer to [`Effect::InitLocation`]; the error is in the words of what failed.
    #[must_use = "effects are to be carried out"]
    pub fn location_initialized(
        &mut self,
        id: CheckpointId,
        result: Result<(), Box<str>>,
        now_ns: u64,
    ) -> Vec<Effect> {
        let pending = self.pending.get_mut(&id);
        let is_awaited = pending
            .as_ref()
            .is_some_and(|pending| matches!(pending.stage, Stage::Location));
        match (pending, result) {
            (Some(pending), Ok(())) if is_awaited => {
                pending.stage = Stage::OperatorCoordinators;
                self.effects.push(Effect::SnapshotOperatorCoordinators(id));
            }
            (Some(_), Err(detail)) if is_awaited => {
                self.abort(id, CheckpointFailureReason::IoException, &detail, now_ns);
            }
            // It came to nothing meanwhile, and nobody wants the room.
            (None, Ok(()))
                if self.ended.get(id) == Some(Ended::Discarded)
                    && self.activity != Activity::Fenced =>
            {
                self.effects.push(Effect::DiscardLocation(id));
            }
            _ => {}
        }
        self.settle(now_ns)
    }

    /// The answer to [`Effect::SnapshotOperatorCoordinators`]: what each has to be given back after a
    /// restore, or an error in the words of what failed.
    #[must_use = "effects are to be carried out"]
    pub fn operator_coordinators_acknowledged(
        &mut self,
        id: CheckpointId,
        result: Result<NamedStates, Box<str>>,
        now_ns: u64,
    ) -> Vec<Effect> {
        let pending = self.pending.get_mut(&id);
        let pending = pending.filter(|of| matches!(of.stage, Stage::OperatorCoordinators));
        match (pending, result) {
            (Some(pending), Ok(states)) => {
                pending.coordinator_states = states;
                pending.stage = Stage::MasterHooks;
                self.effects.push(Effect::CallMasterHooks(id));
            }
            (Some(_), Err(detail)) => {
                let reason = CheckpointFailureReason::OperatorCoordinatorFailure;
                self.abort(id, reason, &detail, now_ns);
            }
            (None, _) => {}
        }
        self.settle(now_ns)
    }

    /// The answer to [`Effect::CallMasterHooks`]: what each has to be given back after a restore, or
    /// an error in the words of what failed. Subtasks are told of the checkpoint now.
    #[must_use = "effects are to be carried out"]
    pub fn master_hooks_acknowledged(
        &mut self,
        id: CheckpointId,
        result: Result<NamedStates, Box<str>>,
        now_ns: u64,
    ) -> Vec<Effect> {
        let have_sources_ended = self.tasks.have_sources_ended(&self.job.topology);
        let pending = self.pending.get_mut(&id);
        let pending = pending.filter(|of| matches!(of.stage, Stage::MasterHooks));
        match (pending, result) {
            (Some(pending), Ok(states)) => {
                pending.master_states = states;
                pending.stage = Stage::Collecting;
                pending.is_final = have_sources_ended && !pending.is_savepoint();
                let message = ToSubtask::Trigger(pending.barrier());
                let to_trigger = pending.plan.to_trigger.iter();
                let tell = to_trigger.map(|&subtask| Effect::Tell { subtask, message });
                self.effects.extend(tell);
                self.complete_if_acknowledged(id, now_ns);
            }
            (Some(_), Err(detail)) => {
                let reason = CheckpointFailureReason::MasterHookFailure;
                self.abort(id, reason, &detail, now_ns);
            }
            (None, _) => {}
        }
        self.settle(now_ns)
    }

    /// A subtask could not be told that a checkpoint begins.
    #[must_use = "effects are to be carried out"]
    pub fn trigger_failed(
        &mut self,
        id: CheckpointId,
        subtask: SubtaskId,
        detail: &str,
        now_ns: u64,
    ) -> Vec<Effect> {
        let pending = self.pending.get(&id);
        if pending.is_some_and(|pending| pending.lacks(subtask)) {
            let reason = CheckpointFailureReason::TriggerFailure;
            let detail = format!("subtask {}: {detail}", self.job.name_of(subtask));
            self.abort(id, reason, &detail, now_ns);
        }
        self.settle(now_ns)
    }

    /// Takes in a request that nobody waits for.
    pub(super) fn request(&mut self, request: CheckpointRequest, now_ns: u64) {
        let load = self.load();
        let decision = self
            .decider
            .choose_request_to_execute(request, &load, now_ns);
        self.carry_out(decision, now_ns);
    }

    /// Begins what can begin.
    pub(super) fn begin_queued(&mut self, now_ns: u64) {
        while self.activity == Activity::Running {
            let load = self.load();
            let decision = self.decider.choose_queued_request_to_execute(&load, now_ns);
            if decision == Decision::default() {
                break;
            }
            self.carry_out(decision, now_ns);
        }
    }

    fn promise(&mut self, request: CheckpointRequest, promise: PromiseId, now_ns: u64) {
        self.promises.insert(request.number, promise);
        let reason = match self.activity {
            Activity::Running => return self.request(request, now_ns),
            Activity::Suspended => CheckpointFailureReason::NotAllRequiredTasksRunning,
            Activity::Fenced => CheckpointFailureReason::Fenced,
            Activity::ShuttingDown(_) | Activity::ShutDown => {
                CheckpointFailureReason::CoordinatorShutdown
            }
        };
        self.refuse(request, reason, "", now_ns);
    }

    fn carry_out(&mut self, decision: Decision, now_ns: u64) {
        for refused in decision.refused {
            if let Some(again_in_ns) = refused.again_in_ns {
                self.schedule.postpone_periodic(now_ns, again_in_ns);
            }
            self.refuse(refused.request, refused.reason, "", now_ns);
        }
        if let Some(request) = decision.execute {
            self.begin(request, now_ns);
        }
    }

    fn begin(&mut self, request: CheckpointRequest, now_ns: u64) {
        let plan = match self.plans.calculate(|subtask| self.tasks.get(subtask)) {
            Ok(plan) => plan,
            Err(error) => {
                let detail = error.in_words(&self.job.name_of(error.subtask()));
                return self.refuse(request, error.reason(), &detail, now_ns);
            }
        };
        let Some(id) = self.take_id() else {
            let reason = CheckpointFailureReason::IoException;
            return self.refuse(request, reason, "no number is left for it", now_ns);
        };
        let cause = self.cause_of(request);
        if cause == CheckpointCause::Final {
            self.schedule.final_checkpoint = FinalCheckpoint::Unrequested;
        }
        let options = self.options_of(request);
        let pending = PendingCheckpoint::new(Beginning {
            id,
            epoch: self.epoch,
            cause,
            promise: self.promises.remove(&request.number),
            options,
            begun_ns: now_ns,
            begun_ms: self.ms_at(now_ns),
            timeout_ns: self.settings.timeout_ns(),
            plan,
        });
        self.pending.insert(id, pending);
        self.statistics.triggered();
        self.effects.push(Effect::InitLocation { id, options });
    }

    /// No checkpoint is begun for `request`.
    pub(super) fn refuse(
        &mut self,
        request: CheckpointRequest,
        reason: CheckpointFailureReason,
        detail: &str,
        now_ns: u64,
    ) {
        self.statistics.refused(reason);
        let failure = CheckpointFailure {
            id: None,
            reason,
            detail: detail.into(),
        };
        if let Some(promise) = self.promises.remove(&request.number) {
            self.effects.push(Effect::CompletePromise {
                promise,
                result: Err(failure.clone()),
            });
        }
        if self.cause_of(request) == CheckpointCause::Final {
            self.schedule.retry_final(now_ns);
        }
        self.count_failure(failure, request.snapshot, now_ns);
    }

    fn cause_of(&self, request: CheckpointRequest) -> CheckpointCause {
        if request.snapshot == SnapshotType::Savepoint {
            CheckpointCause::Savepoint
        } else if request.is_periodic() {
            CheckpointCause::Periodic
        } else if self.schedule.final_checkpoint == FinalCheckpoint::Requested(request.number) {
            CheckpointCause::Final
        } else {
            CheckpointCause::Manual
        }
    }

    fn options_of(&self, request: CheckpointRequest) -> CheckpointOptions {
        let alignment = match self.settings.alignment {
            // Records that a savepoint overtakes could not be restored elsewhere.
            Alignment::Unaligned if request.snapshot == SnapshotType::Savepoint => {
                Alignment::Aligned
            }
            alignment => alignment,
        };
        CheckpointOptions {
            snapshot: request.snapshot,
            alignment,
            alignment_timeout_ms: 0,
            is_final: false,
        }
    }
}

//! What the keeper does about each effect of the coordinator.

use super::keeper::Keeper;
use super::outbox::Told;
use super::recovering::{collect, discard_all, discard_states};
use crate::checkpoint::{
    CheckpointCoordinator, CommitFailure, CommitFailureKind, Effect, FailedDeletions, SubtaskId,
    ToSubtask,
};
use crate::stream::CheckpointId;
use crate::sync::PlainArc;

impl Keeper {
    /// Whether the job is over, and none of its checkpoints is kept.
    pub(super) fn keeps_none(&self) -> bool {
        let retention = self.parts.checkpointing.settings.retention;
        let is_shut_down = |of: &CheckpointCoordinator| of.is_shut_down() && !of.is_fenced();
        self.end.is_some_and(|end| !retention.retains(end))
            && self.coordinator.as_ref().is_some_and(is_shut_down)
    }

    pub(super) fn carry_out_one(&mut self, effect: Effect) {
        match effect {
            Effect::InitLocation { id, .. } => {
                // Directories of an object store are made by what is put into them.
                self.input(|of, now_ns| of.location_initialized(id, Ok(()), now_ns));
            }
            Effect::SnapshotOperatorCoordinators(id) => {
                // No operator has one.
                self.input(|of, now_ns| {
                    of.operator_coordinators_acknowledged(id, Ok(Vec::new()), now_ns)
                });
            }
            Effect::CallMasterHooks(id) => self.call_master_hooks(id),
            Effect::CompleteOperatorCoordinators(_) | Effect::AbortOperatorCoordinators(_) => {}
            Effect::Tell { subtask, message } => self.tell(subtask, message),
            Effect::Commit(checkpoint) => self.commit(checkpoint),
            Effect::DiscardLocation(_) => {}
            Effect::DiscardStates { states, .. } => {
                let storage = self.parts.checkpointing.storage.clone();
                self.beside(
                    move || discard_states(&storage, &states),
                    |keeper, failed| {
                        keeper.not_deleted(failed);
                        keeper.input(CheckpointCoordinator::discarded);
                    },
                );
            }
            Effect::DiscardCheckpoint(_) => {
                let chain = PlainArc::clone(&self.chain);
                let keeps_none = self.keeps_none();
                self.beside(
                    move || match keeps_none {
                        true => discard_all(&chain),
                        false => collect(&chain),
                    },
                    |keeper, failed| {
                        keeper.not_deleted(failed);
                        keeper.input(CheckpointCoordinator::discarded);
                    },
                );
            }
            Effect::CompletePromise { promise, result } => {
                if let Some(answer) = self.promises.remove(&promise) {
                    // Whoever is answered finds what it was told, though the keeper answers no more.
                    self.write_down();
                    let _gone = answer.send(result);
                }
            }
            Effect::FailJob(failure) => (self.parts.fail)(failure),
            Effect::Report(_) => self.write_down(),
        }
    }

    /// What is told of the job's checkpoints when the keeper is gone.
    pub(super) fn write_down(&self) {
        let statistics = self.statistics();
        *self.statistics.lock() = statistics;
    }

    /// What could not be deleted is told in the statistics, and harms nothing.
    pub(super) fn not_deleted(&mut self, failed: FailedDeletions) {
        if failed.count > 0
            && let Some(coordinator) = &mut self.coordinator
        {
            coordinator.not_deleted(failed);
            self.write_down();
        }
    }

    /// Has what is kept no more deleted.
    pub(super) fn collect_beside(&mut self) {
        let chain = PlainArc::clone(&self.chain);
        self.beside(move || collect(&chain), Self::not_deleted);
    }

    /// Has all deleted, as the job is over and keeps none.
    pub(super) fn discard_all_beside(&mut self) {
        let chain = PlainArc::clone(&self.chain);
        self.beside(move || discard_all(&chain), Self::not_deleted);
    }

    pub(super) fn committed(&mut self, id: CheckpointId, result: Result<(), CommitFailure>) {
        let kind = result.as_ref().err().map(|failure| failure.kind);
        self.has_unclear_record |= kind == Some(CommitFailureKind::MaybeWritten);
        self.input(|coordinator, now_ns| coordinator.committed(id, result, now_ns));
    }

    fn tell(&mut self, subtask: SubtaskId, message: ToSubtask) {
        match self.outbox.tell(subtask, message) {
            Told::Posted => {}
            Told::NoRoom => self.call_when_room(subtask),
            Told::Gone => self.gone(subtask, message),
        }
    }

    fn call_when_room(&self, subtask: SubtaskId) {
        if let Some(executor) = self.outbox.executor(subtask) {
            executor.when_room(&self.me, move |keeper: &mut Self| {
                keeper.tell_waiting(subtask)
            });
        }
    }

    fn tell_waiting(&mut self, subtask: SubtaskId) {
        let mut gone = Vec::new();
        if self.outbox.tell_waiting(subtask, &mut gone) == Told::NoRoom {
            self.call_when_room(subtask);
        }
        for message in gone {
            self.gone(subtask, message);
        }
    }

    /// A subtask takes no letters any more.
    fn gone(&mut self, subtask: SubtaskId, message: ToSubtask) {
        if let ToSubtask::Trigger(barrier) = message {
            let detail = "the task has ended";
            self.input(|coordinator, now_ns| {
                coordinator.trigger_failed(barrier.id, subtask, detail, now_ns)
            });
        }
    }
}

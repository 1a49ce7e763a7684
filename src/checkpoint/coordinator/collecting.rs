//! What subtasks answer.

use super::effect::Effect;
use super::ended::Ended;
use super::pending::{Stage, Worth};
use super::state_machine::{Activity, CheckpointCoordinator};
use crate::checkpoint::message::{Acknowledge, Decline, ToCoordinator};
use crate::checkpoint::state_handle::SubtaskState;
use crate::stream::CheckpointId;

/// Why a message is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Useless {
    OtherEpoch,
    UnknownCheckpoint,
    Late,
    UnknownSubtask,
    Duplicate,
    AfterShutdown,
}

impl CheckpointCoordinator {
    /// A subtask's message has come.
    #[must_use = "effects are to be carried out"]
    pub fn receive(&mut self, message: ToCoordinator, now_ns: u64) -> Vec<Effect> {
        match message {
            ToCoordinator::Acknowledge(acknowledge) => self.acknowledge(acknowledge, now_ns),
            ToCoordinator::Decline(decline) => self.decline(decline, now_ns),
        }
    }

    /// A subtask has stored its state. What is of no use is counted, and its state deleted unless a
    /// checkpoint may hold it.
    #[must_use = "effects are to be carried out"]
    pub fn acknowledge(&mut self, acknowledge: Acknowledge, now_ns: u64) -> Vec<Effect> {
        let id = acknowledge.id;
        match self.take_in(acknowledge) {
            Ok(()) => self.complete_if_acknowledged(id, now_ns),
            Err((useless, acknowledge)) => {
                self.count_useless(useless);
                if self.is_nobodys(useless, &acknowledge) {
                    self.discard_states(id, vec![acknowledge.state]);
                }
            }
        }
        self.settle(now_ns)
    }

    /// A subtask does not take part, or could not: the checkpoint will not be completed.
    #[must_use = "effects are to be carried out"]
    pub fn decline(&mut self, decline: Decline, now_ns: u64) -> Vec<Effect> {
        let Decline {
            epoch,
            id,
            subtask,
            reason,
            detail,
        } = decline;
        let useless = if self.activity.is_over() {
            Some(Useless::AfterShutdown)
        } else if epoch != self.epoch {
            Some(Useless::OtherEpoch)
        } else {
            match self.pending.get(&id) {
                None => Some(self.useless_for(id)),
                Some(pending) if !pending.awaits(subtask) => Some(Useless::UnknownSubtask),
                Some(pending) if pending.is_committing() => Some(Useless::Duplicate),
                Some(_) => None,
            }
        };
        match useless {
            Some(useless) => self.count_useless(useless),
            None => {
                let subtask = self.job.name_of(subtask);
                let detail = match &*detail {
                    "" => format!("subtask {subtask}"),
                    detail => format!("subtask {subtask}: {detail}"),
                };
                self.abort(id, reason, &detail, now_ns);
            }
        }
        self.settle(now_ns)
    }

    /// All have answered, and have been asked: the checkpoint's record can be written.
    pub(super) fn complete_if_acknowledged(&mut self, id: CheckpointId, now_ns: u64) {
        let pending = self.pending.get_mut(&id);
        let pending = pending.filter(|of| matches!(of.stage, Stage::Collecting));
        if let Some(pending) = pending.filter(|pending| pending.is_fully_acknowledged()) {
            pending.stage = Stage::Acknowledged;
            pending.acknowledged_ns = Some(now_ns.saturating_sub(pending.begun_ns));
        }
    }

    /// Deletes states that no checkpoint holds; those that stand in the message itself are gone with
    /// it.
    pub(super) fn discard_states(&mut self, id: CheckpointId, states: Vec<SubtaskState>) {
        if self.activity == Activity::Fenced || states.iter().all(SubtaskState::is_stateless) {
            return;
        }
        self.cleaning.begin();
        self.effects.push(Effect::DiscardStates { id, states });
    }

    fn take_in(&mut self, acknowledge: Acknowledge) -> Result<(), (Useless, Acknowledge)> {
        let id = acknowledge.id;
        if self.activity == Activity::ShutDown || self.activity == Activity::Fenced {
            return Err((Useless::AfterShutdown, acknowledge));
        }
        if acknowledge.epoch != self.epoch {
            return Err((Useless::OtherEpoch, acknowledge));
        }
        match self.pending.get_mut(&id) {
            None => Err((self.useless_for(id), acknowledge)),
            Some(pending) => pending.acknowledge(acknowledge).map_err(|(worth, back)| {
                let useless = match worth {
                    Worth::Unknown => Useless::UnknownSubtask,
                    Worth::Duplicate | Worth::Success => Useless::Duplicate,
                };
                (useless, back)
            }),
        }
    }

    /// Why a message about a checkpoint that is not pending is of no use.
    fn useless_for(&self, id: CheckpointId) -> Useless {
        match self.ended.get(id) {
            Some(_) => Useless::Late,
            None => Useless::UnknownCheckpoint,
        }
    }

    /// Whether the state of a useless answer can be deleted: no checkpoint holds it, or may. A later
    /// run's is none of this one's business.
    fn is_nobodys(&self, useless: Useless, acknowledge: &Acknowledge) -> bool {
        let id = acknowledge.id;
        let is_kept = self.tasks.knows(acknowledge.subtask)
            && (self.ended.get(id) == Some(Ended::Kept)
                || self.store.iter().any(|checkpoint| checkpoint.id == id));
        let is_pending = self.pending.contains_key(&id);
        match useless {
            Useless::Duplicate => false,
            Useless::OtherEpoch => acknowledge.epoch < self.epoch && !is_kept && !is_pending,
            Useless::UnknownSubtask => true,
            Useless::UnknownCheckpoint | Useless::Late | Useless::AfterShutdown => {
                !is_kept && !is_pending
            }
        }
    }

    fn count_useless(&mut self, useless: Useless) {
        let ignored = &mut self.statistics.counts.ignored;
        *match useless {
            Useless::OtherEpoch => &mut ignored.other_epoch,
            Useless::UnknownCheckpoint => &mut ignored.unknown_checkpoint,
            Useless::Late => &mut ignored.late,
            Useless::UnknownSubtask => &mut ignored.unknown_subtask,
            Useless::Duplicate => &mut ignored.duplicate,
            Useless::AfterShutdown => &mut ignored.after_shutdown,
        } += 1;
    }
}

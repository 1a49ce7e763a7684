//! The checkpoints that ended last, so that late answers are known for what they are.

use crate::stream::CheckpointId;
use std::collections::VecDeque;

/// How many are remembered.
const REMEMBERED_MAX: usize = 16;

/// What became of the state of a checkpoint that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was deleted, or will be.
    Discarded,
    /// A record holds it, or may.
    Kept,
}

/// The checkpoints that ended last.
#[derive(Debug, Default)]
pub(super) struct EndedCheckpoints(VecDeque<(CheckpointId, Ended)>);

impl EndedCheckpoints {
    /// A checkpoint has ended, for good.
    pub(super) fn add(&mut self, id: CheckpointId, ended: Ended) {
        debug_assert!(self.get(id).is_none(), "checkpoint {id} ends twice");
        if self.0.len() >= REMEMBERED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, ended));
    }

    pub(super) fn get(&self, id: CheckpointId) -> Option<Ended> {
        let known = self.0.iter().rev().find(|(known, _)| *known == id);
        known.map(|(_, ended)| *ended)
    }
}

//! Checkpoints that were aborted before they came to the task.
//!
//! F1. There are at most [`MAX`](AbortedCheckpoints::MAX) of them: the oldest go first, and what is not
//!     newer than one that had to go is taken for aborted.

use crate::stream::CheckpointId;
use std::collections::BTreeSet;

/// See above.
#[derive(Debug, Default)]
pub(super) struct AbortedCheckpoints {
    ids: BTreeSet<CheckpointId>,
    /// All up to here are taken for aborted (F1).
    up_to: Option<CheckpointId>,
}

impl AbortedCheckpoints {
    pub(super) const MAX: usize = 128;

    /// Remembers one.
    pub(super) fn add(&mut self, id: CheckpointId) {
        if self.ids.insert(id) && self.ids.len() > Self::MAX {
            self.up_to = self.ids.pop_first().max(self.up_to);
        }
    }

    /// Whether it was aborted; it is not remembered any more.
    pub(super) fn take(&mut self, id: CheckpointId) -> bool {
        self.ids.remove(&id) || self.up_to.is_some_and(|up_to| id <= up_to)
    }

    /// Those up to `id` will not come any more.
    pub(super) fn forget_to(&mut self, id: CheckpointId) {
        self.ids.retain(|&aborted| aborted > id);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

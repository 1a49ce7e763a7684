//! Which checkpoints are being read, and therefore not deleted.
//!
//! H1. A checkpoint is held or condemned, never both: a reader comes in time, or not at all.

use super::names::Attempt;
use crate::sync::{Mutex, PlainArc};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Which checkpoints are read and which are being deleted, within this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds(PlainArc<Mutex<BTreeMap<Attempt, Use>>>);

#[derive(Clone, Copy, Debug)]
enum Use {
    Held { readers: usize },
    Condemned,
}

impl Holds {
    /// The right to read the checkpoint until it is dropped; `None` if it is being deleted.
    pub(super) fn hold(&self, attempt: Attempt) -> Option<Hold> {
        match self.0.lock().entry(attempt) {
            Entry::Vacant(entry) => {
                entry.insert(Use::Held { readers: 1 });
            }
            Entry::Occupied(mut entry) => match entry.get_mut() {
                Use::Held { readers } => *readers += 1,
                Use::Condemned => return None,
            },
        }
        let holds = self.clone();
        Some(Hold { holds, attempt })
    }

    /// Lets nobody hold the checkpoint any more; `false` if somebody does.
    #[must_use]
    pub(super) fn condemn(&self, attempt: Attempt) -> bool {
        let mut uses = self.0.lock();
        let used = uses.entry(attempt).or_insert(Use::Condemned);
        matches!(used, Use::Condemned)
    }

    /// The checkpoint is deleted, as far as it can be.
    pub(super) fn forget(&self, attempt: Attempt) {
        let mut uses = self.0.lock();
        if let Some(Use::Condemned) = uses.get(&attempt) {
            uses.remove(&attempt);
        }
    }
}

/// The right to read a checkpoint: it is not deleted before this is dropped.
#[derive(Debug)]
pub(super) struct Hold {
    holds: Holds,
    attempt: Attempt,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut uses = self.holds.0.lock();
        if let Some(Use::Held { readers }) = uses.get_mut(&self.attempt) {
            *readers -= 1;
            if *readers == 0 {
                uses.remove(&self.attempt);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Epoch;
    use crate::stream::CheckpointId;

    fn attempt() -> Attempt {
        let id = CheckpointId::new(1).unwrap();
        let epoch = Epoch(1);
        Attempt { epoch, id }
    }

    #[test]
    fn a_checkpoint_is_held_until_the_last_reader_is_done() {
        let holds = Holds::default();
        let first = holds.hold(attempt());
        let second = holds.hold(attempt());
        assert!(first.is_some() && second.is_some());
        drop(first);
        assert!(!holds.condemn(attempt()));
        drop(second);
        assert!(holds.condemn(attempt()));
    }

    #[test]
    fn nobody_holds_what_is_being_deleted() {
        let holds = Holds::default();
        assert!(holds.condemn(attempt()));
        assert!(holds.hold(attempt()).is_none());
        holds.forget(attempt());
        assert!(holds.hold(attempt()).is_some());
    }

    #[test]
    fn who_deleted_something_before_does_not_end_a_reader_s_right() {
        let holds = Holds::default();
        let reader = holds.hold(attempt());
        holds.forget(attempt());
        assert!(!holds.condemn(attempt()));
        drop(reader);
    }
}

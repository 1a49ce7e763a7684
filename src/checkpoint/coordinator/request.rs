//! A checkpoint that somebody asked for and that has not begun.

use crate::stream::SnapshotType;
use core::cmp::{Ordering, Reverse};

/// Who asked for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// The schedule.
    Periodic,
    /// Somebody who waits for it.
    User,
}

/// A checkpoint that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointRequest {
    /// Which request, in the order in which they were made; no two have the same.
    pub number: u64,
    /// What the snapshot is for.
    pub snapshot: SnapshotType,
    /// Who asked.
    pub trigger: Trigger,
    /// Whether it begins however many are on their way, and whatever the minimum pause is.
    pub is_forced: bool,
}

impl CheckpointRequest {
    /// One that the schedule asks for.
    #[must_use]
    pub const fn periodic(number: u64) -> Self {
        Self {
            number,
            snapshot: SnapshotType::Checkpoint,
            trigger: Trigger::Periodic,
            is_forced: false,
        }
    }

    /// One that a user asks for.
    #[must_use]
    pub const fn checkpoint(number: u64) -> Self {
        Self {
            number,
            snapshot: SnapshotType::Checkpoint,
            trigger: Trigger::User,
            is_forced: false,
        }
    }

    /// A savepoint; it is forced.
    #[must_use]
    pub const fn savepoint(number: u64) -> Self {
        Self {
            number,
            snapshot: SnapshotType::Savepoint,
            trigger: Trigger::User,
            is_forced: true,
        }
    }

    /// Whether it is the schedule's.
    #[must_use]
    pub const fn is_periodic(&self) -> bool {
        matches!(self.trigger, Trigger::Periodic)
    }
}

/// The greater goes first: savepoints, what is forced, what users ask for, what was asked for
/// earlier.
impl Ord for CheckpointRequest {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |request: &Self| {
            (
                request.snapshot == SnapshotType::Savepoint,
                request.is_forced,
                request.trigger,
                Reverse(request.number),
            )
        };
        rank(self).cmp(&rank(other))
    }
}

impl PartialOrd for CheckpointRequest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

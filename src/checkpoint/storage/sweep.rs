//! What may be deleted: all that the head does not keep and that no coordinator can still commit.
//!
//! W1. Records are deleted before state: a crash between leaves state that nobody names.
//! W2. State is deleted by its directory's name alone, so what an earlier crash has left is found.
//! W3. What a newer epoch has written is left alone, and so is what one's own may still commit.
//! W4. Who has committed nothing since it took over deletes no checkpoint, kept or not: the way back to
//!     what it has given up is open until there is something newer.

use super::names::Attempt;
use super::protocol::Position;

/// A record that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) number: u64,
    pub(super) says: Says,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// It was not read.
    Unread,
    /// It is of that attempt at a checkpoint.
    Checkpoint(Attempt),
    /// It is of no checkpoint.
    Other,
    /// It is damaged.
    Nothing,
}

/// What is to be deleted, the records first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sweep {
    /// By number.
    pub(super) records: Vec<u64>,
    pub(super) attempts: Vec<Attempt>,
}

impl Sweep {
    /// What may be deleted of `records` and `attempts`, by who stands at `position`. Records need be read
    /// only for who has committed nothing.
    pub(super) fn plan(position: &Position, records: &[Found], attempts: &[Attempt]) -> Self {
        // One's own take-over stays: it is always there for whoever lists the chain, where a listing
        // is no picture of one moment and might miss a head that comes and one that goes.
        let is_older =
            |found: &&Found| found.number < position.last && found.number != position.takeover;
        let is_over = |attempt: Attempt| {
            attempt.epoch < position.epoch
                || attempt.epoch == position.epoch && attempt.id.get() <= position.over
        };
        let is_kept = |attempt| position.live.iter().any(|kept| kept.attempt == attempt);
        let attempts = attempts.iter().copied();
        let attempts = attempts.filter(|&attempt| is_over(attempt) && !is_kept(attempt));
        let records = records.iter().filter(is_older);
        if !position.has_committed {
            return Self::of_no_checkpoint(records, attempts);
        }
        let is_live = |number| position.live.iter().any(|kept| kept.number == number);
        let records = records.map(|found| found.number);
        Self {
            records: records.filter(|&number| !is_live(number)).collect(),
            attempts: attempts.collect(),
        }
    }

    /// W4: those of `records` and of `attempts` that are of no checkpoint.
    fn of_no_checkpoint<'a>(
        records: impl Iterator<Item = &'a Found> + Clone,
        attempts: impl Iterator<Item = Attempt>,
    ) -> Self {
        let are_known = |found: &Found| !matches!(found.says, Says::Unread | Says::Nothing);
        if !records.clone().all(are_known) {
            // It may name any of them.
            return Self::default();
        }
        let is_named = |attempt| {
            let mut records = records.clone();
            records.any(|found| found.says == Says::Checkpoint(attempt))
        };
        let attempts = attempts.filter(|&attempt| !is_named(attempt)).collect();
        let others = records.clone().filter(|found| found.says == Says::Other);
        Self {
            records: others.map(|found| found.number).collect(),
            attempts,
        }
    }
}

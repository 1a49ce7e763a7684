//! What may be deleted: all that the head does not keep and that no coordinator can still commit.
//!
//! W1. Records are deleted before state: a crash between leaves state that nobody names.
//! W2. State is deleted by its directory's name alone, so what an earlier crash has left is found.
//! W3. What a newer epoch has written is left alone, and so is what one's own may still commit.

use super::names::Attempt;
use super::protocol::Position;

/// What is to be deleted, the records first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sweep {
    /// By number.
    pub(super) records: Vec<u64>,
    pub(super) attempts: Vec<Attempt>,
}

impl Sweep {
    /// What may be deleted of `records` and `attempts`, by who stands at `position`.
    pub(super) fn plan(position: &Position, records: &[u64], attempts: &[Attempt]) -> Self {
        if !position.may_collect {
            return Self::default();
        }
        let is_live = |number| position.live.iter().any(|kept| kept.number == number);
        let records = records.iter().copied();
        // One's own take-over stays: it is always there for whoever lists the chain, where a listing
        // is no picture of one moment and might miss a head that comes and one that goes.
        let records = records.filter(|&number| {
            number < position.last && number != position.takeover && !is_live(number)
        });
        let is_over = |attempt: Attempt| {
            attempt.epoch < position.epoch
                || attempt.epoch == position.epoch && attempt.id.get() <= position.over
        };
        let is_kept = |attempt| position.live.iter().any(|kept| kept.attempt == attempt);
        let attempts = attempts.iter().copied();
        let attempts = attempts.filter(|&attempt| is_over(attempt) && !is_kept(attempt));
        Self {
            records: records.collect(),
            attempts: attempts.collect(),
        }
    }
}

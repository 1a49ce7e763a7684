//! How a coordinator finds out where the chain is, and takes it over.

use super::effect::{Answer, Base, Effect, Outcome, Step};
use super::{Phase, Position, Protocol};
use crate::checkpoint::Epoch;
use crate::checkpoint::storage::names::Attempt;
use crate::checkpoint::storage::record::{Body, Kept, Record};
use crate::checkpoint::storage::writer::WriterId;

/// How often the head may move on while a coordinator starts.
const ROUNDS_MAX: u32 = 64;

/// What was gathered from the records that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    newest: Option<Newest>,
    epoch: u64,
    next_id: u64,
    /// How many could not be read.
    damaged: u64,
}

/// What the newest of them says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Newest {
    number: u64,
    job: Box<str>,
    writer: WriterId,
    live: Vec<Kept>,
    restored_from: Option<Box<str>>,
}

impl Seen {
    /// Takes in a record; they come in the order of their numbers.
    fn take<C>(&mut self, record: &Record<C>) {
        self.epoch = self.epoch.max(record.epoch.0);
        self.next_id = self.next_id.max(record.next_id);
        self.newest = Some(Newest {
            number: record.number,
            job: record.job.clone(),
            writer: record.writer,
            live: record.live(),
            restored_from: match &record.body {
                Body::Takeover { restored_from } => restored_from.clone(),
                Body::Checkpoint(..) | Body::Discarded => None,
            },
        });
    }
}

impl<C: Clone + Eq> Protocol<C> {
    pub(super) fn listed(&mut self, answer: Answer<C>) -> Step<C> {
        let Answer::Records(mut records) = answer else {
            return Step::Done(Outcome::Failed);
        };
        records.sort_unstable();
        self.phase = Phase::ListingAttempts { records };
        Step::Do(Effect::ListAttempts)
    }

    pub(super) fn attempts_listed(&mut self, records: Vec<u64>, answer: Answer<C>) -> Step<C> {
        let Answer::Attempts(attempts) = answer else {
            return Step::Done(Outcome::Failed);
        };
        let last = records.last().copied().unwrap_or_default();
        let from = match self.base {
            Base::Head | Base::Elsewhere(_) => last,
            Base::Record(number) if records.contains(&number) => number,
            Base::Record(number) => return Step::Done(Outcome::NotKept { number }),
        };
        let left = records.into_iter().filter(|number| *number >= from);
        let left = left.rev().collect();
        self.read_next(last, left, attempts, Seen::default())
    }

    fn read_next(
        &mut self,
        last: u64,
        mut left: Vec<u64>,
        attempts: Vec<Attempt>,
        read: Seen,
    ) -> Step<C> {
        let Some(next) = left.pop() else {
            return self.write_takeover(last, &attempts, read);
        };
        left.push(next);
        self.phase = Phase::Reading {
            last,
            left,
            attempts,
            read,
        };
        Step::Do(Effect::Read(next))
    }

    pub(super) fn was_read(
        &mut self,
        last: u64,
        mut left: Vec<u64>,
        attempts: Vec<Attempt>,
        mut read: Seen,
        answer: Answer<C>,
    ) -> Step<C> {
        let number = left.pop();
        match answer {
            Answer::Read(record) => read.take(&record),
            Answer::Absent => return self.start_again(),
            // The user has chosen an older one: that a newer one is unreadable stops nobody.
            Answer::Unreadable if matches!(self.base, Base::Record(base) if number != Some(base)) =>
            {
                read.damaged += 1;
            }
            _ => return Step::Done(Outcome::Failed),
        }
        self.read_next(last, left, attempts, read)
    }

    /// The chain has changed while it was read.
    pub(super) fn start_again(&mut self) -> Step<C> {
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Step::Done(Outcome::Contended);
        }
        self.phase = Phase::Listing;
        Step::Do(Effect::ListRecords)
    }

    fn write_takeover(&mut self, last: u64, attempts: &[Attempt], seen: Seen) -> Step<C> {
        let (mut live, mut restored_from) = (Vec::new(), None);
        if let Some(newest) = seen.newest {
            if newest.job != self.job {
                return Step::Done(Outcome::OtherJob {
                    number: newest.number,
                    found: newest.job,
                });
            }
            if self.writers.go_on() && !self.writers.contain(newest.writer) {
                return self.fence(newest.number);
            }
            (live, restored_from) = (newest.live, newest.restored_from);
        }
        match &self.base {
            Base::Head if live.is_empty() => {}
            Base::Head => restored_from = None,
            Base::Record(number) => {
                live.retain(|kept| kept.number == *number);
                if live.is_empty() {
                    return Step::Done(Outcome::NotKept { number: *number });
                }
                restored_from = None;
            }
            Base::Elsewhere(path) => {
                live.clear();
                restored_from = Some(path.clone());
            }
        }
        let epoch = attempts.iter().map(|attempt| attempt.epoch.0);
        let epoch = epoch.max().unwrap_or_default().max(seen.epoch);
        let id = attempts.iter().map(|attempt| attempt.id.get());
        let id = id.max().unwrap_or_default();
        // Each record that cannot be read may be of one more epoch, and of one more id.
        let epoch = epoch
            .checked_add(1)
            .and_then(|e| e.checked_add(seen.damaged));
        let next_id = id.checked_add(1).map(|id| id.max(seen.next_id));
        let next_id = next_id.and_then(|id| id.checked_add(seen.damaged));
        let (Some(epoch), Some(next_id)) = (epoch, next_id) else {
            return Step::Done(Outcome::Exhausted { number: last });
        };
        self.position = Position {
            last,
            // A record's number, which is the one that this take-over will have.
            takeover: last.saturating_add(1),
            epoch: Epoch(epoch),
            next_id,
            live,
            restored_from: restored_from.clone(),
            over: 0,
            has_committed: false,
        };
        self.write(Body::Takeover { restored_from })
    }
}

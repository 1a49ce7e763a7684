//! The commit protocol of one coordinator, without I/O: it says what to do with the chain, is told
//! what came of it, and ends with an outcome.
//!
//! P1. A record is written only by create-if-absent, at the highest number that its writer knows of,
//!     and one more.
//! P2. No success is told before a listing that begins after the record was created shows none with
//!     a higher number: where older records were deleted, a number may be free although the chain
//!     has long gone past it.
//! P3. An answer that did not come says nothing: the record is read back, and is one's own only if
//!     it is so to the last byte.
//! P4. Who finds a record of another at its number or above is fenced, for good.
//! P5. What is kept only shrinks, but for one's own newest checkpoint, so what may be deleted once
//!     may always be.

mod effect;
mod position;
mod taking_over;
#[cfg(test)]
mod tests;

pub(super) use effect::{Answer, Base, Effect, Outcome, Step};
pub(super) use position::Position;

use super::names::Attempt;
use super::record::{Body, Record};
use super::writer::Writers;
use crate::sync::PlainArc;
use taking_over::Seen;

/// How often a step is tried before the coordinator gives up.
const TRIES_MAX: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase<C> {
    /// It has yet to take over.
    New,
    Listing,
    ListingAttempts {
        records: Vec<u64>,
    },
    Reading {
        last: u64,
        /// The numbers that are left, the next at the end.
        left: Vec<u64>,
        attempts: Vec<Attempt>,
        read: Seen,
    },
    Creating(Writing<C>),
    ReadingBack(Writing<C>),
    Confirming(Writing<C>),
    /// It wrote the take-over of that number, and saw a record above.
    Overtaken {
        number: u64,
        highest: u64,
    },
    /// It has taken over, and nothing is on its way.
    Ready,
    Fenced {
        by: u64,
    },
}

/// A record on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Writing<C> {
    record: PlainArc<Record<C>>,
    tries: u32,
}

/// The commit protocol of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Protocol<C> {
    job: Box<str>,
    writers: Writers,
    /// How many checkpoints are kept; at least 1.
    retained: usize,
    base: Base,
    rounds: u32,
    position: Position,
    phase: Phase<C>,
}

impl<C: Clone + Eq> Protocol<C> {
    pub(super) fn new(job: &str, writers: Writers, retained: usize, base: Base) -> Self {
        Self {
            job: job.into(),
            writers,
            retained: retained.max(1),
            base,
            rounds: 0,
            position: Position::default(),
            phase: Phase::New,
        }
    }

    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    pub(super) fn job(&self) -> &str {
        &self.job
    }

    /// Whether another coordinator is known to have taken over.
    pub(super) fn is_fenced(&self) -> bool {
        matches!(self.phase, Phase::Fenced { .. })
    }

    /// The writers that the coordinator knows for its own.
    pub(super) fn writers(&self) -> &Writers {
        &self.writers
    }

    /// Whether the chain is its own, or has been: then whoever else has written its head has taken over.
    pub(super) fn has_taken_over(&self) -> bool {
        self.writers.go_on() || matches!(self.phase, Phase::Ready | Phase::Fenced { .. })
    }

    /// The record of that number was found to be another's; whether it is above one's own (P4).
    pub(super) fn is_overtaken(&mut self, by: u64) -> bool {
        let is_above = by > self.position.last;
        if is_above {
            self.phase = Phase::Fenced { by };
        }
        is_above
    }

    /// Begins to take over.
    pub(super) fn take_over(&mut self) -> Step<C> {
        debug_assert!(matches!(self.phase, Phase::New), "taken over once");
        self.phase = Phase::Listing;
        Step::Do(Effect::ListRecords)
    }

    /// Begins to commit a checkpoint.
    pub(super) fn commit(&mut self, attempt: Attempt, checkpoint: C) -> Step<C> {
        let position = &self.position;
        if attempt.epoch != position.epoch || attempt.id.get() < position.next_id {
            return match self.phase {
                Phase::Fenced { by } => Step::Done(Outcome::Fenced { by }),
                _ => Step::Done(Outcome::OutOfOrder),
            };
        }
        self.write(Body::Checkpoint(attempt, checkpoint))
    }

    /// Begins to give all checkpoints up.
    pub(super) fn discard(&mut self) -> Step<C> {
        self.write(Body::Discarded)
    }

    /// Goes on with what came of the last effect.
    pub(super) fn answer(&mut self, answer: Answer<C>) -> Step<C> {
        match core::mem::replace(&mut self.phase, Phase::New) {
            Phase::Listing => self.listed(answer),
            Phase::ListingAttempts { records } => self.attempts_listed(records, answer),
            Phase::Reading {
                last,
                left,
                attempts,
                read,
            } => self.was_read(last, left, attempts, read, answer),
            Phase::Creating(writing) => self.created(writing, &answer),
            Phase::ReadingBack(writing) => self.read_back(writing, &answer),
            Phase::Confirming(writing) => self.confirmed(writing, &answer),
            Phase::Overtaken { number, highest } => self.overtaken(number, highest, &answer),
            phase @ (Phase::New | Phase::Ready | Phase::Fenced { .. }) => {
                debug_assert!(false, "an answer to nothing");
                self.phase = phase;
                Step::Done(Outcome::Failed)
            }
        }
    }

    /// Begins to create a record of `body` behind the last.
    fn write(&mut self, body: Body<C>) -> Step<C> {
        if let Phase::Fenced { by } = self.phase {
            return Step::Done(Outcome::Fenced { by });
        }
        let position = &self.position;
        let (kept, next_id) = match &body {
            Body::Takeover { .. } => (position.live.clone(), Some(position.next_id)),
            Body::Checkpoint(attempt, _) => {
                let older = position.live.len().saturating_sub(self.retained - 1);
                let kept = position.live[older..].to_vec();
                (kept, attempt.id.get().checked_add(1))
            }
            Body::Discarded => (Vec::new(), Some(position.next_id)),
        };
        let (Some(number), Some(next_id)) = (position.last.checked_add(1), next_id) else {
            let number = position.last;
            return Step::Done(Outcome::Exhausted { number });
        };
        let record = PlainArc::new(Record {
            number,
            job: self.job.clone(),
            epoch: position.epoch,
            writer: self.writers.last(),
            takeover: position.takeover,
            next_id,
            kept,
            body,
        });
        self.create(Writing { record, tries: 1 })
    }

    fn create(&mut self, writing: Writing<C>) -> Step<C> {
        let record = PlainArc::clone(&writing.record);
        self.phase = Phase::Creating(writing);
        Step::Do(Effect::Create(record))
    }

    fn created(&mut self, writing: Writing<C>, answer: &Answer<C>) -> Step<C> {
        match answer {
            Answer::Created => self.confirm(writing),
            // It may be one's own: a store may have tried again by itself.
            Answer::Taken | Answer::Unclear => {
                let number = writing.record.number;
                self.phase = Phase::ReadingBack(writing);
                Step::Do(Effect::Read(number))
            }
            // An earlier try may have been done, or may still be.
            _ if writing.tries > 1 => {
                let number = writing.record.number;
                self.rest(&writing, Outcome::MaybeWritten { number })
            }
            _ => self.rest(&writing, Outcome::Failed),
        }
    }

    fn read_back(&mut self, mut writing: Writing<C>, answer: &Answer<C>) -> Step<C> {
        let number = writing.record.number;
        match answer {
            Answer::Read(found) if **found == *writing.record => self.confirm(writing),
            Answer::Read(found) if found.writer == self.writers.last() => {
                // It is of an earlier commit that was given up without an answer.
                self.position.move_to(found);
                let record = PlainArc::unwrap_or_clone(writing.record);
                self.write(record.body)
            }
            Answer::Read(_) if is_takeover(&writing.record) => self.start_again(),
            Answer::Read(_) => self.fence(number),
            Answer::Absent if writing.tries < TRIES_MAX => {
                writing.tries += 1;
                self.create(writing)
            }
            _ => self.rest(&writing, Outcome::MaybeWritten { number }),
        }
    }

    fn confirm(&mut self, writing: Writing<C>) -> Step<C> {
        self.phase = Phase::Confirming(writing);
        Step::Do(Effect::ListRecords)
    }

    fn confirmed(&mut self, mut writing: Writing<C>, answer: &Answer<C>) -> Step<C> {
        let number = writing.record.number;
        match answer {
            Answer::Records(records) => match records.iter().copied().max() {
                Some(highest) if highest > number && is_takeover(&writing.record) => {
                    self.phase = Phase::Overtaken { number, highest };
                    Step::Do(Effect::Read(highest))
                }
                Some(highest) if highest > number => self.fence(highest),
                Some(highest) if highest == number => {
                    self.position.move_to(&writing.record);
                    self.phase = Phase::Ready;
                    Step::Done(Outcome::Committed { number })
                }
                // Somebody has deleted it.
                _ => self.rest(&writing, Outcome::MaybeWritten { number }),
            },
            _ if writing.tries < TRIES_MAX => {
                writing.tries += 1;
                self.confirm(writing)
            }
            _ => self.rest(&writing, Outcome::MaybeWritten { number }),
        }
    }

    /// Who writes above has taken over later, or has gone on without having seen this take-over: its
    /// number was free again.
    fn overtaken(&mut self, number: u64, highest: u64, answer: &Answer<C>) -> Step<C> {
        match answer {
            Answer::Read(head) if head.takeover > number => self.fence(highest),
            Answer::Read(_) | Answer::Absent => self.start_again(),
            _ => Step::Done(Outcome::Failed),
        }
    }

    fn fence(&mut self, by: u64) -> Step<C> {
        self.phase = Phase::Fenced { by };
        Step::Done(Outcome::Fenced { by })
    }

    /// Gives `writing` up. Who was to take over has not, and can only be dropped.
    fn rest(&mut self, writing: &Writing<C>, outcome: Outcome) -> Step<C> {
        if !is_takeover(&writing.record) {
            self.phase = Phase::Ready;
        }
        Step::Done(outcome)
    }
}

fn is_takeover<C>(record: &Record<C>) -> bool {
    matches!(record.body, Body::Takeover { .. })
}

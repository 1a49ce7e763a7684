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

use super::names::Attempt;
use super::record::{Body, Kept, Record};
use super::writer::WriterId;
use crate::checkpoint::Epoch;
use crate::sync::PlainArc;

/// How often a step is tried before the coordinator gives up.
const TRIES_MAX: u32 = 3;
/// How often the head may move on while a coordinator starts.
const ROUNDS_MAX: u32 = 64;

/// Where a job goes on from when its coordinator starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    /// What the head says.
    Head,
    /// The checkpoint of that record.
    Record(u64),
    /// A checkpoint elsewhere.
    Elsewhere(Box<str>),
}

/// What is to be done with the chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect<C> {
    /// Lists the numbers of all records.
    ListRecords,
    /// Lists the attempts that have a directory.
    ListAttempts,
    /// Reads a record.
    Read(u64),
    /// Creates a record, if there is none of its number.
    Create(PlainArc<Record<C>>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answer<C> {
    Records(Vec<u64>),
    Attempts(Vec<Attempt>),
    Read(Box<Record<C>>),
    /// There is no such record.
    Absent,
    /// There is something else than a record.
    Unreadable,
    Created,
    /// There is one already.
    Taken,
    /// It may have been done.
    Unclear,
    /// It was not done.
    Failed,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub(super) enum Step<C> {
    Do(Effect<C>),
    Done(Outcome),
}

/// How a take-over or a commit ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// The record of that number is the head.
    Committed { number: u64 },
    /// Another coordinator has written the record of that number.
    Fenced { by: u64 },
    /// The record may have been written.
    MaybeWritten { number: u64 },
    /// It was not written.
    Failed,
    /// The record of that number holds another job's name.
    OtherJob { number: u64, found: Box<str> },
    /// The checkpoint of the record of that number is not kept.
    NotKept { number: u64 },
    /// Numbers end with this record.
    Exhausted { number: u64 },
    /// The head moved on all the time.
    Contended,
    /// The checkpoint is of another run, or not newer than all others.
    OutOfOrder,
}

/// Where the coordinator stands in the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// The number of its last record, or the highest that it saw.
    pub(super) last: u64,
    /// The number of the record by which it took over.
    pub(super) takeover: u64,
    pub(super) epoch: Epoch,
    /// The lowest id for another checkpoint.
    pub(super) next_id: u64,
    /// All checkpoints that are kept, the oldest first.
    pub(super) live: Vec<Kept>,
    /// The path of the checkpoint elsewhere that the job was restored from.
    pub(super) restored_from: Option<Box<str>>,
    /// The id up to which attempts of its epoch are over.
    pub(super) over: u64,
    /// Whether it has written more than its first record: what it does not keep may be deleted.
    pub(super) may_collect: bool,
}

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

/// What was gathered from the records that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// Number, job, what is kept and where the job came from, of the newest.
    newest: Option<(u64, Box<str>, Vec<Kept>, Option<Box<str>>)>,
    epoch: u64,
    next_id: u64,
    /// How many could not be read.
    damaged: u64,
}

impl Seen {
    fn take<C>(&mut self, record: &Record<C>) {
        self.epoch = self.epoch.max(record.epoch.0);
        self.next_id = self.next_id.max(record.next_id);
        let newest = self.newest.as_ref().map(|(number, ..)| *number);
        if newest.is_none_or(|number| number < record.number) {
            let from = match &record.body {
                Body::Takeover { restored_from } => restored_from.clone(),
                Body::Checkpoint(..) | Body::Discarded => None,
            };
            self.newest = Some((record.number, record.job.clone(), record.live(), from));
        }
    }
}

/// The commit protocol of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Protocol<C> {
    job: Box<str>,
    writer: WriterId,
    /// How many checkpoints are kept; at least 1.
    retained: usize,
    base: Base,
    rounds: u32,
    position: Position,
    phase: Phase<C>,
}

impl<C: Clone + Eq> Protocol<C> {
    pub(super) fn new(job: &str, writer: WriterId, retained: usize, base: Base) -> Self {
        Self {
            job: job.into(),
            writer,
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
            phase @ (Phase::New | Phase::Ready | Phase::Fenced { .. }) => {
                debug_assert!(false, "an answer to nothing");
                self.phase = phase;
                Step::Done(Outcome::Failed)
            }
        }
    }

    fn listed(&mut self, answer: Answer<C>) -> Step<C> {
        let Answer::Records(mut records) = answer else {
            return Step::Done(Outcome::Failed);
        };
        records.sort_unstable();
        self.phase = Phase::ListingAttempts { records };
        Step::Do(Effect::ListAttempts)
    }

    fn attempts_listed(&mut self, records: Vec<u64>, answer: Answer<C>) -> Step<C> {
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

    fn was_read(
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
    fn start_again(&mut self) -> Step<C> {
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Step::Done(Outcome::Contended);
        }
        self.phase = Phase::Listing;
        Step::Do(Effect::ListRecords)
    }

    fn write_takeover(&mut self, last: u64, attempts: &[Attempt], seen: Seen) -> Step<C> {
        let (mut live, mut restored_from) = (Vec::new(), None);
        if let Some((number, job, kept, from)) = seen.newest {
            if job != self.job {
                let found = job;
                return Step::Done(Outcome::OtherJob { number, found });
            }
            (live, restored_from) = (kept, from);
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
            may_collect: false,
        };
        self.write(Body::Takeover { restored_from })
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
            writer: self.writer,
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
            _ => self.rest(&writing, Outcome::Failed),
        }
    }

    fn read_back(&mut self, mut writing: Writing<C>, answer: &Answer<C>) -> Step<C> {
        let number = writing.record.number;
        match answer {
            Answer::Read(found) if **found == *writing.record => self.confirm(writing),
            Answer::Read(found) if found.writer == self.writer => {
                // It is of an earlier commit that was given up without an answer.
                self.adopt(found);
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
                Some(highest) if highest > number => self.fence(highest),
                Some(highest) if highest == number => {
                    self.adopt(&writing.record);
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

    /// One's own record is the head.
    fn adopt(&mut self, record: &Record<C>) {
        let position = &mut self.position;
        position.last = record.number;
        position.next_id = record.next_id;
        position.live = record.live();
        match record.body {
            Body::Takeover { .. } => {}
            Body::Checkpoint(attempt, _) => {
                position.over = attempt.id.get();
                position.may_collect = true;
                position.restored_from = None;
            }
            Body::Discarded => {
                position.over = u64::MAX;
                position.may_collect = true;
                position.restored_from = None;
            }
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

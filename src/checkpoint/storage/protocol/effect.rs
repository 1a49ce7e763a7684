//! What the protocol asks for, is told, and ends with.

use crate::checkpoint::storage::names::Attempt;
use crate::checkpoint::storage::record::Record;
use crate::sync::PlainArc;

/// Where a job goes on from when its coordinator starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::checkpoint::storage) enum Base {
    /// What the head says.
    Head,
    /// The checkpoint of that record.
    Record(u64),
    /// A checkpoint elsewhere.
    Elsewhere(Box<str>),
}

/// What is to be done with the chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::checkpoint::storage) enum Effect<C> {
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
pub(in crate::checkpoint::storage) enum Answer<C> {
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
pub(in crate::checkpoint::storage) enum Step<C> {
    Do(Effect<C>),
    Done(Outcome),
}

/// How a take-over or a commit ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::checkpoint::storage) enum Outcome {
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

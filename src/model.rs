//! For the model tests only: weakens one ordering by name, and shows what models need to see.

#[cfg(not(mailring_shuttle))]
use crate::processor::Executor;
#[cfg(not(mailring_shuttle))]
use crate::ring::mpsc::{self, Consumer};
use core::sync::atomic::Ordering;

#[cfg(not(mailring_shuttle))]
pub use crate::task::model::{Crew, Life, Port, Ready, Refused};

/// Weakens the row `row` of the ordering table to `to`, for the rest of this process.
pub fn weaken(row: &str, to: Ordering) {
    crate::sync::order::weaken(row, to);
}

/// What became of an attempt to rest by an owner that counts its calls.
#[cfg(not(mailring_shuttle))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rested {
    /// At rest: the hook will be called once.
    Resting,
    /// There is something to look at.
    Look,
    /// A letter is claimed and not published.
    Hole,
    /// The call for an earlier rest is still to come.
    Owed,
    /// All letters have been taken and none can follow.
    Finished,
}

/// Goes to rest, as a task's mailbox does.
#[cfg(not(mailring_shuttle))]
#[must_use]
pub fn rest_once<T>(consumer: &mut Consumer<T>, unless: impl FnOnce() -> bool) -> Rested {
    match consumer.rest_once(unless) {
        mpsc::Rested::Resting => Rested::Resting,
        mpsc::Rested::Look => Rested::Look,
        mpsc::Rested::Hole => Rested::Hole,
        mpsc::Rested::Owed => Rested::Owed,
        mpsc::Rested::Finished => Rested::Finished,
    }
}

/// Tells the consumer that its hook was called.
#[cfg(not(mailring_shuttle))]
pub fn called<T>(consumer: &mut Consumer<T>) {
    consumer.called();
}

/// Ends a rest; whether a call of the hook is still to come.
#[cfg(not(mailring_shuttle))]
#[must_use]
pub fn end_rest<T>(consumer: &mut Consumer<T>) -> bool {
    consumer.end_rest()
}

/// Whether the calling thread takes itself for the one that drives the executor's processor, and would
/// use its memory.
#[cfg(not(mailring_shuttle))]
#[must_use]
pub fn is_at_home<O, L>(executor: &Executor<O, L>) -> bool {
    executor.is_at_home()
}

//! The seam between tasks: where a channel's elements come from.

use super::element::Element;
use crate::letter::{BoxError, Outcome};
use core::fmt;
use core::task::{Context, Poll};

/// What a channel has, when there is nothing to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelState {
    /// It has elements.
    Elements,
    /// It gave what blocks it, and gives nothing until it is resumed.
    Blocked,
    /// Whoever fed it is gone, without an end of its partition: it failed, or was cancelled.
    Gone,
}

/// A channel was resumed that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResumeError {
    /// It was not blocked.
    NotBlocked,
    /// It was released.
    Released,
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBlocked => "the channel is not blocked: it is resumed once for each barrier",
            Self::Released => "the channel was released",
        })
    }
}

impl core::error::Error for ResumeError {}

/// One channel of an input: elements of one subtask of another vertex, in order.
///
/// A channel that gave an element that [blocks it](super::Event::blocks_channel) gives no more, and
/// calls nobody, until it is resumed. Nothing of it is lost meanwhile: what is not taken stays with
/// the sender.
pub trait InputChannel<T> {
    /// Gives `handler` up to `max` elements, until that says by `false` that it takes no more.
    /// Returns how many were given.
    ///
    /// # Errors
    /// What is wrong with what came by it: a gap in its sequence, bytes that are no element. A
    /// local channel has none.
    fn drain(
        &mut self,
        max: usize,
        handler: impl FnMut(Element<T>) -> bool,
    ) -> Result<usize, BoxError>;

    /// Whether there is something to take. A look, no more.
    fn has_elements(&self) -> bool;

    /// What there is. Where there is nothing, `cx` is woken when there is something.
    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<ChannelState>;

    /// Whether it waits to be resumed.
    fn is_blocked(&self) -> bool;

    /// Lets a blocked channel give again.
    ///
    /// # Errors
    /// [`ResumeError`].
    fn resume_consumption(&mut self) -> Result<(), ResumeError>;

    /// Lets the sender know that nothing is taken any more. Further calls do nothing.
    fn release(&mut self);

    /// How many elements wait in it, as far as can be seen.
    fn depth(&self) -> usize;

    /// How many elements it holds at most: what a sender may send before any is taken.
    fn credits(&self) -> usize;
}

/// How the records of a channel that leaves the process become bytes, and bytes records. A local
/// channel needs none.
pub trait Codec<T> {
    /// Appends `value` to `bytes`.
    ///
    /// # Errors
    /// Why it cannot be said in bytes.
    fn encode(&self, value: &T, bytes: &mut Vec<u8>) -> Outcome;

    /// Takes a value from the front of `bytes`.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    fn decode(&self, bytes: &mut &[u8]) -> Result<T, BoxError>;
}

//! What can go wrong at a mailbox; every error of a post hands its letter back.

use core::fmt;

/// A letter was not posted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PostError<T> {
    /// There is no room at present.
    Full(T),
    /// There was no room in time.
    Timeout(T),
    /// The mailbox takes no more letters: it was quiesced or closed, or is gone.
    Closed(T),
    /// There is no room, and the calling thread is the one that would have to make it.
    WouldDeadlock(T),
}

impl<T> PostError<T> {
    /// The letter that was not posted.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(letter)
            | Self::Timeout(letter)
            | Self::Closed(letter)
            | Self::WouldDeadlock(letter) => letter,
        }
    }

    /// The same error about something else.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> PostError<U> {
        match self {
            Self::Full(letter) => PostError::Full(of(letter)),
            Self::Timeout(letter) => PostError::Timeout(of(letter)),
            Self::Closed(letter) => PostError::Closed(of(letter)),
            Self::WouldDeadlock(letter) => PostError::WouldDeadlock(of(letter)),
        }
    }

    /// Whether there was no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the mailbox takes no more letters.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Full(_) => ("Full(..)", "the mailbox is full"),
            Self::Timeout(_) => ("Timeout(..)", "the mailbox stayed full until the deadline"),
            Self::Closed(_) => ("Closed(..)", "the mailbox takes no more letters"),
            Self::WouldDeadlock(_) => (
                "WouldDeadlock(..)",
                "the mailbox is full, and this thread is its owner: waiting for room would last for \
                 ever",
            ),
        }
    }
}

impl<T> fmt::Debug for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().0)
    }
}

impl<T> fmt::Display for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl<T> core::error::Error for PostError<T> {}

/// No letter was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TakeError {
    /// There is none at present.
    Empty,
    /// None came in time.
    Timeout,
    /// The mailbox is quiesced, or its last sender is gone, and all letters have been taken.
    Quiesced,
    /// The mailbox is closed.
    Closed,
    /// More letters are hidden by their priority than may be kept in the owner's memory, and what is
    /// behind them cannot be seen; see [`Builder::hidden_max`](super::Builder::hidden_max). Begin
    /// another batch.
    Crowded,
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the mailbox is empty",
            Self::Timeout => "no letter came until the deadline",
            Self::Quiesced => "all letters have been taken and none can follow",
            Self::Closed => "the mailbox is closed",
            Self::Crowded => "more letters are hidden by their priority than may be kept",
        })
    }
}

impl core::error::Error for TakeError {}

/// The owner posted to its own mailbox after it was quiesced.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuiescedError<T>(
    /// What was handed in.
    pub T,
);

impl<T> fmt::Debug for QuiescedError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QuiescedError(..)")
    }
}

impl<T> fmt::Display for QuiescedError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the mailbox takes no more letters")
    }
}

impl<T> core::error::Error for QuiescedError<T> {}

/// More markers were registered than the mailbox was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TooManyMarkers {
    /// How many it was built for in this lane.
    pub max: usize,
}

impl fmt::Display for TooManyMarkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this mailbox was built for {} markers in this lane; Builder::markers and \
             Builder::urgent_markers set how many",
            self.max
        )
    }
}

impl core::error::Error for TooManyMarkers {}

//! What can go wrong at a ring; every error of a post hands its value back.

use core::fmt;

/// The ring takes no more letters: it was quiesced or closed, or its consumer is gone; for the
/// consumer, that all letters have been taken and none can follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Closed<T = ()>(
    /// What was handed in.
    pub T,
);

impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring is closed")
    }
}

impl<T> core::error::Error for Closed<T> {}

/// A letter was not posted, and nothing waited.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryPostError<T> {
    /// There is no room at present.
    Full(T),
    /// There will never be room again. Closed comes before full: a closed ring never says full.
    Closed(T),
}

impl<T> TryPostError<T> {
    /// The letter that was not posted.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(letter) | Self::Closed(letter) => letter,
        }
    }

    /// Whether there was no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the ring is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl<T> fmt::Debug for TryPostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for TryPostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the ring is full",
            Self::Closed(_) => "the ring is closed",
        })
    }
}

impl<T> core::error::Error for TryPostError<T> {}

/// A letter was not posted within the time allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// There will never be room again.
    Closed(T),
}

impl<T> PostTimeoutError<T> {
    /// The letter that was not posted.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(letter) | Self::Closed(letter) => letter,
        }
    }
}

impl<T> fmt::Debug for PostTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for PostTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "the ring stayed full until the deadline",
            Self::Closed(_) => "the ring is closed",
        })
    }
}

impl<T> core::error::Error for PostTimeoutError<T> {}

/// Why a letter was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is no room at present.
    Full,
    /// There will never be room again.
    Closed,
    /// There was no room in time.
    Timeout,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the ring is full",
            Self::Closed => "the ring is closed",
            Self::Timeout => "the ring stayed full until the deadline",
        })
    }
}

/// A batch was not posted to its end: how much was, the rest, and why.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BatchError<R> {
    /// How many letters were posted, counted from the front.
    pub posted: usize,
    /// The letters that were not, in order; an iterator.
    pub rest: R,
    /// Why the rest was refused.
    pub reason: Refusal,
}

impl<R> fmt::Debug for BatchError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchError")
            .field("posted", &self.posted)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Display for BatchError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {} letters", self.reason, self.posted)
    }
}

impl<R> core::error::Error for BatchError<R> {}

/// No letter was taken, and nothing waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryTakeError {
    /// There is no letter at present. One may have been claimed and not yet published: this is
    /// no statement about the future.
    Empty,
    /// All letters have been taken and none can follow.
    Closed,
}

impl fmt::Display for TryTakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the ring is empty",
            Self::Closed => "the ring is closed and all letters have been taken",
        })
    }
}

impl core::error::Error for TryTakeError {}

/// No letter was taken within the time allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TakeTimeoutError {
    /// No letter came in time.
    Timeout,
    /// All letters have been taken and none can follow.
    Closed,
}

impl fmt::Display for TakeTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "no letter came until the deadline",
            Self::Closed => "the ring is closed and all letters have been taken",
        })
    }
}

impl core::error::Error for TakeTimeoutError {}

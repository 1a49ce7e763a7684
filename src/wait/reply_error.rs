//! Why there is no reply.

use super::reply::Reply;
use core::fmt;

/// No reply will come: what was to answer was dropped unrun, or panicked before it answered; or the
/// reply was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoReply;

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no reply will come")
    }
}

impl core::error::Error for NoReply {}

/// Why a wait for a reply brought none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyError {
    /// It will never come; see [`NoReply`].
    NoReply,
    /// It has not come, and the thread that waited is the one that answers: it would have waited for
    /// itself.
    WouldDeadlock,
}

const WOULD_DEADLOCK: &str = "the reply comes from the very thread that waits for it";

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReply => NoReply.fmt(f),
            Self::WouldDeadlock => f.write_str(WOULD_DEADLOCK),
        }
    }
}

impl core::error::Error for ReplyError {}

impl From<NoReply> for ReplyError {
    fn from(NoReply: NoReply) -> Self {
        Self::NoReply
    }
}

/// No reply came within the time allowed.
#[non_exhaustive]
pub enum ReplyTimeout<T> {
    /// It may still come: the reply, to go on waiting.
    Timeout(Reply<T>),
    /// It may still come, from the very thread that waited for it: the reply, to be taken when that
    /// thread has answered.
    WouldDeadlock(Reply<T>),
    /// It will never come.
    NoReply(NoReply),
}

impl<T> fmt::Debug for ReplyTimeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::WouldDeadlock(_) => "WouldDeadlock(..)",
            Self::NoReply(_) => "NoReply",
        })
    }
}

impl<T> fmt::Display for ReplyTimeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(_) => f.write_str("no reply came until the deadline"),
            Self::WouldDeadlock(_) => f.write_str(WOULD_DEADLOCK),
            Self::NoReply(error) => error.fmt(f),
        }
    }
}

impl<T> core::error::Error for ReplyTimeout<T> {}

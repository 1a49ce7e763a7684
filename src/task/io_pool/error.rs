//! What can go wrong at an I/O pool; every refusal hands its job back.

use crate::sync::Mutex;
use core::any::Any;
use core::fmt;
use std::io;

/// A job was not accepted.
#[non_exhaustive]
pub enum IoError<J> {
    /// The queue is full at present.
    Full(J),
    /// The pool takes no more jobs.
    Closed(J),
    /// The queue is full, and the calling thread must not wait for room: it is one of those that
    /// make it, or it runs an engine's tasks.
    WouldDeadlock(J),
    /// The pool has no thread yet, and the system gives it none.
    NoThread(
        /// The job.
        J,
        /// What the system said.
        io::Error,
    ),
}

impl<J> IoError<J> {
    /// The job that was not accepted.
    pub fn into_inner(self) -> J {
        match self {
            Self::Full(job)
            | Self::Closed(job)
            | Self::WouldDeadlock(job)
            | Self::NoThread(job, _) => job,
        }
    }

    /// Whether the queue was full.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_) | Self::WouldDeadlock(_))
    }

    /// Whether the pool takes no more jobs.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The same error about something else.
    pub fn map<K>(self, of: impl FnOnce(J) -> K) -> IoError<K> {
        match self {
            Self::Full(job) => IoError::Full(of(job)),
            Self::Closed(job) => IoError::Closed(of(job)),
            Self::WouldDeadlock(job) => IoError::WouldDeadlock(of(job)),
            Self::NoThread(job, source) => IoError::NoThread(of(job), source),
        }
    }
}

impl<J> fmt::Debug for IoError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::Closed(_) => f.write_str("Closed(..)"),
            Self::WouldDeadlock(_) => f.write_str("WouldDeadlock(..)"),
            Self::NoThread(_, source) => write!(f, "NoThread(.., {source:?})"),
        }
    }
}

impl<J> fmt::Display for IoError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the I/O pool's queue is full"),
            Self::Closed(_) => f.write_str("the I/O pool takes no more jobs"),
            Self::WouldDeadlock(_) => {
                f.write_str("the I/O pool's queue is full, and this thread must not wait for room")
            }
            Self::NoThread(_, source) => {
                write!(f, "the I/O pool's first thread cannot be started: {source}")
            }
        }
    }
}

impl<J> core::error::Error for IoError<J> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NoThread(_, source) => Some(source),
            _ => None,
        }
    }
}

/// A job panicked. The pool's thread goes on with the next one.
pub struct JobPanicked {
    message: Option<String>,
    /// Behind a lock for the sake of those who share the error.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl JobPanicked {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        Self {
            message,
            payload: Mutex::new(Some(payload)),
        }
    }

    /// What the panic said, where it said something.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The panic's payload, for [`std::panic::resume_unwind`].
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        match self.payload.lock().take() {
            Some(payload) => payload,
            None => unreachable!("only this takes it, and it takes the error"),
        }
    }
}

impl fmt::Debug for JobPanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JobPanicked").field(&self.message()).finish()
    }
}

impl fmt::Display for JobPanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => write!(f, "the job panicked: {message}"),
            None => f.write_str("the job panicked without a message"),
        }
    }
}

impl core::error::Error for JobPanicked {}

/// The pool takes no more jobs, but was not waited for to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IoCloseError {
    /// Jobs were left when the time was over. They go on.
    Timeout {
        /// Jobs that wait for a thread.
        queued: usize,
        /// Jobs that run, or wait for room for their result.
        running: usize,
    },
    /// The calling thread is one of the pool's, and would have waited for itself. The jobs go on.
    WouldDeadlock,
}

impl fmt::Display for IoCloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { queued, running } => write!(
                f,
                "the I/O pool was closed, and still had {queued} jobs queued and {running} running \
                 when the time was over"
            ),
            Self::WouldDeadlock => f.write_str(
                "the I/O pool was closed, and its own thread cannot wait for the end of its jobs",
            ),
        }
    }
}

impl core::error::Error for IoCloseError {}

/// An I/O pool cannot be built like this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IoBuildError {
    /// A pool has at least one thread.
    NoThread,
    /// A queue holds at least one job.
    NoQueue,
    /// A thread's name has no zero byte.
    Name(
        /// The name asked for.
        String,
    ),
}

impl fmt::Display for IoBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThread => f.write_str("an I/O pool has at least 1 thread, not 0"),
            Self::NoQueue => f.write_str("an I/O pool's queue holds at least 1 job, not 0"),
            Self::Name(name) => write!(f, "a thread's name has no zero byte: {name:?}"),
        }
    }
}

impl core::error::Error for IoBuildError {}

//! A descriptor by which a poll loop learns that a mailbox at rest was brought something.
//!
//! E1. A descriptor that the kernel made just now is ours alone, and is closed by its owner alone.

use crate::sync::{OnceLock, PlainArc, PlainWeak};
use core::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// An [`EventFd`] is of no use any more.
#[derive(Debug)]
#[non_exhaustive]
pub enum EventFdError {
    /// The system has none left to give.
    Create(io::Error),
    /// It could not be made readable, so that the loop may sleep over what it was to be told.
    Wake(io::Error),
    /// It could not be cleared, so that the loop would be told for ever.
    Clear(io::Error),
}

impl fmt::Display for EventFdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(error) => write!(f, "no event descriptor can be made: {error}"),
            Self::Wake(error) => write!(f, "the event descriptor cannot be written: {error}"),
            Self::Clear(error) => write!(f, "the event descriptor cannot be read: {error}"),
        }
    }
}

impl core::error::Error for EventFdError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Create(error) | Self::Wake(error) | Self::Clear(error) => Some(error),
        }
    }
}

/// A descriptor for `poll`, `epoll` and the like that becomes readable when a mailbox at rest is
/// brought something. On Linux.
///
/// [`FdProcessor`](super::FdProcessor) does all of the following by itself. This is for a ring, a
/// mailbox, or several processors with one descriptor: give [`waker`](Self::waker) to the `wake_by`
/// of the builder. As with mio's `Waker`, the descriptor says only that there is something. Other
/// than there, nothing is written while the owner is awake: one write for each rest, by whoever ends
/// it. The order is all that matters:
///
/// 1. Step until there is nothing to do.
/// 2. [`clear`](Self::clear), and only then `rest`. The other way round loses what comes in between.
/// 3. Where `rest` says to look, go on with 1. Where it rests, sleep in the loop until the descriptor
///    is readable or a timer is due.
///
/// Closed on exec, and when this is dropped, also while there are senders; then nobody is told any
/// more. Where a write fails, the next [`clear`](Self::clear) says so: of the errors that the system
/// has for it, only a descriptor that was closed behind our back is left.
///
/// ```
/// use mailring::processor::{MailboxProcessor, Rest, Step};
/// use mailring::task::EventFd;
///
/// let fd = EventFd::new()?;
/// let builder = MailboxProcessor::<u32>::builder().wake_by(fd.waker());
/// let mut processor = builder.build(0)?;
/// let executor = processor.executor();
///
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// fd.clear()?;
/// assert_eq!(processor.rest(), Rest::Resting);
/// std::thread::spawn(move || executor.execute(|sum| *sum += 1).is_ok()).join().unwrap();
/// // Here the loop sleeps until `fd` is readable.
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// assert!(fd.clear()?);
/// assert_eq!(processor.rest(), Rest::Resting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventFd {
    shared: PlainArc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: File,
    /// The first write that failed.
    failed: OnceLock<io::Error>,
}

impl EventFd {
    /// A descriptor that is not readable, does not block, and is closed on exec.
    ///
    /// # Errors
    /// [`EventFdError::Create`] where the process or the system has no descriptor left.
    pub fn new() -> Result<Self, EventFdError> {
        // SAFETY: E1: the call takes no address.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(EventFdError::Create(io::Error::last_os_error()));
        }
        // SAFETY: E1: the kernel has just given us this one.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self {
            shared: PlainArc::new(Shared {
                file: File::from(fd),
                failed: OnceLock::new(),
            }),
        })
    }

    /// A hook for `wake_by` that makes the descriptor readable. It keeps nothing open: where the
    /// descriptor is gone, it does nothing.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static + use<> {
        let shared: PlainWeak<Shared> = PlainArc::downgrade(&self.shared);
        move || {
            if let Some(shared) = shared.upgrade() {
                shared.wake();
            }
        }
    }

    /// Makes the descriptor readable, for a loop that has more to do than it does at once. Where it is
    /// readable already, an edge-triggered loop is told again.
    ///
    /// # Errors
    /// [`EventFdError::Wake`] where that fails, or has failed before.
    pub fn wake(&self) -> Result<(), EventFdError> {
        self.shared.wake();
        self.shared.check()
    }

    /// Makes the descriptor not readable; whether it was. To be called before the owner rests, not
    /// after.
    ///
    /// # Errors
    /// [`EventFdError::Clear`] where that fails, [`EventFdError::Wake`] where a waker has failed
    /// before.
    pub fn clear(&self) -> Result<bool, EventFdError> {
        self.shared.check()?;
        let mut count = [0; size_of::<u64>()];
        loop {
            return match (&self.shared.file).read(&mut count) {
                Ok(_all) => Ok(true),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => Ok(false),
                    io::ErrorKind::Interrupted => continue,
                    _ => Err(EventFdError::Clear(error)),
                },
            };
        }
    }
}

impl Shared {
    fn wake(&self) {
        loop {
            match (&self.file).write(&1_u64.to_ne_bytes()) {
                Ok(_all) => return,
                Err(error) => match error.kind() {
                    // The count is at its limit: readable as can be.
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted => {}
                    _ => {
                        let _first = self.failed.set(error);
                        return;
                    }
                },
            }
        }
    }

    /// Whether each write so far has told the loop.
    fn check(&self) -> Result<(), EventFdError> {
        match self.failed.get() {
            None => Ok(()),
            Some(error) => Err(EventFdError::Wake(match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => error.kind().into(),
            })),
        }
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.file.as_fd()
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.shared.file.as_raw_fd()
    }
}

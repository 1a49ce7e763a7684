//! A processor for a poll loop: one descriptor says when it has something to do.
//!
//! E2. The descriptor is cleared before the processor rests, and nothing but an idle processor rests:
//!     so it is readable, or a write is under way, from when there is something to do until the turn
//!     that finds nothing more.

use super::event_fd::{EventFd, EventFdError};
use crate::letter::{IntoOutcome, Letter, Mail};
use crate::mailbox::{Marker, TooManyMarkers};
use crate::processor::{
    Builder, DefaultAction, Executor, Failure, MailboxProcessor, NoAction, Rest, Step,
};
use crate::ring::{Budget, CapacityError};
use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Instant;

/// An [`FdProcessor`] was not built.
#[derive(Debug)]
#[non_exhaustive]
pub enum FdBuildError {
    /// There is no descriptor for it.
    Fd(EventFdError),
    /// A capacity is 0 or absurd, or memory is short.
    Capacity(CapacityError),
}

impl fmt::Display for FdBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fd(error) => error.fmt(f),
            Self::Capacity(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FdBuildError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Fd(error) => Some(error),
            Self::Capacity(error) => Some(error),
        }
    }
}

/// A turn of an [`FdProcessor`] has failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FdTurnError {
    /// What it ran has failed: see [`MailboxProcessor::step`].
    Failed(Failure),
    /// Its descriptor is of no use any more.
    Fd(EventFdError),
}

impl fmt::Display for FdTurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Fd(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FdTurnError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Fd(error) => Some(error),
        }
    }
}

/// A processor with a descriptor that is readable while there is something to do, for a loop around
/// `poll`, `epoll` or the like. On Linux.
///
/// Register it for reading; call [`turn`](Self::turn) when it is readable, and when
/// [`timeout`](Self::timeout) is over: no more is to be done, whether the loop is level- or
/// edge-triggered. It is readable from the start, until the first turn.
///
/// While the processor is awake, a post makes no system call. One write wakes the loop, by whoever
/// brings the first thing after a turn that found nothing more.
///
/// ```
/// use mailring::processor::Step;
/// use mailring::ring::Budget;
/// use mailring::task::FdProcessor;
/// use rustix::event::{PollFd, PollFlags, Timespec, poll};
///
/// let mut processor = FdProcessor::new(0)?;
/// let executor = processor.executor();
/// let posting = std::thread::spawn(move || {
///     executor.execute(|sum| *sum += 42).unwrap();
///     let done = executor.clone();
///     executor.execute(move |_sum| done.all_done()).unwrap();
/// });
/// loop {
///     // A real loop has its sockets here, too.
///     let mut fds = [PollFd::new(&processor, PollFlags::IN)];
///     let timeout = processor.timeout().and_then(|left| Timespec::try_from(left).ok());
///     poll(&mut fds, timeout.as_ref())?;
///     if let Step::Ended(_) = processor.turn(Budget::letters(256))? {
///         break;
///     }
/// }
/// assert_eq!(processor.with_owner(|sum| *sum), 42);
/// # posting.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FdProcessor<O, L = Mail<O>, A = NoAction> {
    processor: MailboxProcessor<O, L, A>,
    /// Tells the time of the processor's clock.
    executor: Executor<O, L>,
    fd: EventFd,
}

impl<O: 'static> FdProcessor<O> {
    /// A processor of mails without a default action, with the [`Builder`]'s settings.
    ///
    /// # Errors
    /// [`FdBuildError`].
    pub fn new(owner: O) -> Result<Self, FdBuildError> {
        Self::build(MailboxProcessor::builder(), owner)
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static> FdProcessor<O, L> {
    /// A processor without a default action, of these settings; the descriptor's hook takes the place
    /// of any other.
    ///
    /// # Errors
    /// [`FdBuildError`].
    pub fn build(builder: Builder<O, L>, owner: O) -> Result<Self, FdBuildError> {
        Self::build_with(builder, owner, NoAction)
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static, A: DefaultAction<O>> FdProcessor<O, L, A> {
    /// As [`build`](FdProcessor::build), with an `action` between letters; until that is suspended,
    /// the descriptor stays readable.
    ///
    /// # Errors
    /// [`FdBuildError`].
    pub fn build_with(builder: Builder<O, L>, owner: O, action: A) -> Result<Self, FdBuildError> {
        let fd = EventFd::new().map_err(FdBuildError::Fd)?;
        let builder = builder.wake_by(fd.waker());
        let processor = builder
            .build_with(owner, action)
            .map_err(FdBuildError::Capacity)?;
        // What is posted before the first turn ends no rest.
        fd.wake().map_err(FdBuildError::Fd)?;
        let executor = processor.executor();
        Ok(Self {
            processor,
            executor,
            fd,
        })
    }

    /// Runs letters and the default action within a budget, as [`MailboxProcessor::step`] does, and
    /// then rests, if there is nothing more. Never sleeps, and does no harm when there is nothing to
    /// do.
    ///
    /// With [`Step::More`] the descriptor is readable still, or again. After [`Step::Ended`] and
    /// after a failure it is not, and stays so until [`processor_mut`](Self::processor_mut) is called
    /// or a turn taken: who suspended the loop goes on by another turn.
    ///
    /// # Errors
    /// [`FdTurnError`].
    ///
    /// # Panics
    /// As [`MailboxProcessor::step`].
    pub fn turn(&mut self, budget: Budget) -> Result<Step, FdTurnError> {
        match self.processor.step(budget) {
            Ok(Step::Idle) => self.rest().map_err(FdTurnError::Fd),
            Ok(Step::More) => self.more().map_err(FdTurnError::Fd),
            Ok(step) => {
                self.fd.clear().map_err(FdTurnError::Fd)?;
                Ok(step)
            }
            Err(failure) => {
                // The failure is what matters.
                let _fd = self.fd.clear();
                Err(FdTurnError::Failed(failure))
            }
        }
    }

    fn rest(&mut self) -> Result<Step, EventFdError> {
        self.fd.clear()?;
        // A look that only told of work that is done by now needs no turn.
        for _ in 0..2 {
            if self.processor.rest() == Rest::Resting {
                return Ok(Step::Idle);
            }
            if self.processor.has_work() {
                break;
            }
        }
        self.more()
    }

    fn more(&self) -> Result<Step, EventFdError> {
        self.fd.wake()?;
        Ok(Step::More)
    }

    /// How long the loop may sleep: until the next timer is due, or somewhat less; `None` where no
    /// timer is armed. To be asked before each sleep. A loop that counts in milliseconds rounds up.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        let due = self.next_timer()?;
        Some(due.saturating_duration_since(self.executor.now()))
    }

    /// As [`timeout`](Self::timeout), as a moment of the processor's clock.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        self.processor.next_timer()
    }

    /// A handle by which any thread has the owner do things.
    #[must_use]
    pub fn executor(&self) -> Executor<O, L> {
        self.executor.clone()
    }

    /// Registers a marker: a letter that always fits and is pending at most once.
    ///
    /// # Errors
    /// [`TooManyMarkers`] beyond what the mailbox was built for.
    pub fn marker<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.processor.marker(name, action)
    }

    /// Calls `f` with the owner, for what the loop itself has to do with it. What `f` posts makes the
    /// descriptor readable, and runs in the next turn.
    pub fn with_owner<R>(&mut self, f: impl FnOnce(&mut O) -> R) -> R {
        let value = self.processor.with_owner(f);
        if self.processor.has_work() {
            // Where that fails the next turn says so.
            let _failed = self.fd.wake();
        }
        value
    }

    /// The processor, to look at.
    #[must_use]
    pub fn processor(&self) -> &MailboxProcessor<O, L, A> {
        &self.processor
    }

    /// The processor, for all else. The descriptor becomes readable, so that the next turn looks after
    /// whatever was done with it.
    pub fn processor_mut(&mut self) -> &mut MailboxProcessor<O, L, A> {
        // Where that fails the next turn says so.
        let _failed = self.fd.wake();
        &mut self.processor
    }

    /// The processor, to be finished, closed, or run in another way. The descriptor is closed.
    #[must_use]
    pub fn into_processor(self) -> MailboxProcessor<O, L, A> {
        self.processor
    }
}

impl<O, L, A> AsFd for FdProcessor<O, L, A> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl<O, L, A> AsRawFd for FdProcessor<O, L, A> {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

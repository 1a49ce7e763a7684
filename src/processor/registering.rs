//! Registering markers through an executor, from any thread.

use super::current;
use super::executor::Executor;
use crate::letter::{IntoOutcome, Letter};
use crate::mailbox::{Marker, MarkerOptions, PostError, TooManyMarkers};
use crate::wait::ReplyError;
use core::fmt;

/// A marker was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// There are as many as the mailbox was built for.
    TooMany(TooManyMarkers),
    /// The processor takes no more letters, or ended before it came to this.
    Closed,
    /// The calling thread is the one that would have to do it, and is not at it.
    WouldDeadlock,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(error) => error.fmt(f),
            Self::Closed => f.write_str("the processor takes no more letters"),
            Self::WouldDeadlock => {
                f.write_str("the marker is to be registered by the very thread that waits for it")
            }
        }
    }
}

impl core::error::Error for RegisterError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::TooMany(error) => Some(error),
            _ => None,
        }
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    /// Registers an ordinary marker; see [`marker_with`](Self::marker_with).
    ///
    /// ```
    /// use mailring::processor::MailboxProcessor;
    ///
    /// let mut processor = MailboxProcessor::new(0)?;
    /// let executor = processor.executor();
    /// let running = std::thread::spawn(move || processor.run());
    /// let flush = executor.marker("flush", |flushes| *flushes += 1)?;
    /// let _either = flush.post();
    /// assert_eq!(executor.ask(|flushes| *flushes)?.wait()?, 1);
    /// executor.all_done();
    /// # running.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`marker_with`](Self::marker_with).
    pub fn marker<R: IntoOutcome>(
        &self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, RegisterError> {
        self.marker_with(name, MarkerOptions::new(), action)
    }

    /// Registers a marker that is urgent, or has a priority. On the owner's thread at once; on others
    /// by an urgent letter, which is waited for.
    ///
    /// # Errors
    /// [`RegisterError`].
    pub fn marker_with<R: IntoOutcome>(
        &self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, RegisterError> {
        let here = current::at_home(&self.sender, action, |core, action| {
            match core.mailbox.try_borrow_mut() {
                Ok(mut mailbox) => mailbox
                    .marker_with(name, options, action)
                    .map_err(RegisterError::TooMany),
                Err(_) => Err(RegisterError::WouldDeadlock),
            }
        });
        let action = match here {
            Ok(registered) => return registered,
            Err(action) => action,
        };
        let (answer, registered) = crate::wait::reply();
        let there = self.clone();
        let posted = self.execute_urgent(move |_: &mut O| {
            let _gone = answer.send(there.marker_with(name, options, action));
        });
        match posted {
            Ok(()) => {}
            Err(PostError::WouldDeadlock(_)) => return Err(RegisterError::WouldDeadlock),
            Err(_) => return Err(RegisterError::Closed),
        }
        let answering = self.sender.shared().answering().clone();
        match registered.answered_by(answering).wait() {
            Ok(registered) => registered,
            Err(ReplyError::WouldDeadlock) => Err(RegisterError::WouldDeadlock),
            Err(_) => Err(RegisterError::Closed),
        }
    }
}

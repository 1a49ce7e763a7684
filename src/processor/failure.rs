//! What ended a letter or a default action badly, and what is done about it.

use crate::letter::{BoxError, panic_message, shown};
use crate::sync::{Arc, Mutex};
use core::any::Any;
use core::fmt;

/// A letter, a timer or the default action returned an error or panicked, or somebody reported a
/// failure from outside. Clones are the same failure.
#[derive(Clone)]
pub struct Failure {
    inner: Arc<Inner>,
}

struct Inner {
    what: &'static str,
    cause: Cause,
}

enum Cause {
    Error(BoxError),
    Panic {
        message: String,
        payload: Mutex<Option<Box<dyn Any + Send>>>,
    },
}

impl Failure {
    pub(crate) fn error(what: &'static str, error: BoxError) -> Self {
        Self::new(what, Cause::Error(error))
    }

    /// Of a processor that has failed before, and whose failure has been returned.
    pub(super) fn again() -> Self {
        Self::error("processor", "it has failed before".into())
    }

    pub(crate) fn panic(what: &'static str, payload: Box<dyn Any + Send>) -> Self {
        let message = panic_message(&*payload);
        let payload = Mutex::new(Some(payload));
        Self::new(what, Cause::Panic { message, payload })
    }

    fn new(what: &'static str, cause: Cause) -> Self {
        Self {
            inner: Arc::new(Inner { what, cause }),
        }
    }

    /// What failed: a letter's description, `"default action"`, `"timer"`, a marker's name, or
    /// `"reported"`; `"processor"` where the failure itself has been returned before.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.inner.what
    }

    /// The error that was returned or reported; `None` for a panic.
    #[must_use]
    pub fn as_error(&self) -> Option<&(dyn core::error::Error + Send + Sync + 'static)> {
        match &self.inner.cause {
            Cause::Error(error) => Some(&**error),
            Cause::Panic { .. } => None,
        }
    }

    /// Whether it was a panic.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.inner.cause, Cause::Panic { .. })
    }

    /// Takes the panic's payload, for [`std::panic::resume_unwind`]; once.
    #[must_use]
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        match &self.inner.cause {
            Cause::Panic { payload, .. } => payload.lock().take(),
            Cause::Error(_) => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.cause {
            Cause::Error(error) => write!(f, "{}: {}", self.inner.what, shown(error)),
            Cause::Panic { message, .. } => write!(f, "{} panicked: {message}", self.inner.what),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({self})")
    }
}

impl core::error::Error for Failure {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.as_error().map(|error| error as _)
    }
}

/// As it is displayed.
#[cfg(feature = "serde")]
impl serde::Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is done when a letter, a timer, a marker or the default action fails. Whatever it is, the
/// failure is counted and the hook sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// The mailbox is quiesced at once, `run` or `step` returns the failure, and a panic is caught.
    #[default]
    Stop,
    /// As `Stop`, but a panic goes on out of `run` or `step`.
    Propagate,
    /// The letter is gone and the processor goes on. But a failure that was reported from outside
    /// stops it, and so does the error of a letter that a yield ran. A panic there ends the yielding
    /// letter too, and both are skipped.
    Skip,
    /// The process is aborted.
    Abort,
}

/// Sees each failure.
pub(crate) type Hook = Box<dyn FnMut(&Failure) + Send>;

/// An error whose receiver has gone: to be told and counted, and no failure of the processor.
#[derive(Debug)]
pub(super) struct Unheard(pub(super) BoxError);

impl fmt::Display for Unheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for Unheard {}

//! Why a thread is not where it was to be, and what to make of that.

use super::cpu_set::CpuSet;
use core::fmt;
use std::io;

/// The calling thread was not pinned as asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum PinError {
    /// No CPU was named.
    NoCpu,
    /// The system refused.
    Refused {
        /// The CPUs asked for.
        cpus: CpuSet,
        /// What the system said.
        source: io::Error,
    },
    /// The system left some of the CPUs out: the thread is pinned to the others.
    Narrowed {
        /// The CPUs asked for.
        cpus: CpuSet,
        /// The CPUs it is pinned to.
        got: CpuSet,
    },
    /// The system took the pin and does not tell whether it holds.
    Unchecked {
        /// The CPUs asked for.
        cpus: CpuSet,
        /// What the system said.
        source: io::Error,
    },
    /// This system, or a model, cannot pin a thread to such CPUs.
    Unsupported {
        /// The CPUs asked for.
        cpus: CpuSet,
    },
    /// On this system pinning needs the crate's feature `affinity`.
    FeatureOff {
        /// The CPUs asked for.
        cpus: CpuSet,
    },
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCpu => f.write_str("a thread cannot be pinned to no CPU"),
            Self::Refused { cpus, source } => {
                write!(f, "this thread is not pinned to {}: {source}", cpus.named())
            }
            Self::Narrowed { cpus, got } => write!(
                f,
                "this thread was to be pinned to {} and is pinned to {}",
                cpus.named(),
                got.named()
            ),
            Self::Unchecked { cpus, source } => write!(
                f,
                "whether this thread is pinned to {} cannot be read: {source}",
                cpus.named()
            ),
            Self::Unsupported { cpus } => {
                write!(f, "this system cannot pin a thread to {}", cpus.named())
            }
            Self::FeatureOff { cpus } => write!(
                f,
                "this thread is not pinned to {}: built without the feature `affinity`",
                cpus.named()
            ),
        }
    }
}

impl core::error::Error for PinError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Refused { source, .. } | Self::Unchecked { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// What a thread that could not be pinned means to whoever wanted it pinned.
///
/// ```
/// use mailring::task::{CpuSet, OnPinFailure, pin};
///
/// let none = || pin(&CpuSet::new());
/// assert!(OnPinFailure::Error.weigh(none()).is_err());
/// let warning = OnPinFailure::Warn.weigh(none())?.expect("a warning");
/// assert_eq!(warning.to_string(), "a thread cannot be pinned to no CPU");
/// assert!(OnPinFailure::Ignore.weigh(none())?.is_none());
/// # Ok::<(), mailring::task::PinError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnPinFailure {
    /// It does not start.
    Error,
    /// It runs unpinned, and this is told.
    #[default]
    Warn,
    /// It runs unpinned.
    Ignore,
}

impl OnPinFailure {
    /// What remains of an outcome: a warning, or nothing.
    ///
    /// # Errors
    /// The outcome's, where a failure is an error.
    pub fn weigh(self, outcome: Result<(), PinError>) -> Result<Option<PinError>, PinError> {
        match (self, outcome) {
            (_, Ok(())) | (Self::Ignore, Err(_)) => Ok(None),
            (Self::Warn, Err(error)) => Ok(Some(error)),
            (Self::Error, Err(error)) => Err(error),
        }
    }
}

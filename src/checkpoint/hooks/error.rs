//! Why a job's hooks cannot take part in its checkpoints.

use crate::letter::{BoxError, shown};
use crate::stream::CheckpointId;
use core::fmt;
use core::time::Duration;

/// Why a job's hooks cannot take part in its checkpoints.
#[derive(Debug)]
#[non_exhaustive]
pub enum MasterHookError {
    /// Two hooks of the job have one identifier.
    Taken {
        /// The identifier.
        identifier: Box<str>,
    },
    /// A hook failed when a checkpoint began, or panicked.
    Trigger {
        /// The hook.
        identifier: Box<str>,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Why.
        source: BoxError,
    },
    /// A hook could not go back to a checkpoint, or panicked.
    Restore {
        /// The hook.
        identifier: Box<str>,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Why.
        source: BoxError,
    },
    /// A hook could not go back to its beginning, or panicked.
    Reset {
        /// The hook.
        identifier: Box<str>,
        /// Why.
        source: BoxError,
    },
    /// What a hook gave to a checkpoint cannot be turned into bytes from which it can be read back.
    NotStorable {
        /// The hook.
        identifier: Box<str>,
        /// Its type.
        contents: Box<str>,
        /// Why not.
        reason: Box<str>,
    },
    /// What a hook gave to a checkpoint was of another type.
    OtherType {
        /// The hook.
        identifier: Box<str>,
        /// The type that was stored.
        stored: Box<str>,
        /// The type that the hook has.
        declared: Box<str>,
    },
    /// What was stored of a hook cannot be read.
    Damaged {
        /// The hook.
        identifier: Box<str>,
        /// Why not.
        reason: Box<str>,
    },
    /// The job is to go on from a checkpoint, and some hook has not returned from a call.
    NotReturned {
        /// All hooks of the job.
        identifiers: Vec<Box<str>>,
        /// How long it was waited for.
        after: Duration,
    },
}

impl fmt::Display for MasterHookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { identifier } => write!(
                f,
                "two hooks of the job have the identifier \"{identifier}\": each needs one of its own"
            ),
            Self::Trigger {
                identifier,
                checkpoint,
                source,
            } => write!(
                f,
                "the hook \"{identifier}\" failed at checkpoint {}: {}",
                checkpoint.get(),
                shown(source)
            ),
            Self::Restore {
                identifier,
                checkpoint,
                source,
            } => write!(
                f,
                "the hook \"{identifier}\" cannot go back to checkpoint {}: {}",
                checkpoint.get(),
                shown(source)
            ),
            Self::Reset { identifier, source } => write!(
                f,
                "the hook \"{identifier}\" cannot go back to its beginning: {}",
                shown(source)
            ),
            Self::NotStorable {
                identifier,
                contents,
                reason,
            } => write!(
                f,
                "what the hook \"{identifier}\" gives to checkpoints, {contents}, cannot be stored and read \
                 back: {reason}"
            ),
            Self::OtherType {
                identifier,
                stored,
                declared,
            } => write!(
                f,
                "the hook \"{identifier}\" was stored as {stored} and has {declared} now: its state must \
                 have the type it had, or the hook another identifier"
            ),
            Self::Damaged { identifier, reason } => write!(
                f,
                "what was stored of the hook \"{identifier}\" cannot be read: {reason}"
            ),
            Self::NotReturned { identifiers, after } => write!(
                f,
                "a hook has not returned from a call for {after:?}, one of: {}",
                identifiers.join(", ")
            ),
        }
    }
}

impl core::error::Error for MasterHookError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Trigger { source, .. }
            | Self::Restore { source, .. }
            | Self::Reset { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

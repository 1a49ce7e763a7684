//! Why a checkpoint was not committed, and what that means for its files.

use super::error::StorageError;
use crate::checkpoint::Epoch;
use crate::stream::CheckpointId;
use core::fmt;

/// Why a coordinator did not take over, or a checkpoint was not committed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitError {
    /// Another coordinator has taken over: this one must stop at once, and delete nothing. What it
    /// was about to commit may be in the chain, and the other one goes on from there.
    Fenced {
        /// The record by which that is seen.
        record: Box<str>,
        /// What storage had failed by before: the other one may have deleted what was to be read.
        cause: Option<StorageError>,
    },
    /// It was not written, and will not be.
    NotWritten(StorageError),
    /// It may have been written, or will be: its files are to be kept. The next commit finds out.
    MaybeWritten(StorageError),
    /// The checkpoint is of another run, or not newer than all before: the caller mixes them up.
    OutOfOrder {
        /// The checkpoint's run.
        epoch: Epoch,
        /// The checkpoint.
        id: CheckpointId,
        /// The coordinator's run.
        expected_epoch: Epoch,
        /// The lowest id that it would take.
        least_id: u64,
    },
}

impl CommitError {
    /// Whether what the checkpoint consists of must not be deleted.
    #[must_use]
    pub const fn keeps_files(&self) -> bool {
        matches!(self, Self::Fenced { .. } | Self::MaybeWritten(_))
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced { record, cause } => {
                write!(f, "another coordinator has taken over: it wrote {record}")?;
                match cause {
                    Some(cause) => write!(f, "; what failed here: {cause}"),
                    None => Ok(()),
                }
            }
            Self::NotWritten(error) => error.fmt(f),
            Self::MaybeWritten(error) => write!(f, "it is not known what was committed: {error}"),
            Self::OutOfOrder {
                epoch,
                id,
                expected_epoch,
                least_id,
            } => write!(
                f,
                "checkpoint {id} of run {} cannot be committed by run {}, whose next is {least_id}",
                epoch.0, expected_epoch.0
            ),
        }
    }
}

impl core::error::Error for CommitError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotWritten(error) | Self::MaybeWritten(error) => Some(error),
            Self::Fenced { cause, .. } => cause.as_ref().map(|cause| cause as _),
            Self::OutOfOrder { .. } => None,
        }
    }
}

impl From<StorageError> for CommitError {
    /// What failed before anything was to be written.
    fn from(error: StorageError) -> Self {
        Self::NotWritten(error)
    }
}

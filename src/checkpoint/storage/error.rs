//! What can go wrong with stored checkpoints, always with the name of the file.

use super::format::{FORMAT, FileKind};
use crate::letter::shown;
use crate::stream::CheckpointId;
use core::fmt;
use core::time::Duration;

/// Why a checkpoint could not be stored or read. Every one names the file, or the directory, that
/// it is about.
#[derive(Debug)]
#[non_exhaustive]
pub enum StorageError {
    /// The store failed.
    Io {
        /// What was tried, as in "cannot *write* a file".
        action: &'static str,
        /// The file or directory.
        file: Box<str>,
        /// What the store says.
        source: Box<dyn core::error::Error + Send + Sync>,
    },
    /// A file is not there.
    Missing {
        /// The file.
        file: Box<str>,
    },
    /// A file is there, and is not what was stored.
    Damaged {
        /// The file.
        file: Box<str>,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A directory holds checkpoints of another job: each needs a directory of its own.
    OtherJob {
        /// The file that says so.
        file: Box<str>,
        /// The job it is of.
        found: Box<str>,
        /// The job that was to use it.
        expected: Box<str>,
    },
    /// A path leads to no checkpoint.
    NoCheckpoint {
        /// The path.
        path: Box<str>,
    },
    /// A job's directory has no checkpoint of such an id.
    UnknownCheckpoint {
        /// The directory.
        directory: Box<str>,
        /// The id.
        id: CheckpointId,
    },
    /// A checkpoint is not kept any more: its files may be gone at any time.
    NotRetained {
        /// Its record.
        file: Box<str>,
    },
    /// Numbers, ids or epochs are used up.
    Exhausted {
        /// The record that has the last.
        file: Box<str>,
    },
    /// The chain's end moved on as often as it was looked for: others write to the directory all
    /// the time.
    Contended {
        /// The directory.
        directory: Box<str>,
    },
    /// A file cannot have two names there, and records are created by that.
    NoHardLinks {
        /// The directory.
        directory: Box<str>,
        /// What the system said to the attempt.
        source: Box<dyn core::error::Error + Send + Sync>,
    },
    /// Something that is no file has a record's name.
    NoFile {
        /// What it is called.
        file: Box<str>,
    },
    /// State that is stored elsewhere than its checkpoint's files are.
    ForeignPath {
        /// The path in its handle.
        path: Box<str>,
    },
    /// The store has not answered in time; see
    /// [`CheckpointStorage::request_timeout`](super::CheckpointStorage::request_timeout).
    Unanswered {
        /// For how long it was waited.
        waited: Duration,
        /// What is not known.
        what: Box<str>,
    },
    /// What drives the store's futures came back before they were done.
    NotDriven {
        /// The file or directory.
        file: Box<str>,
    },
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// It is shorter than it should be.
    Truncated {
        /// How long it should be, in bytes; at least, where its header is cut off.
        expected: u64,
        /// How long it is, in bytes.
        found: u64,
    },
    /// It is longer than it should be.
    TooLong {
        /// How long it should be, in bytes.
        expected: u64,
        /// How long it is, in bytes.
        found: u64,
    },
    /// It does not begin as the engine's files do.
    Magic,
    /// Its format is not known here; it may be of a newer version of the engine.
    Version {
        /// The version of its format.
        found: u16,
    },
    /// It is of another kind.
    Kind {
        /// What it should be.
        expected: FileKind,
        /// The number it has for its kind.
        found: u16,
    },
    /// What it holds is laid out otherwise: it was written by another version of the engine.
    Fingerprint {
        /// Of the layout that is read here.
        expected: u64,
        /// Of the layout it has.
        found: u64,
    },
    /// Its bytes are not those that were written.
    Crc {
        /// Of what was written.
        expected: u32,
        /// Of what was read.
        found: u32,
    },
    /// Its bytes are those that were written, but mean nothing.
    Undecodable(Box<str>),
    /// It holds the record of another number.
    Misplaced {
        /// The number that it says.
        found: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { expected, found } => {
                write!(f, "it is cut off: {found} of {expected} bytes")
            }
            Self::TooLong { expected, found } => {
                write!(f, "it is too long: {found} instead of {expected} bytes")
            }
            Self::Magic => f.write_str("it does not begin as a file of a checkpoint does"),
            Self::Version { found } => {
                write!(
                    f,
                    "its format is version {found}, and {FORMAT} is read here"
                )
            }
            Self::Kind { expected, found } => {
                write!(f, "it is of kind {found}, and is to be {expected}")
            }
            Self::Fingerprint { expected, found } => write!(
                f,
                "what it holds is laid out otherwise than here: {found:016x}, not {expected:016x}"
            ),
            Self::Crc { expected, found } => write!(
                f,
                "its bytes are not those that were written: CRC-32 {found:08x}, not {expected:08x}"
            ),
            Self::Undecodable(detail) => write!(f, "it cannot be decoded: {detail}"),
            Self::Misplaced { found } => write!(f, "it holds the record of number {found}"),
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io {
                action,
                file,
                source,
            } => write!(f, "cannot {action} {file}: {}", shown(source)),
            Self::Missing { file } => write!(f, "{file} is missing"),
            Self::Damaged { file, damage } => write!(f, "{file} is damaged: {damage}"),
            Self::OtherJob {
                file,
                found,
                expected,
            } => write!(
                f,
                "{file} is of the job `{found}`: the job `{expected}` needs a directory of its own"
            ),
            Self::NoCheckpoint { path } => write!(
                f,
                "{path} leads to no checkpoint: give a job's directory, or a record in its `chain`"
            ),
            Self::UnknownCheckpoint { directory, id } => write!(
                f,
                "there is no checkpoint {id} in `{directory}`: it has not been completed, or is not \
                 kept any more"
            ),
            Self::NotRetained { file } => {
                write!(f, "the checkpoint of {file} is not kept any more")
            }
            Self::Exhausted { file } => write!(f, "no number is left after {file}"),
            Self::Contended { directory } => {
                write!(f, "others write to {directory} all the time")
            }
            Self::NoHardLinks { directory, source } => write!(
                f,
                "{directory}: a file cannot have a second name there ({}), and records are \
                 created by that: take a directory of a file system that has hard links",
                shown(source)
            ),
            Self::NoFile { file } => {
                write!(f, "{file} is there, and is no file: move it away")
            }
            Self::ForeignPath { path } => write!(f, "`{path}` is no file of a checkpoint's state"),
            Self::Unanswered { waited, what } => write!(
                f,
                "the storage has not answered within {waited:?}, and it is not known {what}"
            ),
            Self::NotDriven { file } => {
                write!(
                    f,
                    "what drives the store came back before it was done with {file}"
                )
            }
        }
    }
}

impl core::error::Error for StorageError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::NoHardLinks { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

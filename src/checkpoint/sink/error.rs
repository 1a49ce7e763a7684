//! What can go wrong at a sink into files.

use crate::letter::BoxError;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file sink cannot do its work, or what it finds on the disk is not what it left there.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileSinkError {
    /// The job takes no checkpoints.
    NoCheckpoints {
        /// The sink's folder.
        folder: PathBuf,
    },
    /// Files cannot be called so.
    Name {
        /// What they were to be called by.
        name: String,
    },
    /// The system refused something.
    Disk {
        /// The file or the folder.
        path: PathBuf,
        /// What was tried: `"create"`, `"write"`, `"sync"`, `"link"`, `"read"` or `"remove"`.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A file cannot have two names there.
    NoHardLinks {
        /// The sink's folder.
        folder: PathBuf,
        /// What the system said to the attempt.
        source: io::Error,
    },
    /// The encoder refused a record.
    Record {
        /// The sink's folder.
        folder: PathBuf,
        /// Which record of this attempt of the subtask, counted from 1.
        record: u64,
        /// Why.
        source: BoxError,
    },
    /// What was staged may not be on the disk, and cannot be made sure of any more.
    NotSynced {
        /// The file or the folder that could not be synced.
        path: PathBuf,
    },
    /// A file was staged, and is neither there any more nor visible.
    Missing {
        /// Where it was staged.
        staged: PathBuf,
        /// What it was to be called.
        target: PathBuf,
    },
    /// A staged file holds something else now.
    Changed {
        /// Where it was staged.
        staged: PathBuf,
        /// How many bytes it had.
        bytes: u64,
    },
    /// There is another file where one is to be made visible.
    Taken {
        /// The file that is there.
        target: PathBuf,
        /// Where the one that was to be called so is staged.
        staged: PathBuf,
    },
    /// Output is visible that what the job begins with knows nothing of.
    UnknownOutput {
        /// The file that is there.
        target: PathBuf,
    },
    /// What the sink is to be restored from is no state of such a sink.
    State {
        /// The sink's folder.
        folder: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The stream has ended, and no checkpoint was completed after its end.
    NeverCommitted {
        /// The folder where they are staged.
        staging: PathBuf,
        /// How many files never became visible.
        files: usize,
    },
}

impl FileSinkError {
    /// The system refused to do `what` to the file or folder at `path`.
    pub(super) fn disk(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk {
            path: path.to_owned(),
            what,
            source,
        }
    }
}

impl fmt::Display for FileSinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCheckpoints { folder } => write!(
                f,
                "{}: the job takes no checkpoints, so nothing would ever be committed there: have it \
                 take some, or take another sink",
                folder.display()
            ),
            Self::Name { name } => write!(
                f,
                "files cannot be called by {name:?}: allowed are letters and digits of ASCII, `_`, `-` \
                 and `.`, the first one no dot"
            ),
            Self::Disk { path, what, source } => {
                write!(f, "{}: cannot {what} it: {source}", path.display())
            }
            Self::NoHardLinks { folder, source } => write!(
                f,
                "{}: a file cannot have a second name there ({source}), and files are committed by \
                 that: take a folder of a file system that has hard links",
                folder.display()
            ),
            Self::Record {
                folder,
                record,
                source,
            } => write!(
                f,
                "{}: record {record} cannot be written: {source}",
                folder.display()
            ),
            Self::NotSynced { path } => write!(
                f,
                "{}: it could not be synced for an earlier checkpoint, so no later one can vouch for \
                 it: the job is to go on from the last complete one",
                path.display()
            ),
            Self::Missing { staged, target } => write!(
                f,
                "{} was staged to be called {}, and neither is there: put one of them back, or restore \
                 the job from an earlier checkpoint",
                staged.display(),
                target.display()
            ),
            Self::Changed { staged, bytes } => write!(
                f,
                "{}: these are not the {bytes} bytes that were staged: put those back, or restore the \
                 job from an earlier checkpoint",
                staged.display()
            ),
            Self::Taken { target, staged } => write!(
                f,
                "{}: another file is there, and is not overwritten by {}: move it away, and let each \
                 sink have a folder or a prefix of its own",
                target.display(),
                staged.display()
            ),
            Self::UnknownOutput { target } => write!(
                f,
                "{}: it is there already, and is not of the checkpoint that the job begins with: \
                 restore the latest one, or move the files away, or take an empty folder",
                target.display()
            ),
            Self::State { folder, message } => write!(
                f,
                "{}: what it is to be restored from is no state of a file sink: {message}",
                folder.display()
            ),
            Self::NeverCommitted { staging, files } => write!(
                f,
                "{}: {files} files stay there, since no checkpoint was completed after the end of the \
                 stream",
                staging.display()
            ),
        }
    }
}

impl core::error::Error for FileSinkError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Disk { source, .. } | Self::NoHardLinks { source, .. } => Some(source),
            Self::Record { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

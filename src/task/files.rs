//! The system's small files below a root, and what could not be read of them.
//!
//! Whatever a file holds, reading it neither fails nor panics: it tells something, or is noted.

use super::cpu_set::CpuSet;
use core::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// More than any file read here holds; what is beyond is not looked at.
const BYTES_MAX: u64 = 1 << 20;

/// A file of the system that told nothing, though it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub path: PathBuf,
    /// Why it told nothing.
    pub reason: UnreadReason,
}

/// Why a file of the system told nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadReason {
    /// It could not be read.
    Failed(ErrorKind),
    /// It holds something odd.
    Odd(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.reason {
            UnreadReason::Failed(kind) => write!(f, "{kind}"),
            UnreadReason::Odd(what) => f.write_str(what),
        }
    }
}

/// The files below a root.
#[derive(Debug)]
pub(super) struct Files<'a> {
    root: &'a Path,
    unread: Vec<Unread>,
}

impl<'a> Files<'a> {
    pub(super) fn below(root: &'a Path) -> Self {
        Self {
            root,
            unread: Vec::new(),
        }
    }

    pub(super) fn into_unread(self) -> Vec<Unread> {
        self.unread
    }

    /// The text of a file that not every system has.
    pub(super) fn optional(&mut self, path: &str) -> Option<String> {
        match self.read(path) {
            Ok(text) => Some(text),
            Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(kind) => {
                self.note(path, UnreadReason::Failed(kind));
                None
            }
        }
    }

    /// The text of a file that is noted if it is not there.
    pub(super) fn required(&mut self, path: &str) -> Option<String> {
        match self.read(path) {
            Ok(text) => Some(text),
            Err(kind) => {
                self.note(path, UnreadReason::Failed(kind));
                None
            }
        }
    }

    /// The list in an optional file.
    pub(super) fn optional_list(&mut self, path: &str) -> Option<CpuSet> {
        let text = self.optional(path)?;
        self.list(path, &text)
    }

    /// What `list`, found in the file `path`, says.
    pub(super) fn list(&mut self, path: &str, list: &str) -> Option<CpuSet> {
        match list.parse() {
            Ok(cpus) => Some(cpus),
            Err(error) => {
                self.odd(path, error);
                None
            }
        }
    }

    /// Notes that the file `path` holds something odd.
    pub(super) fn odd(&mut self, path: &str, what: impl fmt::Display) {
        self.note(path, UnreadReason::Odd(what.to_string()));
    }

    fn note(&mut self, path: &str, reason: UnreadReason) {
        let path = self.root.join(path);
        self.unread.push(Unread { path, reason });
    }

    fn read(&self, path: &str) -> Result<String, ErrorKind> {
        let mut bytes = Vec::new();
        File::open(self.root.join(path))
            .and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|error| error.kind())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

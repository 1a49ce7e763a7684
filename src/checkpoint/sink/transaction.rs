//! A file that is staged, and becomes visible by a second name.
//!
//! V1. A staged file is whole and on the disk before the checkpoint that it belongs to can be complete;
//!     nobody writes to it any more.
//! V2. It is committed by a second name, which fails where that name is taken: a rename would put it in
//!     the place of whatever is there. Both names are the same file, so a commit is the same done twice,
//!     by this process or by two of them. Only where it was staged before this process, so that it may
//!     be a copy of what was staged, it is enough that the file holds the same.
//! V3. The first name goes when the second is sure to survive the machine, and not before. Until then
//!     it can be committed again.

use super::disk::Disk;
use super::error::FileSinkError;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How many bytes are read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// One file: where it is staged, what it will be called, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Transaction {
    /// In the sink's folder.
    pub(super) staged: String,
    /// In the sink's folder.
    pub(super) target: String,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// What is found where a file should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The transaction's own bytes.
    Same,
    Other,
}

impl Transaction {
    pub(super) fn staged_in(&self, folder: &Path) -> PathBuf {
        folder.join(&self.staged)
    }

    pub(super) fn target_in(&self, folder: &Path) -> PathBuf {
        folder.join(&self.target)
    }

    /// Makes it visible (V2), unless it is already.
    pub(super) fn commit(&self, disk: &dyn Disk, folder: &Path) -> Result<(), FileSinkError> {
        let (staged, target) = (self.staged_in(folder), self.target_in(folder));
        self.make_visible(disk, staged, target, are_one)
    }

    fn make_visible(
        &self,
        disk: &dyn Disk,
        staged: PathBuf,
        target: PathBuf,
        may_be_one: fn(&Metadata, &Metadata) -> bool,
    ) -> Result<(), FileSinkError> {
        let linked = disk.hard_link(&staged, &target);
        match linked.as_ref().map_err(io::Error::kind) {
            Ok(()) => Ok(()),
            Err(io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                let of_both = [&staged, &target].map(|path| path.symlink_metadata());
                match self.found_at(&target)? {
                    Found::Same if matches!(&of_both, [Ok(one), Ok(other)] if !may_be_one(one, other)) => {
                        Err(FileSinkError::Taken { target, staged })
                    }
                    Found::Same => Ok(()),
                    Found::Other => Err(FileSinkError::Taken { target, staged }),
                    Found::Nothing => Err(FileSinkError::Missing { staged, target }),
                }
            }
            Err(_) => linked.map_err(FileSinkError::disk(&target, "link")),
        }
    }

    /// The same, of a transaction that another process may have staged: what is there may have been
    /// changed since.
    pub(super) fn commit_again(&self, disk: &dyn Disk, folder: &Path) -> Result<(), FileSinkError> {
        let staged = self.staged_in(folder);
        match self.found_at(&staged)? {
            Found::Other => Err(FileSinkError::Changed {
                staged,
                bytes: self.bytes,
            }),
            Found::Same | Found::Nothing => {
                self.make_visible(disk, staged, self.target_in(folder), |_, _| true)
            }
        }
    }

    fn found_at(&self, path: &Path) -> Result<Found, FileSinkError> {
        self.compare(path)
            .map_err(FileSinkError::disk(path, "read"))
    }

    fn compare(&self, path: &Path) -> io::Result<Found> {
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            found => found?,
        };
        if !found.is_file() || found.len() != self.bytes {
            return Ok(Found::Other);
        }
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            file => file?,
        };
        let mut crc = Hasher::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => crc.update(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(if crc.finalize() == self.crc {
            Found::Same
        } else {
            Found::Other
        })
    }
}

/// Whether both are one file, as far as the system tells.
#[cfg(unix)]
fn are_one(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn are_one(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

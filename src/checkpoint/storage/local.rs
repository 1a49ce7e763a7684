//! What the object store leaves undone where it is a directory of the local file system.
//!
//! The store makes files durable, with their directory entries and the directories that it creates.
//! It does so neither for directories that were there before, nor for what it deletes; and it does
//! not show the files that an interrupted write leaves beside its target, under the target's name
//! and `#1`, so these cannot be deleted by it.

use super::names;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A directory of the local file system.
#[derive(Clone, Debug)]
pub(super) struct LocalDirectory {
    root: PathBuf,
}

impl LocalDirectory {
    /// The directory `root`, which is created with all that leads to it if it is not there.
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        let chain = std::path::absolute(root)?.join(names::CHAIN);
        let absent = chain.ancestors().take_while(|path| !path.exists()).count();
        fs::create_dir_all(&chain)?;
        let directory = Self::existing(root)?;
        // What is new must be durable, with its name in the directory that was there. Above that,
        // who created it may have died before it was; but one may not be let in there.
        let chain = directory.root.join(names::CHAIN);
        for (depth, ancestor) in chain.ancestors().enumerate() {
            match sync(ancestor) {
                Err(_) if depth > absent.max(1) => break,
                synced => synced?,
            }
        }
        Ok(directory)
    }

    /// The directory `root`, which is there.
    pub(super) fn existing(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes durable which files are in `directory`.
    pub(super) fn sync(&self, directory: &str) -> io::Result<()> {
        sync(&self.root.join(directory))
    }

    /// Removes `directory` with all that is left in it.
    pub(super) fn remove(&self, directory: &str) -> io::Result<()> {
        absent_is_fine(fs::remove_dir_all(self.root.join(directory)))
    }

    /// Removes what interrupted writes have left of records up to `last`.
    pub(super) fn remove_unfinished(&self, last: u64) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(names::CHAIN))? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.split_once('#'));
            let number = number.and_then(|(record, _)| names::record_number(record));
            if number.is_some_and(|number| number <= last) {
                absent_is_fine(fs::remove_file(entry.path()))?;
            }
        }
        Ok(())
    }
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Directories cannot be synced elsewhere.
#[cfg(not(unix))]
fn sync(_directory: &Path) -> io::Result<()> {
    Ok(())
}

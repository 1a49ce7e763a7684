//! What the object store leaves undone where it is a directory of the local file system.
//!
//! The store makes files durable, with their directory entries and the directories that it creates.
//! It does so neither for directories that were there before, nor for what it deletes; and it does
//! not show the files that an interrupted write leaves beside its target, under the target's name
//! and `#1`, so these cannot be deleted by it. It panics where a file is taken whose path is no text,
//! and shows nothing of a directory in which it cannot show all.

use super::backend::Listing;
use super::names;
use std::fs::{self, DirEntry, File};
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
        if root.as_os_str().is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the path is empty"));
        }
        let chain = std::path::absolute(root)?.join(names::CHAIN);
        check_what_is_there(&chain)?;
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
        check_text(&root)?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What is in `directory`, but for names that are no text and links that lead nowhere.
    pub(super) fn list(&self, directory: &str) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(self.root.join(directory))? {
            let entry = entry?;
            let (Ok(name), Ok(is_directory)) = (entry.file_name().into_string(), leads_on(&entry))
            else {
                continue;
            };
            match is_directory {
                true => listing.directories.push(name),
                false => listing.files.push(name),
            }
        }
        Ok(listing)
    }

    /// Whether nothing is called `file`, for sure.
    pub(super) fn is_absent(&self, file: &str) -> bool {
        let found = self.root.join(file).symlink_metadata();
        found.is_err_and(|error| {
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        })
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

/// Whether what is there of `path` lets the rest be created, and all of it be named.
fn check_what_is_there(path: &Path) -> io::Result<()> {
    let mut ancestors = path.ancestors();
    let there = ancestors.find(|ancestor| ancestor.symlink_metadata().is_ok());
    let there = there.unwrap_or(path);
    if !there.is_dir() {
        let in_the_way = format!("{} is there, and is no directory", there.display());
        return Err(io::Error::new(ErrorKind::NotADirectory, in_the_way));
    }
    let rest = path.strip_prefix(there).unwrap_or(path);
    check_text(&fs::canonicalize(there)?.join(rest))
}

fn check_text(path: &Path) -> io::Result<()> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!(
                "{} is no text: take a directory all of whose path is UTF-8",
                path.display()
            ),
        )),
    }
}

/// Whether there is a directory where an entry leads.
fn leads_on(entry: &DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    Ok(match kind.is_symlink() {
        true => fs::metadata(entry.path())?.is_dir(),
        false => kind.is_dir(),
    })
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

//! What the file sink does to a disk.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Each change that the file sink makes to a disk, as one step: between any two of them the process
/// may be killed.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Makes a file that was not there.
    fn create_new(&self, path: &Path) -> io::Result<File>;

    /// Appends to the file at `path`.
    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// What the file holds survives the machine.
    fn sync(&self, path: &Path, file: &File) -> io::Result<()>;

    /// The names in a folder survive the machine.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file a second name, which was not there.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Takes a name away.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes one folder in another.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Takes away a folder that is empty.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
}

/// The system's own.
#[derive(Debug)]
pub(super) struct LocalDisk;

impl Disk for LocalDisk {
    fn create_new(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn append(&self, _path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, _path: &Path, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and its names need no call of their own.
        if cfg!(unix) {
            File::open(path)?.sync_all()?;
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// Makes the folder at `path` and those it is in. Its own name survives the machine then, also where
/// somebody else has made it, and was killed before it was synced.
pub(super) fn create_folders(disk: &dyn Disk, path: &Path) -> Result<(), (PathBuf, io::Error)> {
    let missing = path.ancestors().take_while(|folder| !is_folder(folder));
    let mut missing: Vec<&Path> = missing.collect();
    let is_there = missing.is_empty();
    while let Some(folder) = missing.pop() {
        let fault = |error| (folder.to_owned(), error);
        match disk.create_folder(folder) {
            // Another subtask was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(folder) => {}
            made => made.map_err(fault)?,
        }
        disk.sync_folder(parent_of(folder)).map_err(fault)?;
    }
    if is_there {
        match disk.sync_folder(parent_of(path)) {
            // Who may not look into it did not make this one there.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            synced => synced.map_err(|error| (path.to_owned(), error))?,
        }
    }
    Ok(())
}

fn parent_of(folder: &Path) -> &Path {
    folder.parent().map_or(folder, or_here)
}

fn is_folder(path: &Path) -> bool {
    or_here(path).is_dir()
}

/// The folder that a path without a name in it stands for.
pub(super) fn or_here(path: &Path) -> &Path {
    if path == Path::new("") {
        Path::new(".")
    } else {
        path
    }
}

/// Takes a name away that may be gone already.
pub(super) fn remove_if_there(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

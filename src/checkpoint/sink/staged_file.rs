//! A file that records are written to, and the same file when it waits for its checkpoint.

use super::disk::Disk;
use super::error::FileSinkError;
use super::transaction::Transaction;
use crate::sync::{Mutex, PlainArc};
use crc32fast::Hasher;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How many bytes are kept back before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// A file that records are written to, by the task's thread.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// In the sink's folder.
    staged: String,
    target: String,
    path: PathBuf,
    file: File,
    /// What was not written yet.
    rest: Vec<u8>,
    written: u64,
    crc: Hasher,
}

impl OpenFile {
    /// The file at `path`, which was made and is empty.
    pub(super) fn new(staged: String, target: String, path: PathBuf, file: File) -> Self {
        Self {
            staged,
            target,
            path,
            file,
            rest: Vec::with_capacity(BUFFER_BYTES),
            written: 0,
            crc: Hasher::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self) -> u64 {
        self.written + self.rest.len() as u64
    }

    /// Where more bytes are appended to.
    pub(super) fn rest(&mut self) -> &mut Vec<u8> {
        &mut self.rest
    }

    /// Writes what was kept back, when it is enough.
    pub(super) fn write_enough(&mut self, disk: &dyn Disk) -> Result<(), FileSinkError> {
        if self.rest.len() < BUFFER_BYTES {
            return Ok(());
        }
        disk.append(&self.path, &mut self.file, &self.rest)
            .map_err(FileSinkError::disk(&self.path, "write"))?;
        self.crc.update(&self.rest);
        self.written += self.rest.len() as u64;
        self.rest.clear();
        Ok(())
    }

    /// No more records are written to it.
    pub(super) fn seal(mut self) -> StagedFile {
        let bytes = self.bytes();
        self.crc.update(&self.rest);
        StagedFile {
            transaction: Transaction {
                staged: self.staged,
                target: self.target,
                bytes,
                crc: self.crc.finalize(),
            },
            unsynced: PlainArc::new(Mutex::new(Some(Unsynced {
                path: self.path,
                file: self.file,
                rest: self.rest,
            }))),
        }
    }
}

/// What is to be done before a file is sure to survive the machine.
#[derive(Debug)]
pub(super) struct Unsynced {
    path: PathBuf,
    file: File,
    rest: Vec<u8>,
}

impl Unsynced {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was kept back, and syncs the file.
    pub(super) fn sync(&mut self, disk: &dyn Disk) -> Result<(), FileSinkError> {
        let Self { path, file, rest } = self;
        if !rest.is_empty() {
            disk.append(path, file, rest)
                .map_err(FileSinkError::disk(path, "write"))?;
        }
        disk.sync(path, file)
            .map_err(FileSinkError::disk(path, "sync"))
    }
}

/// A file that waits for its checkpoint.
#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) transaction: Transaction,
    /// `None` once it is sure to survive. It is locked beside the task only.
    pub(super) unsynced: PlainArc<Mutex<Option<Unsynced>>>,
}

impl StagedFile {
    /// One that a restored state holds.
    pub(super) fn restored(transaction: Transaction) -> Self {
        Self {
            transaction,
            unsynced: PlainArc::new(Mutex::new(None)),
        }
    }
}

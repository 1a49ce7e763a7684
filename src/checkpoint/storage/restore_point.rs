//! Where a job can go on from.
//!
//! The newest checkpoint is the one that the head of the chain names. If that record, or a file of
//! that checkpoint, is missing or damaged, this is an error that names the file: no older one is
//! taken in its place unasked, for what was committed outside by the newer one would be done twice.

use super::checkpoint_storage::{CheckpointStorage, failed};
use super::error::StorageError;
use super::holds::Hold;
use super::names::{self, CHAIN};
use super::record::{Body, Kept, Record, Stored};
use super::state_file::{self, OperatorStateBytes};
use crate::checkpoint::{CompletedCheckpoint, SubtaskState};
use crate::stream::CheckpointId;
use crate::sync::PlainArc;
use bytes::Bytes;
use std::io::ErrorKind;
use std::path::Path;

/// How often the newest checkpoint may be collected while it is looked for.
const ROUNDS_MAX: u32 = 64;

/// A checkpoint that a job can go on from, found to be complete. As long as this lives, the
/// checkpoint is not deleted by this process, through the same storage or a clone of it.
#[derive(Debug)]
pub struct RestorePoint {
    checkpoint: PlainArc<CompletedCheckpoint>,
    pub(super) kept: Kept,
    file: Box<str>,
    storage: CheckpointStorage,
    _hold: Hold,
}

impl RestorePoint {
    /// The checkpoint that `path` leads to: a record of the chain, the directory of a checkpoint's
    /// state, or the directory of a job, whose newest it is then. Nothing is created or changed there.
    ///
    /// # Errors
    /// [`StorageError::NoCheckpoint`] if `path` leads to none; [`StorageError::Io`] if it cannot be
    /// followed; otherwise as [`CheckpointStorage::latest`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        let path = path.as_ref();
        let nothing = || StorageError::NoCheckpoint {
            path: path.to_string_lossy().into(),
        };
        let path = std::fs::canonicalize(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => nothing(),
            _ => failed("open", path, error),
        })?;
        let name = path.file_name().and_then(|name| name.to_str());
        let parent = path.parent();
        if let Some((number, chain)) = name.and_then(names::record_number).zip(parent) {
            let root = chain.parent().filter(|_| chain.ends_with(CHAIN));
            let storage = CheckpointStorage::existing(root.ok_or_else(nothing)?)?;
            return storage.checkpoint_of(number)?.ok_or_else(nothing);
        }
        if let Some((attempt, root)) = name.and_then(names::attempt).zip(parent) {
            let storage = CheckpointStorage::existing(root)?;
            let found = storage.find(|kept| kept.attempt == attempt)?;
            return found.ok_or_else(nothing);
        }
        if !path.join(CHAIN).is_dir() {
            return Err(nothing());
        }
        let latest = CheckpointStorage::existing(&path)?.latest()?;
        latest.ok_or_else(nothing)
    }

    /// The checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> &PlainArc<CompletedCheckpoint> {
        &self.checkpoint
    }

    /// The file of its record.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where it is: not where a job stores its own checkpoints, if it is restored from elsewhere.
    #[must_use]
    pub fn storage(&self) -> &CheckpointStorage {
        &self.storage
    }

    /// What a subtask stored in it; see [`CheckpointStorage::read_subtask_state`].
    ///
    /// # Errors
    /// With the file's name, if it is missing or any of its bytes is not as it was written.
    pub fn read_subtask_state(
        &self,
        state: &SubtaskState,
    ) -> Result<Vec<OperatorStateBytes<Bytes>>, StorageError> {
        self.storage.read_subtask_state(state)
    }
}

/// A record of a checkpoint, as it was found.
#[derive(Debug)]
pub struct StoredCheckpoint {
    /// The file of the record: a job can be restored from its path.
    pub file: Box<str>,
    /// What it says, or what is wrong with it. The checkpoint's files were not looked at.
    pub checkpoint: Result<PlainArc<CompletedCheckpoint>, StorageError>,
}

impl CheckpointStorage {
    /// The newest checkpoint, with all its files there and as long as they were written; `None` if
    /// there has been none.
    ///
    /// # Errors
    /// If the newest record or a file of the newest checkpoint is missing or damaged, with the file's
    /// name. Whoever wants an older one in its place must say so, by its path; see
    /// [`checkpoints`](Self::checkpoints) for what there is.
    pub fn latest(&self) -> Result<Option<RestorePoint>, StorageError> {
        let mut before = None;
        for _ in 0..ROUNDS_MAX {
            let Some(head) = self.record_numbers()?.into_iter().max() else {
                return Ok(None);
            };
            let found = self
                .record(head)
                .and_then(|record| match record.live().last() {
                    Some(kept) => self.restore_point(*kept).map(Some),
                    None => match record.body {
                        Body::Takeover {
                            restored_from: Some(path),
                        } => RestorePoint::open(&*path).map(Some),
                        _ => Ok(None),
                    },
                });
            match found {
                // It may have been collected, if the head has moved on since it was read.
                Err(StorageError::Missing { .. } | StorageError::NotRetained { .. })
                    if before != Some(head) =>
                {
                    before = Some(head);
                }
                found => return found,
            }
        }
        let directory = self.backend.name("");
        Err(StorageError::Contended { directory })
    }

    /// The checkpoint of that id, if there is a record of it.
    ///
    /// # Errors
    /// If a record, or a file of that checkpoint, is missing or damaged, with the file's name.
    pub fn checkpoint(&self, id: CheckpointId) -> Result<Option<RestorePoint>, StorageError> {
        self.find(|kept| kept.attempt.id == id)
    }

    /// All records of checkpoints, and all that cannot be read, the oldest first.
    ///
    /// # Errors
    /// If the chain cannot be listed.
    pub fn checkpoints(&self) -> Result<Vec<StoredCheckpoint>, StorageError> {
        let mut found = Vec::new();
        for number in self.record_numbers()? {
            let checkpoint = match self.record(number) {
                Ok(record) => match record.body {
                    Body::Checkpoint(_, Stored(checkpoint)) => Ok(checkpoint),
                    Body::Takeover { .. } | Body::Discarded => continue,
                },
                Err(StorageError::Missing { .. }) => continue,
                Err(error) => Err(error),
            };
            let file = self.backend.name(&names::record(number));
            found.push(StoredCheckpoint { file, checkpoint });
        }
        Ok(found)
    }

    /// The numbers of all records, rising.
    pub(super) fn record_numbers(&self) -> Result<Vec<u64>, StorageError> {
        let files = self.backend.list(CHAIN)?.files;
        let numbers = files.iter().filter_map(|name| names::record_number(name));
        let mut numbers: Vec<_> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn record(&self, number: u64) -> Result<Record<Stored>, StorageError> {
        let file = names::record(number);
        let bytes = self.backend.get(&file)?;
        Record::decode(number, &self.backend.name(&file), &bytes)
    }

    /// The newest checkpoint whose record `is_it`; none of the records may be damaged.
    fn find(&self, is_it: impl Fn(&Kept) -> bool) -> Result<Option<RestorePoint>, StorageError> {
        for number in self.record_numbers()?.into_iter().rev() {
            let record = match self.record(number) {
                Err(StorageError::Missing { .. }) => continue,
                record => record?,
            };
            if let Body::Checkpoint(attempt, _) = record.body {
                let kept = Kept { number, attempt };
                if is_it(&kept) {
                    return self.restore_point(kept).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// The checkpoint of the record of that number; `None` if that is no checkpoint's.
    fn checkpoint_of(&self, number: u64) -> Result<Option<RestorePoint>, StorageError> {
        let Body::Checkpoint(attempt, _) = self.record(number)?.body else {
            return Ok(None);
        };
        self.restore_point(Kept { number, attempt }).map(Some)
    }

    pub(super) fn restore_point(&self, kept: Kept) -> Result<RestorePoint, StorageError> {
        let file = self.backend.name(&names::record(kept.number));
        let not_retained = || StorageError::NotRetained { file: file.clone() };
        // Held first: what is read after that stays.
        let hold = self.holds.hold(kept.attempt).ok_or_else(not_retained)?;
        let Body::Checkpoint(attempt, Stored(checkpoint)) = self.record(kept.number)?.body else {
            return Err(not_retained());
        };
        if attempt != kept.attempt {
            return Err(not_retained());
        }
        let vertices = checkpoint.vertices.iter();
        let subtasks = vertices.flat_map(|vertex| &vertex.subtasks);
        state_file::verify(&self.backend, subtasks.map(|subtask| &subtask.state))?;
        Ok(RestorePoint {
            checkpoint,
            kept,
            file,
            storage: self.clone(),
            _hold: hold,
        })
    }
}

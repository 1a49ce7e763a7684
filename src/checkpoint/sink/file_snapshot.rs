//! The part of the file sink's snapshot that runs beside the task.
//!
//! D1. What the state holds is on the disk, file and name, before the state is stored.
//! D2. What the state does not hold any more, since it was committed, has its visible name on the disk
//!     before the state is stored; then its staged name goes.
//! D3. A part may be given up before it has run. What it was to do is done by the next one.
//! D4. A system tells only once that it lost what it was to sync. After that nothing is vouched for any
//!     more, by whichever part: the records come again from the last complete checkpoint.

use super::disk::{Disk, remove_if_there};
use super::error::FileSinkError;
use super::staged_file::Unsynced;
use super::transaction::Transaction;
use crate::letter::BoxError;
use crate::stream::EncodeState;
use crate::sync::{Mutex, OnceLock, PlainArc};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is stored of one subtask's sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSinkState {
    pub(super) subtask: u32,
    /// Of the subtask's next file.
    pub(super) next_sequence: u64,
    /// What was not committed, in order.
    pub(super) transactions: Vec<Transaction>,
}

/// What the parts of one sink have in common. It is locked beside the task only.
#[derive(Debug, Default)]
pub(super) struct Vouching {
    turn: Mutex<()>,
    lost: OnceLock<PathBuf>,
}

impl Vouching {
    /// # Errors
    /// Where something that was not synced in time cannot be vouched for (D4).
    pub(super) fn check(&self) -> Result<(), FileSinkError> {
        match self.lost.get() {
            Some(path) => Err(FileSinkError::NotSynced { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Notes what came of syncing `path` (D4).
    fn synced(&self, path: &Path, synced: Result<(), FileSinkError>) -> Result<(), FileSinkError> {
        if synced.is_err() {
            // A second loss says no more than the first.
            let _first = self.lost.set(path.to_owned());
        }
        synced
    }
}

/// Staged names that are not needed any more, when the visible ones are on the disk.
#[derive(Debug)]
pub(super) struct Settlement {
    staged: Vec<PathBuf>,
    done: OnceLock<()>,
}

impl Settlement {
    pub(super) fn new(staged: Vec<PathBuf>) -> Self {
        Self {
            staged,
            done: OnceLock::new(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.get().is_some()
    }

    fn settle(&self, disk: &dyn Disk) -> Result<(), FileSinkError> {
        for staged in &self.staged {
            remove_if_there(disk, staged).map_err(FileSinkError::disk(staged, "remove"))?;
        }
        self.done.get_or_init(|| ());
        Ok(())
    }
}

/// See above.
#[derive(Debug)]
pub(super) struct FileSnapshot {
    pub(super) disk: PlainArc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) staging: PathBuf,
    pub(super) unsynced: Vec<PlainArc<Mutex<Option<Unsynced>>>>,
    pub(super) settlements: Vec<PlainArc<Settlement>>,
    pub(super) vouching: PlainArc<Vouching>,
    pub(super) state: FileSinkState,
}

impl FileSnapshot {
    /// Syncs what the state holds (D1).
    fn sync(&self) -> Result<(), FileSinkError> {
        for unsynced in &self.unsynced {
            let mut unsynced = unsynced.lock();
            if let Some(file) = &mut *unsynced {
                let synced = file.sync(&*self.disk);
                self.vouching.synced(file.path(), synced)?;
            }
            *unsynced = None;
        }
        if self.unsynced.is_empty() {
            return Ok(());
        }
        self.sync_folder(&self.staging)
    }

    fn sync_folder(&self, folder: &Path) -> Result<(), FileSinkError> {
        let synced = self
            .disk
            .sync_folder(folder)
            .map_err(FileSinkError::disk(folder, "sync"));
        self.vouching.synced(folder, synced)
    }

    /// Sees to what was committed (D2).
    pub(super) fn settle(&self) -> Result<(), FileSinkError> {
        if self.settlements.is_empty() {
            return Ok(());
        }
        self.sync_folder(&self.folder)?;
        self.settlements
            .iter()
            .try_for_each(|settlement| settlement.settle(&*self.disk))
    }
}

impl EncodeState for FileSnapshot {
    fn encode(self: Box<Self>) -> Result<Vec<u8>, BoxError> {
        let _turn = self.vouching.turn.lock();
        self.vouching.check()?;
        self.sync()?;
        self.settle()?;
        Ok(postcard::to_stdvec(&self.state)?)
    }
}

#[test]
fn the_state_keeps_its_layout() {
    let state = FileSinkState {
        subtask: 3,
        next_sequence: 300,
        transactions: vec![Transaction {
            staged: ".staging/job-files-0-1-3/1-0123456789abcdef-0".to_owned(),
            target: "part-3-0000000299".to_owned(),
            bytes: 70_000,
            crc: u32::MAX,
        }],
    };
    let bytes = postcard::to_stdvec(&state).unwrap();
    assert_eq!(
        (bytes.len(), crc32fast::hash(&bytes)),
        (76, 1_838_930_082),
        "a checkpoint that is stored is laid out otherwise, and would be misread"
    );
    assert_eq!(
        postcard::from_bytes::<FileSinkState>(&bytes).unwrap(),
        state
    );
}

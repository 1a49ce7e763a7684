//! A subtask's files from their beginning to where they are visible.
//!
//! G1. What is in no restored state, and was there when the sink was opened, is left from earlier
//!     attempts; their checkpoints will never be complete once one of ours is. Before that it is left
//!     alone: another process may have taken over from this one without its knowledge, have read a later
//!     checkpoint, and need files that this one's state does not hold.
//! G2. A file that is begun after such a takeover has a name that was never listed here.

use super::disk::{Disk, create_folders, remove_if_there};
use super::error::FileSinkError;
use super::file_sink::FileSink;
use super::file_snapshot::{FileSinkState, FileSnapshot, Settlement, Vouching};
use super::names::{PartName, STAGING, StagedNames, is_staged, staging_folder};
use super::staged_file::{OpenFile, StagedFile};
use super::transaction::Transaction;
use super::two_phase_commit::TwoPhaseCommit;
use crate::stream::{CheckpointId, Setting};
use crate::sync::PlainArc;
use core::convert::Infallible;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// See above.
#[derive(Debug)]
pub(super) struct Staging {
    disk: PlainArc<dyn Disk>,
    /// The sink's folder.
    folder: PathBuf,
    /// The subtask's, in it.
    relative: String,
    path: PathBuf,
    subtask: u32,
    names: StagedNames,
    next_sequence: u64,
    transactions: TwoPhaseCommit<OpenFile, StagedFile>,
    /// Staged names of what was committed since the last snapshot.
    committed: Vec<PathBuf>,
    /// The same, before the last snapshot, as far as they may not be done.
    settlements: Vec<PlainArc<Settlement>>,
    /// G1.
    left: Vec<PathBuf>,
    restored: Option<CheckpointId>,
    vouching: PlainArc<Vouching>,
    has_ended: bool,
}

impl Staging {
    /// Commits again what the restored state holds, and is ready for records.
    pub(super) fn open<E>(sink: &FileSink<E>, setting: &Setting) -> Result<Self, FileSinkError> {
        let folder = sink.folder.clone();
        if !setting.takes_checkpoints() {
            return Err(FileSinkError::NoCheckpoints { folder });
        }
        let subtask = setting.subtask();
        let relative = format!("{STAGING}/{}", staging_folder(subtask, setting.operator()));
        let restored = restored_state(&folder, setting)?;
        let restored_id = setting.restored_checkpoint();
        let files = restored.transactions.into_iter().map(StagedFile::restored);
        let mut staging = Self {
            disk: PlainArc::clone(&sink.disk),
            path: folder.join(&relative),
            relative,
            subtask: subtask.index,
            names: StagedNames::new(subtask.attempt),
            next_sequence: restored.next_sequence,
            transactions: match restored_id {
                Some(id) => TwoPhaseCommit::restored(id, files),
                None => TwoPhaseCommit::new(),
            },
            committed: Vec::new(),
            settlements: Vec::new(),
            left: Vec::new(),
            restored: restored_id,
            vouching: PlainArc::default(),
            has_ended: setting.is_restored_finished(),
            folder,
        };
        staging.make_folders()?;
        if let Some(id) = restored_id {
            staging.commit(id, Transaction::commit_again)?;
        }
        if staging.has_ended {
            // No further state of it is stored, by which this would be seen to.
            staging.settle()?;
        } else {
            staging.look_for_unknown_output(&sink.part)?;
            staging.try_second_name()?;
        }
        staging.left = staging.list_left()?;
        Ok(staging)
    }

    fn make_folders(&self) -> Result<(), FileSinkError> {
        let staging = self.folder.join(STAGING);
        for folder in [&self.folder, &staging, &self.path] {
            create_folders(&*self.disk, folder)
                .map_err(|(path, error)| FileSinkError::disk(&path, "create")(error))?;
        }
        Ok(())
    }

    /// What comes next has a name that must not be taken: files get their sequences without a gap.
    fn look_for_unknown_output(&self, part: &PartName) -> Result<(), FileSinkError> {
        let target = self.folder.join(part.of(self.subtask, self.next_sequence));
        match target.symlink_metadata() {
            Ok(_) => Err(FileSinkError::UnknownOutput { target }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(FileSinkError::disk(&target, "read")(error)),
        }
    }

    /// Whether files can be committed here is better known before there are any.
    fn try_second_name(&mut self) -> Result<(), FileSinkError> {
        let first = self.path.join(self.names.draw());
        let second = self.path.join(self.names.draw());
        self.disk
            .create_new(&first)
            .map_err(FileSinkError::disk(&first, "create"))?;
        let linked = self.disk.hard_link(&first, &second);
        for name in [&first, &second] {
            remove_if_there(&*self.disk, name).map_err(FileSinkError::disk(name, "remove"))?;
        }
        linked.map_err(|source| FileSinkError::NoHardLinks {
            folder: self.folder.clone(),
            source,
        })
    }

    /// What is staged here and is in no state (G1).
    fn list_left(&self) -> Result<Vec<PathBuf>, FileSinkError> {
        let known: HashSet<&Path> = self.committed.iter().map(PathBuf::as_path).collect();
        let mut left = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(FileSinkError::disk(&self.path, "read"))? {
            let entry = entry.map_err(FileSinkError::disk(&self.path, "read"))?;
            let path = entry.path();
            let is_ours = entry.file_name().to_str().is_some_and(is_staged);
            if is_ours && !known.contains(path.as_path()) {
                left.push(path);
            }
        }
        Ok(left)
    }

    /// The file that the next record goes to, unless that is to begin one.
    pub(super) fn current(&mut self, bytes_max: Option<u64>) -> Option<&mut OpenFile> {
        let has_room = |file: &&mut OpenFile| bytes_max.is_none_or(|max| file.bytes() < max);
        self.transactions.current().filter(has_room)
    }

    /// Begins a file.
    pub(super) fn begin(&mut self, part: &PartName) -> Result<&mut OpenFile, FileSinkError> {
        let name = self.names.draw();
        let path = self.path.join(&name);
        let file = self
            .disk
            .create_new(&path)
            .map_err(FileSinkError::disk(&path, "create"))?;
        let staged = format!("{}/{name}", self.relative);
        let target = part.of(self.subtask, self.next_sequence);
        self.next_sequence += 1;
        let begun = OpenFile::new(staged, target, path, file);
        Ok(self.transactions.begin(begun))
    }

    /// Ends the files at hand for checkpoint `id`.
    pub(super) fn snapshot(&mut self, id: CheckpointId) -> Result<FileSnapshot, FileSinkError> {
        self.vouching.check()?;
        let sealed = self
            .transactions
            .pre_commit(id, |file| Ok::<_, Infallible>(file.seal()));
        let Ok(()) = sealed;
        let files = self.transactions.pre_committed();
        let state = FileSinkState {
            subtask: self.subtask,
            next_sequence: self.next_sequence,
            transactions: files.map(|file| file.transaction.clone()).collect(),
        };
        Ok(self.beside(state))
    }

    /// What is to be done beside the task before `state` can be stored.
    fn beside(&mut self, state: FileSinkState) -> FileSnapshot {
        self.settlements.retain(|settlement| !settlement.is_done());
        if !self.committed.is_empty() {
            let committed = core::mem::take(&mut self.committed);
            self.settlements
                .push(PlainArc::new(Settlement::new(committed)));
        }
        let files = self.transactions.pre_committed();
        FileSnapshot {
            disk: PlainArc::clone(&self.disk),
            folder: self.folder.clone(),
            staging: self.path.clone(),
            unsynced: files.map(|file| PlainArc::clone(&file.unsynced)).collect(),
            settlements: self.settlements.clone(),
            vouching: PlainArc::clone(&self.vouching),
            state,
        }
    }

    /// Checkpoint `id` is complete.
    pub(super) fn complete(&mut self, id: CheckpointId) -> Result<(), FileSinkError> {
        self.commit(id, Transaction::commit)?;
        if self.restored.is_none_or(|restored| id > restored) {
            // G1.
            self.committed.append(&mut self.left);
        }
        Ok(())
    }

    fn commit(
        &mut self,
        id: CheckpointId,
        commit: fn(&Transaction, &dyn Disk, &Path) -> Result<(), FileSinkError>,
    ) -> Result<(), FileSinkError> {
        let Self {
            disk,
            folder,
            transactions,
            committed,
            ..
        } = self;
        transactions.complete(id, |file| {
            commit(&file.transaction, &**disk, folder)?;
            committed.push(file.transaction.staged_in(folder));
            Ok(())
        })
    }

    /// Sees at once to what was committed, where nothing is pre-committed any more.
    fn settle(&mut self) -> Result<(), FileSinkError> {
        self.vouching.check()?;
        let state = FileSinkState {
            subtask: self.subtask,
            next_sequence: self.next_sequence,
            transactions: Vec::new(),
        };
        self.beside(state).settle()
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self) {
        self.has_ended = true;
    }

    /// Leaves nothing behind that nobody needs.
    pub(super) fn close(mut self) -> Result<(), FileSinkError> {
        if !self.has_ended {
            // Nobody will commit what is in no state. What is in one may be committed yet.
            for file in self.transactions.take_pending() {
                remove_if_there(&*self.disk, file.path())
                    .map_err(FileSinkError::disk(file.path(), "remove"))?;
            }
            return Ok(());
        }
        let files = self.transactions.pending() + self.transactions.pre_committed().len();
        if files > 0 {
            let staging = self.path;
            return Err(FileSinkError::NeverCommitted { staging, files });
        }
        self.settle()?;
        // It stays where something of others is in it.
        let _removed = self.disk.remove_folder(&self.path);
        Ok(())
    }
}

/// What the sink begins with.
fn restored_state(folder: &Path, setting: &Setting) -> Result<FileSinkState, FileSinkError> {
    let subtask = setting.subtask().index;
    let mut state = FileSinkState {
        subtask,
        next_sequence: 0,
        transactions: Vec::new(),
    };
    let parts = setting
        .restored()
        .map(|restored| &restored.managed_operator);
    for part in parts.into_iter().flatten() {
        let refused = |message| FileSinkError::State {
            folder: folder.to_owned(),
            message,
        };
        let (mut part, rest) = postcard::take_from_bytes::<FileSinkState>(part)
            .map_err(|error| refused(error.to_string()))?;
        if !rest.is_empty() {
            return Err(refused(format!("{} bytes are left", rest.len())));
        }
        state.transactions.append(&mut part.transactions);
        if part.subtask == subtask {
            state.next_sequence = state.next_sequence.max(part.next_sequence);
        }
    }
    Ok(state)
}

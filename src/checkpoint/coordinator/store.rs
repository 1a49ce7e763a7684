//! The completed checkpoints that a job keeps, from the oldest to the newest.
//!
//! S1. One is added first and others are dropped afterwards: the list is never empty again.
//! S2. The newest is never dropped, nor is the newest that is no savepoint.
//! S3. Savepoints may leave the list, but never are they to be deleted: they are the user's.
//! S4. What is in use is not to be deleted before it is released.

use super::retention::{JobEnd, RetentionPolicy};
use crate::checkpoint::CompletedCheckpoint;
use crate::stream::{CheckpointId, SnapshotType};
use core::fmt;

/// A completed checkpoint was not taken into the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedCheckpointStoreError {
    /// The job is over.
    ShutDown,
    /// There is one with that number or a higher one.
    NotNewer {
        /// The number.
        id: CheckpointId,
        /// The newest's number.
        newest: CheckpointId,
    },
}

impl fmt::Display for CompletedCheckpointStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown => f.write_str("the list of completed checkpoints is shut down"),
            Self::NotNewer { id, newest } => write!(
                f,
                "checkpoint {id} is not newer than checkpoint {newest}, which is complete"
            ),
        }
    }
}

impl core::error::Error for CompletedCheckpointStoreError {}

/// What comes of a checkpoint's completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "what is not kept any more is to be deleted"]
pub struct Subsumption {
    /// The newest that is kept no more, for those who wait to be told.
    pub subsumed: Option<CheckpointId>,
    /// Those that are to be deleted, the oldest first.
    pub to_discard: Vec<CompletedCheckpoint>,
}

/// The right to read a completed checkpoint: until it is released, the checkpoint is not deleted.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a checkpoint that is not released is never deleted"]
pub struct CheckpointInUse {
    id: CheckpointId,
}

impl CheckpointInUse {
    /// The checkpoint.
    #[must_use]
    pub const fn id(&self) -> CheckpointId {
        self.id
    }
}

#[derive(Clone, Debug)]
struct Entry {
    checkpoint: CompletedCheckpoint,
    users: usize,
}

impl Entry {
    fn new(checkpoint: CompletedCheckpoint) -> Self {
        Self {
            checkpoint,
            users: 0,
        }
    }

    fn id(&self) -> CheckpointId {
        self.checkpoint.id
    }

    fn is_savepoint(&self) -> bool {
        self.checkpoint.options.snapshot == SnapshotType::Savepoint
    }
}

/// The completed checkpoints that a job keeps.
#[derive(Clone, Debug)]
pub struct CompletedCheckpointStore {
    retained: usize,
    /// By number, rising.
    entries: Vec<Entry>,
    /// Those that are not in the list any more, and are in use.
    leaving: Vec<Entry>,
    is_shut_down: bool,
}

impl CompletedCheckpointStore {
    /// A list of at most `retained`, at least 1, which begins with those that storage has: in any
    /// order, each number once.
    #[must_use]
    pub fn new(retained: u32, recovered: Vec<CompletedCheckpoint>) -> Self {
        let mut entries: Vec<_> = recovered.into_iter().map(Entry::new).collect();
        entries.sort_by_key(Entry::id);
        debug_assert!(
            entries.windows(2).all(|pair| pair[0].id() < pair[1].id()),
            "two recovered checkpoints of one number"
        );
        Self {
            retained: retained.max(1) as usize,
            entries,
            leaving: Vec::new(),
            is_shut_down: false,
        }
    }

    /// Takes in a checkpoint whose record is written, and drops what there is too much of then.
    /// Savepoints that the job takes are not for the list: those in it are what it was restored from.
    ///
    /// # Errors
    /// If the job is over or the checkpoint is not newer than all others: the list is as it was.
    pub fn add(
        &mut self,
        checkpoint: CompletedCheckpoint,
    ) -> Result<Subsumption, CompletedCheckpointStoreError> {
        if self.is_shut_down {
            return Err(CompletedCheckpointStoreError::ShutDown);
        }
        let id = checkpoint.id;
        if let Some(newest) = self
            .entries
            .last()
            .map(Entry::id)
            .filter(|&last| last >= id)
        {
            return Err(CompletedCheckpointStoreError::NotNewer { id, newest });
        }
        self.entries.push(Entry::new(checkpoint));
        Ok(self.subsume())
    }

    /// The newest.
    #[must_use]
    pub fn latest(&self) -> Option<&CompletedCheckpoint> {
        self.entries.last().map(|entry| &entry.checkpoint)
    }

    /// All, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &CompletedCheckpoint> {
        self.entries.iter().map(|entry| &entry.checkpoint)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The right to read a checkpoint of the list; `None` if it is not there.
    pub fn acquire(&mut self, id: CheckpointId) -> Option<CheckpointInUse> {
        let entry = self.entries.iter_mut().find(|entry| entry.id() == id)?;
        entry.users += 1;
        Some(CheckpointInUse { id })
    }

    /// Gives a right back; if it was the last to a checkpoint that was dropped meanwhile, that one is
    /// to be deleted now.
    #[must_use = "what is not kept any more is to be deleted"]
    pub fn release(&mut self, right: CheckpointInUse) -> Option<CompletedCheckpoint> {
        let CheckpointInUse { id } = right;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id() == id) {
            entry.users -= 1;
            return None;
        }
        let index = self.leaving.iter().position(|entry| entry.id() == id)?;
        self.leaving[index].users -= 1;
        if self.leaving[index].users > 0 {
            return None;
        }
        Some(self.leaving.remove(index).checkpoint)
    }

    /// The job is over: what `policy` does not keep is to be deleted, the oldest first.
    #[must_use = "what is not kept any more is to be deleted"]
    pub fn shut_down(&mut self, end: JobEnd, policy: RetentionPolicy) -> Vec<CompletedCheckpoint> {
        self.is_shut_down = true;
        if policy.retains(end) {
            return Vec::new();
        }
        let entries = core::mem::take(&mut self.entries);
        entries
            .into_iter()
            .filter_map(|entry| self.drop_entry(entry))
            .collect()
    }

    fn subsume(&mut self) -> Subsumption {
        let mut subsumption = Subsumption::default();
        let newest_checkpoint = self.entries.iter().rposition(|entry| !entry.is_savepoint());
        let newest_checkpoint = newest_checkpoint.map(|index| self.entries[index].id());
        let newest = self.entries.last().map(Entry::id);
        let mut surplus = self.entries.len().saturating_sub(self.retained);
        let mut kept = Vec::with_capacity(self.retained + 1);
        for entry in core::mem::take(&mut self.entries) {
            let id = Some(entry.id());
            if surplus == 0 || id == newest || id == newest_checkpoint {
                kept.push(entry);
                continue;
            }
            surplus -= 1;
            subsumption.subsumed = id;
            subsumption.to_discard.extend(self.drop_entry(entry));
        }
        self.entries = kept;
        debug_assert!(
            newest.is_none() || self.entries.last().map(Entry::id) == newest,
            "S1, S2"
        );
        subsumption
    }

    /// The checkpoint, if it is to be deleted now.
    fn drop_entry(&mut self, entry: Entry) -> Option<CompletedCheckpoint> {
        if entry.is_savepoint() {
            return None;
        }
        if entry.users > 0 {
            self.leaving.push(entry);
            return None;
        }
        Some(entry.checkpoint)
    }
}

#[cfg(test)]
mod tests;

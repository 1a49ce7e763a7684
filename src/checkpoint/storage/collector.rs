//! Deleting what is not kept any more.

use super::checkpoint_storage::CheckpointStorage;
use super::error::StorageError;
use super::names::{self, Attempt, CHAIN};
use super::protocol::Position;
use super::record::Body;
use super::sweep::{Found, Says, Sweep};

/// The right to delete what was not kept when it was made; see
/// [`CommitChain::collector`](super::CommitChain::collector).
#[derive(Debug)]
#[must_use = "what is not collected stays"]
pub struct Collector {
    storage: CheckpointStorage,
    position: Position,
    is_fenced: bool,
}

/// What was deleted.
#[derive(Debug, Default)]
pub struct Collected {
    /// How many records of the chain.
    pub records: usize,
    /// How many checkpoints and attempts at them.
    pub attempts: usize,
    /// How many files of theirs.
    pub files: usize,
    /// What could not be deleted, or looked for; the next time it is tried again.
    pub errors: Vec<StorageError>,
}

impl Collector {
    pub(super) fn new(storage: CheckpointStorage, position: Position, is_fenced: bool) -> Self {
        Self {
            storage,
            position,
            is_fenced,
        }
    }

    /// Deletes it.
    pub fn run(self) -> Collected {
        let mut collected = Collected::default();
        if self.is_fenced {
            return collected;
        }
        match self.plan() {
            Ok(sweep) => self.delete(sweep, &mut collected),
            Err(error) => collected.errors.push(error),
        }
        collected
    }

    fn plan(&self) -> Result<Sweep, StorageError> {
        let records = self.storage.record_numbers()?.into_iter();
        let records = records.map(|number| {
            let says = self.says(number)?;
            Ok(Found { number, says })
        });
        let records = records.collect::<Result<Vec<_>, StorageError>>()?;
        let attempts = self.storage.attempts()?;
        Ok(Sweep::plan(&self.position, &records, &attempts))
    }

    /// What the record of that number says, as far as it has to be known.
    fn says(&self, number: u64) -> Result<Says, StorageError> {
        let position = &self.position;
        if position.has_committed || number >= position.last {
            return Ok(Says::Unread);
        }
        if let Some(kept) = position.live.iter().find(|kept| kept.number == number) {
            return Ok(Says::Checkpoint(kept.attempt));
        }
        match self.storage.record(number) {
            Ok(record) => Ok(match record.body {
                Body::Checkpoint(attempt, _) => Says::Checkpoint(attempt),
                Body::Takeover { .. } | Body::Discarded => Says::Other,
            }),
            // Somebody was first.
            Err(StorageError::Missing { .. }) => Ok(Says::Other),
            Err(StorageError::Damaged { .. }) => Ok(Says::Nothing),
            Err(error) => Err(error),
        }
    }

    fn delete(&self, sweep: Sweep, collected: &mut Collected) {
        let backend = &self.storage.backend;
        for number in sweep.records {
            match backend.delete(&names::record(number)) {
                Ok(()) => collected.records += 1,
                Err(error) => collected.errors.push(error),
            }
        }
        if let Some(local) = backend.local()
            && let Err(error) = local.remove_unfinished(self.position.last)
        {
            let error = backend.failed("clean", CHAIN, error);
            collected.errors.push(error);
        }
        // A record must not come back once its checkpoint's files are gone.
        if collected.records > 0 {
            collected.errors.extend(backend.sync(CHAIN).err());
        }
        if !collected.errors.is_empty() {
            return;
        }
        let (storage, errors) = (&self.storage, &mut collected.errors);
        for attempt in sweep.attempts {
            if storage.holds.condemn(attempt) {
                storage.delete_attempt(attempt, &mut collected.files, errors);
                storage.holds.forget(attempt);
                collected.attempts += 1;
            }
        }
    }
}

impl CheckpointStorage {
    /// The attempts that have a directory.
    pub(super) fn attempts(&self) -> Result<Vec<Attempt>, StorageError> {
        let directories = self.backend.list("")?.directories;
        let attempts = directories.iter().filter_map(|name| names::attempt(name));
        Ok(attempts.collect())
    }
}

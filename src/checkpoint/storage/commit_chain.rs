//! The commit chain as one coordinator holds it: what the protocol says, done to a store.

use super::backend::Created;
use super::checkpoint_storage::CheckpointStorage;
use super::collector::{Collected, Collector};
use super::commit_error::CommitError;
use super::error::StorageError;
use super::names::{self, Attempt, CHAIN};
use super::protocol::{Answer, Base, Effect, Outcome, Protocol, Step};
use super::record::{Body, Record, Stored};
use super::restore_point::RestorePoint;
use super::writer::Writers;
use crate::checkpoint::{CompletedCheckpoint, Epoch};
use crate::stream::CheckpointId;
use crate::sync::PlainArc;
use std::path::PathBuf;

/// Where a job goes on from when it starts.
///
/// What there is to go on from is listed by [`CheckpointStorage::checkpoints`], with its ids and files:
///
/// ```
/// use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, RestoreFrom};
/// use mailring::job::{Checkpointing, Job};
/// use mailring::stream::{Discard, Generator};
/// use mailring::task::Engine;
///
/// let storage = CheckpointStorage::in_memory();
/// let engine = Engine::builder().threads(1).build()?;
/// let run = |restore| {
///     let checkpointing = Checkpointing::new(storage.clone(), CheckpointSettings::manual());
///     Job::new("numbers")
///         .checkpoints(checkpointing.restore(restore))
///         .source("numbers", Generator::new(|number| number).count(100))
///         .sink("discard", Discard)
///         .run(&engine)
/// };
/// run(RestoreFrom::Latest)?;
/// let stored = storage.checkpoints()?.pop().expect("its last checkpoint");
/// let id = stored.checkpoint?.id;
/// println!("{} is checkpoint {id}", stored.file);
/// run(RestoreFrom::Checkpoint(id))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreFrom {
    /// The newest checkpoint in the job's directory, or from the beginning if there has been none.
    #[default]
    Latest,
    /// The checkpoint of that id in the job's directory; newer ones are given up.
    Checkpoint(CheckpointId),
    /// What [`RestorePoint::open`] finds at the path, in the job's directory or in another, of which
    /// nothing is deleted. All others in the job's directory are given up.
    Path(PathBuf),
}

/// The right to commit checkpoints of a job, until another coordinator takes it.
///
/// A checkpoint is complete exactly when its record stands in the chain: [`commit`](Self::commit)
/// creates it, under the number behind the last, which can be done once for each number. Whoever
/// starts writes a record first, with an epoch higher than all before; a coordinator that was left
/// behind finds its number taken, or a higher one there, and is fenced. Several may run in any
/// number of processes: one of them commits.
///
/// All of it blocks; see [`CheckpointStorage`].
///
/// ```
/// use mailring::checkpoint::{CheckpointStorage, CommitChain, CommitError, RestoreFrom};
///
/// let storage = CheckpointStorage::in_memory();
/// let (mut first, restored) = CommitChain::take_over(&storage, "job", 1, RestoreFrom::Latest)?;
/// assert!(restored.is_none());
/// let (second, _) = CommitChain::take_over(&storage, "job", 1, RestoreFrom::Latest)?;
/// assert!(second.epoch() > first.epoch());
/// # use mailring::checkpoint::CompletedCheckpoint;
/// # let checkpoint = CompletedCheckpoint {
/// #     job: "job".into(), epoch: first.epoch(), id: first.next_id(), begun_ms: 0,
/// #     options: Default::default(), duration_ns: 0, max_parallelism: 1, vertices: Vec::new(),
/// #     coordinator_states: Vec::new(), master_states: Vec::new(),
/// # };
/// let fenced = first.commit(checkpoint);
/// assert!(matches!(fenced, Err(CommitError::Fenced { .. })));
/// # Ok::<(), CommitError>(())
/// ```
#[derive(Debug)]
pub struct CommitChain {
    storage: CheckpointStorage,
    protocol: Protocol<Stored>,
}

/// A checkpoint was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The file of its record: the job can be restored from its path.
    pub file: Box<str>,
    /// Those that are kept no more, the oldest first; [`CommitChain::collect`] deletes them.
    pub subsumed: Vec<CheckpointId>,
}

impl CommitChain {
    /// Takes over the chain of `job` in `storage`, and answers where the job goes on from. From now
    /// on `retained` checkpoints are kept; 0 is taken for 1, as the newest always is.
    ///
    /// # Errors
    /// [`CommitError::NotWritten`] if the directory is another job's, or what the job is to go on
    /// from is missing or damaged, with the file's name: nothing is skipped. Somebody who accepts
    /// that can start from an older checkpoint by its path. [`CommitError::Fenced`] if another
    /// coordinator took over at the same time.
    pub fn take_over(
        storage: &CheckpointStorage,
        job: &str,
        retained: u32,
        from: RestoreFrom,
    ) -> Result<(Self, Option<RestorePoint>), CommitError> {
        Self::take_over_as(storage, job, retained, from, Writers::first(), &|| true)
    }

    /// The same, as the last of `writers`. Where there are some before it the job goes on after a
    /// failure: then the chain is left to whoever else has taken it over since. `may_go_on` is asked
    /// before each step: who was given up does nothing more, for its successor knows it for its own.
    pub(crate) fn take_over_as(
        storage: &CheckpointStorage,
        job: &str,
        retained: u32,
        from: RestoreFrom,
        writers: Writers,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<(Self, Option<RestorePoint>), CommitError> {
        let chosen = match from {
            RestoreFrom::Latest => None,
            RestoreFrom::Checkpoint(id) => match storage.checkpoint(id)? {
                None => {
                    let directory = storage.backend.name("");
                    return Err(StorageError::UnknownCheckpoint { directory, id }.into());
                }
                chosen => chosen,
            },
            RestoreFrom::Path(path) => Some(RestorePoint::open(path)?),
        };
        let base = match &chosen {
            None => Base::Head,
            Some(chosen) if is_same_place(storage, chosen.storage()) => {
                Base::Record(chosen.kept.number)
            }
            Some(chosen) => Base::Elsewhere(chosen.file().into()),
        };
        let is_elsewhere = matches!(base, Base::Elsewhere(_));
        let retained = usize::try_from(retained).unwrap_or(usize::MAX);
        let mut chain = Self {
            storage: storage.clone(),
            protocol: Protocol::new(job, writers, retained, base),
        };
        // Who was given up does not even look.
        let looked_at = |chain: &mut Self, error| match may_go_on() {
            true => chain.looked_at(error),
            false => error,
        };
        let step = chain.protocol.take_over();
        if let Err(error) = chain.run(step, may_go_on) {
            return Err(looked_at(&mut chain, error));
        }
        if is_elsewhere {
            return Ok((chain, chosen));
        }
        // Held by one's own storage, whatever the one was by which it was found.
        let position = chain.protocol.position();
        let restored = match (position.live.last(), &position.restored_from) {
            (Some(kept), _) => storage.restore_point(*kept).map(Some),
            (None, Some(path)) => RestorePoint::open(&**path).map(Some),
            (None, None) => Ok(None),
        };
        match restored {
            Ok(restored) => Ok((chain, restored)),
            Err(error) => Err(looked_at(&mut chain, error.into())),
        }
    }

    /// What has failed, told as what it is owed to where another coordinator has taken over.
    fn looked_at(&mut self, error: CommitError) -> CommitError {
        let is_of_storage = !matches!(error, CommitError::Fenced { .. });
        let by = (is_of_storage && self.protocol.has_taken_over())
            .then(|| self.storage.overtaken(self.protocol.writers()));
        let by = by
            .flatten()
            .filter(|by| self.protocol.is_overtaken(by.number));
        match (error, by) {
            (CommitError::NotWritten(cause) | CommitError::MaybeWritten(cause), Some(by)) => {
                CommitError::Fenced {
                    record: by.record,
                    cause: Some(cause),
                }
            }
            (error, _) => error,
        }
    }

    /// The run that this coordinator is of.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.protocol.position().epoch
    }

    /// The lowest id that no checkpoint of the directory has had.
    #[must_use]
    pub fn next_id(&self) -> CheckpointId {
        let next = CheckpointId::new(self.protocol.position().next_id);
        next.unwrap_or(CheckpointId(core::num::NonZeroU64::MIN))
    }

    /// Whether another coordinator is known to have taken over.
    #[must_use]
    pub fn is_fenced(&self) -> bool {
        self.protocol.is_fenced()
    }

    /// The checkpoints that are kept, the oldest first.
    ///
    /// # Errors
    /// If a record is missing or damaged, with the file's name.
    pub fn retained(&self) -> Result<Vec<PlainArc<CompletedCheckpoint>>, StorageError> {
        let live = self.protocol.position().live.iter();
        let checkpoints = live.map(|kept| match self.storage.record(kept.number)?.body {
            Body::Checkpoint(_, Stored(checkpoint)) => Ok(checkpoint),
            Body::Takeover { .. } | Body::Discarded => Err(StorageError::NotRetained {
                file: self.storage.backend.name(&names::record(kept.number)),
            }),
        });
        checkpoints.collect()
    }

    /// Those of them whose records are there and whole. The newest is: it was read when the chain was
    /// taken over.
    pub(crate) fn retained_and_whole(
        &self,
    ) -> Result<Vec<PlainArc<CompletedCheckpoint>>, StorageError> {
        let live = self.protocol.position().live.iter();
        let records = live.map(|kept| match self.storage.record(kept.number) {
            Ok(record) => match record.body {
                Body::Checkpoint(_, Stored(checkpoint)) => Ok(Some(checkpoint)),
                Body::Takeover { .. } | Body::Discarded => Ok(None),
            },
            Err(StorageError::Missing { .. } | StorageError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        });
        records.filter_map(Result::transpose).collect()
    }

    /// Commits a checkpoint, all of whose state is stored.
    ///
    /// # Errors
    /// If it is not known to be committed; [`CommitError::keeps_files`] says whether its files may be
    /// deleted then.
    pub fn commit(
        &mut self,
        checkpoint: impl Into<PlainArc<CompletedCheckpoint>>,
    ) -> Result<Committed, CommitError> {
        let checkpoint = checkpoint.into();
        let attempt = Attempt {
            epoch: checkpoint.epoch,
            id: checkpoint.id,
        };
        let before = self.protocol.position().live.clone();
        let step = self.protocol.commit(attempt, Stored(checkpoint));
        let number = match self.run(step, &|| true) {
            Err(CommitError::OutOfOrder { .. }) => {
                return Err(CommitError::OutOfOrder {
                    epoch: attempt.epoch,
                    id: attempt.id,
                    expected_epoch: self.epoch(),
                    least_id: self.protocol.position().next_id,
                });
            }
            result => result.map_err(|error| self.looked_at(error))?,
        };
        let live = &self.protocol.position().live;
        let gone = before.iter().filter(|kept| !live.contains(kept));
        Ok(Committed {
            id: attempt.id,
            file: self.storage.backend.name(&names::record(number)),
            subsumed: gone.map(|kept| kept.attempt.id).collect(),
        })
    }

    /// Deletes what is not kept any more: subsumed checkpoints, attempts that were given up, what
    /// crashes have left. No checkpoint before the first commit, and nothing that is being read or that a
    /// newer coordinator has written.
    pub fn collect(&self) -> Collected {
        self.collector().run()
    }

    /// The right to [`collect`](Self::collect) what is not kept now, at any time and beside further
    /// commits: what is not kept once never is again.
    pub fn collector(&self) -> Collector {
        let position = self.protocol.position().clone();
        Collector::new(self.storage.clone(), position, self.is_fenced())
    }

    /// Gives all checkpoints up and deletes them, as a job that is over and keeps none. One small
    /// record stays, so that a coordinator that was left behind does not begin a chain of its own.
    ///
    /// # Errors
    /// As [`commit`](Self::commit); nothing was deleted then.
    pub fn discard_all(mut self) -> Result<Collected, CommitError> {
        let step = self.protocol.discard();
        self.run(step, &|| true)
            .map_err(|error| self.looked_at(error))?;
        Ok(self.collect())
    }

    /// Does what the protocol says until it is done; the number of the record that was written.
    fn run(
        &mut self,
        mut step: Step<Stored>,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<u64, CommitError> {
        let mut carrier = Carrier {
            storage: &self.storage,
            error: None,
            is_unclear: false,
            is_taken: false,
        };
        let outcome = loop {
            match step {
                Step::Do(effect) => {
                    let answer = match may_go_on() {
                        true => carrier.carry_out(effect),
                        false => Answer::Failed,
                    };
                    step = self.protocol.answer(answer);
                }
                Step::Done(outcome) => break outcome,
            }
        };
        let Carrier {
            error, is_taken, ..
        } = carrier;
        self.conclude(outcome, error, is_taken)
    }

    fn conclude(
        &self,
        outcome: Outcome,
        error: Option<StorageError>,
        is_taken: bool,
    ) -> Result<u64, CommitError> {
        let file = |number| self.storage.backend.name(&names::record(number));
        let directory = || self.storage.backend.name("");
        let not_written = |error| Err(CommitError::NotWritten(error));
        match outcome {
            Outcome::Committed { number } => Ok(number),
            Outcome::Fenced { by } => Err(CommitError::Fenced {
                record: file(by),
                cause: error,
            }),
            Outcome::MaybeWritten { number } => {
                let file = file(number);
                let gone = match is_taken {
                    true => StorageError::NoFile { file },
                    false => StorageError::Missing { file },
                };
                Err(CommitError::MaybeWritten(error.unwrap_or(gone)))
            }
            Outcome::Failed => {
                not_written(error.unwrap_or(StorageError::NoCheckpoint { path: directory() }))
            }
            Outcome::OtherJob { number, found } => not_written(StorageError::OtherJob {
                file: file(number),
                found,
                expected: self.protocol.job().into(),
            }),
            Outcome::NotKept { number } => {
                not_written(StorageError::NotRetained { file: file(number) })
            }
            Outcome::Exhausted { number } => {
                not_written(StorageError::Exhausted { file: file(number) })
            }
            Outcome::Contended => not_written(StorageError::Contended {
                directory: directory(),
            }),
            Outcome::OutOfOrder => Err(CommitError::OutOfOrder {
                epoch: self.epoch(),
                id: self.next_id(),
                expected_epoch: self.epoch(),
                least_id: self.protocol.position().next_id,
            }),
        }
    }
}

/// Whether a checkpoint of `other` is one of `storage`'s own.
fn is_same_place(storage: &CheckpointStorage, other: &CheckpointStorage) -> bool {
    match (storage.backend.local(), other.backend.local()) {
        (Some(own), Some(other)) => own.root() == other.root(),
        // Paths lead to local directories: this one was found in `storage` itself.
        (None, None) => true,
        _ => false,
    }
}

/// Who carries the protocol's effects out.
struct Carrier<'a> {
    storage: &'a CheckpointStorage,
    /// The last that went wrong.
    error: Option<StorageError>,
    /// Whether a record may have been created whose directory is not synced.
    is_unclear: bool,
    /// Whether there was something of its name when a record was last to be created.
    is_taken: bool,
}

impl Carrier<'_> {
    fn carry_out(&mut self, effect: Effect<Stored>) -> Answer<Stored> {
        match effect {
            Effect::ListRecords => match self.storage.record_numbers() {
                Ok(numbers) => Answer::Records(numbers),
                Err(error) => self.failed(error),
            },
            Effect::ListAttempts => match self.storage.attempts() {
                Ok(attempts) => Answer::Attempts(attempts),
                Err(error) => self.failed(error),
            },
            Effect::Read(number) => self.read(number),
            Effect::Create(record) => self.create(&record),
        }
    }

    fn read(&mut self, number: u64) -> Answer<Stored> {
        match self.storage.record(number) {
            Ok(record) => {
                // That a record can be read does not say that it is durable: what failed may have
                // been just that.
                if self.is_unclear
                    && let Err(error) = self.storage.backend.sync(CHAIN)
                {
                    return self.failed(error);
                }
                Answer::Read(Box::new(record))
            }
            Err(StorageError::Missing { .. }) => Answer::Absent,
            Err(error @ StorageError::Damaged { .. }) => {
                self.error = Some(error);
                Answer::Unreadable
            }
            Err(error) => self.failed(error),
        }
    }

    fn create(&mut self, record: &Record<Stored>) -> Answer<Stored> {
        let file = names::record(record.number);
        let parts = match record.encode(&self.storage.backend.name(&file)) {
            Ok(parts) => parts,
            Err(error) => return self.failed(error),
        };
        let created = self.storage.backend.create(&file, &parts);
        self.is_taken = matches!(created, Created::Taken);
        match created {
            Created::Done => Answer::Created,
            Created::Taken => Answer::Taken,
            Created::Unclear(error) => {
                self.error = Some(error);
                self.is_unclear = true;
                Answer::Unclear
            }
            Created::Failed(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: StorageError) -> Answer<Stored> {
        self.error = Some(error);
        Answer::Failed
    }
}

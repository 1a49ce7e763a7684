//! Where a job's checkpoints are.

use super::backend::{Backend, StoreFuture};
use super::error::StorageError;
use super::holds::Holds;
use super::local::LocalDirectory;
use super::names::{self, Attempt};
use super::state_file::{self, OperatorStateBytes};
use crate::checkpoint::{Epoch, StateHandle, SubtaskId, SubtaskState};
use crate::stream::CheckpointId;
use crate::sync::PlainArc;
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use std::path::Path;
use std::time::Duration;

/// Up to how many bytes a part stands in the record, where nothing else is said.
const INLINE_MAX_BYTES: usize = 20 * 1024;

/// How long it is waited for an answer, where nothing else is said.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Where the checkpoints of one job are: a directory of the local file system, or of an object store.
///
/// All of it blocks, and is called where that harms nobody, as in an
/// [`IoPool`](crate::task::IoPool). A clone is the same storage, and takes no time.
///
/// # Layout
/// ```text
/// chain/<number>                        records: take-overs and complete checkpoints
/// chk-<id>-<epoch>/<vertex>-<subtask>   what a subtask stored; nothing counts before its record
/// ```
/// Numbers and ids have 20 digits. Other files do not disturb. Each job needs a directory of its own.
///
/// # Durability
/// What was written is on the disk when the call returns: on Unix, `local` syncs each file before it
/// gets its name, and the directories that lead to it afterwards; elsewhere directories cannot be
/// synced. An object store says for itself what its answer means.
///
/// ```
/// use mailring::checkpoint::{CheckpointStorage, Epoch, OperatorStateBytes, SubtaskId};
/// use mailring::stream::CheckpointId;
///
/// let storage = CheckpointStorage::in_memory();
/// let operator = OperatorStateBytes {
///     name: "sum".into(),
///     managed_keyed: Some(vec![7; 100_000]),
///     ..OperatorStateBytes::default()
/// };
/// let id = CheckpointId::new(1).unwrap();
/// let subtask = SubtaskId { vertex: 0, index: 0 };
/// let state = storage.write_subtask_state(Epoch(1), id, subtask, vec![operator])?;
/// let read = storage.read_subtask_state(&state)?;
/// assert_eq!(read[0].managed_keyed.as_deref(), Some(&[7; 100_000][..]));
/// # Ok::<(), mailring::checkpoint::StorageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CheckpointStorage {
    pub(super) backend: Backend,
    pub(super) holds: Holds,
    inline_max_bytes: usize,
    pub(crate) request_timeout: Duration,
}

impl CheckpointStorage {
    /// The directory `path` of the local file system, which is created if it is not there.
    ///
    /// Where it is counts from now on: neither another working directory nor a link that leads elsewhere
    /// later on moves it. Its path, links followed, must be UTF-8.
    ///
    /// # Errors
    /// [`StorageError::Io`] if it cannot be created, made durable, or named.
    pub fn local(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        Self::local_through(path, |store| store)
    }

    /// As [`local`](Self::local), through what `wrap` puts around the store: to count, slow down or
    /// break what is done there.
    ///
    /// # Errors
    /// As `local`.
    pub fn local_through(
        path: impl AsRef<Path>,
        wrap: impl FnOnce(PlainArc<dyn ObjectStore>) -> PlainArc<dyn ObjectStore>,
    ) -> Result<Self, StorageError> {
        let path = path.as_ref();
        let directory = LocalDirectory::create(path);
        let directory = directory.map_err(|error| failed("create", path, error))?;
        Self::of_directory(directory, wrap)
    }

    /// The directory `path`, which is not created.
    pub(super) fn existing(path: &Path) -> Result<Self, StorageError> {
        let directory = LocalDirectory::existing(path);
        let directory = directory.map_err(|error| failed("open", path, error))?;
        Self::of_directory(directory, |store| store)
    }

    fn of_directory(
        directory: LocalDirectory,
        wrap: impl FnOnce(PlainArc<dyn ObjectStore>) -> PlainArc<dyn ObjectStore>,
    ) -> Result<Self, StorageError> {
        let store = LocalFileSystem::new_with_prefix(directory.root());
        let store = store.map_err(|error| failed("open", directory.root(), error))?;
        let store = wrap(PlainArc::new(store.with_fsync(true)));
        let root = object_store::path::Path::default();
        Ok(Self::of(Backend::new(store, root, Some(directory))))
    }

    /// A store in memory, empty: what it holds is gone with the last clone.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(PlainArc::new(InMemory::new()), "")
    }

    /// The directory `prefix` of `store`, from the store's root on; the root itself, if it is empty.
    ///
    /// The store must be able to create a file only if there is none of its name
    /// (`PutMode::Create`), and show a file to whoever lists or reads after that. Its futures are
    /// polled on the calling thread; see [`driven_by`](Self::driven_by) for one that needs a runtime.
    #[must_use]
    pub fn new(store: PlainArc<dyn ObjectStore>, prefix: &str) -> Self {
        let prefix = object_store::path::Path::from(prefix);
        Self::of(Backend::new(store, prefix, None))
    }

    fn of(backend: Backend) -> Self {
        Self {
            backend,
            holds: Holds::default(),
            inline_max_bytes: INLINE_MAX_BYTES,
            request_timeout: REQUEST_TIMEOUT,
        }
    }

    /// Has `driver` drive the store's work: for stores that need a runtime around them, as in
    /// `move |work| runtime.block_on(work)`. Where it comes back before the work is done, as by a timeout
    /// of the runtime, nothing is known of what the work has done so far.
    #[must_use]
    pub fn driven_by(mut self, driver: impl Fn(StoreFuture<'_>) + Send + Sync + 'static) -> Self {
        self.backend.set_driver(PlainArc::new(driver));
        self
    }

    /// Up to how many bytes state of one kind of one operator stands in the checkpoint's record rather
    /// than in a file; 20 KiB where nothing is said.
    #[must_use]
    pub fn inline_max_bytes(mut self, bytes: usize) -> Self {
        self.inline_max_bytes = bytes;
        self
    }

    /// How long a job waits for an answer of the store: to a listing, a read, or a write of one file. 10
    /// minutes where nothing is said; none is waited for longer than a year.
    ///
    /// What is not answered is not ended by that. A store that can do so should, by a timeout of its own,
    /// which its runtime may give it too: what [drives](Self::driven_by) a request may come back before
    /// it is done, and the job goes on as after any lost answer: it reads back. This one is for stores
    /// that hold up the thread itself, as a network's file system does when the network is gone. Then
    ///
    /// - a checkpoint whose record is not answered has failed by this, and may be found complete later. No
    ///   record is written and no attempt at the job begins before the answer is there;
    /// - an attempt that finds out what it begins with, and does not get on, has failed by this. What it
    ///   asked last may be done yet, and is known for a former attempt's;
    /// - state that is not stored has its checkpoint fail by the
    ///   [checkpoint's timeout](crate::checkpoint::CheckpointSettings::timeout);
    /// - a job that is over waits at most 30 seconds for what is left to be done, and so does the engine's
    ///   end, where nothing was given up before.
    ///
    /// Each such request keeps one of the job's threads for storage, of which there are 3 to 6. Where all
    /// of them are kept, what is asked next is not answered in time either.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout.min(Duration::from_secs(365 * 24 * 60 * 60));
        self
    }

    /// Stores what a subtask has to add to a checkpoint: one file at most.
    ///
    /// # Errors
    /// [`StorageError::Io`] with the file that could not be written. What is left of it is deleted
    /// by a later checkpoint's [`collect`](super::CommitChain::collect).
    pub fn write_subtask_state(
        &self,
        epoch: Epoch,
        id: CheckpointId,
        subtask: SubtaskId,
        operators: Vec<OperatorStateBytes<Vec<u8>>>,
    ) -> Result<SubtaskState, StorageError> {
        let attempt = Attempt { epoch, id };
        let inline_max = self.inline_max_bytes;
        state_file::write(&self.backend, attempt, subtask, operators, inline_max)
    }

    /// The bytes of one part; only these are read.
    ///
    /// # Errors
    /// With the file's name, if it is missing, cut off, or has other bytes there than were written.
    pub fn read(&self, handle: &StateHandle) -> Result<Bytes, StorageError> {
        state_file::read(&self.backend, handle)
    }

    /// All that a subtask stored; its file is read once, and all of it is found to be whole.
    ///
    /// # Errors
    /// With the file's name, if it is missing or any of its bytes is not as it was written.
    pub fn read_subtask_state(
        &self,
        state: &SubtaskState,
    ) -> Result<Vec<OperatorStateBytes<Bytes>>, StorageError> {
        state_file::read_all(&self.backend, state)
    }

    /// Deletes the files of state that no checkpoint holds, and answers what could not be deleted:
    /// no harm, for a later [`collect`](super::CommitChain::collect) tries again.
    ///
    /// It must not be called for a checkpoint whose record may have been written.
    #[must_use = "what could not be deleted should be told"]
    pub fn discard(&self, state: &SubtaskState) -> Vec<StorageError> {
        let deleted = state_file::files(state).into_iter().map(|file| {
            state_file::checked_path(file)?;
            self.backend.delete(file)
        });
        deleted.filter_map(Result::err).collect()
    }

    /// Deletes all that an attempt stored, its directory too, and answers what could not be deleted.
    ///
    /// It must not be called for a checkpoint whose record may have been written.
    #[must_use = "what could not be deleted should be told"]
    pub fn discard_attempt(&self, epoch: Epoch, id: CheckpointId) -> Vec<StorageError> {
        let attempt = Attempt { epoch, id };
        let (mut files, mut errors) = (0, Vec::new());
        self.delete_attempt(attempt, &mut files, &mut errors);
        errors
    }

    /// Deletes all of an attempt; counts its files and gathers what went wrong.
    pub(super) fn delete_attempt(
        &self,
        attempt: Attempt,
        files: &mut usize,
        errors: &mut Vec<StorageError>,
    ) {
        let directory = names::state_directory(attempt);
        match self.backend.list(&directory) {
            Err(error) => errors.push(error),
            Ok(listing) => {
                for file in listing.files {
                    match self.backend.delete(&format!("{directory}/{file}")) {
                        Ok(()) => *files += 1,
                        Err(error) => errors.push(error),
                    }
                }
            }
        }
        if let Some(local) = self.backend.local()
            && let Err(error) = local.remove(&directory)
        {
            errors.push(self.backend.failed("remove", &directory, error));
        }
    }
}

pub(super) fn failed(
    action: &'static str,
    path: &Path,
    source: impl Into<Box<dyn core::error::Error + Send + Sync>>,
) -> StorageError {
    StorageError::Io {
        action,
        file: path.to_string_lossy().into(),
        source: source.into(),
    }
}

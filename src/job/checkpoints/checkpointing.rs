//! What a job is told of its checkpoints.

use crate::checkpoint::{
    CheckpointSettings, CheckpointStorage, MasterHook, MasterHooks, NonRestoredState, RestoreFrom,
};
use crate::job::error::JobError;
use core::fmt;

/// Checkpoints of a job: where they are stored, how often they are taken, what the job begins with.
///
/// A job begins with the latest checkpoint that its storage holds, and at its beginning where there is
/// none: the same program, started again after a crash, goes on. One that has run to its end is over:
/// started again, it does nothing. A job that is to begin anew is given an empty directory.
///
/// ```
/// use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
/// use mailring::job::{Checkpointing, Job};
/// use mailring::stream::{Collect, Generator};
/// use mailring::task::Engine;
/// use std::time::Duration;
///
/// let storage = CheckpointStorage::in_memory();
/// let every = CheckpointSettings::new(Duration::from_millis(10));
/// let sum = Collect::new();
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("sum")
///     .checkpoints(Checkpointing::new(storage, every))
///     .source("numbers", Generator::new(|number| number).count(1_000))
///     .key_by(|number| number % 10)
///     .reduce(|sum, number| *sum += number)
///     .sink("collect", sum.clone())
///     .start(&engine)?;
/// let checkpoints = job.checkpoints().expect("the job takes checkpoints");
/// job.wait()?;
/// // The last one was taken when the source had come to its end.
/// assert!(checkpoints.statistics().last_completed.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Checkpointing {
    pub(super) storage: CheckpointStorage,
    pub(super) settings: CheckpointSettings,
    pub(super) restore: RestoreFrom,
    pub(super) non_restored: NonRestoredState,
    pub(super) hooks: MasterHooks,
}

impl Checkpointing {
    /// Checkpoints in `storage`, as often as `settings` say.
    #[must_use]
    pub fn new(storage: CheckpointStorage, settings: CheckpointSettings) -> Self {
        Self {
            storage,
            settings,
            restore: RestoreFrom::Latest,
            non_restored: NonRestoredState::Refused,
            hooks: MasterHooks::default(),
        }
    }

    /// What the job begins with when it is started, instead of the latest checkpoint. Where it starts
    /// again after a failure, it goes on from its own latest one, or from here if there is none.
    #[must_use]
    pub fn restore(mut self, from: RestoreFrom) -> Self {
        self.restore = from;
        self
    }

    /// The storage, as the settings have it.
    pub(super) fn stored(&self) -> CheckpointStorage {
        let storage = self.storage.clone();
        storage.inline_max_bytes(self.settings.inline_state_max)
    }

    /// Has `hook` take part in the job's checkpoints, behind those that were given before. A job with two
    /// of one [identifier](MasterHook::identifier) is not started.
    #[must_use]
    pub fn master_hook(mut self, hook: impl MasterHook) -> Self {
        self.hooks.add(hook);
        self
    }

    /// Whether a job can be started with these.
    pub(super) fn check(&self) -> Result<(), JobError> {
        let settings = self.settings.check();
        settings.map_err(JobError::CheckpointSettings)?;
        let identifiers = self.hooks.check_identifiers();
        identifiers.map_err(JobError::MasterHooks)
    }

    /// State of operators and hooks that the job has no more is let go of. Without this, a checkpoint
    /// that holds such is refused.
    #[must_use]
    pub fn allow_non_restored_state(mut self) -> Self {
        self.non_restored = NonRestoredState::Allowed;
        self
    }
}

impl fmt::Debug for Checkpointing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpointing")
            .field("settings", &self.settings)
            .field("restore", &self.restore)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

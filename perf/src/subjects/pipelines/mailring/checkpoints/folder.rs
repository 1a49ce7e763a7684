//! A place for checkpoints.

use crate::measure::NoCheckpoint;
use mailring::checkpoint::CheckpointStorage;
use tempfile::TempDir;

/// A new folder for checkpoints where the system has those for temporary files; it is gone with this.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Result<Self, NoCheckpoint> {
        let folder = tempfile::Builder::new()
            .prefix("perf-checkpoints-")
            .tempdir();
        folder.map(Self).map_err(NoCheckpoint::of)
    }

    /// What is in it; all that is written is on the disk when it counts.
    pub(super) fn storage(&self) -> Result<CheckpointStorage, NoCheckpoint> {
        CheckpointStorage::local(self.0.path()).map_err(NoCheckpoint::of)
    }
}

//! How many checkpoints failed in a row, and whether that is too many for the job to go on.
//!
//! F1. Only reasons that count are counted, and each checkpoint once.
//! F2. A completed checkpoint clears the count, and neither it nor an older one counts afterwards.

use super::settings::CheckpointSettings;
use crate::checkpoint::CheckpointFailureReason;
use crate::stream::{CheckpointId, SnapshotType};
use std::collections::BTreeSet;

/// For how many failed checkpoints it is remembered that they are counted, the newest.
const COUNTED_MAX: usize = 1024;

/// What a failed checkpoint means for the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a job whose checkpoints fail too often is to fail"]
pub enum FailureVerdict {
    /// It does not count.
    Ignored,
    /// It counts, and the job goes on.
    Tolerated {
        /// How many have failed in a row.
        failures: u32,
    },
    /// Too many have failed in a row: the job fails. The count begins anew.
    Exceeded {
        /// How many had failed in a row.
        failures: u32,
        /// How many are tolerated.
        tolerable: u32,
    },
}

/// How many checkpoints failed in a row.
#[derive(Clone, Debug)]
pub struct CheckpointFailureManager {
    tolerable: u32,
    failures: u32,
    counted: BTreeSet<CheckpointId>,
    last_succeeded: Option<CheckpointId>,
}

impl CheckpointFailureManager {
    /// One that tolerates as many failures in a row as `settings` say.
    #[must_use]
    pub fn new(settings: &CheckpointSettings) -> Self {
        Self {
            tolerable: settings.tolerable_failures,
            failures: 0,
            counted: BTreeSet::new(),
            last_succeeded: None,
        }
    }

    /// A checkpoint failed; `id` is `None` for one that failed before it had a number.
    pub fn on_failure(
        &mut self,
        id: Option<CheckpointId>,
        snapshot: SnapshotType,
        reason: CheckpointFailureReason,
    ) -> FailureVerdict {
        if !reason.counts() || snapshot == SnapshotType::Savepoint {
            return FailureVerdict::Ignored;
        }
        if let Some(id) = id {
            let is_late = self.last_succeeded.is_some_and(|last| id <= last);
            if is_late || !self.counted.insert(id) {
                return FailureVerdict::Ignored;
            }
            if self.counted.len() > COUNTED_MAX {
                self.counted.pop_first();
            }
        }
        self.failures = self.failures.saturating_add(1);
        let failures = self.failures;
        if failures <= self.tolerable {
            return FailureVerdict::Tolerated { failures };
        }
        self.failures = 0;
        FailureVerdict::Exceeded {
            failures,
            tolerable: self.tolerable,
        }
    }

    /// A checkpoint was completed.
    pub fn on_success(&mut self, id: CheckpointId) {
        if self.last_succeeded.is_none_or(|last| id > last) {
            self.failures = 0;
            self.counted.retain(|&counted| counted > id);
            self.last_succeeded = Some(id);
        }
    }

    /// How many have failed in a row.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests;

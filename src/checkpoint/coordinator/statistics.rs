//! What there is to tell of a job's checkpoints: how many, which last, how long, how large, and why
//! not.
//!
//! S1. Each that was triggered is in progress, completed or failed, and only one of these.

use super::report::{CheckpointReport, CheckpointStatus};
use super::summary::{StatsSummary, SubtaskStatsSummary};
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::Epoch;
use crate::letter::shown;
use crate::stream::CheckpointId;
use core::fmt;
use serde::Serialize;
use std::collections::VecDeque;

/// How many messages of subtasks were of no use, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct IgnoredMessages {
    /// They were of another run of the job.
    pub other_epoch: u64,
    /// No such checkpoint is known: it was never begun, or ended long ago.
    pub unknown_checkpoint: u64,
    /// The checkpoint had ended a short time before.
    pub late: u64,
    /// The subtask has no part in the checkpoint.
    pub unknown_subtask: u64,
    /// The subtask had answered before.
    pub duplicate: u64,
    /// The coordinator was shut down, or fenced.
    pub after_shutdown: u64,
}

impl IgnoredMessages {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.other_epoch
            + self.unknown_checkpoint
            + self.late
            + self.unknown_subtask
            + self.duplicate
            + self.after_shutdown
    }
}

/// How many there were of each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReasonCounts(Vec<(CheckpointFailureReason, u64)>);

impl ReasonCounts {
    pub(super) fn add(&mut self, reason: CheckpointFailureReason) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.0.push((reason, 1)),
        }
    }

    /// How many there were of `reason`.
    #[must_use]
    pub fn get(&self, reason: CheckpointFailureReason) -> u64 {
        let known = self.0.iter().find(|(known, _)| *known == reason);
        known.map_or(0, |(_, count)| *count)
    }

    /// Those there were, in the order in which they were first met.
    pub fn iter(&self) -> impl Iterator<Item = (CheckpointFailureReason, u64)> {
        self.0.iter().copied()
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }
}

/// How many checkpoints there were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckpointCounts {
    /// Those that were begun.
    pub triggered: u64,
    /// Of those, the ones that go on.
    pub in_progress: u64,
    /// Of those, the ones whose record is written.
    pub completed: u64,
    /// Of those, the ones of which there is none, by why.
    pub failed: ReasonCounts,
    /// Requests that no checkpoint was begun for, by why.
    pub refused: ReasonCounts,
    /// How often the job went on from a checkpoint.
    pub restored: u64,
    /// Messages of no use.
    pub ignored: IgnoredMessages,
}

/// What could not be deleted of checkpoints that are kept no more, and of attempts that came to nothing.
/// That fails no checkpoint: what is left is looked for, and tried again, after each that is completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailedDeletions {
    /// How often deleting something, or looking for it, has failed; a file is counted each time that it is
    /// tried.
    pub count: u64,
    /// What was said the last time, with the name of the file.
    pub last: Option<Box<str>>,
}

impl FailedDeletions {
    /// These, each in its own words.
    pub(crate) fn of(errors: &[impl fmt::Display]) -> Self {
        Self {
            count: errors.len() as u64,
            last: errors.last().map(|error| shown(error).into()),
        }
    }

    fn add(&mut self, more: Self) {
        self.count += more.count;
        self.last = more.last.or(self.last.take());
    }
}

/// A checkpoint that the job went on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RestoredCheckpoint {
    /// Which one.
    pub id: CheckpointId,
    /// The run that began with it.
    pub epoch: Epoch,
    /// When, in milliseconds since 1970-01-01 00:00.
    pub restored_ms: i64,
}

/// The last attempts at checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointHistory {
    entries_max: usize,
    entries: VecDeque<CheckpointReport>,
}

impl CheckpointHistory {
    pub(super) fn new(entries_max: usize) -> Self {
        Self {
            entries_max,
            entries: VecDeque::new(),
        }
    }

    fn push(&mut self, report: CheckpointReport) {
        if self.entries.len() >= self.entries_max {
            self.entries.pop_front();
        }
        if self.entries_max > 0 {
            self.entries.push_back(report);
        }
    }

    /// How many are kept.
    #[must_use]
    pub const fn entries_max(&self) -> usize {
        self.entries_max
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

    /// Those that have ended, in the order in which they did, then those in progress.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &CheckpointReport> {
        self.entries.iter()
    }

    /// The one of that id.
    #[must_use]
    pub fn get(&self, id: CheckpointId) -> Option<&CheckpointReport> {
        self.entries.iter().find(|report| report.id == id)
    }
}

/// What there is to tell of a job's checkpoints.
///
/// It is a picture of one moment; written out by [`Display`](core::fmt::Display) it is a short table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointStatistics {
    /// How many there were.
    pub counts: CheckpointCounts,
    /// The last attempts.
    pub history: CheckpointHistory,
    /// The last that was completed.
    pub last_completed: Option<CheckpointReport>,
    /// The last that failed.
    pub last_failed: Option<CheckpointReport>,
    /// The last that the job went on from.
    pub last_restored: Option<RestoredCheckpoint>,
    /// Of all that were completed: from when it was begun until its record was written, in
    /// nanoseconds.
    pub duration_ns: StatsSummary,
    /// Of all that were completed: how much state each holds, in bytes.
    pub state_bytes: StatsSummary,
    /// Of all that were completed: what their subtasks measured.
    pub subtasks: SubtaskStatsSummary,
    /// What could not be deleted.
    pub failed_deletions: FailedDeletions,
}

impl CheckpointStatistics {
    pub(crate) fn new(entries_max: usize) -> Self {
        Self {
            counts: CheckpointCounts::default(),
            history: CheckpointHistory::new(entries_max),
            last_completed: None,
            last_failed: None,
            last_restored: None,
            duration_ns: StatsSummary::default(),
            state_bytes: StatsSummary::default(),
            subtasks: SubtaskStatsSummary::default(),
            failed_deletions: FailedDeletions::default(),
        }
    }

    pub(super) fn triggered(&mut self) {
        self.counts.triggered += 1;
        self.counts.in_progress += 1;
    }

    /// An attempt has ended as its report says.
    pub(super) fn ended(&mut self, report: &CheckpointReport) {
        self.counts.in_progress -= 1;
        match &report.status {
            CheckpointStatus::InProgress => {
                debug_assert!(false, "checkpoint {} ended and goes on", report.id);
            }
            CheckpointStatus::Completed => {
                self.counts.completed += 1;
                self.duration_ns.add(report.duration_ns);
                self.state_bytes.add(report.state_bytes);
                for (_, metrics) in &report.subtasks {
                    self.subtasks.add(metrics);
                }
                self.last_completed = Some(report.clone());
            }
            CheckpointStatus::Failed { reason, .. } => {
                self.counts.failed.add(*reason);
                self.last_failed = Some(report.clone());
            }
        }
        self.history.push(report.clone());
        self.assert_adds_up();
    }

    pub(super) fn refused(&mut self, reason: CheckpointFailureReason) {
        self.counts.refused.add(reason);
    }

    pub(super) fn not_deleted(&mut self, failed: FailedDeletions) {
        self.failed_deletions.add(failed);
    }

    pub(super) fn restored(&mut self, restored: RestoredCheckpoint) {
        self.counts.restored += 1;
        self.last_restored = Some(restored);
    }

    /// This, with those in progress in the history; they take no other's place there.
    pub(super) fn with_pending(&self, pending: impl Iterator<Item = CheckpointReport>) -> Self {
        let mut statistics = self.clone();
        statistics.history.entries.extend(pending);
        statistics
    }

    fn assert_adds_up(&self) {
        let counts = &self.counts;
        debug_assert_eq!(
            counts.triggered,
            counts.in_progress + counts.completed + counts.failed.total(),
            "S1"
        );
    }
}

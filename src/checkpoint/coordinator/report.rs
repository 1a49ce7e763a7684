//! What is known of one attempt at a checkpoint, and what of it is told to whom asked for it.

use super::summary::SubtaskStatsSummary;
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::{Epoch, SubtaskCheckpointMetrics};
use crate::checkpoint::state_handle::SubtaskId;
use crate::stream::CheckpointId;
use core::fmt;
use serde::Serialize;

/// Why a checkpoint was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum CheckpointCause {
    /// The interval was over.
    Periodic,
    /// It was asked for.
    Manual,
    /// The sources have come to their end: tasks wait for it before they finish.
    Final,
    /// A savepoint was asked for.
    Savepoint,
}

/// A checkpoint that is complete, as told to whom asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CheckpointSummary {
    /// The run.
    pub epoch: Epoch,
    /// Which one.
    pub id: CheckpointId,
    /// From when it was begun until its record was written, in nanoseconds.
    pub duration_ns: u64,
    /// How much state it holds, in bytes.
    pub state_bytes: u64,
}

/// Why there is no checkpoint, as told to whom asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CheckpointFailure {
    /// The checkpoint; none where it was not even begun.
    pub id: Option<CheckpointId>,
    /// Why.
    pub reason: CheckpointFailureReason,
    /// Why, in the words of what failed; empty where the reason says all.
    pub detail: Box<str>,
}

impl fmt::Display for CheckpointFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => write!(f, "checkpoint {id} was not completed: {}", self.reason)?,
            // It is about all of them.
            None if self.reason == CheckpointFailureReason::Fenced => self.reason.fmt(f)?,
            None => write!(f, "a checkpoint was not begun: {}", self.reason)?,
        }
        if self.detail.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.detail)
    }
}

impl core::error::Error for CheckpointFailure {}

/// How far an attempt at a checkpoint has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum CheckpointStatus {
    /// It goes on.
    InProgress,
    /// Its record is written.
    Completed,
    /// There is none.
    Failed {
        /// Why.
        reason: CheckpointFailureReason,
        /// Why, in the words of what failed; empty where the reason says all.
        detail: Box<str>,
    },
}

/// One attempt at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointReport {
    /// The run.
    pub epoch: Epoch,
    /// Which one.
    pub id: CheckpointId,
    /// Why it was begun.
    pub cause: CheckpointCause,
    /// When it was begun, in milliseconds since 1970-01-01 00:00.
    pub begun_ms: i64,
    /// How far it has come.
    pub status: CheckpointStatus,
    /// From when it was begun until it was completed or given up, or until now, in nanoseconds.
    pub duration_ns: u64,
    /// From when it was begun until all subtasks had answered, in nanoseconds.
    pub acknowledged_ns: Option<u64>,
    /// How much state was stored, in bytes.
    pub state_bytes: u64,
    /// How many subtasks had to answer.
    pub subtasks_awaited: usize,
    /// What those measured that have answered.
    pub subtasks: Vec<(SubtaskId, SubtaskCheckpointMetrics)>,
}

impl CheckpointReport {
    /// What the subtasks measured, summed up.
    #[must_use]
    pub fn summary(&self) -> SubtaskStatsSummary {
        let mut summary = SubtaskStatsSummary::default();
        for (_, metrics) in &self.subtasks {
            summary.add(metrics);
        }
        summary
    }
}

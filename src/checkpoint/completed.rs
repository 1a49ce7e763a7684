//! A checkpoint that is complete: all that a job needs to go on from it.

use super::message::{Epoch, SubtaskCheckpointMetrics};
use super::state_handle::{SubtaskId, SubtaskState};
use crate::stream::{CheckpointId, CheckpointOptions};
use serde::{Deserialize, Serialize};

/// One subtask's part in a completed checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedSubtask {
    /// Its state.
    pub state: SubtaskState,
    /// Whether it had finished: restored from here, it does nothing more.
    pub is_finished: bool,
    /// What was measured; none for one that had ended before the checkpoint was begun.
    pub metrics: Option<SubtaskCheckpointMetrics>,
}

/// One vertex's part in a completed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedVertex {
    /// The vertex's name; a job that is restored has one of the same.
    pub name: Box<str>,
    /// By subtask; as many as the vertex had.
    pub subtasks: Vec<CompletedSubtask>,
}

/// A checkpoint that is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedCheckpoint {
    /// The job's name.
    pub job: Box<str>,
    /// The run that it was taken in.
    pub epoch: Epoch,
    /// Which one.
    pub id: CheckpointId,
    /// How it was taken.
    pub options: CheckpointOptions,
    /// When it was begun, in milliseconds since 1970-01-01 00:00.
    pub begun_ms: i64,
    /// How long it took from there until all subtasks had answered, in nanoseconds.
    pub duration_ns: u64,
    /// How many key groups the job has; a job that is restored has as many.
    pub max_parallelism: u32,
    /// In the order of the job's vertices.
    pub vertices: Vec<CompletedVertex>,
    /// What coordinators of operators added, by the operator's name.
    pub coordinator_states: Vec<(Box<str>, Vec<u8>)>,
    /// What hooks of the job added, by name.
    pub master_states: Vec<(Box<str>, Vec<u8>)>,
}

impl CompletedCheckpoint {
    /// How much state it holds, in bytes.
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        let vertices = self.vertices.iter();
        let subtasks = vertices.flat_map(|vertex| &vertex.subtasks);
        subtasks.map(|subtask| subtask.state.len_bytes()).sum()
    }

    /// Whether `subtask` is to go on from it.
    pub(crate) fn is_unfinished(&self, subtask: SubtaskId) -> bool {
        let vertex = self.vertices.get(subtask.vertex as usize);
        let part = vertex.and_then(|vertex| vertex.subtasks.get(subtask.index as usize));
        part.is_some_and(|part| !part.is_finished)
    }
}

//! The job that a coordinator is of: what it begins with, and what its subtasks are at.

use super::settings::CheckpointSettings;
use super::topology::{JobTopology, SubtaskStatus};
use crate::checkpoint::completed::CompletedCheckpoint;
use crate::checkpoint::message::Epoch;
use crate::checkpoint::state_handle::SubtaskId;
use crate::stream::CheckpointId;

/// What a coordinator has to know of its job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoordinatedJob {
    /// The name.
    pub name: Box<str>,
    /// How many key groups the job has.
    pub max_parallelism: u32,
    /// The names of the vertices, in the order of the graph.
    pub vertices: Vec<Box<str>>,
    /// The graph.
    pub topology: JobTopology,
}

impl CoordinatedJob {
    /// What a subtask is called where a user reads of it: the vertex's name and the index.
    pub(super) fn name_of(&self, subtask: SubtaskId) -> String {
        match self.vertices.get(subtask.vertex as usize) {
            Some(vertex) => format!("{vertex}/{}", subtask.index),
            None => subtask.to_string(),
        }
    }
}

/// What a coordinator begins with.
#[derive(Clone, Debug)]
pub struct CoordinatorSetup {
    /// The job.
    pub job: CoordinatedJob,
    /// How often, and within which limits.
    pub settings: CheckpointSettings,
    /// The run.
    pub epoch: Epoch,
    /// The number of the first checkpoint: higher than all that ever were, also in earlier runs.
    pub first_id: CheckpointId,
    /// What storage has, in any order.
    pub recovered: Vec<CompletedCheckpoint>,
    /// The one of them that the job goes on from.
    pub restored: Option<CheckpointId>,
    /// What time it was when the job's clock stood at 0, in milliseconds since 1970-01-01 00:00.
    pub clock_zero_ms: i64,
    /// Where between the minimum pause and the interval the first periodic checkpoint is: any number,
    /// of which each stands for one nanosecond.
    pub seed: u64,
    /// How many attempts the history keeps.
    pub history_max: usize,
}

/// What each subtask is at.
#[derive(Debug)]
pub(super) struct TaskStatuses {
    /// By vertex and index.
    statuses: Vec<Vec<SubtaskStatus>>,
}

impl TaskStatuses {
    pub(super) fn new(topology: &JobTopology) -> Self {
        let vertices = topology.vertices.iter();
        let statuses = vertices.map(|of| vec![SubtaskStatus::Created; of.parallelism as usize]);
        Self {
            statuses: statuses.collect(),
        }
    }

    /// Whether it is of the job.
    pub(super) fn knows(&self, subtask: SubtaskId) -> bool {
        let vertex = self.statuses.get(subtask.vertex as usize);
        vertex.is_some_and(|of| of.len() > subtask.index as usize)
    }

    /// One that is not of the job has failed.
    pub(super) fn get(&self, subtask: SubtaskId) -> SubtaskStatus {
        let vertex = self.statuses.get(subtask.vertex as usize);
        let status = vertex.and_then(|of| of.get(subtask.index as usize));
        status.copied().unwrap_or(SubtaskStatus::Failed)
    }

    /// Does nothing about one that is not of the job.
    pub(super) fn set(&mut self, subtask: SubtaskId, status: SubtaskStatus) {
        let vertex = self.statuses.get_mut(subtask.vertex as usize);
        if let Some(known) = vertex.and_then(|of| of.get_mut(subtask.index as usize)) {
            *known = status;
        }
    }

    /// All run that were not there yet.
    pub(super) fn run(&mut self) {
        for status in self.statuses.iter_mut().flatten() {
            if matches!(status, SubtaskStatus::Created | SubtaskStatus::Deploying) {
                *status = SubtaskStatus::Running;
            }
        }
    }

    /// None is there yet.
    pub(super) fn reset(&mut self) {
        self.statuses.iter_mut().flatten().for_each(|status| {
            *status = SubtaskStatus::Created;
        });
    }

    /// Whether all sources have come to their end, and some subtask waits for its last checkpoint.
    pub(super) fn have_sources_ended(&self, topology: &JobTopology) -> bool {
        let sources = topology.vertices.iter().zip(&self.statuses);
        let mut sources = sources.filter(|(vertex, _)| vertex.is_source);
        let has_ended = |status: &SubtaskStatus| {
            matches!(status, SubtaskStatus::DataEnded | SubtaskStatus::Finished)
        };
        let mut statuses = self.statuses.iter().flatten();
        statuses.any(|status| *status != SubtaskStatus::Finished)
            && sources.all(|(_, statuses)| statuses.iter().all(has_ended))
    }
}

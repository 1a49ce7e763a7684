//! Which subtasks begin a checkpoint, answer it, and are told of its end.

use super::topology::{JobTopology, SubtaskStatus};
use crate::checkpoint::{CheckpointFailureReason, SubtaskId};
use core::fmt;

/// Which subtasks take part in a checkpoint, and how; each list is in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointPlan {
    /// Those that no barrier reaches: they are told to begin.
    pub to_trigger: Vec<SubtaskId>,
    /// Those that have to answer.
    pub to_wait_for: Vec<SubtaskId>,
    /// Those that are told when it is complete.
    pub to_commit_to: Vec<SubtaskId>,
    /// Those that had finished before: they are taken to have answered.
    pub finished: Vec<SubtaskId>,
    /// The vertices all of whose subtasks had.
    pub fully_finished: Vec<u32>,
}

/// Why no checkpoint can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckpointPlanError {
    /// A subtask that would have to answer does not run.
    NotRunning {
        /// The subtask.
        subtask: SubtaskId,
        /// What it is at.
        status: SubtaskStatus,
    },
    /// A subtask has finished, and checkpoints after that are switched off.
    Finished {
        /// The subtask.
        subtask: SubtaskId,
    },
}

impl CheckpointPlanError {
    /// The same among the reasons for which checkpoints fail.
    #[must_use]
    pub const fn reason(self) -> CheckpointFailureReason {
        CheckpointFailureReason::NotAllRequiredTasksRunning
    }

    /// Which subtask it is about.
    #[must_use]
    pub const fn subtask(self) -> SubtaskId {
        match self {
            Self::NotRunning { subtask, .. } | Self::Finished { subtask } => subtask,
        }
    }

    /// In words, with what the subtask is called.
    pub(super) fn in_words(self, name: &impl fmt::Display) -> String {
        match self {
            Self::NotRunning { status, .. } => {
                format!("subtask {name} is not running but {status:?}")
            }
            Self::Finished { .. } => {
                format!("subtask {name} has finished, and no checkpoint is taken once one has")
            }
        }
    }
}

impl fmt::Display for CheckpointPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&self.subtask()))
    }
}

impl core::error::Error for CheckpointPlanError {}

/// Works out plans for one job.
///
/// # Examples
/// The source of two subtasks has come to its end in one of them:
/// ```
/// use mailring::checkpoint::{
///     CheckpointPlanCalculator, DistributionPattern, JobTopology, SubtaskId, SubtaskStatus,
///     TopologyEdge, TopologyVertex,
/// };
///
/// let topology = JobTopology {
///     vertices: vec![
///         TopologyVertex { parallelism: 2, is_source: true },
///         TopologyVertex { parallelism: 2, is_source: false },
///     ],
///     edges: vec![TopologyEdge { from: 0, to: 1, pattern: DistributionPattern::Pointwise }],
/// };
/// let finished = SubtaskId { vertex: 0, index: 0 };
/// let plan = CheckpointPlanCalculator::new(topology, true).calculate(|subtask| {
///     if subtask == finished { SubtaskStatus::Finished } else { SubtaskStatus::Running }
/// })?;
/// assert_eq!(plan.finished, [finished]);
/// // No barrier reaches the one that has only read from it.
/// assert_eq!(
///     plan.to_trigger,
///     [SubtaskId { vertex: 0, index: 1 }, SubtaskId { vertex: 1, index: 0 }]
/// );
/// # Ok::<(), mailring::checkpoint::CheckpointPlanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CheckpointPlanCalculator {
    topology: JobTopology,
    after_tasks_finish: bool,
}

impl CheckpointPlanCalculator {
    /// One for a job of this graph; `after_tasks_finish` says whether checkpoints go on once some
    /// subtasks have finished.
    ///
    /// # Panics
    /// If an edge is between vertices that the graph does not have.
    #[must_use]
    pub fn new(topology: JobTopology, after_tasks_finish: bool) -> Self {
        let vertices = topology.vertices.len();
        let is_known = |vertex: u32| (vertex as usize) < vertices;
        for edge in &topology.edges {
            assert!(
                is_known(edge.from) && is_known(edge.to),
                "an edge between vertices of the graph"
            );
        }
        Self {
            topology,
            after_tasks_finish,
        }
    }

    /// The graph.
    #[must_use]
    pub const fn topology(&self) -> &JobTopology {
        &self.topology
    }

    /// The plan of a checkpoint that begins while each subtask is at what `status` says.
    ///
    /// # Errors
    /// The first subtask for which there cannot be one.
    pub fn calculate(
        &self,
        status: impl Fn(SubtaskId) -> SubtaskStatus,
    ) -> Result<CheckpointPlan, CheckpointPlanError> {
        let mut plan = CheckpointPlan::default();
        for subtask in self.topology.subtasks() {
            match status(subtask) {
                SubtaskStatus::Finished if self.after_tasks_finish => plan.finished.push(subtask),
                SubtaskStatus::Finished => return Err(CheckpointPlanError::Finished { subtask }),
                status if status.takes_part() => plan.to_wait_for.push(subtask),
                status => return Err(CheckpointPlanError::NotRunning { subtask, status }),
            }
        }
        plan.to_commit_to = plan.to_wait_for.clone();
        let states = self.states(&plan);
        for (vertex, running) in (0u32..).zip(&states) {
            if running.iter().all(|running| !running) {
                plan.fully_finished.push(vertex);
            }
        }
        let begins = |subtask: &SubtaskId| self.begins(*subtask, &states);
        plan.to_trigger = plan.to_wait_for.iter().copied().filter(begins).collect();
        Ok(plan)
    }

    /// By vertex and index, whether the subtask takes part.
    fn states(&self, plan: &CheckpointPlan) -> Vec<Vec<bool>> {
        let vertices = self.topology.vertices.iter();
        let all = vertices.map(|vertex| vec![true; vertex.parallelism as usize]);
        let mut states: Vec<_> = all.collect();
        for finished in &plan.finished {
            states[finished.vertex as usize][finished.index as usize] = false;
        }
        states
    }

    /// Whether no barrier reaches `subtask`: none of those it reads from takes part.
    fn begins(&self, subtask: SubtaskId, states: &[Vec<bool>]) -> bool {
        self.topology.inputs(subtask.vertex).all(|edge| {
            let producers = self.topology.producers(edge, subtask.index);
            let of_vertex = &states[edge.from as usize];
            producers.clone().all(|index| !of_vertex[index as usize])
        })
    }
}

#[cfg(test)]
mod tests;

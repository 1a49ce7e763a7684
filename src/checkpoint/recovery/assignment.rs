//! Which state each subtask of a job begins with, if it goes on from a checkpoint.
//!
//! A1. All state is assigned or, where that is allowed, listed as dropped.
//! A2. What is assigned to a subtask stands in the order of the operators that it has now.

use super::error::{NonRestored, RestoreError};
use super::finished;
use super::matching::{Place, places};
use super::redistribution::{is_fully_finished, subtasks_of};
use super::target::{NonRestoredState, RestoreTarget, TargetVertex};
use crate::checkpoint::{
    CompletedCheckpoint, CompletedVertex, OperatorSubtaskState, StateHandle, SubtaskState,
};
use crate::stream::CheckpointId;

/// What one subtask begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubtaskAssignment {
    /// The state of those subtasks that it goes on from, each with one entry for each operator that
    /// the subtask has now, from the head on; none for a vertex that is new.
    pub parts: Vec<SubtaskState>,
    /// Whether its operators had finished: they do nothing more.
    pub is_finished: bool,
}

/// Which state each subtask of a job begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateAssignment {
    /// The checkpoint that the job goes on from.
    pub checkpoint: CheckpointId,
    /// By vertex and index of the job as it is now.
    pub vertices: Vec<Vec<SubtaskAssignment>>,
    /// What is left out, since the job has no place for it.
    pub dropped: Vec<NonRestored>,
}

impl StateAssignment {
    /// What each subtask of `target` begins with, if the job goes on from `checkpoint`.
    ///
    /// Vertices and operators are known by their names, and several of one name by their order.
    /// Vertices and operators that are new begin without state.
    ///
    /// # Errors
    /// If the job does not fit the checkpoint: what does not, and what it has to be like.
    ///
    /// # Panics
    /// If the graph of `target` has not as many vertices as `target`.
    ///
    /// # Examples
    /// ```
    /// use mailring::checkpoint::{
    ///     CompletedCheckpoint, JobTopology, NonRestoredState, RestoreError, RestoreTarget,
    ///     StateAssignment, TargetVertex, TopologyVertex,
    /// };
    /// # use mailring::checkpoint::{
    /// #     CompletedSubtask, CompletedVertex, Epoch, OperatorSubtaskState, StateHandle,
    /// #     SubtaskState,
    /// # };
    /// # use mailring::stream::{CheckpointId, CheckpointOptions};
    /// # let sums = OperatorSubtaskState {
    /// #     managed_keyed: Some(StateHandle::Inline(vec![1, 2, 3])),
    /// #     ..OperatorSubtaskState::default()
    /// # };
    /// # let subtask = CompletedSubtask {
    /// #     state: SubtaskState { operators: vec![("sum".into(), sums)] },
    /// #     ..CompletedSubtask::default()
    /// # };
    /// # let checkpoint = CompletedCheckpoint {
    /// #     job: "job".into(), epoch: Epoch(1), id: CheckpointId::new(1).unwrap(),
    /// #     options: CheckpointOptions::default(), begun_ms: 0, duration_ns: 0,
    /// #     max_parallelism: 128,
    /// #     vertices: vec![CompletedVertex { name: "sums".into(), subtasks: vec![subtask] }],
    /// #     coordinator_states: Vec::new(), master_states: Vec::new(),
    /// # };
    /// // The checkpoint has state of operator "sum".
    /// let mut target = RestoreTarget {
    ///     max_parallelism: 128,
    ///     vertices: vec![TargetVertex { name: "sums".into(), operators: vec!["count".into()] }],
    ///     topology: JobTopology {
    ///         vertices: vec![TopologyVertex { parallelism: 1, is_source: true }],
    ///         edges: Vec::new(),
    ///     },
    ///     master_hooks: Vec::new(),
    /// };
    /// let refused = StateAssignment::new(&checkpoint, &target, NonRestoredState::Refused);
    /// assert!(matches!(refused, Err(RestoreError::NonRestoredState { .. })));
    ///
    /// target.vertices[0].operators.push("sum".into());
    /// let assignment = StateAssignment::new(&checkpoint, &target, NonRestoredState::Refused)?;
    /// assert_eq!(assignment.vertices[0][0].parts[0].len_bytes(), 3);
    /// # Ok::<(), RestoreError>(())
    /// ```
    pub fn new(
        checkpoint: &CompletedCheckpoint,
        target: &RestoreTarget,
        non_restored: NonRestoredState,
    ) -> Result<Self, RestoreError> {
        let topology = &target.topology.vertices;
        assert_eq!(
            topology.len(),
            target.vertices.len(),
            "a job's graph has its vertices"
        );
        if checkpoint.max_parallelism != target.max_parallelism {
            return Err(RestoreError::MaxParallelism {
                before: checkpoint.max_parallelism,
                now: target.max_parallelism,
            });
        }
        let none = |parallelism| vec![SubtaskAssignment::default(); parallelism as usize];
        let mut vertices: Vec<_> = topology.iter().map(|of| none(of.parallelism)).collect();
        let mut dropped = Vec::new();
        let before: Vec<_> = checkpoint.vertices.iter().map(|of| &*of.name).collect();
        let now: Vec<_> = target.vertices.iter().map(|of| &*of.name).collect();
        for (vertex, place) in checkpoint.vertices.iter().zip(places(&before, &now)) {
            match place {
                Place::At(at) => {
                    let chain = Chain::new(vertex, &target.vertices[at], &mut dropped)?;
                    chain.assign(&mut vertices[at])?;
                }
                Place::Ambiguous { before, now } if matters(vertex) => {
                    return Err(RestoreError::AmbiguousVertices {
                        vertex: vertex.name.clone(),
                        before,
                        now,
                    });
                }
                Place::Missing => {
                    dropped.extend(state_bytes(vertex).map(|state_bytes| NonRestored::Vertex {
                        vertex: vertex.name.clone(),
                        state_bytes,
                    }));
                }
                Place::Ambiguous { .. } => {}
            }
        }
        dropped.extend(beside_the_tasks(checkpoint, target));
        if non_restored == NonRestoredState::Refused && !dropped.is_empty() {
            return Err(RestoreError::NonRestoredState { dropped });
        }
        finished::check(target, &vertices)?;
        Ok(Self {
            checkpoint: checkpoint.id,
            vertices,
            dropped,
        })
    }
}

/// A vertex as it was and as it is, and what became of its operators.
struct Chain<'a> {
    before: &'a CompletedVertex,
    now: &'a TargetVertex,
    /// By operator that it has now, which one of those before it is.
    origins: Vec<Option<usize>>,
}

impl<'a> Chain<'a> {
    /// Adds to `dropped` what the vertex has no place for.
    fn new(
        before: &'a CompletedVertex,
        now: &'a TargetVertex,
        dropped: &mut Vec<NonRestored>,
    ) -> Result<Self, RestoreError> {
        let operators = operators_of(before)?;
        let names: Vec<_> = now.operators.iter().map(|name| &**name).collect();
        let mut origins = vec![None; names.len()];
        let mut latest = None;
        for (operator, place) in places(&operators, &names).into_iter().enumerate() {
            let state_bytes = state_bytes_of(before, operator);
            match (place, state_bytes) {
                (Place::At(at), Some(_)) if latest.is_some_and(|latest| at < latest) => {
                    return Err(RestoreError::OperatorsReordered {
                        vertex: before.name.clone(),
                        before: operators.into_iter().map(Box::from).collect(),
                        now: now.operators.clone(),
                    });
                }
                (Place::At(at), Some(_)) => {
                    latest = Some(at);
                    origins[at] = Some(operator);
                }
                (Place::Ambiguous { before: count, now }, Some(_)) => {
                    return Err(RestoreError::AmbiguousOperators {
                        vertex: before.name.clone(),
                        operator: operators[operator].into(),
                        before: count,
                        now,
                    });
                }
                (Place::Missing, Some(state_bytes)) => dropped.push(NonRestored::Operator {
                    vertex: before.name.clone(),
                    operator: operators[operator].into(),
                    state_bytes,
                    chain: now.operators.clone(),
                }),
                (_, None) => {}
            }
        }
        Ok(Self {
            before,
            now,
            origins,
        })
    }

    fn assign(&self, subtasks: &mut [SubtaskAssignment]) -> Result<(), RestoreError> {
        let before = u32::try_from(self.before.subtasks.len()).unwrap_or(u32::MAX);
        let now = u32::try_from(subtasks.len()).unwrap_or(u32::MAX);
        for (index, subtask) in (0..now).zip(subtasks) {
            let Some(parts) = subtasks_of(self.before, index, now) else {
                return Err(RestoreError::Parallelism {
                    vertex: self.before.name.clone(),
                    before,
                    now,
                });
            };
            let parts = &self.before.subtasks[parts];
            subtask.is_finished = match parts {
                [] => is_fully_finished(self.before),
                parts => parts.iter().all(|part| part.is_finished),
            };
            let parts = parts.iter().map(|part| self.placed(&part.state));
            subtask.parts = parts.collect();
        }
        Ok(())
    }

    /// The state in the order of the operators that there are now.
    fn placed(&self, state: &SubtaskState) -> SubtaskState {
        let state_of = |origin: &Option<usize>| {
            let entry = origin.and_then(|origin| state.operators.get(origin));
            entry.map_or_else(OperatorSubtaskState::default, |(_, state)| state.clone())
        };
        let operators = self.now.operators.iter().zip(&self.origins);
        let operators = operators.map(|(name, origin)| (name.clone(), state_of(origin)));
        SubtaskState {
            operators: operators.collect(),
        }
    }
}

/// The operators that a vertex had, from the head on; none where no subtask says, since all had
/// finished.
fn operators_of(vertex: &CompletedVertex) -> Result<Vec<&str>, RestoreError> {
    let mut operators = Vec::new();
    for (index, subtask) in (0u32..).zip(&vertex.subtasks) {
        let of_subtask = subtask.state.operators.iter();
        let of_subtask: Vec<_> = of_subtask.map(|(name, _)| &**name).collect();
        if operators.is_empty() {
            operators = of_subtask;
        } else if !of_subtask.is_empty() && operators != of_subtask {
            return Err(RestoreError::DifferentChains {
                vertex: vertex.name.clone(),
                index,
            });
        }
    }
    Ok(operators)
}

/// How much state an operator has in all subtasks, in bytes; `None` if it has none.
fn state_bytes_of(vertex: &CompletedVertex, operator: usize) -> Option<u64> {
    let subtasks = vertex.subtasks.iter();
    let states = subtasks.filter_map(|subtask| subtask.state.operators.get(operator));
    let handles = states.flat_map(|(_, state)| state.handles());
    bytes_of(handles)
}

/// How much state a vertex has, in bytes; `None` if it has none.
fn state_bytes(vertex: &CompletedVertex) -> Option<u64> {
    let subtasks = vertex.subtasks.iter();
    let handles = subtasks.flat_map(|subtask| subtask.state.handles());
    bytes_of(handles)
}

fn bytes_of<'a>(handles: impl Iterator<Item = &'a StateHandle>) -> Option<u64> {
    handles.map(StateHandle::len).reduce(|sum, len| sum + len)
}

/// Whether there is anything to restore of a vertex.
fn matters(vertex: &CompletedVertex) -> bool {
    let mut subtasks = vertex.subtasks.iter();
    subtasks.any(|subtask| subtask.is_finished || !subtask.state.is_stateless())
}

/// The state of coordinators and hooks for which the job has no place.
fn beside_the_tasks(checkpoint: &CompletedCheckpoint, target: &RestoreTarget) -> Vec<NonRestored> {
    let operators = target.vertices.iter().flat_map(|vertex| &vertex.operators);
    let operators: Vec<_> = operators.collect();
    let coordinators = checkpoint.coordinator_states.iter();
    let coordinators = coordinators.filter(|(name, _)| !operators.contains(&name));
    let hooks = checkpoint.master_states.iter();
    let hooks = hooks.filter(|(name, _)| !target.master_hooks.contains(name));
    let coordinators = coordinators.map(|(name, _)| NonRestored::OperatorCoordinator {
        operator: name.clone(),
    });
    let hooks = hooks.map(|(name, _)| NonRestored::MasterHook { hook: name.clone() });
    coordinators.chain(hooks).collect()
}

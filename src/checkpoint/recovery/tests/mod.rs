//! Checkpoints and jobs to try the assignment of state with.

mod finished;
mod refused;
mod restored;

use super::{RestoreTarget, StateAssignment, TargetVertex};
use crate::checkpoint::{
    CompletedCheckpoint, CompletedSubtask, CompletedVertex, DistributionPattern, Epoch,
    JobTopology, OperatorSubtaskState, StateHandle, SubtaskState, TopologyEdge, TopologyVertex,
};
use crate::stream::{CheckpointId, CheckpointOptions};

pub(super) fn names(names: &[&str]) -> Vec<Box<str>> {
    names.iter().copied().map(Box::from).collect()
}

pub(super) fn stateless() -> OperatorSubtaskState {
    OperatorSubtaskState::default()
}

pub(super) fn keyed(bytes: &[u8]) -> OperatorSubtaskState {
    OperatorSubtaskState {
        managed_keyed: Some(StateHandle::Inline(bytes.to_vec())),
        ..stateless()
    }
}

pub(super) fn subtask(operators: &[(&str, OperatorSubtaskState)]) -> CompletedSubtask {
    let operators = operators.iter();
    let operators = operators.map(|(name, state)| (Box::from(*name), state.clone()));
    CompletedSubtask {
        state: SubtaskState {
            operators: operators.collect(),
        },
        ..CompletedSubtask::default()
    }
}

/// One that had finished before the checkpoint was begun.
pub(super) fn finished() -> CompletedSubtask {
    CompletedSubtask {
        is_finished: true,
        ..CompletedSubtask::default()
    }
}

pub(super) fn vertex(name: &str, subtasks: &[CompletedSubtask]) -> CompletedVertex {
    CompletedVertex {
        name: name.into(),
        subtasks: subtasks.to_vec(),
    }
}

pub(super) fn checkpoint(vertices: &[CompletedVertex]) -> CompletedCheckpoint {
    CompletedCheckpoint {
        job: "job".into(),
        epoch: Epoch(3),
        id: CheckpointId::new(7).unwrap(),
        options: CheckpointOptions::default(),
        begun_ms: 0,
        duration_ns: 0,
        max_parallelism: 128,
        vertices: vertices.to_vec(),
        coordinator_states: Vec::new(),
        master_states: Vec::new(),
    }
}

/// A job of vertices with their parallelism and operators.
pub(super) fn target(vertices: &[(&str, u32, &[&str])]) -> RestoreTarget {
    let topology = vertices.iter().map(|&(_, parallelism, _)| TopologyVertex {
        parallelism,
        is_source: true,
    });
    let topology = topology.collect();
    let vertices = vertices.iter().map(|(name, _, operators)| TargetVertex {
        name: (*name).into(),
        operators: names(operators),
    });
    RestoreTarget {
        max_parallelism: 128,
        vertices: vertices.collect(),
        topology: JobTopology {
            vertices: topology,
            edges: Vec::new(),
        },
        master_hooks: Vec::new(),
    }
}

pub(super) fn joined(mut target: RestoreTarget, pattern: DistributionPattern) -> RestoreTarget {
    let last = u32::try_from(target.vertices.len()).unwrap() - 1;
    let edges = (0..last).map(|from| TopologyEdge {
        from,
        to: from + 1,
        pattern,
    });
    target.topology.edges = edges.collect();
    target
}

/// By operator of the only vertex's first subtask, the bytes by key that it begins with.
pub(super) fn begins_with(assignment: &StateAssignment) -> Vec<Option<Vec<u8>>> {
    let [part] = &assignment.vertices[0][0].parts[..] else {
        panic!("one part: {assignment:?}");
    };
    let operators = part.operators.iter();
    let handles = operators.map(|(_, state)| match &state.managed_keyed {
        Some(StateHandle::Inline(bytes)) => Some(bytes.clone()),
        _ => None,
    });
    handles.collect()
}

//! Subtasks that had finished do nothing more: none of them may have to read from one that goes on.

use super::assignment::SubtaskAssignment;
use super::error::RestoreError;
use super::target::RestoreTarget;
use crate::checkpoint::SubtaskId;

/// Whether no subtask that had finished reads from one that has not.
pub(super) fn check(
    target: &RestoreTarget,
    vertices: &[Vec<SubtaskAssignment>],
) -> Result<(), RestoreError> {
    let topology = &target.topology;
    let is_finished = |id: SubtaskId| vertices[id.vertex as usize][id.index as usize].is_finished;
    for subtask in topology.subtasks().filter(|&subtask| is_finished(subtask)) {
        for edge in topology.inputs(subtask.vertex) {
            let producers = topology.producers(edge, subtask.index);
            let mut producers = producers.map(|index| SubtaskId {
                vertex: edge.from,
                index,
            });
            if let Some(running) = producers.find(|&producer| !is_finished(producer)) {
                return Err(RestoreError::FinishedBehindRunning {
                    vertex: target.vertices[subtask.vertex as usize].name.clone(),
                    subtask,
                    upstream: target.vertices[edge.from as usize].name.clone(),
                    running,
                });
            }
        }
    }
    Ok(())
}

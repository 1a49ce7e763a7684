//! What a job's graph comes to: which subtasks there are, with which channels between them.

use super::error::JobError;
use super::graph::{Fault, Graph, Pattern, Place, Vertex, VertexId};
use crate::stream::{Deployment, EdgeId, Origin, Subtask};
use crate::sync::{Clock as _, SharedClock};
use std::time::{SystemTime, UNIX_EPOCH};

/// A vertex that is complete, and how many subtasks it has.
pub(super) struct Planned<'a> {
    pub(super) id: VertexId,
    pub(super) vertex: &'a Vertex,
    parallelism: u32,
}

/// Checks that the graph can be run.
pub(super) fn plan(graph: &Graph) -> Result<Vec<Planned<'_>>, JobError> {
    if let Some(fault) = graph.faults.first() {
        return Err(match fault.clone() {
            Fault::TwoJobs(vertex) => JobError::TwoJobs { vertex },
            Fault::TooManyInputs(vertex, error) => JobError::TooManyInputs { vertex, error },
        });
    }
    if graph.vertices.is_empty() {
        return Err(JobError::Empty);
    }
    let settings = &graph.settings;
    let mut planned = Vec::new();
    for (index, (name, place)) in graph.vertices.iter().enumerate() {
        let vertex = match place {
            Place::Complete(vertex) => vertex,
            Place::Merged => continue,
            Place::Open => {
                return Err(JobError::NoEnd {
                    vertex: name.clone(),
                });
            }
        };
        let parallelism = vertex.draft.parallelism.unwrap_or(settings.parallelism);
        if parallelism == 0 || parallelism > settings.max_parallelism {
            return Err(JobError::Parallelism {
                vertex: name.clone(),
                asked: parallelism,
                max: settings.max_parallelism,
            });
        }
        planned.push(Planned {
            id: VertexId(index),
            vertex,
            parallelism,
        });
    }
    for edge in &graph.edges {
        let ends = [edge.from, edge.to].map(|end| {
            let planned = &planned[index_of(&planned, end)];
            (planned.vertex.draft.name.clone(), planned.parallelism)
        });
        let [from, to] = ends;
        if edge.pattern == Pattern::Pointwise && from.1 != to.1 {
            return Err(JobError::ForwardBetween { from, to });
        }
    }
    Ok(planned)
}

/// Where a vertex that has edges is among those that are planned.
fn index_of(planned: &[Planned<'_>], vertex: VertexId) -> usize {
    let index = planned.iter().position(|planned| planned.id == vertex);
    index.expect("an edge's ends are complete, or no job is planned")
}

/// What is to be deployed, by vertex and subtask.
pub(super) fn deployments(
    graph: &Graph,
    planned: &[Planned<'_>],
) -> Result<Vec<Vec<Deployment>>, JobError> {
    let settings = &graph.settings;
    let of_vertex = |(vertex_index, planned): (usize, &Planned<'_>)| {
        let subtasks = 0..planned.parallelism;
        let deployment = |index| {
            let subtask = Subtask {
                job: graph.name.as_str().into(),
                vertex: planned.vertex.draft.name.as_str().into(),
                vertex_index: vertex_index as u32,
                index,
                parallelism: planned.parallelism,
                max_parallelism: settings.max_parallelism,
                attempt: settings.attempt,
            };
            Deployment::new(subtask, settings.pace)
        };
        subtasks.map(deployment).collect::<Vec<_>>()
    };
    let mut deployments: Vec<_> = planned.iter().enumerate().map(of_vertex).collect();
    for (index, edge) in graph.edges.iter().enumerate() {
        let [sender, receiver] = [edge.from, edge.to].map(|end| index_of(planned, end));
        let mut from = core::mem::take(&mut deployments[sender]);
        let to = &mut deployments[receiver];
        let connected = (edge.connect)(EdgeId(index), edge.pattern, settings.pace, &mut from, to);
        deployments[sender] = from;
        connected.map_err(JobError::Channel)?;
    }
    Ok(deployments)
}

/// What the task of a subtask is called.
pub(super) fn task_name(subtask: &Subtask) -> String {
    format!("{}/{}/{}", subtask.job, subtask.vertex, subtask.index)
}

/// The moment at which a job starts that is started now.
pub(super) fn origin(graph: &Graph, clock: &SharedClock) -> Origin {
    Origin {
        at: clock.now(),
        at_ms: graph.settings.start_ms.unwrap_or_else(system_ms),
    }
}

fn system_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

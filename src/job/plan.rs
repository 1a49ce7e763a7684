//! What a job's graph comes to: which subtasks there are, with which channels between them.

use super::error::JobError;
use super::graph::{Connect, Fault, Graph, MakeBody, Pattern, Place, VertexId};
use super::settings::Settings;
use crate::stream::{Deployment, EdgeId, Origin, Subtask};
use crate::sync::{Clock as _, SharedClock};
use std::time::{SystemTime, UNIX_EPOCH};

/// A job that can be run: all that its attempts are made of, on any thread.
pub(super) struct Blueprint {
    pub(super) job: Box<str>,
    pub(super) settings: Settings,
    pub(super) vertices: Vec<Planned>,
    edges: Vec<Channels>,
}

/// A vertex, and how many subtasks it has.
pub(super) struct Planned {
    pub(super) name: Box<str>,
    pub(super) parallelism: u32,
    pub(super) thread: Option<usize>,
    /// Whether its subtasks have threads of their own, which are none of the engine's.
    pub(super) has_own_threads: bool,
    /// The names of its operators, the first one first.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(super) operators: Vec<&'static str>,
    pub(super) body: Box<dyn MakeBody>,
}

/// All channels of an edge; its ends are places among the planned vertices.
struct Channels {
    from: usize,
    to: usize,
    pattern: Pattern,
    connect: Connect,
}

/// Checks that the graph can be run.
pub(super) fn plan(graph: &Graph) -> Result<Blueprint, JobError> {
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
    settings.restart.check().map_err(JobError::Restart)?;
    let mut ids = Vec::new();
    let mut vertices = Vec::new();
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
        let id = VertexId(index);
        ids.push(id);
        vertices.push(Planned {
            name: vertex.draft.name.as_str().into(),
            parallelism,
            thread: vertex.draft.thread,
            has_own_threads: graph.with_own_threads.contains(&id),
            operators: vertex.operators.clone(),
            body: vertex.body.copy(),
        });
    }
    let place_of = |id| {
        let place = ids.iter().position(|planned| *planned == id);
        place.expect("an edge's ends are complete, or no job is planned")
    };
    let mut edges = Vec::new();
    for edge in &graph.edges {
        let [from, to] = [edge.from, edge.to].map(place_of);
        let ends = [from, to].map(|end| {
            let planned: &Planned = &vertices[end];
            (String::from(&*planned.name), planned.parallelism)
        });
        let [sender, receiver] = ends;
        if edge.pattern == Pattern::Pointwise && sender.1 != receiver.1 {
            return Err(JobError::ForwardBetween {
                from: sender,
                to: receiver,
            });
        }
        edges.push(Channels {
            from,
            to,
            pattern: edge.pattern,
            connect: edge.connect,
        });
    }
    Ok(Blueprint {
        job: graph.name.as_str().into(),
        settings: settings.clone(),
        vertices,
        edges,
    })
}

impl Blueprint {
    /// How many subtasks need a slot of the engine, and how many have threads of their own.
    pub(super) fn subtasks(&self) -> (usize, usize) {
        let count = |has_own_threads| {
            let vertices = self.vertices.iter();
            let those = vertices.filter(|planned| planned.has_own_threads == has_own_threads);
            those.map(|planned| planned.parallelism as usize).sum()
        };
        (count(false), count(true))
    }

    /// The edges: between which places among the vertices, and which of their subtasks are joined.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, usize, Pattern)> {
        let edges = self.edges.iter();
        edges.map(|edge| (edge.from, edge.to, edge.pattern))
    }

    /// What is to be deployed at that attempt, by vertex and subtask, with new channels.
    pub(super) fn deployments(&self, attempt: u32) -> Result<Vec<Vec<Deployment>>, JobError> {
        let settings = &self.settings;
        let of_vertex = |(vertex_index, planned): (usize, &Planned)| {
            let subtasks = 0..planned.parallelism;
            let deployment = |index| {
                let subtask = Subtask {
                    job: self.job.clone(),
                    vertex: planned.name.clone(),
                    vertex_index: vertex_index as u32,
                    index,
                    parallelism: planned.parallelism,
                    max_parallelism: settings.max_parallelism,
                    attempt,
                };
                Deployment::new(subtask, settings.pace)
            };
            subtasks.map(deployment).collect::<Vec<_>>()
        };
        let vertices = self.vertices.iter().enumerate();
        let mut deployments: Vec<_> = vertices.map(of_vertex).collect();
        for (index, edge) in self.edges.iter().enumerate() {
            let mut from = core::mem::take(&mut deployments[edge.from]);
            let to = &mut deployments[edge.to];
            let connected =
                (edge.connect)(EdgeId(index), edge.pattern, settings.pace, &mut from, to);
            deployments[edge.from] = from;
            connected.map_err(JobError::Channel)?;
        }
        Ok(deployments)
    }

    /// The moment at which the job starts, if it starts now.
    pub(super) fn origin(&self, clock: &SharedClock) -> Origin {
        Origin {
            at: clock.now(),
            at_ms: self.settings.start_ms.unwrap_or_else(system_ms),
        }
    }
}

/// What the task of a subtask is called.
pub(super) fn task_name(subtask: &Subtask) -> String {
    format!("{}/{}/{}", subtask.job, subtask.vertex, subtask.index)
}

fn system_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests;

//! What a job is made of, before it is started: vertices, and edges between them.
//!
//! E1. There is no way back: an edge is made into a vertex that none leads out of yet, and such a vertex alone
//!     takes what another was to take.

use crate::letter::BoxError;
use crate::ring::CapacityError;
use crate::ring::spsc;
use crate::stream::{Body, Deployment, EdgeId, Element, Pace, TooManyInputs};
use core::cell::RefCell;
use std::rc::Rc;

/// Which vertex of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(pub(super) usize);

/// Builds the body of one subtask, on its own thread.
pub(super) type BuildBody =
    Box<dyn FnOnce(&mut Deployment) -> Result<Box<dyn Body>, BoxError> + Send>;

/// Makes what builds a subtask's body, for each subtask of each attempt. Who starts the job takes a copy
/// of it along.
pub(super) trait MakeBody: Send {
    fn make(&self) -> BuildBody;
    fn copy(&self) -> Box<dyn MakeBody>;
}

impl<F: Fn() -> BuildBody + Clone + Send + 'static> MakeBody for F {
    fn make(&self) -> BuildBody {
        self()
    }

    fn copy(&self) -> Box<dyn MakeBody> {
        Box::new(self.clone())
    }
}

/// What becomes a vertex when its chain has an end.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) name: String,
    pub(super) parallelism: Option<u32>,
    pub(super) thread: Option<usize>,
}

/// One vertex: the same chain in as many subtasks as it has.
pub(super) struct Vertex {
    pub(super) draft: Draft,
    /// The names of its operators, the first one first.
    pub(super) operators: Vec<&'static str>,
    pub(super) body: Box<dyn MakeBody>,
}

/// What a vertex is while a job is written down.
pub(super) enum Place {
    /// Its chain has no end yet.
    Open,
    Complete(Vertex),
    /// Another vertex has its edges.
    Merged,
}

/// Which subtasks are joined by a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// Those of the same number.
    Pointwise,
    /// Each with each.
    AllToAll,
}

/// Makes the channels of an edge and deals them out to both ends.
pub(super) type Connect =
    fn(EdgeId, Pattern, Pace, &mut [Deployment], &mut [Deployment]) -> Result<(), CapacityError>;

/// All channels from one vertex to another.
pub(super) struct Edge {
    pub(super) from: VertexId,
    pub(super) to: VertexId,
    pub(super) pattern: Pattern,
    pub(super) connect: Connect,
}

/// What keeps a job from being started; of a vertex by its name.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// It takes streams of two jobs.
    TwoJobs(String),
    /// It takes more streams than an operator can have inputs.
    TooManyInputs(String, TooManyInputs),
}

/// The graph of a job while it is written down.
pub(super) struct Graph {
    pub(super) name: String,
    pub(super) settings: super::settings::Settings,
    pub(super) vertices: Vec<(String, Place)>,
    pub(super) edges: Vec<Edge>,
    /// What was written down that cannot be.
    pub(super) faults: Vec<Fault>,
    /// Vertices whose subtasks have threads of their own, which are none of the engine's.
    pub(super) with_own_threads: Vec<VertexId>,
}

/// The graph, as the streams of a job share it.
#[derive(Clone)]
pub struct GraphRef(pub(super) Rc<RefCell<Graph>>);

impl GraphRef {
    /// The place of a vertex whose chain has no end yet.
    pub(super) fn begin_vertex(&self, name: &str) -> VertexId {
        let vertices = &mut self.0.borrow_mut().vertices;
        vertices.push((name.to_owned(), Place::Open));
        VertexId(vertices.len() - 1)
    }

    pub(super) fn add_fault(&self, fault: Fault) {
        self.0.borrow_mut().faults.push(fault);
    }

    /// The chain of `vertex` has an end.
    pub(super) fn end_vertex(
        &self,
        vertex: VertexId,
        draft: Draft,
        operators: Vec<&'static str>,
        body: impl Fn() -> BuildBody + Clone + Send + 'static,
    ) {
        let vertices = &mut self.0.borrow_mut().vertices;
        let place = &mut vertices[vertex.0];
        place.0.clone_from(&draft.name);
        place.1 = Place::Complete(Vertex {
            draft,
            operators,
            body: Box::new(body),
        });
    }

    /// Vertex `into`, called `name`, takes what `vertex` was to take, which is none any more.
    pub(super) fn merge_vertex(&self, vertex: VertexId, into: VertexId, name: &str) {
        let graph = &mut *self.0.borrow_mut();
        for edge in graph.edges.iter_mut().filter(|edge| edge.to == vertex) {
            edge.to = into;
        }
        graph.vertices[vertex.0].1 = Place::Merged;
        name.clone_into(&mut graph.vertices[into.0].0);
    }

    /// An edge for records of type `T`.
    pub(super) fn add_edge<T: Send + 'static>(
        &self,
        from: VertexId,
        to: VertexId,
        pattern: Pattern,
    ) -> EdgeId {
        let edges = &mut self.0.borrow_mut().edges;
        edges.push(Edge {
            from,
            to,
            pattern,
            connect: connect::<T>,
        });
        EdgeId(edges.len() - 1)
    }
}

impl core::fmt::Debug for GraphRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let graph = self.0.borrow();
        f.debug_struct("Graph")
            .field("name", &graph.name)
            .field("vertices", &graph.vertices.len())
            .field("edges", &graph.edges.len())
            .finish()
    }
}

fn connect<T: Send + 'static>(
    edge: EdgeId,
    pattern: Pattern,
    pace: Pace,
    from: &mut [Deployment],
    to: &mut [Deployment],
) -> Result<(), CapacityError> {
    let mut consumers: Vec<Vec<_>> = to.iter().map(|_| Vec::new()).collect();
    for (index, sender) in from.iter_mut().enumerate() {
        let mut producers = Vec::new();
        for (to, consumers) in consumers.iter_mut().enumerate() {
            if pattern == Pattern::AllToAll || index == to {
                // Elements come in batches: a fence for each costs less than a system call for each
                // sleep.
                let ring = spsc::Builder::new(pace.channel_capacity).fences();
                let (producer, consumer) = ring.build::<Element<T>>()?;
                producers.push(producer);
                consumers.push(consumer);
            }
        }
        sender.add_output(edge, producers);
    }
    for (receiver, consumers) in to.iter_mut().zip(consumers) {
        receiver.add_input(edge, consumers);
    }
    Ok(())
}

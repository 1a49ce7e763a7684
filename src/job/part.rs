//! A chain while it is written down: its head, and the operators so far, composed by type.

use super::graph::{Draft, GraphRef, VertexId};
use crate::stream::{
    Body, ChainedFactory, Deployment, EdgeId, InputGate, LinkFactory, OneInput, Operator,
    SourceBody, SourceFactory,
};
use core::marker::PhantomData;

/// A chain without an end: what comes out of it is of type `Out`.
pub trait Part: Sized {
    /// What comes out of it.
    type Out: 'static;

    /// Gives it an end, so that its vertex is complete.
    fn end(
        self,
        graph: &GraphRef,
        vertex: VertexId,
        draft: Draft,
        end: impl LinkFactory<Self::Out>,
    );

    /// The edges that it begins with, where nothing is chained to them yet.
    ///
    /// # Errors
    /// Itself, where there is more to it.
    fn into_edges(self) -> Result<Vec<EdgeId>, Self> {
        Err(self)
    }
}

/// The names of a chain's operators: those at its head, and those of its end.
pub(super) fn names<T, const N: usize>(
    head: [&'static str; N],
    end: &impl LinkFactory<T>,
) -> Vec<&'static str> {
    let mut names = Vec::from(head);
    end.names(&mut names);
    names
}

/// A chain that begins with a source.
#[derive(Clone, Debug)]
pub struct FromSource<F>(pub(super) F);

impl<F: SourceFactory> Part for FromSource<F> {
    type Out = F::Out;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<F::Out>) {
        graph.end_vertex(vertex, draft, names(["source"], &end), move || {
            let (sources, end) = (self.0.clone(), end.clone());
            Box::new(move |deployment: &mut Deployment| {
                let link = end.build(deployment)?;
                let source = sources.create(deployment.subtask())?;
                let body = SourceBody::new(source, link, deployment.subtask());
                Ok(Box::new(body) as Box<dyn Body>)
            })
        });
    }
}

/// A chain that begins with the channels of some edges.
#[derive(Clone, Debug)]
pub struct FromEdges<T> {
    pub(super) edges: Vec<EdgeId>,
    pub(super) records: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> Part for FromEdges<T> {
    type Out = T;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<T>) {
        let edges = self.edges;
        graph.end_vertex(vertex, draft, names([], &end), move || {
            let (edges, end) = (edges.clone(), end.clone());
            Box::new(move |deployment: &mut Deployment| {
                let link = end.build(deployment)?;
                let channels = edges
                    .into_iter()
                    .flat_map(|edge| deployment.take_input::<T>(edge));
                let gate = InputGate::new(channels.collect());
                Ok(Box::new(OneInput::new(gate, link)) as Box<dyn Body>)
            })
        });
    }

    fn into_edges(self) -> Result<Vec<EdgeId>, Self> {
        Ok(self.edges)
    }
}

/// A chain with one more operator.
pub struct Then<P, Make> {
    pub(super) part: P,
    pub(super) name: &'static str,
    pub(super) make: Make,
}

impl<P, Make, Op> Part for Then<P, Make>
where
    P: Part,
    Op: Operator<P::Out, Out: 'static> + 'static,
    Make: FnOnce() -> Op + Clone + Send + 'static,
{
    type Out = Op::Out;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<Op::Out>) {
        let Self { part, name, make } = self;
        part.end(graph, vertex, draft, ChainedFactory::new(name, make, end));
    }
}

impl<P: core::fmt::Debug, Make> core::fmt::Debug for Then<P, Make> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Then")
            .field("part", &self.part)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

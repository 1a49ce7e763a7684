//! Many streams of one type that one operator takes together.

use super::connected::gate;
use super::graph::{Draft, Fault, GraphRef, VertexId};
use super::part::{FromEdges, Part, names};
use super::stream::Stream;
use crate::stream::{
    Body, Deployment, EdgeId, InputSelection, LinkFactory, ManyInputs, MultipleInputOperator,
    MultipleInputProcessor, TooManyInputs,
};
use core::fmt;
use core::marker::PhantomData;
use std::rc::Rc;

/// Streams of one job and of one type, for an operator that knows each of them by its number, counted
/// from 0 in the order in which they came.
///
/// Their operator is in a vertex of its own, called `beside` until it is [named](Self::named). What
/// the first stream said of its parallelism and its thread stands; else what another one said.
#[must_use = "a stream without an end keeps its job from being started"]
pub struct MultipleStreams<T> {
    graph: GraphRef,
    vertex: VertexId,
    draft: Draft,
    inputs: Vec<Vec<EdgeId>>,
    records: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> MultipleStreams<T> {
    const NAME: &'static str = "beside";

    pub(super) fn new(first: Stream<FromEdges<T>>) -> Self {
        let mut streams = Self {
            graph: first.graph,
            vertex: first.vertex,
            draft: first.draft,
            inputs: vec![first.part.edges],
            records: PhantomData,
        };
        Self::NAME.clone_into(&mut streams.draft.name);
        streams
    }

    /// One more stream; there can be 63.
    pub fn beside<Q: Part<Out = T>>(mut self, other: Stream<Q>) -> Self {
        let other = other.at_its_edges();
        if Rc::ptr_eq(&self.graph.0, &other.graph.0) {
            self.graph
                .merge_vertex(other.vertex, self.vertex, Self::NAME);
        } else {
            for graph in [&self.graph, &other.graph] {
                graph.add_fault(Fault::TwoJobs(Self::NAME.to_owned()));
            }
        }
        let draft = &mut self.draft;
        draft.parallelism = draft.parallelism.or(other.draft.parallelism);
        draft.thread = draft.thread.or(other.draft.thread);
        self.inputs.push(other.part.edges);
        let inputs = self.inputs.len();
        if inputs > InputSelection::INPUTS_MAX {
            let error = TooManyInputs { inputs };
            self.graph
                .add_fault(Fault::TooManyInputs(Self::NAME.to_owned(), error));
        }
        self
    }

    /// Names the vertex that takes the streams.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.draft.name);
        self
    }

    /// How many subtasks that vertex has.
    pub fn parallelism(mut self, subtasks: u32) -> Self {
        self.draft.parallelism = Some(subtasks);
        self
    }

    /// See [`Stream::on_thread`].
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.draft.thread = Some(thread);
        self
    }

    /// Gives the streams to an operator of one's own: `make` makes it for each subtask, on the
    /// subtask's thread.
    pub fn process<Op, M>(self, name: &'static str, make: M) -> Stream<FromManyInputs<T, M>>
    where
        Op: MultipleInputOperator<T, Out: 'static> + 'static,
        M: FnOnce() -> Op + Clone + Send + 'static,
    {
        Stream {
            graph: self.graph,
            vertex: self.vertex,
            draft: self.draft,
            part: FromManyInputs {
                inputs: self.inputs,
                name,
                make,
                records: PhantomData,
            },
        }
    }
}

impl<T> fmt::Debug for MultipleStreams<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultipleStreams")
            .field("vertex", &self.draft.name)
            .field("inputs", &self.inputs.len())
            .finish_non_exhaustive()
    }
}

/// A chain that begins with an operator on many inputs.
pub struct FromManyInputs<T, M> {
    inputs: Vec<Vec<EdgeId>>,
    name: &'static str,
    make: M,
    records: PhantomData<fn() -> T>,
}

impl<T, Op, M> Part for FromManyInputs<T, M>
where
    T: Send + 'static,
    Op: MultipleInputOperator<T, Out: 'static> + 'static,
    M: FnOnce() -> Op + Clone + Send + 'static,
{
    type Out = Op::Out;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<Op::Out>) {
        let Self {
            inputs, name, make, ..
        } = self;
        graph.end_vertex(vertex, draft, names([name], &end), move || {
            let (inputs, make, end) = (inputs.clone(), make.clone(), end.clone());
            Box::new(move |deployment: &mut Deployment| {
                let link = end.build(deployment)?;
                let gates = inputs.into_iter().map(|edges| gate::<T>(edges, deployment));
                let inputs = ManyInputs::new(gates.collect(), name, make(), link);
                Ok(Box::new(MultipleInputProcessor::new(inputs)?) as Box<dyn Body>)
            })
        });
    }
}

impl<T, M> fmt::Debug for FromManyInputs<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromManyInputs")
            .field("inputs", &self.inputs)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

//! Two streams that one operator takes together.

use super::graph::{Draft, Fault, GraphRef, VertexId};
use super::keyed::KeyedStream;
use super::part::{FromEdges, Part, names};
use super::stream::Stream;
use crate::letter::BoxError;
use crate::stream::{
    Body, CoMap, Deployment, EdgeId, InputGate, Key, KeyedCoProcess, KeyedCoProcessFunction,
    KeyedStates, LinkFactory, MultipleInputProcessor, TwoInputOperator, TwoInputs,
};
use core::fmt;
use core::marker::PhantomData;
use std::rc::Rc;

/// Two streams of one job, for an operator that takes both.
///
/// Their operator is in a vertex of its own, called `connect` until it is [named](Self::named). What
/// the left stream said of its parallelism and its thread stands; else what the right one said.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{Collect, FromIter};
/// use mailring::task::{Engine, Shutdown};
///
/// let engine = Engine::builder().threads(1).build()?;
/// let out = Collect::new();
/// let job = Job::new("texts");
/// let numbers = job.source("numbers", FromIter::new([1, 2]));
/// let names = job.source("names", FromIter::new(["three"]));
/// numbers
///     .connect(names)
///     .map(|number| number.to_string(), str::to_owned)
///     .sink("collect", out.clone())
///     .run(&engine)?;
/// let mut texts = out.take();
/// texts.sort();
/// assert_eq!(texts, ["1", "2", "three"]);
/// # engine.shutdown(Shutdown::now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a stream without an end keeps its job from being started"]
pub struct ConnectedStreams<A, B> {
    graph: GraphRef,
    vertex: VertexId,
    draft: Draft,
    left: Vec<EdgeId>,
    right: Vec<EdgeId>,
    records: PhantomData<fn() -> (A, B)>,
}

impl<A: Send + 'static, B: Send + 'static> ConnectedStreams<A, B> {
    const NAME: &'static str = "connect";

    pub(super) fn new(left: Stream<FromEdges<A>>, right: Stream<FromEdges<B>>) -> Self {
        let Stream {
            graph,
            vertex,
            draft,
            part,
        } = left;
        if Rc::ptr_eq(&graph.0, &right.graph.0) {
            graph.merge_vertex(right.vertex, vertex, Self::NAME);
        } else {
            for graph in [&graph, &right.graph] {
                graph.add_fault(Fault::TwoJobs(Self::NAME.to_owned()));
            }
        }
        Self {
            graph,
            vertex,
            draft: Draft {
                name: Self::NAME.to_owned(),
                parallelism: draft.parallelism.or(right.draft.parallelism),
                thread: draft.thread.or(right.draft.thread),
            },
            left: part.edges,
            right: right.part.edges,
            records: PhantomData,
        }
    }

    /// Names the vertex that takes both streams.
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

    /// Gives both streams to an operator of one's own: `make` makes it for each subtask, on the
    /// subtask's thread.
    pub fn process<Op, M>(self, name: &'static str, make: M) -> Stream<FromTwoInputs<A, B, M>>
    where
        Op: TwoInputOperator<A, B, Out: 'static> + 'static,
        M: FnOnce() -> Op + Clone + Send + 'static,
    {
        let Self {
            graph,
            vertex,
            draft,
            left,
            right,
            records,
        } = self;
        Stream {
            graph,
            vertex,
            draft,
            part: FromTwoInputs {
                left,
                right,
                name,
                make,
                records,
            },
        }
    }

    /// Makes of each value another one, by a function for each stream.
    pub fn map<U, F, G>(self, left: F, right: G) -> Stream<impl Part<Out = U>>
    where
        U: 'static,
        F: FnMut(A) -> U + Clone + Send + 'static,
        G: FnMut(B) -> U + Clone + Send + 'static,
    {
        self.process("map", move || CoMap::new(left, right))
    }
}

impl<A, B> fmt::Debug for ConnectedStreams<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedStreams")
            .field("vertex", &self.draft.name)
            .finish_non_exhaustive()
    }
}

/// A chain that begins with an operator on two inputs.
pub struct FromTwoInputs<A, B, M> {
    left: Vec<EdgeId>,
    right: Vec<EdgeId>,
    name: &'static str,
    make: M,
    records: PhantomData<fn() -> (A, B)>,
}

impl<A, B, Op, M> Part for FromTwoInputs<A, B, M>
where
    A: Send + 'static,
    B: Send + 'static,
    Op: TwoInputOperator<A, B, Out: 'static> + 'static,
    M: FnOnce() -> Op + Clone + Send + 'static,
{
    type Out = Op::Out;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<Op::Out>) {
        let Self {
            left,
            right,
            name,
            make,
            ..
        } = self;
        graph.end_vertex(vertex, draft, names([name], &end), move || {
            let (left, right) = (left.clone(), right.clone());
            let (make, end) = (make.clone(), end.clone());
            Box::new(move |deployment: &mut Deployment| {
                let link = end.build(deployment)?;
                let left = gate::<A>(left, deployment);
                let right = gate::<B>(right, deployment);
                let inputs = TwoInputs::new(left, right, name, make(), link);
                Ok(Box::new(MultipleInputProcessor::new(inputs)?) as Box<dyn Body>)
            })
        });
    }
}

impl<A, B, M> fmt::Debug for FromTwoInputs<A, B, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromTwoInputs")
            .field("left", &self.left)
            .field("right", &self.right)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Two keyed streams of one job, for a function that takes both. A key's records of either stream come
/// to the subtask that has the key's group.
#[must_use = "a stream without an end keeps its job from being started"]
pub struct ConnectedKeyedStreams<A, B, K, F, G> {
    streams: ConnectedStreams<A, B>,
    left_key: F,
    right_key: G,
    keys: PhantomData<fn() -> K>,
}

impl<A, B, K, F, G> ConnectedKeyedStreams<A, B, K, F, G>
where
    A: Send + 'static,
    B: Send + 'static,
    K: Key,
    F: Fn(&A) -> K + Clone + Send + 'static,
    G: Fn(&B) -> K + Clone + Send + 'static,
{
    pub(super) fn new(left: KeyedStream<A, K, F>, right: KeyedStream<B, K, G>) -> Self {
        Self {
            streams: ConnectedStreams::new(left.stream, right.stream),
            left_key: left.key,
            right_key: right.key,
            keys: PhantomData,
        }
    }

    /// Names the vertex that keeps the state.
    pub fn named(mut self, name: &str) -> Self {
        self.streams = self.streams.named(name);
        self
    }

    /// How many subtasks share the keys.
    pub fn parallelism(mut self, subtasks: u32) -> Self {
        self.streams = self.streams.parallelism(subtasks);
        self
    }

    /// See [`Stream::on_thread`].
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.streams = self.streams.on_thread(thread);
        self
    }

    /// Gives both streams to a function with state and timers per key: `build` makes it for each
    /// subtask, on the subtask's thread.
    pub fn process<P, M>(self, name: &'static str, build: M) -> Stream<impl Part<Out = P::Out>>
    where
        P: KeyedCoProcessFunction<K, A, B, Out: 'static> + 'static,
        M: FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError> + Clone + Send + 'static,
    {
        let Self {
            streams,
            left_key,
            right_key,
            ..
        } = self;
        streams.process(name, move || {
            KeyedCoProcess::new(left_key, right_key, build)
        })
    }
}

impl<A, B, K, F, G> fmt::Debug for ConnectedKeyedStreams<A, B, K, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnectedKeyedStreams")
            .field(&self.streams)
            .finish()
    }
}

/// The gate of all channels of these edges.
pub(super) fn gate<T: Send + 'static>(
    edges: Vec<EdgeId>,
    deployment: &mut Deployment,
) -> InputGate<T, impl crate::stream::InputChannel<T> + use<T>> {
    let channels = edges
        .into_iter()
        .flat_map(|edge| deployment.take_input::<T>(edge));
    InputGate::new(channels.collect())
}

//! A stream of a job that is written down: what is done to it is said by its methods.

use super::Job;
use super::beside::MultipleStreams;
use super::connected::ConnectedStreams;
use super::graph::{Draft, Fault, GraphRef, Pattern, VertexId};
use super::keyed::KeyedStream;
use super::part::{FromEdges, Part, Then};
use crate::letter::BoxError;
use crate::stream::{
    AssignWatermarks, Broadcast, ByKey, Custom, Filter, FlatMap, Forward, Key, Map, Operator,
    PartitionFactory, Partitioner, Rebalance, SinkFactory, SinkLinkFactory, TryMap,
    WatermarkGenerator,
};
use core::marker::PhantomData;
use std::rc::Rc;

/// What comes out of the operators so far. Those that follow are chained to them: a record passes
/// them as a function call, in one task. A method that says where records go ([`key_by`](Self::key_by),
/// [`rebalance`](Self::rebalance) and the like) begins another task.
#[must_use = "a stream without an end keeps its job from being started"]
pub struct Stream<P> {
    pub(super) graph: GraphRef,
    pub(super) vertex: VertexId,
    pub(super) draft: Draft,
    pub(super) part: P,
}

impl<P: Part> Stream<P> {
    pub(super) fn new(graph: GraphRef, name: &str, part: P) -> Self {
        let vertex = graph.begin_vertex(name);
        Self {
            graph,
            vertex,
            draft: Draft {
                name: name.to_owned(),
                ..Draft::default()
            },
            part,
        }
    }

    /// Names the vertex that this stream is in: its tasks are called `job/name/subtask`, and by it a
    /// checkpoint's state is found again. Without this it is called after what it begins with, such as
    /// `keyed`; of several vertices of one name the order tells.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.draft.name);
        self
    }

    /// How many subtasks the vertex has that this stream is in; that of the job, without this. A
    /// source's vertex has one.
    pub fn parallelism(mut self, subtasks: u32) -> Self {
        self.draft.parallelism = Some(subtasks);
        self
    }

    /// On which thread of the engine the vertex's first subtask runs, counted from 0, and the others on
    /// those that follow in turn. Without this, the subtasks of a job take the threads in turn.
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.draft.thread = Some(thread);
        self
    }

    /// Chains an operator of one's own: `make` makes it for each subtask, on the subtask's thread.
    pub fn transform<Op, M>(self, name: &'static str, make: M) -> Stream<Then<P, M>>
    where
        Op: Operator<P::Out, Out: 'static> + 'static,
        M: FnOnce() -> Op + Clone + Send + 'static,
    {
        let Self {
            graph,
            vertex,
            draft,
            part,
        } = self;
        Stream {
            graph,
            vertex,
            draft,
            part: Then { part, name, make },
        }
    }

    /// Makes of each value another one.
    ///
    /// What `f` keeps from one value to the next belongs to no checkpoint: when a job is restored, it
    /// is as `f` was here. What is to be kept is kept by key, or by an operator of one's own that is
    /// [transformed](Self::transform) by; the same goes for all functions of this kind.
    pub fn map<U: 'static, F>(self, f: F) -> Stream<impl Part<Out = U>>
    where
        F: FnMut(P::Out) -> U + Clone + Send + 'static,
    {
        self.transform("map", move || Map(f))
    }

    /// As [`map`](Self::map), with a function that may fail, and so fails the job.
    pub fn try_map<U: 'static, E, F>(self, f: F) -> Stream<impl Part<Out = U>>
    where
        E: Into<BoxError> + 'static,
        F: FnMut(P::Out) -> Result<U, E> + Clone + Send + 'static,
    {
        self.transform("try_map", move || TryMap(f))
    }

    /// Passes on those records whose values `f` says yes to.
    pub fn filter<F>(self, f: F) -> Stream<impl Part<Out = P::Out>>
    where
        F: FnMut(&P::Out) -> bool + Clone + Send + 'static,
    {
        self.transform("filter", move || Filter(f))
    }

    /// Makes of each value those that an iterator gives.
    pub fn flat_map<I, F>(self, f: F) -> Stream<impl Part<Out = I::Item>>
    where
        I: IntoIterator<Item: 'static> + 'static,
        F: FnMut(P::Out) -> I + Clone + Send + 'static,
    {
        self.transform("flat_map", move || FlatMap(f))
    }

    /// Gives each record the timestamp that `timestamp_ms` says, in milliseconds since 1970-01-01
    /// 00:00, and makes watermarks by `generator`, such as
    /// [`BoundedOutOfOrderness`](crate::stream::BoundedOutOfOrderness).
    pub fn assign_watermarks<G, F>(
        self,
        generator: G,
        timestamp_ms: F,
    ) -> Stream<impl Part<Out = P::Out>>
    where
        G: WatermarkGenerator<P::Out> + Clone + Send + 'static,
        F: Fn(&P::Out) -> i64 + Clone + Send + 'static,
    {
        self.transform("assign_watermarks", move || {
            AssignWatermarks::new(generator, timestamp_ms)
        })
    }

    /// Ends the chain in a sink: a closure, or one of the sinks of [`stream`](crate::stream). Returns
    /// the job.
    pub fn sink<S: SinkFactory<P::Out>>(self, name: &'static str, sinks: S) -> Job {
        let Self {
            graph,
            vertex,
            draft,
            part,
        } = self;
        part.end(&graph, vertex, draft, SinkLinkFactory::new(name, sinks));
        Job::of(graph)
    }
}

impl<P: Part<Out: Send>> Stream<P> {
    /// Sends the records to another vertex, of that name until it is [named](Self::named).
    pub(super) fn exchange<R: Partitioner<P::Out>>(
        self,
        name: &str,
        pattern: Pattern,
        partitioner: R,
    ) -> Stream<FromEdges<P::Out>> {
        let Self {
            graph,
            vertex,
            draft,
            part,
        } = self;
        let mut next = Stream::new(
            graph.clone(),
            name,
            FromEdges {
                edges: Vec::new(),
                records: PhantomData,
            },
        );
        if pattern == Pattern::Pointwise {
            next.draft.parallelism = draft.parallelism;
        }
        let edge = graph.add_edge::<P::Out>(vertex, next.vertex, pattern);
        next.part.edges.push(edge);
        let end = PartitionFactory {
            edge,
            partitioner,
            records: PhantomData,
        };
        part.end(&graph, vertex, draft, end);
        next
    }

    /// Sends each record to the subtask that has its key's group; all of one key come to one subtask,
    /// in the order in which each sender sent them.
    pub fn key_by<K, F>(self, key: F) -> KeyedStream<P::Out, K, F>
    where
        K: Key,
        F: Fn(&P::Out) -> K + Clone + Send + 'static,
    {
        let by_key = ByKey::new(key.clone());
        KeyedStream::new(self.exchange("keyed", Pattern::AllToAll, by_key), key)
    }

    /// Goes on in a task of its own: each subtask sends to the one of the same number.
    pub fn forward(self) -> Stream<FromEdges<P::Out>> {
        self.exchange("forward", Pattern::Pointwise, Forward::default())
    }

    /// Sends the records to all subtasks of another vertex in turn.
    pub fn rebalance(self) -> Stream<FromEdges<P::Out>> {
        self.exchange("rebalance", Pattern::AllToAll, Rebalance::default())
    }

    /// Sends each record to every subtask of another vertex.
    pub fn broadcast(self) -> Stream<FromEdges<P::Out>>
    where
        P::Out: Clone,
    {
        self.exchange("broadcast", Pattern::AllToAll, Broadcast)
    }

    /// Sends each record to the subtask of another vertex that `pick` says, given how many there are.
    pub fn partition_by<F>(self, pick: F) -> Stream<FromEdges<P::Out>>
    where
        F: FnMut(&P::Out, usize) -> usize + Clone + Send + 'static,
    {
        self.exchange("partition", Pattern::AllToAll, Custom::new(pick))
    }

    /// This stream, in a vertex that has nothing but it yet.
    pub(super) fn at_its_edges(self) -> Stream<FromEdges<P::Out>> {
        let Self {
            graph,
            vertex,
            draft,
            part,
        } = self;
        match part.into_edges() {
            Ok(edges) => Stream {
                graph,
                vertex,
                draft,
                part: FromEdges {
                    edges,
                    records: PhantomData,
                },
            },
            Err(part) => {
                let stream = Self {
                    graph,
                    vertex,
                    draft,
                    part,
                };
                stream.exchange("connect", Pattern::AllToAll, Rebalance::default())
            }
        }
    }

    /// Gives the records of both streams to one operator, which knows the left ones, of this stream,
    /// from the right ones, of `other`.
    ///
    /// A stream that has just been sent somewhere, as by [`broadcast`](Self::broadcast), comes so;
    /// another one is sent to all subtasks in turn.
    pub fn connect<Q: Part<Out: Send>>(self, other: Stream<Q>) -> ConnectedStreams<P::Out, Q::Out> {
        ConnectedStreams::new(self.at_its_edges(), other.at_its_edges())
    }

    /// Gives the records of this stream, of `other` and of those that are put beside them to one
    /// operator, which knows them by the number of their stream. They are sent as by
    /// [`connect`](Self::connect).
    pub fn beside<Q: Part<Out = P::Out>>(self, other: Stream<Q>) -> MultipleStreams<P::Out> {
        MultipleStreams::new(self.at_its_edges()).beside(other)
    }

    /// Takes the records of both streams, in no order between the two.
    pub fn union<Q: Part<Out = P::Out>>(self, other: Stream<Q>) -> Stream<FromEdges<P::Out>> {
        let mut union = self.exchange("union", Pattern::AllToAll, Rebalance::default());
        let Stream {
            graph,
            vertex,
            draft,
            part,
        } = other;
        if !Rc::ptr_eq(&graph.0, &union.graph.0) {
            let fault = Fault::TwoJobs(union.draft.name.clone());
            union.graph.add_fault(fault);
        }
        let edge = union
            .graph
            .add_edge::<P::Out>(vertex, union.vertex, Pattern::AllToAll);
        union.part.edges.push(edge);
        let end = PartitionFactory {
            edge,
            partitioner: Rebalance::default(),
            records: PhantomData,
        };
        part.end(&graph, vertex, draft, end);
        union
    }
}

impl<P: core::fmt::Debug> core::fmt::Debug for Stream<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream")
            .field("vertex", &self.draft.name)
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}

//! Streams that go two ways: each of them to its own end.

use super::graph::{Draft, GraphRef, Pattern, VertexId};
use super::part::{FromEdges, Part};
use super::stream::Stream;
use crate::stream::{Forward, LinkFactory, PartitionFactory, SplitFactory};
use core::marker::PhantomData;

/// A chain whose values are divided: part of each goes on, part goes to another vertex.
pub struct Divided<P, A, B, D> {
    part: P,
    divide: D,
    side: PartitionFactory<B, Forward>,
    values: PhantomData<fn() -> (A, B)>,
}

impl<P, A, B, D> Part for Divided<P, A, B, D>
where
    P: Part,
    A: 'static,
    B: Send + 'static,
    D: FnMut(P::Out) -> (Option<A>, Option<B>) + Clone + Send + 'static,
{
    type Out = A;

    fn end(self, graph: &GraphRef, vertex: VertexId, draft: Draft, end: impl LinkFactory<A>) {
        let Self {
            part, divide, side, ..
        } = self;
        part.end(graph, vertex, draft, SplitFactory::new(divide, end, side));
    }
}

impl<P: core::fmt::Debug, A, B, D> core::fmt::Debug for Divided<P, A, B, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Divided")
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}

impl<P: Part> Stream<P> {
    /// Divides each value: the first of what `divide` gives goes on in this chain, the second is the
    /// stream returned beside it, in a vertex of its own called `name`, each subtask to the one of the
    /// same number. Timestamps stay; watermarks go both ways. Both streams need an end.
    ///
    /// ```
    /// use mailring::job::Job;
    /// use mailring::stream::{Collect, FromIter};
    /// use mailring::task::{Engine, Shutdown};
    ///
    /// let engine = Engine::builder().threads(1).build()?;
    /// let (even, odd) = (Collect::new(), Collect::new());
    /// let job = Job::new("parity");
    /// let numbers = job.source("numbers", FromIter::new(0..6));
    /// let (evens, odds) = numbers.divide("odd", |number| match number % 2 {
    ///     0 => (Some(number), None),
    ///     _ => (None, Some(number)),
    /// });
    /// evens.sink("even", even.clone());
    /// odds.sink("odd", odd.clone()).run(&engine)?;
    /// assert_eq!((even.take(), odd.take()), (vec![0, 2, 4], vec![1, 3, 5]));
    /// # engine.shutdown(Shutdown::now())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(
        clippy::type_complexity,
        reason = "it is two streams, whose types are long"
    )]
    pub fn divide<A, B, D>(
        self,
        name: &str,
        divide: D,
    ) -> (Stream<Divided<P, A, B, D>>, Stream<FromEdges<B>>)
    where
        A: 'static,
        B: Send + 'static,
        D: FnMut(P::Out) -> (Option<A>, Option<B>) + Clone + Send + 'static,
    {
        let Self {
            graph,
            vertex,
            draft,
            part,
        } = self;
        let mut other = Stream::new(
            graph.clone(),
            name,
            FromEdges {
                edges: Vec::new(),
                records: PhantomData,
            },
        );
        let edge = graph.add_edge::<B>(vertex, other.vertex, Pattern::Pointwise);
        other.part.edges.push(edge);
        let side = PartitionFactory {
            edge,
            partitioner: Forward::default(),
            records: PhantomData,
        };
        let main = Stream {
            graph,
            vertex,
            draft,
            part: Divided {
                part,
                divide,
                side,
                values: PhantomData,
            },
        };
        (main, other)
    }

    /// As it is, twice: a second stream of the same values, in a vertex of its own called `name`.
    pub fn fork(
        self,
        name: &str,
    ) -> (
        Stream<impl Part<Out = P::Out> + use<P>>,
        Stream<FromEdges<P::Out>>,
    )
    where
        P::Out: Clone + Send,
    {
        self.divide(name, |value: P::Out| (Some(value.clone()), Some(value)))
    }
}

//! A stream whose records are about keys.

use super::connected::ConnectedKeyedStreams;
use super::part::{FromEdges, Part};
use super::stream::Stream;
use crate::letter::BoxError;
use crate::stream::{
    AggregateFunction, Key, Keyed, KeyedAggregate, KeyedProcess, KeyedProcessFunction, KeyedReduce,
    KeyedStates, StateValue,
};
use core::fmt;

/// A stream of which all records of a key come to one subtask, which keeps state for each of its keys.
#[must_use = "a stream without an end keeps its job from being started"]
pub struct KeyedStream<T, K, F> {
    pub(super) stream: Stream<FromEdges<T>>,
    pub(super) key: F,
    keys: core::marker::PhantomData<fn() -> K>,
}

impl<T, K, F> KeyedStream<T, K, F>
where
    T: Send + 'static,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + 'static,
{
    pub(super) fn new(stream: Stream<FromEdges<T>>, key: F) -> Self {
        Self {
            stream,
            key,
            keys: core::marker::PhantomData,
        }
    }

    /// Names the vertex that keeps the state.
    pub fn named(mut self, name: &str) -> Self {
        self.stream = self.stream.named(name);
        self
    }

    /// How many subtasks share the keys; that of the job, without this.
    pub fn parallelism(mut self, subtasks: u32) -> Self {
        self.stream = self.stream.parallelism(subtasks);
        self
    }

    /// See [`Stream::on_thread`].
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.stream = self.stream.on_thread(thread);
        self
    }

    /// Gives for each record what it and all earlier ones of its key are reduced to; `reduce` puts a
    /// value into those before it.
    pub fn reduce<R>(self, reduce: R) -> Stream<impl Part<Out = T>>
    where
        T: StateValue,
        R: FnMut(&mut T, T) + Clone + Send + 'static,
    {
        let Self { stream, key, .. } = self;
        stream.transform("reduce", move || KeyedReduce::new(key, reduce))
    }

    /// Gives for each record what the function makes of it and all earlier ones of its key, such as
    /// [`Sum`](crate::stream::Sum).
    pub fn aggregate<A>(self, function: A) -> Stream<impl Part<Out = Keyed<K, A::Out>>>
    where
        A: AggregateFunction<T, Out: 'static> + Clone + Send + 'static,
    {
        let Self { stream, key, .. } = self;
        stream.transform("aggregate", move || KeyedAggregate::new(key, function))
    }

    /// Chains a function with state and timers per key: `build` makes it for each subtask, on the
    /// subtask's thread.
    pub fn process<P, B>(self, name: &'static str, build: B) -> Stream<impl Part<Out = P::Out>>
    where
        P: KeyedProcessFunction<K, T, Out: 'static> + 'static,
        B: FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError> + Clone + Send + 'static,
    {
        let Self { stream, key, .. } = self;
        stream.transform(name, move || KeyedProcess::new(key, build))
    }
}

impl<T, K, F> KeyedStream<T, K, F>
where
    T: Send + 'static,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + 'static,
{
    /// Gives the records of both streams to one function, with state and timers for the keys of both.
    pub fn connect<U, G>(self, other: KeyedStream<U, K, G>) -> ConnectedKeyedStreams<T, U, K, F, G>
    where
        U: Send + 'static,
        G: Fn(&U) -> K + Clone + Send + 'static,
    {
        ConnectedKeyedStreams::new(self, other)
    }
}

impl<T, K, F> fmt::Debug for KeyedStream<T, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedStream")
            .field("vertex", &self.stream.draft.name)
            .finish_non_exhaustive()
    }
}

//! A keyed stream that is cut into windows of event time.

use super::keyed::KeyedStream;
use super::part::{FromEdges, Part};
use super::stream::Stream;
use crate::stream::{
    AggregateFunction, Key, Reduce, WindowAssigner, WindowOperator, WindowOutput, Windowed,
};
use core::fmt;
use core::time::Duration;

/// A keyed stream cut into windows: what is made of the records of a window is said by its methods.
#[must_use = "a stream without an end keeps its job from being started"]
pub struct WindowedStream<T, K, F, W> {
    keyed: KeyedStream<T, K, F>,
    assigner: W,
    lateness: Duration,
}

impl<T, K, F> KeyedStream<T, K, F>
where
    T: Send + 'static,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + 'static,
{
    /// Cuts the stream into windows of event time, such as
    /// [`Tumbling::hours`](crate::stream::Tumbling::hours). Its records need timestamps, and watermarks
    /// must come.
    pub fn window<W>(self, assigner: W) -> WindowedStream<T, K, F, W>
    where
        W: WindowAssigner + Clone + Send + fmt::Debug + 'static,
    {
        WindowedStream {
            keyed: self,
            assigner,
            lateness: Duration::ZERO,
        }
    }
}

impl<T, K, F, W> WindowedStream<T, K, F, W>
where
    T: Send + 'static,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + 'static,
    W: WindowAssigner + Clone + Send + 'static,
{
    /// How long a window takes records after it has fired, each of which has it fire again; not at all
    /// without this.
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        self.lateness = lateness;
        self
    }

    fn outputs<A>(self, function: A) -> Stream<impl Part<Out = WindowOutput<K, A::Out, T>>>
    where
        A: AggregateFunction<T, Out: 'static> + Clone + Send + 'static,
    {
        let Self {
            keyed,
            assigner,
            lateness,
        } = self;
        let KeyedStream { stream, key, .. } = keyed;
        stream.transform("window", move || {
            WindowOperator::new(key, assigner, function).allowed_lateness(lateness)
        })
    }

    /// What `function` makes of each key's records in each window, such as
    /// [`CountAndSum`](crate::stream::CountAndSum). Records too late for their windows are dropped.
    pub fn aggregate<A>(self, function: A) -> Stream<impl Part<Out = Windowed<K, A::Out>>>
    where
        A: AggregateFunction<T, Out: 'static> + Clone + Send + 'static,
    {
        self.outputs(function).flat_map(|output| match output {
            WindowOutput::Fired(result) => Some(result),
            WindowOutput::Late(_) => None,
        })
    }

    /// As [`aggregate`](Self::aggregate), beside a stream of the records that came too late, in a vertex
    /// of its own called `late`. Both need an end.
    #[expect(
        clippy::type_complexity,
        reason = "it is two streams, whose types are long"
    )]
    pub fn aggregate_and_late<A>(
        self,
        late: &str,
        function: A,
    ) -> (
        Stream<impl Part<Out = Windowed<K, A::Out>>>,
        Stream<FromEdges<T>>,
    )
    where
        A: AggregateFunction<T, Out: 'static> + Clone + Send + 'static,
    {
        self.outputs(function).divide(late, |output| match output {
            WindowOutput::Fired(result) => (Some(result), None),
            WindowOutput::Late(record) => (None, Some(record)),
        })
    }

    /// What each key's records in each window are reduced to; `reduce` puts a value into those before it.
    pub fn reduce<R>(self, reduce: R) -> Stream<impl Part<Out = Windowed<K, T>>>
    where
        T: crate::stream::StateValue,
        R: Fn(&mut T, &T) + Clone + Send + 'static,
    {
        self.aggregate(Reduce::by(reduce))
    }
}

impl<T, K, F, W: fmt::Debug> fmt::Debug for WindowedStream<T, K, F, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowedStream")
            .field("keyed", &self.keyed)
            .field("assigner", &self.assigner)
            .field("lateness", &self.lateness)
            .finish()
    }
}

//! A function on two keyed streams together, with state and timers for the keys of both.

use super::super::checkpointing::OperatorSnapshot;
use super::super::element::{CheckpointId, Record, Watermark};
use super::super::inputs::{Sided, TwoInputOperator};
use super::super::key_group::Key;
use super::super::output::{Output, Progress, Readiness};
use super::super::setting::Setting;
use super::super::state::{CurrentKey, KeyedStates};
use super::super::timers::{Emission, FiredTimer};
use super::process::{Build, Running};
use super::{KeyedContext, KeyedProcessFunction, Opened};
use crate::letter::{BoxError, Outcome};

/// What is done to two keyed streams together; records of one key, of either stream, have the same
/// state and timers.
///
/// ```
/// use mailring::job::Job;
/// use mailring::letter::BoxError;
/// use mailring::stream::{
///     Collect, FromIter, KeyedCoProcessFunction, KeyedContext, Output, Record, ValueState,
/// };
/// use mailring::task::{Engine, Shutdown};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
/// enum Ware {
///     Tea,
/// }
///
/// /// Puts the last known price beside what is ordered.
/// struct Priced {
///     cents: ValueState<Ware, u64>,
/// }
///
/// impl KeyedCoProcessFunction<Ware, (Ware, u64), (Ware, u64)> for Priced {
///     type Out = (Ware, u64);
///
///     fn process_left(
///         &mut self,
///         price: Record<(Ware, u64)>,
///         cx: &mut KeyedContext<'_, Ware>,
///         _out: &mut impl Output<Self::Out>,
///     ) -> Result<(), BoxError> {
///         *self.cents.get_or_default(cx.key()) = price.value.1;
///         Ok(())
///     }
///
///     fn process_right(
///         &mut self,
///         order: Record<(Ware, u64)>,
///         cx: &mut KeyedContext<'_, Ware>,
///         out: &mut impl Output<Self::Out>,
///     ) -> Result<(), BoxError> {
///         let cents = *self.cents.get_or_default(cx.key());
///         out.record(order.map(|(what, pieces)| (what, cents * pieces)))
///     }
/// }
///
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("prices");
/// let prices = job.source("prices", FromIter::new([(Ware::Tea, 250)]));
/// let orders = job.source("orders", FromIter::new([(Ware::Tea, 3), (Ware::Tea, 1)]));
/// let out = Collect::new();
/// prices
///     .key_by(|price| price.0)
///     .connect(orders.key_by(|order| order.0))
///     .process("priced", |states| Ok(Priced { cents: states.value("cents")? }))
///     .sink("collect", out.clone())
///     .run(&engine)?;
/// assert_eq!(out.take().len(), 2);
/// # engine.shutdown(Shutdown::now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait KeyedCoProcessFunction<K: Key, A, B> {
    /// What it makes.
    type Out;

    /// A record of the key has come by the left stream.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn process_left(
        &mut self,
        record: Record<A>,
        cx: &mut KeyedContext<'_, K>,
        out: &mut impl Output<Self::Out>,
    ) -> Outcome;

    /// A record of the key has come by the right stream.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn process_right(
        &mut self,
        record: Record<B>,
        cx: &mut KeyedContext<'_, K>,
        out: &mut impl Output<Self::Out>,
    ) -> Outcome;

    /// A timer of the key has come due. Those of one time domain come in the order of their times.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, K>,
        out: &mut impl Output<Self::Out>,
    ) -> Outcome {
        let _ = (timer, cx, out);
        Ok(())
    }
}

/// As one function on records of either stream.
struct Both<P>(P);

impl<K: Key, A, B, P: KeyedCoProcessFunction<K, A, B>> KeyedProcessFunction<K, Sided<A, B>>
    for Both<P>
{
    type Out = P::Out;

    #[inline]
    fn process(
        &mut self,
        record: Record<Sided<A, B>>,
        cx: &mut KeyedContext<'_, K>,
        out: &mut impl Output<P::Out>,
    ) -> Outcome {
        let no_value = record.with(());
        match record.value {
            Sided::Left(value) => self.0.process_left(no_value.with(value), cx, out),
            Sided::Right(value) => self.0.process_right(no_value.with(value), cx, out),
        }
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, K>,
        out: &mut impl Output<P::Out>,
    ) -> Outcome {
        self.0.on_timer(timer, cx, out)
    }
}

/// The operator that runs a [`KeyedCoProcessFunction`].
pub struct KeyedCoProcess<K, F, G, P> {
    left_key: F,
    right_key: G,
    build: Option<Build<K, P>>,
    opened: Opened<Running<K, Both<P>>>,
}

impl<K: Key, F, G, P> KeyedCoProcess<K, F, G, P> {
    /// Keys the records of the two streams by what `left_key` and `right_key` give, and does to them
    /// what the function does that `build` makes when the operator is opened.
    #[must_use]
    pub fn new<A, B>(
        left_key: F,
        right_key: G,
        build: impl FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError> + 'static,
    ) -> Self
    where
        F: Fn(&A) -> K,
        G: Fn(&B) -> K,
        P: KeyedCoProcessFunction<K, A, B>,
    {
        Self {
            left_key,
            right_key,
            build: Some(Box::new(build)),
            opened: Opened::not_yet(),
        }
    }
}

impl<K: Key, P> Running<K, Both<P>> {
    #[inline]
    fn process<A, B>(
        &mut self,
        key: K,
        record: Record<Sided<A, B>>,
        out: &mut impl Output<P::Out>,
    ) -> Outcome
    where
        P: KeyedCoProcessFunction<K, A, B>,
    {
        let key = CurrentKey::new(key, self.states.key_groups())?;
        let mut cx = KeyedContext::new(&key, &mut self.timers);
        self.function.process(record, &mut cx, out)
    }
}

impl<A, B, K, F, G, P> TwoInputOperator<A, B> for KeyedCoProcess<K, F, G, P>
where
    K: Key,
    F: Fn(&A) -> K,
    G: Fn(&B) -> K,
    P: KeyedCoProcessFunction<K, A, B>,
{
    type Out = P::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        if let Some(build) = self.build.take() {
            let build = |states: &mut KeyedStates<K>| Ok(Both(build(states)?));
            self.opened
                .set(Running::open(setting, Emission::AtTheEnd, build)?);
        }
        Ok(())
    }

    #[inline]
    fn process_left(&mut self, record: Record<A>, out: &mut impl Output<P::Out>) -> Outcome {
        let key = (self.left_key)(&record.value);
        let record: Record<Sided<A, B>> = record.map(Sided::Left);
        self.opened.get()?.process(key, record, out)
    }

    #[inline]
    fn process_right(&mut self, record: Record<B>, out: &mut impl Output<P::Out>) -> Outcome {
        let key = (self.right_key)(&record.value);
        let record: Record<Sided<A, B>> = record.map(Sided::Right);
        self.opened.get()?.process(key, record, out)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError> {
        let running = self.opened.get()?;
        running.watermark::<Sided<A, B>>(watermark, out)
    }

    fn processing_time(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError> {
        let running = self.opened.get()?;
        running.processing_time::<Sided<A, B>>(now_ms, out)
    }

    fn advance(&mut self, out: &mut impl Output<P::Out>) -> Result<Progress, BoxError> {
        self.opened.get()?.fire::<Sided<A, B>>(out)
    }

    fn finish(&mut self, out: &mut impl Output<P::Out>) -> Outcome {
        self.opened.get()?.finish::<Sided<A, B>>(out)
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(self.opened.get()?.snapshot().into())
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        match self.opened.as_ref() {
            Some(running) => running.timers.readiness(),
            None => Readiness::Ready,
        }
    }
}

impl<K, F, G, P> core::fmt::Debug for KeyedCoProcess<K, F, G, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyedCoProcess").finish_non_exhaustive()
    }
}

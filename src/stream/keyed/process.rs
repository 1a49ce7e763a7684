//! A function on a keyed stream, with state and timers.

use super::super::checkpointing::OperatorSnapshot;
use super::super::element::{CheckpointId, Record, Watermark};
use super::super::key_group::Key;
use super::super::operator::Operator;
use super::super::output::{Output, Progress, Readiness};
use super::super::setting::Setting;
use super::super::state::{CurrentKey, KeyedSnapshot, KeyedStates};
use super::super::timers::{DueTimer, Emission, FiredTimer, TimeDomain, TimerService};
use super::{KeyedContext, Opened};
use crate::letter::{BoxError, Outcome};

/// What is done to the records of a keyed stream, with state and timers per key.
///
/// ```
/// use mailring::letter::BoxError;
/// use mailring::stream::{
///     FiredTimer, KeyedContext, KeyedProcess, KeyedProcessFunction, OperatorHarness, Output,
///     Record, ValueState,
/// };
///
/// /// Tells of each visitor how many pages they saw, one second after the first.
/// struct Visits {
///     pages: ValueState<u32, u64>,
/// }
///
/// impl KeyedProcessFunction<u32, (u32, &'static str)> for Visits {
///     type Out = (u32, u64);
///
///     fn process(
///         &mut self,
///         record: Record<(u32, &'static str)>,
///         cx: &mut KeyedContext<'_, u32>,
///         _out: &mut impl Output<(u32, u64)>,
///     ) -> Result<(), BoxError> {
///         let mut pages = self.pages.get_or_default(cx.key());
///         *pages += 1;
///         if *pages == 1 {
///             let at_ms = record.timestamp_ms().ok_or("a visit has a time")?;
///             cx.register_event_time_timer(at_ms + 1_000);
///         }
///         Ok(())
///     }
///
///     fn on_timer(
///         &mut self,
///         timer: FiredTimer,
///         cx: &mut KeyedContext<'_, u32>,
///         out: &mut impl Output<(u32, u64)>,
///     ) -> Result<(), BoxError> {
///         match self.pages.remove(cx.key()) {
///             Some(pages) => out.record(Record::at((**cx.key(), pages), timer.at_ms)),
///             None => Ok(()),
///         }
///     }
/// }
///
/// let visits = KeyedProcess::new(
///     |&(visitor, _): &(u32, &str)| visitor,
///     |states| Ok(Visits { pages: states.value("pages")? }),
/// );
/// let mut visits = OperatorHarness::new(visits)?;
/// visits.process(Record::at((7, "/"), 100))?;
/// visits.process(Record::at((7, "/faq"), 300))?;
/// let _ = visits.watermark(1_100)?;
/// assert_eq!(visits.take_records(), [Record::at((7, 2), 1_100)]);
/// # Ok::<(), BoxError>(())
/// ```
pub trait KeyedProcessFunction<K: Key, In> {
    /// What it makes.
    type Out;

    /// A record of the key has come.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn process(
        &mut self,
        record: Record<In>,
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

/// Makes the function, once its states can be declared.
pub(super) type Build<K, P> = Box<dyn FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError>>;

/// The operator that runs a [`KeyedProcessFunction`].
pub struct KeyedProcess<K, F, P> {
    key: F,
    build: Option<Build<K, P>>,
    opened: Opened<Running<K, P>>,
    emission: Emission,
}

/// What there is of a keyed function once it is open.
pub(super) struct Running<K, P> {
    pub(super) function: P,
    pub(super) states: KeyedStates<K>,
    pub(super) timers: TimerService<K, ()>,
}

impl<K: Key, F, P> KeyedProcess<K, F, P> {
    /// Keys records by what `key` gives, and does to them what the function does that `build` makes
    /// when the operator is opened.
    #[must_use]
    pub fn new<In>(
        key: F,
        build: impl FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError> + 'static,
    ) -> Self
    where
        F: Fn(&In) -> K,
        P: KeyedProcessFunction<K, In>,
    {
        Self {
            key,
            build: Some(Box::new(build)),
            opened: Opened::not_yet(),
            emission: Emission::AtTheEnd,
        }
    }

    /// Has a watermark go out each time the firing of timers gives way, as far as they have fired.
    /// Without it, one goes out when all have.
    #[must_use]
    pub fn with_intermediate_watermarks(mut self) -> Self {
        self.emission = Emission::Intermediate;
        self
    }
}

impl<In, K, F, P> Operator<In> for KeyedProcess<K, F, P>
where
    K: Key,
    F: Fn(&In) -> K,
    P: KeyedProcessFunction<K, In>,
{
    type Out = P::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        if let Some(build) = self.build.take() {
            self.opened
                .set(Running::open(setting, self.emission, build)?);
        }
        Ok(())
    }

    #[inline]
    fn process(&mut self, record: Record<In>, out: &mut impl Output<P::Out>) -> Outcome {
        let running = self.opened.get()?;
        let key = CurrentKey::new((self.key)(&record.value), running.states.key_groups())?;
        let mut cx = KeyedContext::new(&key, &mut running.timers);
        running.function.process(record, &mut cx, out)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError> {
        self.opened.get()?.watermark::<In>(watermark, out)
    }

    fn processing_time(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError> {
        self.opened.get()?.processing_time::<In>(now_ms, out)
    }

    fn advance(&mut self, out: &mut impl Output<P::Out>) -> Result<Progress, BoxError> {
        self.opened.get()?.fire::<In>(out)
    }

    fn finish(&mut self, out: &mut impl Output<P::Out>) -> Outcome {
        self.opened.get()?.finish::<In>(out)
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

impl<K: Key, P> Running<K, P> {
    /// Makes the function, with its states and timers as they are restored.
    pub(super) fn open(
        setting: &Setting,
        emission: Emission,
        build: impl FnOnce(&mut KeyedStates<K>) -> Result<P, BoxError>,
    ) -> Result<Self, BoxError> {
        let mut states = KeyedStates::new(setting)?;
        let function = build(&mut states)?;
        let timers = TimerService::restored(setting, emission, states.restored())?;
        states.finish_declaring()?;
        Ok(Self {
            function,
            states,
            timers,
        })
    }

    /// The states and the timers as they are now.
    pub(super) fn snapshot(&mut self) -> KeyedSnapshot {
        let mut snapshot = self.states.snapshot();
        self.timers.snapshot_into(&mut snapshot);
        snapshot
    }

    pub(super) fn watermark<In>(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError>
    where
        P: KeyedProcessFunction<K, In>,
    {
        if self.timers.raise_watermark(watermark) {
            return Ok(Progress::Unfinished);
        }
        self.fire(out)
    }

    pub(super) fn processing_time<In>(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<P::Out>,
    ) -> Result<Progress, BoxError>
    where
        P: KeyedProcessFunction<K, In>,
    {
        if self.timers.raise_processing_time(now_ms) {
            return Ok(Progress::Unfinished);
        }
        self.fire(out)
    }

    pub(super) fn finish<In>(&mut self, out: &mut impl Output<P::Out>) -> Outcome
    where
        P: KeyedProcessFunction<K, In>,
    {
        let Self {
            function, timers, ..
        } = self;
        timers.finish(out, |timers, domain, timer, out| {
            on_timer::<In, _, _, _>(function, timers, domain, &timer, out)
        })
    }

    pub(super) fn fire<In>(&mut self, out: &mut impl Output<P::Out>) -> Result<Progress, BoxError>
    where
        P: KeyedProcessFunction<K, In>,
    {
        let Self {
            function, timers, ..
        } = self;
        timers.fire(out, |timers, domain, timer, out| {
            on_timer::<In, _, _, _>(function, timers, domain, &timer, out)
        })
    }
}

fn on_timer<In, K: Key, P: KeyedProcessFunction<K, In>, O: Output<P::Out>>(
    function: &mut P,
    timers: &mut TimerService<K, ()>,
    domain: TimeDomain,
    timer: &DueTimer<K, ()>,
    out: &mut O,
) -> Outcome {
    let fired = FiredTimer {
        at_ms: timer.at_ms,
        domain,
    };
    let mut cx = KeyedContext::new(&timer.key, timers);
    function.on_timer(fired, &mut cx, out)
}

impl<K, F, P> core::fmt::Debug for KeyedProcess<K, F, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyedProcess").finish_non_exhaustive()
    }
}

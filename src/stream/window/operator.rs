//! Aggregates a keyed stream by windows of event time.

use super::super::aggregate::AggregateFunction;
use super::super::checkpointing::OperatorSnapshot;
use super::super::element::{CheckpointId, Record, Watermark};
use super::super::key_group::Key;
use super::super::keyed::Opened;
use super::super::operator::Operator;
use super::super::output::{Output, Progress, Readiness};
use super::super::setting::Setting;
use super::super::state::{CurrentKey, Description, KeyedTable, RestoredKeyed, StateKind};
use super::super::timers::{DueTimer, Emission, TimeDomain, TimerService};
use super::panes::{Left, Panes};
use super::{TimeWindow, WindowAssigner};
use crate::letter::{BoxError, Outcome};
use core::any::type_name;
use core::fmt;
use core::time::Duration;

/// What the records of one key in one window make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Windowed<K, V> {
    /// The key.
    pub key: K,
    /// The window.
    pub window: TimeWindow,
    /// What the function made of the records.
    pub value: V,
}

/// What windows put out: results, at the last moment of their windows, and records that came when
/// all of their windows were gone, as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowOutput<K, V, In> {
    /// What a window has come to.
    Fired(Windowed<K, V>),
    /// A record too late for its windows.
    Late(In),
}

/// Aggregates the records of each key by windows of event time.
///
/// ```
/// use mailring::stream::{
///     CountAndSum, OperatorHarness, Record, Tumbling, WindowOperator, WindowOutput,
/// };
///
/// let mut delays = OperatorHarness::new(WindowOperator::new(
///     |&(origin, _): &([u8; 3], i64)| origin,
///     Tumbling::hours(1),
///     CountAndSum::of(|&(_, minutes): &([u8; 3], i64)| minutes),
/// ))?;
/// for (origin, minutes, at_minute) in [(*b"JFK", 12, 5), (*b"JFK", -2, 59), (*b"EWR", 4, 61)] {
///     delays.process(Record::at((origin, minutes), at_minute * 60_000))?;
/// }
/// let _ = delays.watermark(60 * 60_000)?;
/// let results = delays.take_records();
/// let WindowOutput::Fired(first) = &results[0].value else { panic!("none is late") };
/// assert_eq!((first.key, first.value.count, first.value.sum), (*b"JFK", 2, 10));
/// assert_eq!(results.len(), 1, "the window of EWR goes on");
/// # Ok::<(), mailring::letter::BoxError>(())
/// ```
pub struct WindowOperator<In, K, F, W, A: AggregateFunction<In>> {
    key: F,
    assigner: W,
    function: A,
    lateness_ms: i64,
    emission: Emission,
    late_records: u64,
    opened: Opened<Kept<K, A::Accumulator>>,
}

/// The state of windows.
struct Kept<K, Acc> {
    table: KeyedTable<K, Panes<Acc>>,
    timers: TimerService<K, TimeWindow>,
}

impl<In, K, F, W, A> WindowOperator<In, K, F, W, A>
where
    K: Key,
    F: Fn(&In) -> K,
    W: WindowAssigner,
    A: AggregateFunction<In>,
{
    /// Keys records by what `key` gives, puts them into the windows that `assigner` says, and
    /// aggregates those of a key and a window by `function`.
    #[must_use]
    pub fn new(key: F, assigner: W, function: A) -> Self {
        Self {
            key,
            assigner,
            function,
            lateness_ms: 0,
            emission: Emission::AtTheEnd,
            late_records: 0,
            opened: Opened::not_yet(),
        }
    }

    /// Keeps windows for so long after they have fired, in event time, rounded up to milliseconds:
    /// a record that comes late has them fire again, with what they have come to then.
    #[must_use]
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        let ms = lateness.as_nanos().div_ceil(1_000_000);
        self.lateness_ms = i64::try_from(ms).unwrap_or(i64::MAX);
        self
    }

    /// Has a watermark go out each time the firing of windows gives way, as far as they have fired.
    /// Without it, one goes out when all have.
    #[must_use]
    pub fn with_intermediate_watermarks(mut self) -> Self {
        self.emission = Emission::Intermediate;
        self
    }

    /// How many records came too late for all of their windows.
    #[must_use]
    pub fn late_records(&self) -> u64 {
        self.late_records
    }

    fn state() -> Description {
        let types = [type_name::<A::Accumulator>()];
        Description::of::<K>("windows", StateKind::Windows, &types)
    }

    /// Adds the record to its windows. Gives whether they were all gone.
    #[inline]
    fn add(
        &mut self,
        record: &Record<In>,
        timestamp_ms: i64,
        out: &mut impl Output<WindowOutput<K, A::Out, In>>,
    ) -> Result<bool, BoxError> {
        let Kept { table, timers } = self.opened.get()?;
        let (function, value) = (&self.function, &record.value);
        let key = CurrentKey::new((self.key)(value), table.key_groups())?;
        let watermark = timers.watermark();
        let mut is_in_one = false;
        for window in self.assigner.assign(timestamp_ms) {
            let gone_ms = window.max_timestamp_ms().saturating_add(self.lateness_ms);
            if Watermark(gone_ms) <= watermark {
                continue;
            }
            is_in_one = true;
            let mut is_new = false;
            let panes = table.upsert(
                &key,
                &mut is_new,
                |panes, is_new| {
                    *is_new = panes.upsert(
                        window,
                        |accumulator| function.add(accumulator, value),
                        || function.create(value),
                    );
                },
                |is_new| {
                    *is_new = true;
                    Panes::new(window, function.create(value))
                },
            );
            let is_complete = Watermark(window.max_timestamp_ms()) <= watermark;
            if is_complete && let Some(accumulator) = panes.get(window) {
                out.record(result(&key, window, function.result(accumulator)))?;
            }
            if is_new {
                register(timers, &key, window, is_complete, gone_ms);
            }
        }
        // Of no window at all, the record itself says whether it is late.
        let is_late = Watermark(timestamp_ms.saturating_add(self.lateness_ms)) <= watermark;
        Ok(!is_in_one && is_late)
    }

    fn fire(
        &mut self,
        out: &mut impl Output<WindowOutput<K, A::Out, In>>,
    ) -> Result<Progress, BoxError> {
        let (function, lateness_ms) = (&self.function, self.lateness_ms);
        let Kept { table, timers } = self.opened.get()?;
        timers.fire(out, |_, _, timer, out| {
            on_timer(table, function, lateness_ms, &timer, out)
        })
    }
}

impl<In, K, F, W, A> Operator<In> for WindowOperator<In, K, F, W, A>
where
    K: Key,
    F: Fn(&In) -> K,
    W: WindowAssigner,
    A: AggregateFunction<In>,
{
    type Out = WindowOutput<K, A::Out, In>;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.assigner.check()?;
        let mut restored = RestoredKeyed::of(setting)?;
        let key_groups = setting.subtask().key_groups();
        let table = KeyedTable::restored(&Self::state(), &mut restored, key_groups)?;
        let timers = TimerService::restored(setting, self.emission, &mut restored)?;
        restored.finish()?;
        self.opened.set(Kept { table, timers });
        Ok(())
    }

    #[inline]
    fn process(&mut self, record: Record<In>, out: &mut impl Output<Self::Out>) -> Outcome {
        let timestamp_ms = record.timestamp_ms().ok_or(NoTimestamp)?;
        if self.add(&record, timestamp_ms, out)? {
            self.late_records += 1;
            out.record(record.map(WindowOutput::Late))?;
        }
        Ok(())
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<Self::Out>,
    ) -> Result<Progress, BoxError> {
        if self.opened.get()?.timers.raise_watermark(watermark) {
            return Ok(Progress::Unfinished);
        }
        self.fire(out)
    }

    fn advance(&mut self, out: &mut impl Output<Self::Out>) -> Result<Progress, BoxError> {
        self.fire(out)
    }

    fn finish(&mut self, out: &mut impl Output<Self::Out>) -> Outcome {
        let (function, lateness_ms) = (&self.function, self.lateness_ms);
        let Kept { table, timers } = self.opened.get()?;
        timers.finish(out, |_, _, timer, out| {
            on_timer(table, function, lateness_ms, &timer, out)
        })
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let Kept { table, timers } = self.opened.get()?;
        let mut snapshot = table.alone(Self::state());
        timers.snapshot_into(&mut snapshot);
        Ok(snapshot.into())
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        match self.opened.as_ref() {
            Some(kept) => kept.timers.readiness(),
            None => Readiness::Ready,
        }
    }
}

/// Registers the timers of a new window: one for when it is complete, if it is not yet, and one for
/// when it is gone, which may be the same.
fn register<K: Key>(
    timers: &mut TimerService<K, TimeWindow>,
    key: &CurrentKey<K>,
    window: TimeWindow,
    is_complete: bool,
    gone_ms: i64,
) {
    let domain = TimeDomain::EventTime;
    if !is_complete {
        timers.register(domain, key, window, window.max_timestamp_ms());
    }
    if is_complete || gone_ms != window.max_timestamp_ms() {
        timers.register(domain, key, window, gone_ms);
    }
}

/// A window is complete, or gone, or both.
fn on_timer<In, K: Key, A: AggregateFunction<In>>(
    table: &mut KeyedTable<K, Panes<A::Accumulator>>,
    function: &A,
    lateness_ms: i64,
    timer: &DueTimer<K, TimeWindow>,
    out: &mut impl Output<WindowOutput<K, A::Out, In>>,
) -> Outcome {
    let (key, window) = (&timer.key, timer.namespace);
    let complete_ms = window.max_timestamp_ms();
    if timer.at_ms == complete_ms
        && let Some(accumulator) = table.get(key).and_then(|panes| panes.get(window))
    {
        out.record(result(key, window, function.result(accumulator)))?;
    }
    if timer.at_ms == complete_ms.saturating_add(lateness_ms)
        && let Some(panes) = table.get_mut(key)
        && panes.remove(window) == Left::Nothing
    {
        table.remove(key);
    }
    Ok(())
}

fn result<K: Key, V, In>(
    key: &CurrentKey<K>,
    window: TimeWindow,
    value: V,
) -> Record<WindowOutput<K, V, In>> {
    let windowed = Windowed {
        key: K::clone(key),
        window,
        value,
    };
    Record::at(WindowOutput::Fired(windowed), window.max_timestamp_ms())
}

impl<In, K, F, W: fmt::Debug, A: AggregateFunction<In>> fmt::Debug
    for WindowOperator<In, K, F, W, A>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowOperator")
            .field("assigner", &self.assigner)
            .field("lateness_ms", &self.lateness_ms)
            .field("late_records", &self.late_records)
            .finish_non_exhaustive()
    }
}

/// A record without a timestamp came to windows of event time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTimestamp;

impl fmt::Display for NoTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a record without a timestamp is in no window: timestamps are assigned by the source, or \
             where watermarks are assigned",
        )
    }
}

impl core::error::Error for NoTimestamp {}

//! The operator that gives records their timestamps and a stream its watermarks.

use super::activity::Activity;
use super::generator::WatermarkGenerator;
use super::reached::Reached;
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::element::{CheckpointId, Record, Watermark, WatermarkStatus};
use crate::stream::operator::Operator;
use crate::stream::output::{Output, Progress, Readiness};
use crate::stream::setting::Setting;
use std::num::NonZeroU32;
use std::time::Duration;

const INTERVAL_MS: i64 = 200;
const RECORDS_MAX: NonZeroU32 = NonZeroU32::new(128).unwrap();

/// Gives each record the timestamp of its event, and puts out watermarks.
///
/// Watermarks are the generator's. It is asked for one every 200 ms of processing time, and besides
/// after every 128 records, so that event time also goes on where records come faster than the clock
/// does; both can be set. What goes out is always greater than what went out last.
///
/// Watermarks and statuses from upstream are not passed on, but for [`Watermark::MAX`], which ends
/// event time whatever the generator says.
///
/// How far event time has come is part of a checkpoint: an operator that is restored puts it out
/// before the first record, so that a record is late if it was late before.
///
/// ```
/// use mailring::letter::BoxError;
/// use mailring::stream::{
///     AssignWatermarks, BoundedOutOfOrderness, Element, OperatorHarness, Record, Watermark,
/// };
///
/// let bound = BoundedOutOfOrderness::millis(100);
/// let assign = AssignWatermarks::new(bound, |event: &(i64, &str)| event.0);
/// let mut assign = OperatorHarness::new(assign)?;
/// assign.process(Record::new((5_000, "landed")))?;
/// assign.move_time_to(200)?;
/// let output = [
///     Element::Record(Record::at((5_000, "landed"), 5_000)),
///     Element::Watermark(Watermark(4_899)),
/// ];
/// assert_eq!(assign.take_output(), output);
/// # Ok::<(), BoxError>(())
/// ```
pub struct AssignWatermarks<G, F> {
    generator: G,
    timestamp_ms_of: F,
    interval_ms: i64,
    records_max: NonZeroU32,
    last_output: Watermark,
    /// What had gone out when the checkpoint was taken that it is restored from: nothing less does.
    restored: Watermark,
    /// What `records_left` was then, until a record has come.
    records_left_restored: Option<u32>,
    /// How many records there are to the next one that is taken care of; 1 while idle, and before the
    /// first one of an operator that is restored.
    records_left: u32,
    /// What `records_left` was at the last look for records; `None` where some came since then.
    records_left_seen: Option<u32>,
    status: WatermarkStatus,
    next_emit_ms: Option<i64>,
    activity: Option<Activity>,
    setting: Option<Setting>,
}

impl<G, F> AssignWatermarks<G, F> {
    /// Takes the time of each event, in milliseconds since 1970-01-01 00:00, from
    /// `timestamp_ms_of`. `i64::MIN` is no timestamp.
    #[must_use]
    pub fn new<T>(generator: G, timestamp_ms_of: F) -> Self
    where
        G: WatermarkGenerator<T>,
        F: Fn(&T) -> i64,
    {
        Self {
            generator,
            timestamp_ms_of,
            interval_ms: INTERVAL_MS,
            records_max: RECORDS_MAX,
            last_output: Watermark::MIN,
            restored: Watermark::MIN,
            records_left_restored: None,
            records_left: RECORDS_MAX.get(),
            records_left_seen: None,
            status: WatermarkStatus::Active,
            next_emit_ms: None,
            activity: None,
            setting: None,
        }
    }

    /// The generator is asked whenever `interval` of processing time has passed, rounded down to
    /// whole milliseconds. Without an interval, 0, it is asked by the number of records alone.
    #[must_use]
    pub fn watermark_interval(mut self, interval: Duration) -> Self {
        self.interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        self
    }

    /// The generator is asked after every `records_max` records.
    #[must_use]
    pub fn watermark_records_max(mut self, records_max: NonZeroU32) -> Self {
        self.records_max = records_max;
        self.records_left = records_max.get();
        self
    }

    fn next_emit_from(&self, now_ms: i64) -> Option<i64> {
        (self.interval_ms > 0).then(|| now_ms.saturating_add(self.interval_ms))
    }

    /// Whether it is time to be idle. Where records are not asked for, none can come.
    fn is_silent(&mut self, now_ms: i64, readiness: Readiness) -> bool {
        let Some(activity) = &mut self.activity else {
            return false;
        };
        if self.status == WatermarkStatus::Idle || now_ms < activity.next_look_ms() {
            return false;
        }
        let seen = self.records_left_seen.replace(self.records_left);
        if seen == Some(self.records_left) && readiness.is_ready() {
            return activity.is_over(now_ms);
        }
        activity.notice(now_ms);
        false
    }

    /// Says that watermarks come again, if it had said that none do.
    #[cold]
    fn activate<T>(&mut self, out: &mut impl Output<T>) -> Outcome {
        if self.status == WatermarkStatus::Active {
            return Ok(());
        }
        self.status = WatermarkStatus::Active;
        if let Some(setting) = &self.setting {
            let now_ms = setting.now_ms();
            self.next_emit_ms = self.next_emit_from(now_ms);
            if let Some(activity) = &mut self.activity {
                activity.notice(now_ms);
            }
            self.set_alarm();
        }
        out.status(WatermarkStatus::Active)
    }

    /// Says that no watermarks come until the next record has.
    fn deactivate<T>(&mut self, out: &mut impl Output<T>) -> Outcome
    where
        G: WatermarkGenerator<T>,
    {
        self.emit(out)?;
        self.status = WatermarkStatus::Idle;
        self.records_left = 1;
        out.status(WatermarkStatus::Idle)
    }

    /// Puts out what the generator says.
    fn emit<T>(&mut self, out: &mut impl Output<T>) -> Outcome
    where
        G: WatermarkGenerator<T>,
    {
        let watermark = self.generator.on_periodic_emit();
        self.put_out(watermark, out)
    }

    #[inline]
    fn put_out<T>(&mut self, watermark: Watermark, out: &mut impl Output<T>) -> Outcome {
        let watermark = watermark.max(self.restored);
        if watermark <= self.last_output || self.status == WatermarkStatus::Idle {
            return Ok(());
        }
        self.last_output = watermark;
        out.watermark(watermark)
    }

    /// Asks to be woken for what comes first.
    fn set_alarm(&self) {
        let Some(setting) = &self.setting else {
            return;
        };
        if self.status == WatermarkStatus::Idle {
            setting.wake_never();
            return;
        }
        let look_ms = self.activity.as_ref().map(Activity::next_look_ms);
        match self.next_emit_ms.into_iter().chain(look_ms).min() {
            Some(at_ms) => setting.wake_at(at_ms),
            None => setting.wake_never(),
        }
    }
}

impl<T, G, F> Operator<T> for AssignWatermarks<G, F>
where
    G: WatermarkGenerator<T>,
    F: Fn(&T) -> i64,
{
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let now_ms = setting.now_ms();
        self.next_emit_ms = self.next_emit_from(now_ms);
        if let Some(reached) = Reached::restored(setting)? {
            self.generator.restore(reached.generated);
            self.restored = reached.output;
            self.records_left_restored = Some(reached.records_left);
            self.records_left = 1;
            self.next_emit_ms = Some(now_ms);
        }
        let timeout = self.generator.idle_timeout();
        self.activity = timeout.map(|timeout| Activity::new(timeout, now_ms));
        self.records_left_seen = Some(self.records_left);
        self.setting = Some(setting.clone());
        self.set_alarm();
        Ok(())
    }

    #[inline]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Outcome {
        let timestamp_ms = (self.timestamp_ms_of)(&record.value);
        let watermark = self.generator.on_event(&record.value, timestamp_ms);
        self.records_left -= 1;
        let take_care = self.records_left == 0;
        if take_care {
            self.activate(out)?;
            self.put_out(self.restored, out)?;
        }
        out.record(Record::at(record.value, timestamp_ms))?;
        if let Some(watermark) = watermark {
            self.put_out(watermark, out)?;
        }
        if take_care {
            self.records_left_seen = None;
            // A record that is taken care of for being the first is one of those that were left.
            match self.records_left_restored.take() {
                Some(left) if left > 1 => {
                    self.records_left = (left - 1).min(self.records_max.get());
                }
                _ => {
                    self.records_left = self.records_max.get();
                    self.emit(out)?;
                }
            }
        }
        Ok(())
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<T>,
    ) -> Result<Progress, BoxError> {
        if watermark == Watermark::MAX {
            self.activate(out)?;
            self.put_out(Watermark::MAX, out)?;
            self.next_emit_ms = None;
            self.activity = None;
            self.set_alarm();
        }
        Ok(Progress::Done)
    }

    fn status(&mut self, _status: WatermarkStatus, _out: &mut impl Output<T>) -> Outcome {
        Ok(())
    }

    fn processing_time(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<T>,
    ) -> Result<Progress, BoxError> {
        if self.next_emit_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.next_emit_ms = self.next_emit_from(now_ms);
            self.put_out(self.restored, out)?;
            if self.interval_ms > 0 {
                self.emit(out)?;
            }
        }
        if self.is_silent(now_ms, out.readiness()) {
            self.deactivate(out)?;
        }
        self.set_alarm();
        Ok(Progress::Done)
    }

    fn finish(&mut self, out: &mut impl Output<T>) -> Outcome {
        self.emit(out)
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let reached = Reached {
            output: self.last_output.max(self.restored),
            generated: self.generator.on_periodic_emit(),
            records_left: self.records_left_restored.unwrap_or(self.records_left),
        };
        Ok(reached.into())
    }
}

impl<G, F> core::fmt::Debug for AssignWatermarks<G, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AssignWatermarks")
            .field("last_output", &self.last_output)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

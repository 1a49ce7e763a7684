//! How far event time has come by what a stream has shown of it: generators of watermarks.

use crate::stream::element::Watermark;
use std::time::Duration;

/// Tells from the timestamps of a stream's records how far event time has come.
///
/// ```
/// use mailring::stream::{Watermark, WatermarkGenerator};
///
/// /// Each `true` says that all before it has come.
/// #[derive(Default)]
/// struct ByMark(i64);
///
/// impl WatermarkGenerator<bool> for ByMark {
///     fn on_event(&mut self, mark: &bool, timestamp_ms: i64) -> Option<Watermark> {
///         mark.then_some(Watermark(timestamp_ms))
///     }
///
///     fn on_periodic_emit(&mut self) -> Watermark {
///         Watermark::MIN
///     }
/// }
/// ```
pub trait WatermarkGenerator<T> {
    /// A record of an event at `timestamp_ms` has come. A watermark given back goes out right behind
    /// that record; a generator that gives none is asked now and then.
    fn on_event(&mut self, event: &T, timestamp_ms: i64) -> Option<Watermark>;

    /// Asked now and then how far event time has come; `MIN` if that is not known. One that is not
    /// greater than the last one does not go out. `MAX` ends event time for good.
    fn on_periodic_emit(&mut self) -> Watermark;

    /// After how long without a record no watermarks are to be expected any more; `None`: never. It
    /// is asked once, when the operator is opened.
    fn idle_timeout(&self) -> Option<Duration> {
        None
    }

    /// The operator is restored, and `watermark` is what the generator said, when it was asked as now
    /// and then, as the checkpoint was taken. It is to say no less than that; one that forgets is
    /// not heard until it says more than what had gone out.
    fn restore(&mut self, watermark: Watermark) {
        let _ = watermark;
    }
}

/// Records come out of order, but none more than a bound behind the greatest timestamp so far: the
/// watermark is that timestamp, less the bound, less 1 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundedOutOfOrderness {
    bound_ms: i64,
    greatest_ms: i64,
}

impl BoundedOutOfOrderness {
    /// A bound of `bound`, rounded up to whole milliseconds.
    #[must_use]
    pub const fn of(bound: Duration) -> Self {
        Self::bounded(bound.as_nanos().div_ceil(1_000_000))
    }

    /// A bound of so many milliseconds.
    #[must_use]
    pub const fn millis(bound: u64) -> Self {
        Self::bounded(bound as u128)
    }

    /// A bound of so many seconds.
    #[must_use]
    pub const fn seconds(bound: u64) -> Self {
        Self::bounded(bound as u128 * 1_000)
    }

    /// A bound of so many minutes.
    #[must_use]
    pub const fn minutes(bound: u64) -> Self {
        Self::bounded(bound as u128 * 60_000)
    }

    /// A bound of so many hours.
    #[must_use]
    pub const fn hours(bound: u64) -> Self {
        Self::bounded(bound as u128 * 3_600_000)
    }

    const fn bounded(bound_ms: u128) -> Self {
        let bound_ms = if bound_ms > i64::MAX as u128 {
            i64::MAX
        } else {
            bound_ms as i64
        };
        Self {
            bound_ms,
            greatest_ms: i64::MIN,
        }
    }

    /// With idleness: after `timeout` without a record no watermarks are to be expected.
    #[must_use]
    pub const fn idle_after(self, timeout: Duration) -> WithIdleness<Self> {
        WithIdleness::new(self, timeout)
    }
}

impl<T> WatermarkGenerator<T> for BoundedOutOfOrderness {
    #[inline]
    fn on_event(&mut self, _event: &T, timestamp_ms: i64) -> Option<Watermark> {
        self.greatest_ms = self.greatest_ms.max(timestamp_ms);
        None
    }

    #[inline]
    fn on_periodic_emit(&mut self) -> Watermark {
        let earliest_ms = self.greatest_ms.saturating_sub(self.bound_ms);
        Watermark(earliest_ms.saturating_sub(1))
    }

    fn restore(&mut self, watermark: Watermark) {
        if watermark > Watermark::MIN {
            let earliest_ms = watermark.0.saturating_add(1);
            self.greatest_ms = earliest_ms.saturating_add(self.bound_ms);
        }
    }
}

/// Records come in the order of their timestamps, of which several may be equal: a bound of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonotonousTimestamps(BoundedOutOfOrderness);

impl MonotonousTimestamps {
    /// No record has come yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(BoundedOutOfOrderness::millis(0))
    }

    /// With idleness: after `timeout` without a record no watermarks are to be expected.
    #[must_use]
    pub const fn idle_after(self, timeout: Duration) -> WithIdleness<Self> {
        WithIdleness::new(self, timeout)
    }
}

impl Default for MonotonousTimestamps {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> WatermarkGenerator<T> for MonotonousTimestamps {
    #[inline]
    fn on_event(&mut self, event: &T, timestamp_ms: i64) -> Option<Watermark> {
        self.0.on_event(event, timestamp_ms)
    }

    #[inline]
    fn on_periodic_emit(&mut self) -> Watermark {
        WatermarkGenerator::<T>::on_periodic_emit(&mut self.0)
    }

    fn restore(&mut self, watermark: Watermark) {
        WatermarkGenerator::<T>::restore(&mut self.0, watermark);
    }
}

/// A generator whose stream may fall silent: then it must not hold back the event time of others.
///
/// The stream is idle when no record has come for the timeout, by processing time, or for up to half
/// as long again, and is active before the next record. Time in which there is no room for output is
/// no silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithIdleness<G> {
    generator: G,
    timeout: Duration,
}

impl<G> WithIdleness<G> {
    /// `generator`, idle after `timeout` without a record. Less than 2 ms is taken for 2 ms.
    #[must_use]
    pub const fn new(generator: G, timeout: Duration) -> Self {
        Self { generator, timeout }
    }
}

impl<T, G: WatermarkGenerator<T>> WatermarkGenerator<T> for WithIdleness<G> {
    #[inline]
    fn on_event(&mut self, event: &T, timestamp_ms: i64) -> Option<Watermark> {
        self.generator.on_event(event, timestamp_ms)
    }

    #[inline]
    fn on_periodic_emit(&mut self) -> Watermark {
        self.generator.on_periodic_emit()
    }

    fn idle_timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn restore(&mut self, watermark: Watermark) {
        self.generator.restore(watermark);
    }
}

//! One thread's bounded histogram, which loses nothing: what is over its range and what came out
//! below zero is counted and said.

use hdrhistogram::Histogram;

/// Records times in nanoseconds.
///
/// ```
/// use perf::Recorder;
///
/// let mut times = Recorder::new(1_000_000);
/// times.record(250);
/// times.record(u64::MAX);
/// times.record_between(100, 90);
/// assert_eq!((times.count(), times.over_range(), times.negative()), (3, 1, 1));
/// assert_eq!(times.max(), u64::MAX);
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    histogram: Histogram<u64>,
    over_range: u64,
    negative: u64,
    max: u64,
}

/// Significant decimal digits of what is recorded.
const DIGITS: u8 = 3;

/// How many samples must lie above a percentile for it to be shown.
pub(crate) const SAMPLES_ABOVE_MIN: f64 = 10.0;

impl Recorder {
    /// An empty one for times up to `highest_ns`, of three significant digits.
    ///
    /// # Panics
    /// If `highest_ns` is below 2.
    #[must_use]
    pub fn new(highest_ns: u64) -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, highest_ns, DIGITS)
                .expect("bounds of at least 1 and 2"),
            over_range: 0,
            negative: 0,
            max: 0,
        }
    }

    /// Counts one time. One over the range counts as over the range and, in the histogram, as the
    /// highest value of the range, so that the count stays right.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        if ns > self.histogram.high() {
            self.over_range += 1;
        }
        self.max = self.max.max(ns);
        self.histogram.saturating_record(ns);
    }

    /// Counts the time from one reading to another, in nanoseconds. An end before the start, which
    /// the clocks of two CPUs can give, counts as zero and as negative.
    #[inline]
    pub fn record_between(&mut self, start_ns: u64, end_ns: u64) {
        if end_ns < start_ns {
            self.negative += 1;
        }
        self.record(end_ns.saturating_sub(start_ns));
    }

    /// Adds what another of the same range has.
    ///
    /// # Panics
    /// If the other's range is larger.
    pub fn add(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("recorders of one range");
        self.over_range += other.over_range;
        self.negative += other.negative;
        self.max = self.max.max(other.max);
    }

    /// How many times there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// How many of them are over the range.
    #[must_use]
    pub fn over_range(&self) -> u64 {
        self.over_range
    }

    /// How many of them came out below zero.
    #[must_use]
    pub fn negative(&self) -> u64 {
        self.negative
    }

    /// The longest, exactly, even if it is over the range.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The end of the range.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.histogram.high()
    }

    /// The time that `percent` of all do not exceed; nothing if fewer than ten are above it, for
    /// then it says little.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let above = self.count() as f64 * (100.0 - percent) / 100.0;
        // A little less, for the rounding of 100 - 99.9.
        (above >= SAMPLES_ABOVE_MIN - 1e-6)
            .then(|| self.histogram.value_at_percentile(percent).min(self.max))
    }

    /// The median, however few there are; zero if there is none.
    #[must_use]
    pub fn median(&self) -> u64 {
        self.histogram.value_at_percentile(50.0).min(self.max)
    }

    /// The histogram. What is over the range is in it as the highest value.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_end_nothing_and_are_said() {
        let highest = 60_000_000_000;
        let mut recorder = Recorder::new(highest);
        for value in [0, 1, highest, highest + 1, 10 * highest, u64::MAX] {
            for _ in 0..3 {
                recorder.record(value);
            }
        }
        assert_eq!(recorder.count(), 18);
        assert_eq!(recorder.over_range(), 9);
        assert_eq!(recorder.max(), u64::MAX);
        assert_eq!(
            recorder.median(),
            recorder.histogram().value_at_percentile(50.0)
        );
    }

    #[test]
    fn an_end_before_its_start_is_zero_and_counted() {
        let mut recorder = Recorder::new(1_000);
        recorder.record_between(100, 90);
        recorder.record_between(100, 100);
        recorder.record_between(0, u64::MAX);
        assert_eq!((recorder.count(), recorder.negative()), (3, 1));
        assert_eq!((recorder.over_range(), recorder.max()), (1, u64::MAX));
        assert_eq!(recorder.median(), 0);
    }

    #[test]
    fn a_percentile_with_fewer_than_ten_samples_above_it_is_not_told() {
        let mut recorder = Recorder::new(1_000_000);
        (1..=9_999).for_each(|ns| recorder.record(ns));
        assert_eq!(recorder.percentile(99.0), Some(9_903));
        assert_eq!(recorder.percentile(99.9), None);
        recorder.record(10_000);
        assert!(recorder.percentile(99.9).is_some());
        assert_eq!(recorder.percentile(99.99), None);
    }

    #[test]
    fn no_percentile_is_above_the_largest_value() {
        let mut recorder = Recorder::new(1_000_000);
        (0..100).for_each(|_| recorder.record(100_001));
        assert_eq!(recorder.percentile(50.0), Some(100_001));
    }

    #[test]
    fn what_two_threads_recorded_adds_up() {
        let mut one = Recorder::new(1_000);
        let mut other = Recorder::new(1_000);
        one.record(10);
        other.record(5_000);
        other.record_between(7, 3);
        one.add(&other);
        assert_eq!((one.count(), one.over_range(), one.negative()), (3, 1, 1));
        assert_eq!(one.max(), 5_000);
    }
}

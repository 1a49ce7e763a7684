//! Restarts after delays that grow.

use super::{RestartStrategyError, Verdict};
use core::time::Duration;
use std::time::Instant;

/// Runs a job again after delays that grow while it fails: each is the one before times a factor. When
/// it has run for long enough it begins anew, with the first one.
///
/// A part of each delay is left to chance, so that jobs which fail together do not come back together.
///
/// ```
/// use mailring::job::{ExponentialDelay, RestartStrategy, Verdict};
/// use std::time::{Duration, Instant};
///
/// let second = Duration::from_secs(1);
/// let delay = ExponentialDelay::new(second, 3 * second)
///     .multiplier(2.0)
///     .jitter(0.0);
/// let mut strategy = RestartStrategy::from(delay);
/// let delays = [1, 2, 3, 3].map(|seconds| Verdict::RestartAfter(seconds * second));
/// for delay in delays {
///     assert_eq!(strategy.failed(Instant::now()), delay);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ExponentialDelay {
    initial: Duration,
    max: Duration,
    multiplier: f64,
    jitter: f64,
    reset_after: Duration,
    attempts_max: Option<u32>,
    random: u64,
    /// The next delay, before its jitter; `None`: the first one.
    next: Option<Duration>,
    /// Failures since the last time it began anew.
    failures: u32,
    running_since: Option<Instant>,
}

impl ExponentialDelay {
    const MULTIPLIER: f64 = 1.5;
    const JITTER: f64 = 0.1;
    const RESET_AFTER: Duration = Duration::from_secs(3600);

    /// Delays from `initial` to `max`: each is 1.5 times the one before, with a tenth of it left to
    /// chance; after an hour without a failure they begin anew.
    #[must_use]
    pub const fn new(initial: Duration, max: Duration) -> Self {
        Self {
            initial,
            max,
            multiplier: Self::MULTIPLIER,
            jitter: Self::JITTER,
            reset_after: Self::RESET_AFTER,
            attempts_max: None,
            random: 0,
            next: None,
            failures: 0,
            running_since: None,
        }
    }

    /// By how much each delay is longer than the one before; at least 1.
    #[must_use]
    pub const fn multiplier(mut self, multiplier: f64) -> Self {
        self.multiplier = multiplier;
        self
    }

    /// What part of a delay is left to chance: 0.1 is up to a tenth less or more, within the shortest and
    /// the longest. From 0 on, and less than 1.
    #[must_use]
    pub const fn jitter(mut self, jitter: f64) -> Self {
        self.jitter = jitter;
        self
    }

    /// What chance begins with, such as a number of this process: the same seed leads to the same
    /// delays. 0 without this.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.random = seed;
        self
    }

    /// How long all tasks must have run for the next failure to count as the first one.
    #[must_use]
    pub const fn reset_after(mut self, time: Duration) -> Self {
        self.reset_after = time;
        self
    }

    /// After how many failures in a row, without a [reset](Self::reset_after) between them, there is no
    /// further restart; without this there always is one.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts_max = Some(attempts);
        self
    }

    pub(super) fn check(&self) -> Result<(), RestartStrategyError> {
        if self.initial.is_zero() {
            return Err(RestartStrategyError::NoDelay);
        }
        if self.max < self.initial {
            return Err(RestartStrategyError::MaxBelowInitial {
                initial: self.initial,
                max: self.max,
            });
        }
        if !(self.multiplier.is_finite() && self.multiplier >= 1.0) {
            return Err(RestartStrategyError::Multiplier {
                asked: self.multiplier,
            });
        }
        if !(0.0..1.0).contains(&self.jitter) {
            return Err(RestartStrategyError::Jitter { asked: self.jitter });
        }
        Ok(())
    }

    pub(super) fn running(&mut self, now: Instant) {
        self.running_since = Some(now);
    }

    pub(super) fn failed(&mut self, now: Instant) -> Verdict {
        let since = self.running_since.take();
        let ran = since.map(|since| now.saturating_duration_since(since));
        if ran.is_some_and(|ran| ran >= self.reset_after) {
            self.next = None;
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        if self.attempts_max.is_some_and(|max| self.failures > max) {
            return Verdict::GiveUp;
        }
        let delay = self.next.unwrap_or(self.initial);
        self.next = Some(self.times(delay, self.multiplier));
        let factor = 1.0 + self.jitter * self.chance();
        Verdict::RestartAfter(self.times(delay, factor))
    }

    /// So many times `delay`, as far as that is within the shortest and the longest.
    fn times(&self, delay: Duration, factor: f64) -> Duration {
        let longer = Duration::try_from_secs_f64(delay.as_secs_f64() * factor);
        longer.unwrap_or(self.max).min(self.max).max(self.initial)
    }

    /// A number by chance, from -1 on and less than 1; the generator is SplitMix64.
    fn chance(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // 53 bits are what a float holds.
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

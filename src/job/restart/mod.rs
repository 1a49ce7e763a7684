//! When a job that has failed is run again, and when it is given up: plain state machines, which are
//! told the time.

mod error;
mod exponential_delay;
mod failure_rate;
mod fixed_delay;

pub use error::RestartStrategyError;
pub use exponential_delay::ExponentialDelay;
pub use failure_rate::FailureRate;
pub use fixed_delay::FixedDelay;

use core::time::Duration;
use std::time::Instant;

/// What is to become of a job that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a job that has failed is run again or given up"]
pub enum Verdict {
    /// It is deployed again when so long has passed after all its tasks have ended.
    RestartAfter(Duration),
    /// It is not run again.
    GiveUp,
}

/// When a job that has failed is run again, and when it is given up; see
/// [`Job::restart`](super::Job::restart).
///
/// It is a state machine that a job's master asks at each failure, and it can be asked alone:
///
/// ```
/// use mailring::job::{RestartStrategy, Verdict};
/// use mailring::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let mut strategy = RestartStrategy::fixed_delay(1, Duration::from_secs(10));
/// assert_eq!(
///     strategy.failed(clock.now()),
///     Verdict::RestartAfter(Duration::from_secs(10))
/// );
/// assert_eq!(strategy.failed(clock.now()), Verdict::GiveUp);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum RestartStrategy {
    /// A failure ends the job.
    #[default]
    Never,
    /// So many times, always after the same delay.
    FixedDelay(FixedDelay),
    /// After delays that grow while it fails, and are short again when it has run for long.
    ExponentialDelay(ExponentialDelay),
    /// As long as it does not fail too often.
    FailureRate(FailureRate),
}

impl RestartStrategy {
    /// Runs the job again after its first `attempts` failures, each time `delay` after all its tasks
    /// have ended.
    #[must_use]
    pub const fn fixed_delay(attempts: u32, delay: Duration) -> Self {
        Self::FixedDelay(FixedDelay::new(attempts, delay))
    }

    /// Runs the job again after `initial`, and after longer delays, up to `max`, while it goes on to
    /// fail: [`ExponentialDelay`] says more.
    #[must_use]
    pub const fn exponential_delay(initial: Duration, max: Duration) -> Self {
        Self::ExponentialDelay(ExponentialDelay::new(initial, max))
    }

    /// Runs the job again `delay` after all its tasks have ended, unless it has failed more than
    /// `failures_max` times within `interval`.
    #[must_use]
    pub const fn failure_rate(failures_max: u32, interval: Duration, delay: Duration) -> Self {
        Self::FailureRate(FailureRate::new(failures_max, interval, delay))
    }

    /// Whether it can be followed.
    ///
    /// # Errors
    /// [`RestartStrategyError`] with what is allowed.
    pub fn check(&self) -> Result<(), RestartStrategyError> {
        match self {
            Self::Never | Self::FixedDelay(_) => Ok(()),
            Self::ExponentialDelay(delay) => delay.check(),
            Self::FailureRate(rate) => rate.check(),
        }
    }

    /// All tasks of the job run since `now`.
    pub fn running(&mut self, now: Instant) {
        if let Self::ExponentialDelay(delay) = self {
            delay.running(now);
        }
    }

    /// The job has failed at `now`.
    pub fn failed(&mut self, now: Instant) -> Verdict {
        match self {
            Self::Never => Verdict::GiveUp,
            Self::FixedDelay(delay) => delay.failed(),
            Self::ExponentialDelay(delay) => delay.failed(now),
            Self::FailureRate(rate) => rate.failed(now),
        }
    }
}

impl From<FixedDelay> for RestartStrategy {
    fn from(delay: FixedDelay) -> Self {
        Self::FixedDelay(delay)
    }
}

impl From<ExponentialDelay> for RestartStrategy {
    fn from(delay: ExponentialDelay) -> Self {
        Self::ExponentialDelay(delay)
    }
}

impl From<FailureRate> for RestartStrategy {
    fn from(rate: FailureRate) -> Self {
        Self::FailureRate(rate)
    }
}

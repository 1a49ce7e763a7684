//! Restarts as long as a job does not fail too often.

use super::{RestartStrategyError, Verdict};
use core::time::Duration;
use std::collections::VecDeque;
use std::time::Instant;

/// Runs a job again unless it has failed too often within some time.
#[derive(Clone, Debug)]
pub struct FailureRate {
    failures_max: u32,
    interval: Duration,
    delay: Duration,
    /// The last failures, the oldest one first; at most `failures_max`.
    failures: VecDeque<Instant>,
}

impl FailureRate {
    /// Runs the job again `delay` after all its tasks have ended, unless it has failed more than
    /// `failures_max` times within `interval`: a failure counts that is exactly so long ago.
    #[must_use]
    pub const fn new(failures_max: u32, interval: Duration, delay: Duration) -> Self {
        Self {
            failures_max,
            interval,
            delay,
            failures: VecDeque::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), RestartStrategyError> {
        if self.failures_max == 0 {
            return Err(RestartStrategyError::NoFailures);
        }
        if self.interval.is_zero() {
            return Err(RestartStrategyError::NoInterval);
        }
        Ok(())
    }

    pub(super) fn failed(&mut self, now: Instant) -> Verdict {
        let is_recent =
            |failure: &Instant| now.saturating_duration_since(*failure) <= self.interval;
        while self
            .failures
            .front()
            .is_some_and(|oldest| !is_recent(oldest))
        {
            self.failures.pop_front();
        }
        if self.failures.len() >= self.failures_max as usize {
            return Verdict::GiveUp;
        }
        self.failures.push_back(now);
        Verdict::RestartAfter(self.delay)
    }
}

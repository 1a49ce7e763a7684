//! So many restarts, always after the same delay.

use super::Verdict;
use core::time::Duration;

/// Runs a job again after its first failures, each time after the same delay.
#[derive(Clone, Debug)]
pub struct FixedDelay {
    delay: Duration,
    attempts_left: u32,
}

impl FixedDelay {
    /// Runs the job again after its first `attempts` failures, each time `delay` after all its tasks
    /// have ended.
    #[must_use]
    pub const fn new(attempts: u32, delay: Duration) -> Self {
        Self {
            delay,
            attempts_left: attempts,
        }
    }

    pub(super) fn failed(&mut self) -> Verdict {
        match self.attempts_left.checked_sub(1) {
            Some(left) => {
                self.attempts_left = left;
                Verdict::RestartAfter(self.delay)
            }
            None => Verdict::GiveUp,
        }
    }
}

//! Waiting for letters at or above a priority.

use super::envelope::Taken;
use super::error::TakeError;
use super::owner::Mailbox;
use crate::letter::{Letter, Priority};
use core::time::Duration;
use std::time::Instant;

impl<O, L: Letter<O>> Mailbox<O, L> {
    /// Takes the oldest letter with at least this priority, as by
    /// [`try_take_from`](Self::try_take_from), waiting for one.
    ///
    /// # Errors
    /// [`TakeError::Quiesced`], also where only letters that this does not see are left, or
    /// [`TakeError::Closed`].
    pub fn take_from(&mut self, least: Priority) -> Result<Taken<O, L>, TakeError> {
        self.take_until(least, None)
    }

    /// Takes the oldest letter with at least this priority, waiting for one for at most `timeout`, by
    /// the system's clock.
    ///
    /// # Errors
    /// As [`take_from`](Self::take_from), and [`TakeError::Timeout`].
    pub fn take_from_timeout(
        &mut self,
        least: Priority,
        timeout: Duration,
    ) -> Result<Taken<O, L>, TakeError> {
        // A deadline past the end of time is none.
        self.take_until(least, Instant::now().checked_add(timeout))
    }
}

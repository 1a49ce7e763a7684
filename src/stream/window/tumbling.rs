//! Windows side by side.

use super::assigner::millis;
use super::{TimeWindow, WindowAssigner, WindowError};
use core::iter::{Once, once};

/// Windows of one size, each beginning where the one before ends: a record is in exactly one.
///
/// ```
/// use mailring::stream::{TimeWindow, Tumbling, WindowAssigner};
///
/// let window = TimeWindow { start_ms: 7_200_000, end_ms: 10_800_000 };
/// assert!(Tumbling::hours(1).assign(7_200_001).eq([window]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tumbling {
    size_ms: i64,
    offset_ms: i64,
}

impl Tumbling {
    /// Windows of so many milliseconds, one of which begins at 1970-01-01 00:00.
    #[must_use]
    pub const fn millis(size: u64) -> Self {
        Self {
            size_ms: millis(size, 1),
            offset_ms: 0,
        }
    }

    /// Windows of so many seconds.
    #[must_use]
    pub const fn seconds(size: u64) -> Self {
        Self::millis(size.saturating_mul(1_000))
    }

    /// Windows of so many minutes.
    #[must_use]
    pub const fn minutes(size: u64) -> Self {
        Self::millis(size.saturating_mul(60_000))
    }

    /// Windows of so many hours.
    #[must_use]
    pub const fn hours(size: u64) -> Self {
        Self::millis(size.saturating_mul(3_600_000))
    }

    /// Windows of so many days.
    #[must_use]
    pub const fn days(size: u64) -> Self {
        Self::millis(size.saturating_mul(86_400_000))
    }

    /// Has a window begin so many milliseconds after 1970-01-01 00:00, or before it.
    #[must_use]
    pub const fn offset_ms(mut self, offset_ms: i64) -> Self {
        self.offset_ms = offset_ms;
        self
    }
}

impl WindowAssigner for Tumbling {
    type Windows = Once<TimeWindow>;

    #[inline]
    fn assign(&self, timestamp_ms: i64) -> Once<TimeWindow> {
        once(TimeWindow::last_begun(
            timestamp_ms,
            self.size_ms,
            self.offset_ms,
            self.size_ms,
        ))
    }

    fn check(&self) -> Result<(), WindowError> {
        if self.size_ms > 0 {
            Ok(())
        } else {
            Err(WindowError::NoSize)
        }
    }
}

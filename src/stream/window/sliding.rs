//! Windows that overlap.

use super::assigner::millis;
use super::{TimeWindow, WindowAssigner, WindowError};

/// Windows of one size that begin at even steps: a record is in several where the step is smaller
/// than the size, and may be in none where it is larger.
///
/// ```
/// use mailring::stream::{Sliding, TimeWindow, WindowAssigner};
///
/// let windows = Sliding::seconds(10, 5).assign(12_000);
/// let expected = [(10_000, 20_000), (5_000, 15_000)];
/// assert!(windows.eq(expected.map(|(start_ms, end_ms)| TimeWindow { start_ms, end_ms })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sliding {
    size_ms: i64,
    slide_ms: i64,
    offset_ms: i64,
}

impl Sliding {
    /// Windows of `size` milliseconds that begin every `slide` milliseconds, one of them at
    /// 1970-01-01 00:00.
    #[must_use]
    pub const fn millis(size: u64, slide: u64) -> Self {
        Self::of_units(size, slide, 1)
    }

    /// Windows of `size` seconds that begin every `slide` seconds.
    #[must_use]
    pub const fn seconds(size: u64, slide: u64) -> Self {
        Self::of_units(size, slide, 1_000)
    }

    /// Windows of `size` minutes that begin every `slide` minutes.
    #[must_use]
    pub const fn minutes(size: u64, slide: u64) -> Self {
        Self::of_units(size, slide, 60_000)
    }

    /// Windows of `size` hours that begin every `slide` hours.
    #[must_use]
    pub const fn hours(size: u64, slide: u64) -> Self {
        Self::of_units(size, slide, 3_600_000)
    }

    /// Windows of `size` days that begin every `slide` days.
    #[must_use]
    pub const fn days(size: u64, slide: u64) -> Self {
        Self::of_units(size, slide, 86_400_000)
    }

    const fn of_units(size: u64, slide: u64, unit_ms: u64) -> Self {
        Self {
            size_ms: millis(size, unit_ms),
            slide_ms: millis(slide, unit_ms),
            offset_ms: 0,
        }
    }

    /// Has a window begin so many milliseconds after 1970-01-01 00:00, or before it.
    #[must_use]
    pub const fn offset_ms(mut self, offset_ms: i64) -> Self {
        self.offset_ms = offset_ms;
        self
    }
}

impl WindowAssigner for Sliding {
    type Windows = SlidingWindows;

    #[inline]
    fn assign(&self, timestamp_ms: i64) -> SlidingWindows {
        let last =
            TimeWindow::last_begun(timestamp_ms, self.slide_ms, self.offset_ms, self.size_ms);
        SlidingWindows {
            next_start_ms: Some(last.start_ms),
            size_ms: self.size_ms,
            slide_ms: self.slide_ms,
            timestamp_ms,
        }
    }

    fn check(&self) -> Result<(), WindowError> {
        if self.size_ms <= 0 {
            Err(WindowError::NoSize)
        } else if self.slide_ms <= 0 {
            Err(WindowError::NoSlide)
        } else {
            Ok(())
        }
    }
}

/// The sliding windows that one moment is in, the one that began last first.
#[derive(Clone, Debug)]
pub struct SlidingWindows {
    next_start_ms: Option<i64>,
    size_ms: i64,
    slide_ms: i64,
    timestamp_ms: i64,
}

impl Iterator for SlidingWindows {
    type Item = TimeWindow;

    #[inline]
    fn next(&mut self) -> Option<TimeWindow> {
        let start_ms = self.next_start_ms?;
        let window = TimeWindow {
            start_ms,
            end_ms: start_ms.saturating_add(self.size_ms),
        };
        if window.end_ms <= self.timestamp_ms {
            return None;
        }
        // No window begins before there is time.
        self.next_start_ms = start_ms.checked_sub(self.slide_ms);
        Some(window)
    }
}

//! Which windows a record falls into.

use super::TimeWindow;
use core::fmt;

/// Says which windows a record falls into, by its timestamp.
pub trait WindowAssigner {
    /// The windows of one record.
    type Windows: Iterator<Item = TimeWindow>;

    /// The windows that `timestamp_ms`, in milliseconds since 1970-01-01 00:00, is in; each is
    /// complete.
    fn assign(&self, timestamp_ms: i64) -> Self::Windows;

    /// Whether there can be such windows.
    ///
    /// # Errors
    /// Why not.
    fn check(&self) -> Result<(), WindowError> {
        Ok(())
    }
}

/// There can be no such windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowError {
    /// A window is at least one millisecond long.
    NoSize,
    /// Sliding windows begin at least one millisecond apart.
    NoSlide,
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSize => "a window must be at least one millisecond long",
            Self::NoSlide => "sliding windows must begin at least one millisecond apart",
        })
    }
}

impl core::error::Error for WindowError {}

/// `count` times `unit_ms`, or as long as there can be.
pub(super) const fn millis(count: u64, unit_ms: u64) -> i64 {
    let ms = count.saturating_mul(unit_ms);
    if ms > i64::MAX as u64 {
        i64::MAX
    } else {
        ms as i64
    }
}

//! A stretch of event time.

use serde::{Deserialize, Serialize};

/// The moments from `start_ms` on and before `end_ms`, both in milliseconds since 1970-01-01 00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The first moment in it.
    pub start_ms: i64,
    /// The first moment after it.
    pub end_ms: i64,
}

impl TimeWindow {
    /// The last moment in it: when the watermark is there, the window is complete.
    #[inline]
    #[must_use]
    pub const fn max_timestamp_ms(&self) -> i64 {
        self.end_ms.saturating_sub(1)
    }

    /// The window of `size_ms` among those that begin every `step_ms`, one of them at `offset_ms`,
    /// which began last by `timestamp_ms`. At the ends of time it may be cut short.
    #[inline]
    pub(super) fn last_begun(
        timestamp_ms: i64,
        step_ms: i64,
        offset_ms: i64,
        size_ms: i64,
    ) -> Self {
        // Steps of nothing are refused before a record comes, and divide nothing here.
        let step_ms = step_ms.max(1);
        // Neither remainder overflows, and their difference lies between -step and step.
        let into = timestamp_ms.rem_euclid(step_ms) - offset_ms.rem_euclid(step_ms);
        let into = if into < 0 { into + step_ms } else { into };
        let start_ms = timestamp_ms.saturating_sub(into);
        Self {
            start_ms,
            end_ms: start_ms.saturating_add(size_ms),
        }
    }
}

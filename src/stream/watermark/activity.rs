//! Whether a stream has fallen silent, told by looks at a clock that cost its records nothing.
//!
//! A record is not timed: a look asks only whether any came since the look before. So the last
//! record may have come up to one look's distance before the look that noticed it, and silence is
//! told that much late at most.

use std::time::Duration;

/// Looks at a stream twice in each timeout.
#[derive(Debug)]
pub(super) struct Activity {
    timeout_ms: i64,
    /// When a look last noticed a record, or the stream began.
    noticed_ms: i64,
    next_look_ms: i64,
}

impl Activity {
    pub(super) fn new(timeout: Duration, now_ms: i64) -> Self {
        let timeout_ms = timeout.as_nanos().div_ceil(1_000_000);
        let timeout_ms = i64::try_from(timeout_ms).unwrap_or(i64::MAX);
        let mut activity = Self {
            timeout_ms: timeout_ms.max(2),
            noticed_ms: now_ms,
            next_look_ms: now_ms,
        };
        activity.notice(now_ms);
        activity
    }

    pub(super) const fn next_look_ms(&self) -> i64 {
        self.next_look_ms
    }

    /// A record has come since the last look.
    pub(super) fn notice(&mut self, now_ms: i64) {
        self.noticed_ms = now_ms;
        self.next_look_ms = now_ms.saturating_add(self.timeout_ms / 2);
    }

    /// No record has come since the last look: whether that is silence now.
    pub(super) fn is_over(&mut self, now_ms: i64) -> bool {
        let over_ms = self.noticed_ms.saturating_add(self.timeout_ms);
        self.next_look_ms = over_ms.min(now_ms.saturating_add(self.timeout_ms / 2));
        now_ms >= over_ms
    }
}

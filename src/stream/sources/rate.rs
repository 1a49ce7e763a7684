//! So many records in a time: when which of them is due.

use crate::stream::setting::Setting;
use core::fmt;
use core::time::Duration;

/// So many records in so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    records: u64,
    per_ns: u64,
}

impl Rate {
    const RECORDS_MAX: u64 = 1_000_000_000_000;
    /// A year and a day.
    const PER_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

    /// `records` in each `per`.
    pub(super) fn new(records: u64, per: Duration) -> Result<Self, RateError> {
        if !(1..=Self::RECORDS_MAX).contains(&records) {
            return Err(RateError::Records { asked: records });
        }
        let per_ns = u64::try_from(per.as_nanos()).unwrap_or(0);
        if per_ns == 0 || per > Self::PER_MAX {
            return Err(RateError::Per { asked: per });
        }
        Ok(Self { records, per_ns })
    }

    /// When record number `index` is due, in nanoseconds, rounded up.
    fn due_ns(self, index: u64) -> u64 {
        let due = u128::from(index) * u128::from(self.per_ns);
        u64::try_from(due.div_ceil(u128::from(self.records))).unwrap_or(u64::MAX)
    }

    /// How many records are due after `ns` nanoseconds: the first one is at once.
    fn due_after(self, ns: u64) -> u64 {
        let due = u128::from(ns) * u128::from(self.records) / u128::from(self.per_ns);
        u64::try_from(due).map_or(u64::MAX, |due| due.saturating_add(1))
    }
}

/// A source cannot have such a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateError {
    /// So many records at once.
    Records {
        /// How many were asked for.
        asked: u64,
    },
    /// In such a time.
    Per {
        /// What was asked for.
        asked: Duration,
    },
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records { asked } => write!(
                f,
                "a source cannot make {asked} records in a time: 1 to {} are allowed",
                Rate::RECORDS_MAX
            ),
            Self::Per { asked } => write!(
                f,
                "a source's rate cannot be for a time of {asked:?}: 1 ns to {:?} are allowed",
                Rate::PER_MAX
            ),
        }
    }
}

impl core::error::Error for RateError {}

/// When records are due that come at a rate.
#[derive(Debug)]
pub(super) struct Schedule {
    rate: Rate,
    behind_max: u64,
    /// The number of a value.
    first: u64,
    /// When that one was due, in nanoseconds since the job was started; later, where it is too far
    /// behind.
    begun_ns: u64,
    /// When the job was started, in milliseconds since 1970-01-01 00:00.
    start_ms: i64,
    setting: Option<Setting>,
}

impl Schedule {
    pub(super) fn new(rate: Rate, behind_max: u64) -> Self {
        Self {
            rate,
            behind_max,
            first: 0,
            begun_ns: 0,
            start_ms: 0,
            setting: None,
        }
    }

    /// Number `first` is due now.
    pub(super) fn open(&mut self, setting: &Setting, first: u64) {
        self.first = first;
        // In this order: a moment that is computed of both is never too early.
        self.begun_ns = setting.since_start_ns();
        let since_ms = i64::try_from(self.begun_ns / 1_000_000).unwrap_or(i64::MAX);
        self.start_ms = setting.now_ms().saturating_sub(since_ms);
        self.setting = Some(setting.clone());
    }

    /// Values whose number is lower are due; has the task called when number `next` is.
    pub(super) fn look(&mut self, next: u64) -> u64 {
        let Some(setting) = &self.setting else {
            return 0;
        };
        let now_ns = setting.since_start_ns();
        let since_ns = now_ns.saturating_sub(self.begun_ns);
        let mut due = self.first.saturating_add(self.rate.due_after(since_ns));
        let behind = due.saturating_sub(next);
        if behind > self.behind_max {
            // As if it had begun when just this much were due now.
            due = next.saturating_add(self.behind_max.max(1));
            (self.first, self.begun_ns) = (due - 1, now_ns);
        }
        if due <= next {
            let wait_ns = self.rate.due_ns(next.saturating_sub(self.first));
            let due_ns = self.begun_ns.saturating_add(wait_ns);
            let due_ms = i64::try_from(due_ns.div_ceil(1_000_000)).unwrap_or(i64::MAX);
            setting.wake_at(self.start_ms.saturating_add(due_ms));
        }
        due
    }
}

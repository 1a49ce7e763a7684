//! The least, the mean and the greatest of what was measured.

use crate::checkpoint::message::SubtaskCheckpointMetrics;
use serde::Serialize;

/// The least, the mean and the greatest of some figures, and how many there were.
///
/// # Examples
/// ```
/// use mailring::checkpoint::StatsSummary;
///
/// let mut durations_ns = StatsSummary::default();
/// durations_ns.add(10);
/// durations_ns.add(30);
/// assert_eq!((durations_ns.min(), durations_ns.avg(), durations_ns.max()), (10, 20, 30));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatsSummary {
    count: u64,
    min: u64,
    max: u64,
    sum: u64,
}

impl StatsSummary {
    /// Takes one more in.
    pub fn add(&mut self, figure: u64) {
        self.min = if self.count == 0 {
            figure
        } else {
            self.min.min(figure)
        };
        self.max = self.max.max(figure);
        self.sum = self.sum.saturating_add(figure);
        self.count += 1;
    }

    /// How many there were.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least; 0 where there was none.
    #[must_use]
    pub const fn min(&self) -> u64 {
        self.min
    }

    /// The mean, rounded down; 0 where there was none.
    #[must_use]
    pub const fn avg(&self) -> u64 {
        match self.sum.checked_div(self.count) {
            Some(avg) => avg,
            None => 0,
        }
    }

    /// The greatest; 0 where there was none.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// All of them together; the greatest number there is where they are more.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.sum
    }
}

/// What subtasks measured, summed up; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubtaskStatsSummary {
    /// From when the checkpoint was begun until the first barrier was read.
    pub start_delay_ns: StatsSummary,
    /// From the first barrier to the last.
    pub alignment_ns: StatsSummary,
    /// For how long the task did nothing else.
    pub sync_ns: StatsSummary,
    /// For how long state was encoded and stored beside the task.
    pub async_ns: StatsSummary,
    /// How much state was stored, in bytes.
    pub state_bytes: StatsSummary,
}

impl SubtaskStatsSummary {
    /// Takes in what one more subtask measured.
    pub fn add(&mut self, metrics: &SubtaskCheckpointMetrics) {
        self.start_delay_ns.add(metrics.start_delay_ns);
        self.alignment_ns.add(metrics.alignment_ns);
        self.sync_ns.add(metrics.sync_ns);
        self.async_ns.add(metrics.async_ns);
        self.state_bytes.add(metrics.state_bytes);
    }
}

//! How often a job's checkpoints are taken, and within which limits.

use super::retention::RetentionPolicy;
use super::settings_error::CheckpointSettingsError;
use crate::stream::Alignment;
use core::time::Duration;

/// The longest pause between two checkpoints; a longer one is taken for this.
const MIN_PAUSE_MOST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The shortest interval and the shortest timeout.
pub(super) const DURATION_LEAST: Duration = Duration::from_millis(1);
/// The most state of one kind of one operator that can stand in a checkpoint's record, in bytes.
pub(super) const INLINE_STATE_MOST: usize = 1024 * 1024;
/// The most checkpoints on their way at once, for whose answers there is room; more are taken for this.
const CONCURRENT_MOST: u32 = 1_000;
/// The most checkpoints whose barriers a task follows at once where it does not align them.
pub(super) const TRACKED_MOST: u32 = 50;

/// How often a job's checkpoints are taken, and within which limits.
///
/// | | where nothing is said |
/// |---|---|
/// | records after a restore | exactly once |
/// | timeout | 10 minutes |
/// | minimum pause | none |
/// | at once | 1 |
/// | failures tolerated in a row | 0 |
/// | retained | 1 |
/// | when some tasks have finished | goes on |
/// | when the job is over | retained |
/// | state within the record | up to 20 KiB |
///
/// ```
/// use mailring::checkpoint::CheckpointSettings;
/// use std::time::Duration;
///
/// let settings = CheckpointSettings::new(Duration::from_secs(1))
///     .min_pause(Duration::from_millis(500))
///     .tolerable_failures(3);
/// settings.check()?;
/// # Ok::<(), mailring::checkpoint::CheckpointSettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointSettings {
    pub(crate) interval: Option<Duration>,
    pub(crate) min_pause: Duration,
    pub(crate) timeout: Duration,
    pub(crate) max_concurrent: u32,
    pub(crate) tolerable_failures: u32,
    pub(crate) retained: u32,
    pub(crate) alignment: Alignment,
    pub(crate) after_tasks_finish: bool,
    pub(crate) retention: RetentionPolicy,
    pub(crate) inline_state_max: usize,
}

impl CheckpointSettings {
    /// A checkpoint every `interval`, which is at least 1 ms, from the beginning of one to that of the
    /// next. One that is due while as many as [may be](Self::max_concurrent) are on their way waits for
    /// them, and further ones meanwhile are refused, and counted.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval: Some(interval),
            ..Self::manual()
        }
    }

    /// Checkpoints only when they are asked for.
    #[must_use]
    pub fn manual() -> Self {
        Self {
            interval: None,
            min_pause: Duration::ZERO,
            timeout: Duration::from_secs(10 * 60),
            max_concurrent: 1,
            tolerable_failures: 0,
            retained: 1,
            alignment: Alignment::Aligned,
            after_tasks_finish: true,
            retention: RetentionPolicy::default(),
            inline_state_max: 20 * 1024,
        }
    }

    /// How long none begins after one was completed, unless it is asked for by hand; at most a year, and
    /// a longer one is taken for that. A minimum pause longer than the interval takes its place.
    #[must_use]
    pub fn min_pause(mut self, min_pause: Duration) -> Self {
        self.min_pause = min_pause;
        self
    }

    /// How long one may take before it is given up; at least 1 ms.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many may be on their way at once; at least 1, and never more than 1,000. At most 50 are
    /// allowed where records count [at least once](Self::at_least_once).
    #[must_use]
    pub fn max_concurrent(mut self, max_concurrent: u32) -> Self {
        self.max_concurrent = max_concurrent;
        self
    }

    /// How many may fail before the job does, counted anew after each that is completed.
    #[must_use]
    pub fn tolerable_failures(mut self, tolerable_failures: u32) -> Self {
        self.tolerable_failures = tolerable_failures;
        self
    }

    /// How many completed ones are kept; at least 1.
    #[must_use]
    pub fn retained(mut self, retained: u32) -> Self {
        self.retained = retained;
        self
    }

    /// Tasks with many inputs do not wait for the barriers of all: records that come before the last
    /// barrier may count twice after a restore, and checkpoints hold up no input.
    #[must_use]
    pub fn at_least_once(mut self) -> Self {
        self.alignment = Alignment::AtLeastOnce;
        self
    }

    /// No checkpoint begins once some task has finished.
    #[must_use]
    pub fn without_finished_tasks(mut self) -> Self {
        self.after_tasks_finish = false;
        self
    }

    /// What becomes of the completed ones when the job is over.
    #[must_use]
    pub fn retention(mut self, retention: RetentionPolicy) -> Self {
        self.retention = retention;
        self
    }

    /// Up to how many bytes state of one kind of one operator stands in the checkpoint's record rather
    /// than in a file; at most 1 MiB.
    #[must_use]
    pub fn inline_state_max(mut self, bytes: usize) -> Self {
        self.inline_state_max = bytes;
        self
    }

    /// Whether a job can be run with these.
    ///
    /// # Errors
    /// The first that is out of range, and the range.
    pub fn check(&self) -> Result<(), CheckpointSettingsError> {
        if let Some(asked) = self.interval.filter(|&asked| asked < DURATION_LEAST) {
            return Err(CheckpointSettingsError::Interval { asked });
        }
        if self.timeout < DURATION_LEAST {
            return Err(CheckpointSettingsError::Timeout {
                asked: self.timeout,
            });
        }
        if self.max_concurrent == 0 {
            return Err(CheckpointSettingsError::NoneConcurrent);
        }
        if self.alignment == Alignment::AtLeastOnce && self.max_concurrent > TRACKED_MOST {
            return Err(CheckpointSettingsError::TooManyConcurrent {
                asked: self.max_concurrent,
            });
        }
        if self.retained == 0 {
            return Err(CheckpointSettingsError::NoneRetained);
        }
        if self.inline_state_max > INLINE_STATE_MOST {
            return Err(CheckpointSettingsError::InlineState {
                asked: self.inline_state_max,
            });
        }
        Ok(())
    }

    /// How many may really be on their way at once.
    pub(crate) fn concurrent_max(&self) -> usize {
        self.max_concurrent.min(CONCURRENT_MOST) as usize
    }

    /// The minimum pause that is kept, in nanoseconds.
    pub(crate) fn min_pause_ns(&self) -> u64 {
        nanoseconds(self.min_pause.min(MIN_PAUSE_MOST))
    }

    /// From one checkpoint's beginning to the next's, in nanoseconds; `None` where they are taken only
    /// by hand.
    pub(crate) fn interval_ns(&self) -> Option<u64> {
        let interval = nanoseconds(self.interval?);
        Some(interval.max(self.min_pause_ns()))
    }

    /// How long one may take, in nanoseconds.
    pub(crate) fn timeout_ns(&self) -> u64 {
        nanoseconds(self.timeout)
    }
}

/// All of time for what is longer.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

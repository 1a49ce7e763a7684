//! What is wrong with a job's settings of checkpoints, and what is allowed.

use super::settings::{DURATION_LEAST, INLINE_STATE_MOST, TRACKED_MOST};
use core::fmt;
use core::time::Duration;

/// A setting of checkpoints is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointSettingsError {
    /// The interval is too short.
    Interval {
        /// What was asked for.
        asked: Duration,
    },
    /// The timeout is too short.
    Timeout {
        /// What was asked for.
        asked: Duration,
    },
    /// No checkpoint may be on its way.
    NoneConcurrent,
    /// More may be on their way than a task that does not align barriers follows.
    TooManyConcurrent {
        /// What was asked for.
        asked: u32,
    },
    /// No completed checkpoint is kept.
    NoneRetained,
    /// More state may stand in a checkpoint's record than it holds.
    InlineState {
        /// What was asked for, in bytes.
        asked: usize,
    },
}

impl fmt::Display for CheckpointSettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval { asked } => write!(
                f,
                "an interval of {asked:?} between checkpoints is too short: it is at least \
                 {DURATION_LEAST:?}; without one they are taken only by hand"
            ),
            Self::Timeout { asked } => write!(
                f,
                "a checkpoint's timeout of {asked:?} is too short: it is at least \
                 {DURATION_LEAST:?}"
            ),
            Self::NoneConcurrent => {
                f.write_str("no checkpoint may be on its way: at least 1 has to be allowed")
            }
            Self::TooManyConcurrent { asked } => write!(
                f,
                "{asked} checkpoints on their way at once are too many where records count at \
                 least once: at most {TRACKED_MOST}"
            ),
            Self::NoneRetained => {
                f.write_str("no completed checkpoint is retained: at least 1 has to be")
            }
            Self::InlineState { asked } => write!(
                f,
                "{asked} bytes of state in a checkpoint's record are too many: at most \
                 {INLINE_STATE_MOST}; larger state goes to files by itself"
            ),
        }
    }
}

impl core::error::Error for CheckpointSettingsError {}

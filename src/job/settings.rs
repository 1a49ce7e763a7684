//! What a job is told of how to run.

use super::restart::RestartStrategy;
use crate::stream::Pace;

/// See the methods of [`Job`](super::Job).
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) parallelism: u32,
    pub(super) max_parallelism: u32,
    pub(super) pace: Pace,
    /// The first one's number.
    pub(super) attempt: u32,
    pub(super) restart: RestartStrategy,
    #[cfg(feature = "checkpoint")]
    pub(super) checkpointing: Option<super::checkpoints::Checkpointing>,
    /// What processing time begins at, in milliseconds since 1970-01-01 00:00; the system's clock where
    /// none is given.
    pub(super) start_ms: Option<i64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parallelism: 1,
            max_parallelism: 128,
            pace: Pace::default(),
            attempt: 1,
            restart: RestartStrategy::Never,
            #[cfg(feature = "checkpoint")]
            checkpointing: None,
            start_ms: None,
        }
    }
}

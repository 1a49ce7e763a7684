//! What a crew counts, without a locked instruction, for anybody to read.

use crate::sync::Tally;

/// The counters of one crew; written by its thread alone.
#[derive(Debug, Default)]
pub(super) struct CrewStats {
    /// Turns that tasks have taken.
    pub(super) turns: Tally,
    /// How often the thread went to sleep.
    pub(super) parks: Tally,
    /// Time spent with nothing to do.
    pub(super) idle_ns: Tally,
}

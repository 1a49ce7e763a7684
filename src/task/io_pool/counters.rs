//! What an I/O pool has done.

/// What an I/O pool does, and what it has done since it was built. A job that was accepted is in one
/// of `queued`, `running`, `done` and `returned`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct IoCounters {
    /// Threads that were started and have not ended.
    pub threads: usize,
    /// Threads that the system did not give; jobs waited for others instead.
    pub threads_refused: u64,
    /// Jobs that were accepted.
    pub accepted: u64,
    /// Jobs that wait for a thread.
    pub queued: usize,
    /// Jobs that run, or wait for room for their result in its owner's mailbox.
    pub running: usize,
    /// Jobs that were run to their end, or panicked.
    pub done: u64,
    /// Those of them that panicked.
    pub panicked: u64,
    /// Results, and news of panics, that did not reach their owner: its mailbox was closed, or there
    /// was no room when the pool was closed.
    pub results_dropped: u64,
    /// Jobs that were never started: handed back by
    /// [`close_now`](super::IoPool::close_now), or dropped with the pool.
    pub returned: u64,
}

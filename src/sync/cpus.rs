//! How many CPUs this process may use at once.

use super::OnceLock;
use std::num::NonZeroUsize;

/// The CPUs a process may use: its affinity mask and its cgroup's quota respected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus(NonZeroUsize);

impl Cpus {
    /// What was allowed when this was first asked in the process; later pins change nothing.
    ///
    /// Asked from a thread that is already pinned to one CPU, before anything else has asked, the
    /// answer is one: build the first ring before pinning.
    #[must_use]
    pub fn allowed() -> Self {
        static ALLOWED: OnceLock<Cpus> = OnceLock::new();
        *ALLOWED
            .get_or_init(|| Cpus(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)))
    }

    /// As if `count` CPUs were allowed.
    #[must_use]
    pub fn exactly(count: NonZeroUsize) -> Self {
        Self(count)
    }

    /// How many there are, at least one.
    #[must_use]
    pub fn get(self) -> usize {
        self.0.get()
    }
}

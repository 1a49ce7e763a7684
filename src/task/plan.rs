//! Which thread goes where.

use super::cpu_set::CpuSet;
use super::pin::pin;
use super::pin_error::PinError;
use super::warning::Warning;
use std::num::NonZeroUsize;

/// For each of some threads the CPUs it is to run on.
///
/// Threads are numbered from 0 and take the places in turn. Where there are fewer places than
/// threads the round begins anew: five threads on CPUs 0 and 1 are three and two.
///
/// ```
/// use mailring::task::{CpuSet, Placement, Topology};
/// use std::num::NonZeroUsize;
///
/// let two = Topology::flat(CpuSet::from([0, 1]));
/// let plan = Placement::PerCore.plan(&two, NonZeroUsize::new(5))?;
/// let cpus: Vec<_> = plan.iter().map(|cpus| cpus.to_string()).collect();
/// assert_eq!(cpus, ["0", "1", "0", "1", "0"]);
/// assert_eq!(plan.warnings()[0].to_string(), "5 threads share CPUs 0-1");
/// # Ok::<(), mailring::task::PlacementError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    threads: NonZeroUsize,
    /// Never empty.
    places: Vec<CpuSet>,
    warnings: Vec<Warning>,
    pinned: bool,
}

impl Plan {
    /// The places in the order in which threads take them; `pinned` is whether they are held there.
    pub(super) fn new(
        threads: NonZeroUsize,
        places: Vec<CpuSet>,
        warnings: Vec<Warning>,
        pinned: bool,
    ) -> Self {
        assert!(!places.is_empty(), "a plan without a place");
        Self {
            threads,
            places,
            warnings,
            pinned,
        }
    }

    /// How many threads there are to be.
    #[must_use]
    pub fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// The CPUs that a thread is to run on. The round goes on for numbers past the last thread's.
    #[must_use]
    pub fn cpus(&self, thread: usize) -> &CpuSet {
        &self.places[thread % self.places.len()]
    }

    /// The CPUs of each thread, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &CpuSet> {
        (0..self.threads.get()).map(|thread| self.cpus(thread))
    }

    /// What is doubtful about this plan.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether threads are held on their CPUs, or free to run wherever the process may.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Puts the calling thread where number `thread` is to run, as [`pin`] does.
    ///
    /// A thread that is to be free is freed of what it inherited from a pinned one, where threads
    /// inherit such a thing.
    ///
    /// # Errors
    /// Those of [`pin`].
    pub fn pin(&self, thread: usize) -> Result<(), PinError> {
        if !self.pinned && !cfg!(all(target_os = "linux", not(mailring_loom))) {
            return Ok(());
        }
        pin(self.cpus(thread))
    }
}

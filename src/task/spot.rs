//! Where one CPU lies: with whom it shares a core, a cache, a node.

/// Where one CPU lies. CPUs with the same value share the thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The first CPU of its core.
    pub(super) core: usize,
    /// The first CPU that shares its last-level cache, if the system tells.
    pub(super) cache: Option<usize>,
    /// Its NUMA node.
    pub(super) node: usize,
}

impl Spot {
    /// Of a CPU of which nothing is known: a core of its own, all else shared by all.
    pub(super) fn unknown(cpu: usize) -> Self {
        Self {
            core: cpu,
            cache: None,
            node: 0,
        }
    }
}

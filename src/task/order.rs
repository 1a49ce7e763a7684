//! In which order CPUs are taken.

use super::cpu_set::CpuSet;
use super::topology::Topology;
use std::collections::BTreeMap;

/// Where a CPU stands among those to choose from; ranks count from 0.
#[derive(Clone, Copy, Debug)]
struct Position {
    cpu: usize,
    core: usize,
    /// Of this CPU in its core.
    sibling: usize,
    cache: Option<usize>,
    /// Of its core among those with its cache.
    core_in_cache: usize,
    /// Of its cache among those of its node.
    cache_in_node: usize,
    node: usize,
}

/// One CPU of each core by number, then the second of each, and so on.
pub(super) fn per_core(topology: &Topology, cpus: &CpuSet) -> Vec<usize> {
    sorted(topology, cpus, |at| (at.sibling, at.core, at.cpu))
}

/// As far from each other as can be: another node, else another cache, else another core.
pub(super) fn spread(topology: &Topology, cpus: &CpuSet) -> Vec<usize> {
    sorted(topology, cpus, |at| {
        let far = (at.sibling, at.core_in_cache, at.cache_in_node, at.node);
        (far, at.cpu)
    })
}

/// As near to each other as can be: the same core, else the same cache, else the same node.
pub(super) fn pack(topology: &Topology, cpus: &CpuSet) -> Vec<usize> {
    sorted(topology, cpus, |at| (at.node, at.cache, at.core, at.cpu))
}

/// How many cores `cpus` are on.
pub(super) fn cores(topology: &Topology, cpus: &CpuSet) -> usize {
    let cores = cpus.iter().map(|cpu| topology.spot(cpu).core);
    cores.collect::<CpuSet>().len()
}

fn sorted<K: Ord>(topology: &Topology, cpus: &CpuSet, key: impl Fn(&Position) -> K) -> Vec<usize> {
    let mut positions = positions(topology, cpus);
    positions.sort_by_key(key);
    positions.iter().map(|position| position.cpu).collect()
}

fn positions(topology: &Topology, cpus: &CpuSet) -> Vec<Position> {
    let mut siblings = Ranks::new();
    let mut cores = Ranks::new();
    let mut caches = Ranks::new();
    let ranked = cpus.iter().map(|cpu| {
        let spot = topology.spot(cpu);
        Position {
            cpu,
            core: spot.core,
            sibling: siblings.rank(spot.core, cpu),
            cache: spot.cache,
            core_in_cache: cores.rank((spot.node, spot.cache), spot.core),
            cache_in_node: caches.rank(spot.node, spot.cache),
            node: spot.node,
        }
    });
    ranked.collect()
}

/// The members of each group in the order in which they first came.
struct Ranks<G, M>(BTreeMap<G, BTreeMap<M, usize>>);

impl<G: Ord, M: Ord> Ranks<G, M> {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The rank of `member` in `group`, the next one if it is new.
    fn rank(&mut self, group: G, member: M) -> usize {
        let ranks = self.0.entry(group).or_default();
        let next = ranks.len();
        *ranks.entry(member).or_insert(next)
    }
}

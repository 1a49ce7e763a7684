//! The CPUs of this machine as this process may use them.

use super::cgroup::{self, Cgroups};
use super::cpu_set::CpuSet;
use super::files::{Files, Unread};
#[cfg(all(target_os = "linux", not(mailring_loom)))]
use super::mask;
use super::spot::Spot;
use super::sysfs;
#[cfg(not(all(target_os = "linux", not(mailring_loom))))]
use crate::sync::Cpus;
use crate::sync::OnceLock;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

/// The CPUs of a machine, and what of them this process may use.
///
/// It is a picture, taken once: what changes later does not show. Taking it never fails; where a
/// file of the system is missing or odd, [`unread`](Self::unread) says so, and the next best is
/// taken for true: the machine's CPUs for the mask, a core of its own for each CPU, no quota.
///
/// Systems other than Linux only tell how many CPUs there are.
///
/// ```
/// use mailring::task::Topology;
///
/// let topology = Topology::of_process();
/// println!("{} CPUs: {}", topology.allowed().len(), topology.allowed());
/// for node in topology.nodes() {
///     println!("node {}: {}", node.number, node.cpus);
/// }
/// for unread in topology.unread() {
///     println!("not known: {unread}");
/// }
/// assert!(topology.threads_worth_starting().get() <= topology.allowed().len());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    spots: BTreeMap<usize, Spot>,
    allowed: CpuSet,
    reachable: Option<CpuSet>,
    isolated: CpuSet,
    quota: Option<f64>,
    unread: Vec<Unread>,
}

/// A NUMA node that has CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The system's number for it.
    pub number: usize,
    /// Its CPUs that are online.
    pub cpus: CpuSet,
}

impl Topology {
    /// The machine as it was when this was first asked in the process.
    ///
    /// A thread that is pinned, and those it starts, see the same as all others.
    #[must_use]
    pub fn of_process() -> &'static Self {
        static OF_PROCESS: OnceLock<Topology> = OnceLock::new();
        OF_PROCESS.get_or_init(Self::read)
    }

    /// The machine as it is now.
    ///
    /// The mask is that of the main thread, which is the one the process was started with unless
    /// the main thread has been pinned since: ask [`of_process`](Self::of_process) before doing so.
    /// The mask of the calling thread plays no part.
    #[cfg(all(target_os = "linux", not(mailring_loom)))]
    #[must_use]
    pub fn read() -> Self {
        Self::look(Path::new("/"), || mask::of_process().ok())
    }

    /// The machine as it is now.
    #[cfg(not(all(target_os = "linux", not(mailring_loom))))]
    #[must_use]
    pub fn read() -> Self {
        Self::flat((0..Cpus::allowed().get()).collect())
    }

    /// A Linux machine whose `/proc` and `/sys` lie below `root`, such as a copy of a user's: for
    /// tests, and to plan for a machine elsewhere.
    #[must_use]
    pub fn read_below(root: impl AsRef<Path>) -> Self {
        Self::look(root.as_ref(), || None)
    }

    /// A machine of which nothing is known but the CPUs allowed: each is a core of its own, they
    /// share all else, and any other may be tried. No CPU at all is taken as CPU 0.
    #[must_use]
    pub fn flat(allowed: CpuSet) -> Self {
        let allowed = at_least_one(allowed);
        let spots = allowed.iter().map(|cpu| (cpu, Spot::unknown(cpu)));
        Self {
            spots: spots.collect(),
            allowed,
            reachable: None,
            isolated: CpuSet::new(),
            quota: None,
            unread: Vec::new(),
        }
    }

    /// Reads the files below `root`; the process's mask only if `mask` does not tell it, for the
    /// file may name CPUs that are none.
    pub(super) fn look(root: &Path, mask: impl FnOnce() -> Option<CpuSet>) -> Self {
        let mut files = Files::below(root);
        let online = sysfs::online(&mut files);
        let mask = mask().or_else(|| started_with(&mut files));
        let cgroups = Cgroups::read(&mut files);
        let cpuset = cgroup::cpuset(&mut files, &cgroups);
        let quota = cgroup::quota(&mut files, &cgroups);

        // Sources that contradict each other leave what the one before them said.
        let within = |cpus: CpuSet, limit: &Option<CpuSet>| match limit {
            Some(limit) if !cpus.intersection(limit).is_empty() => cpus.intersection(limit),
            _ => cpus,
        };
        let reachable = match (&online, &cpuset) {
            (Some(online), cpuset) => Some(within(online.clone(), cpuset)),
            (None, cpuset) => cpuset.clone(),
        };
        let allowed = mask.or_else(|| reachable.clone()).unwrap_or_default();
        let allowed = at_least_one(within(allowed, &reachable));
        let reachable = reachable.map(|cpus| cpus.union(&allowed));
        let mut isolated = sysfs::isolated(&mut files);
        if let Some(online) = &online {
            isolated = isolated.intersection(online);
        }
        let known = online.unwrap_or_default().union(&allowed).union(&isolated);
        Self {
            spots: sysfs::spots(&mut files, &known),
            allowed,
            reachable,
            isolated,
            quota,
            unread: files.into_unread(),
        }
    }

    /// The CPUs that this process is to use: the mask it was started with, of what is online and
    /// what its control group leaves it. At least one.
    #[must_use]
    pub fn allowed(&self) -> &CpuSet {
        &self.allowed
    }

    /// The CPUs that a thread of this process may be pinned to if it asks, be they in the mask it
    /// was started with or not; nothing where the system does not tell, so that any may be tried.
    #[must_use]
    pub fn reachable(&self) -> Option<&CpuSet> {
        self.reachable.as_ref()
    }

    /// The CPUs on which the system schedules nothing by itself, be they allowed or not.
    #[must_use]
    pub fn isolated(&self) -> &CpuSet {
        &self.isolated
    }

    /// The CPUs of the core of `cpu`, itself included. Of a CPU that is not known: it alone.
    #[must_use]
    pub fn siblings(&self, cpu: usize) -> CpuSet {
        let core = self.spot(cpu).core;
        self.mates(cpu, |spot| spot.core == core)
    }

    /// The CPUs that share the last-level cache of `cpu`, itself included. Where the system does
    /// not tell: those of its node of which it does not either.
    #[must_use]
    pub fn sharing_cache(&self, cpu: usize) -> CpuSet {
        let own = self.spot(cpu);
        self.mates(cpu, |spot| (spot.node, spot.cache) == (own.node, own.cache))
    }

    /// The NUMA nodes that have CPUs, by number; where the system tells of none, number 0 has all.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let mut nodes: BTreeMap<usize, CpuSet> = BTreeMap::new();
        for (&cpu, spot) in &self.spots {
            nodes.entry(spot.node).or_default().insert(cpu);
        }
        let nodes = nodes.into_iter();
        nodes.map(|(number, cpus)| Node { number, cpus }).collect()
    }

    /// How much CPU time the process's control groups grant, in CPUs, such as 0.5; nothing where
    /// they do not limit it.
    #[must_use]
    pub fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// How many threads can all run at once: as many as CPUs are allowed, and not more than the
    /// quota pays for, rounded up.
    #[must_use]
    pub fn threads_worth_starting(&self) -> NonZeroUsize {
        self.paid_for(self.allowed.len())
    }

    /// The files of the system that should have told something, and did not.
    #[must_use]
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// As many of `threads` as the quota pays for, at least one.
    pub(super) fn paid_for(&self, threads: usize) -> NonZeroUsize {
        // A quota is above zero, and a number too large for the type becomes its largest.
        let quota = self.quota.map_or(usize::MAX, |cpus| cpus.ceil() as usize);
        NonZeroUsize::new(threads.min(quota)).unwrap_or(NonZeroUsize::MIN)
    }

    /// Where `cpu` lies.
    pub(super) fn spot(&self, cpu: usize) -> Spot {
        let spot = self.spots.get(&cpu).copied();
        spot.unwrap_or_else(|| Spot::unknown(cpu))
    }

    /// The known CPUs whose spot `is_mate`, and `cpu`.
    fn mates(&self, cpu: usize, is_mate: impl Fn(&Spot) -> bool) -> CpuSet {
        let mates = self.spots.iter().filter(|(_, spot)| is_mate(spot));
        mates.map(|(&mate, _)| mate).chain([cpu]).collect()
    }
}

/// The mask of the main thread: `/proc/self` is the process, whoever reads it.
fn started_with(files: &mut Files<'_>) -> Option<CpuSet> {
    const STATUS: &str = "proc/self/status";
    const FIELD: &str = "Cpus_allowed_list:";
    let status = files.required(STATUS)?;
    let Some(list) = status.lines().find_map(|line| line.strip_prefix(FIELD)) else {
        files.odd(STATUS, format_args!("has no line `{FIELD}`"));
        return None;
    };
    let mask = files.list(STATUS, list)?;
    (!mask.is_empty()).then_some(mask)
}

fn at_least_one(cpus: CpuSet) -> CpuSet {
    if cpus.is_empty() {
        return CpuSet::from([0]);
    }
    cpus
}

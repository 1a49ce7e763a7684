//! On which CPUs threads are wanted, and the plan that makes of it.

use super::cpu_set::CpuSet;
use super::order;
use super::placement_error::PlacementError;
use super::plan::Plan;
use super::topology::Topology;
use super::warning::Warning;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// On which CPUs some threads are to run.
///
/// A number is the system's own: CPU 2 is that one and no other, whatever the process was started
/// with. What can be had at all is [`Topology::reachable`].
///
/// ```
/// use mailring::task::{CpuSet, Placement, Topology};
///
/// let topology = Topology::flat(CpuSet::from([1, 3]));
/// let plan = Placement::Cpu(3).plan(&topology, None)?;
/// assert_eq!(plan.cpus(0), &CpuSet::from([3]));
/// # Ok::<(), mailring::task::PlacementError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// One thread on each core that has an allowed CPU, by number. More threads go on with the
    /// second CPU of each core.
    #[default]
    PerCore,
    /// One thread, on this CPU.
    Cpu(usize),
    /// One thread on each of these CPUs, in this order.
    Each(Vec<usize>),
    /// As many threads as there are CPUs in the set, each free to run on any of them.
    Set(CpuSet),
    /// As many threads as are worth starting, each on an allowed CPU as far as can be from those
    /// before it: on another node, else under another cache, else on another core.
    Spread,
    /// As many threads as are worth starting, each on an allowed CPU as near as can be to those
    /// before it: on the same core, else under the same cache, else on the same node.
    Pack,
    /// One thread on each isolated CPU that can be had.
    Isolated,
    /// As many threads as are worth starting, each free to run on any allowed CPU.
    Unpinned,
}

impl Placement {
    /// Plans for `threads`, or for as many as the placement means by itself: where that is not a
    /// list one wrote, not more than the control group's quota pays for.
    ///
    /// More threads than places share them: the first thread past the last place takes the first
    /// place again, and so on in turn. [`Plan::warnings`] says so, and says where threads share a
    /// core although others are free.
    ///
    /// # Errors
    /// [`PlacementError`] where CPUs were asked for that cannot be had, or none.
    pub fn plan(
        &self,
        topology: &Topology,
        threads: Option<NonZeroUsize>,
    ) -> Result<Plan, PlacementError> {
        let places = self.places(topology)?;
        if places.is_empty() {
            return Err(PlacementError::NoCpu {
                allowed: topology.allowed().clone(),
            });
        }
        let threads = threads.unwrap_or_else(|| self.threads(topology, &places));
        let taken = &places[..places.len().min(threads.get())];
        let warnings = self.warnings(topology, threads, taken);
        let pinned = *self != Self::Unpinned;
        Ok(Plan::new(threads, places, warnings, pinned))
    }

    /// The places in the order in which threads take them.
    fn places(&self, topology: &Topology) -> Result<Vec<CpuSet>, PlacementError> {
        let allowed = topology.allowed();
        Ok(match self {
            Self::PerCore => each(order::per_core(topology, allowed)),
            Self::Spread => each(order::spread(topology, allowed)),
            Self::Pack => each(order::pack(topology, allowed)),
            Self::Cpu(cpu) => each(reachable(topology, [*cpu].into())?),
            Self::Each(cpus) => {
                reachable(topology, cpus.iter().copied().collect())?;
                each(cpus.iter().copied())
            }
            Self::Set(cpus) if cpus.is_empty() => Vec::new(),
            Self::Set(cpus) => vec![reachable(topology, cpus.clone())?],
            Self::Isolated => each(isolated(topology)?),
            Self::Unpinned => vec![allowed.clone()],
        })
    }

    /// How many threads this means by itself, at `places`.
    fn threads(&self, topology: &Topology, places: &[CpuSet]) -> NonZeroUsize {
        match self {
            Self::PerCore => topology.paid_for(order::cores(topology, topology.allowed())),
            Self::Cpu(_) | Self::Each(_) => {
                NonZeroUsize::new(places.len()).unwrap_or(NonZeroUsize::MIN)
            }
            _ => topology.paid_for(places.iter().map(CpuSet::len).sum()),
        }
    }

    /// What is doubtful about `threads` at the places `taken`.
    fn warnings(
        &self,
        topology: &Topology,
        threads: NonZeroUsize,
        taken: &[CpuSet],
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let threads = threads.get();
        let allowed = topology.allowed();
        let cpus: CpuSet = taken.iter().flatten().collect();
        let outside = cpus.difference(allowed);
        let choice = match self {
            Self::Isolated => topology.isolated().clone(),
            _ => allowed.union(&cpus),
        };
        if threads > cpus.len() {
            warnings.push(Warning::FewerCpus { threads, cpus });
        }
        if let Some(quota) = topology.quota()
            && threads > topology.paid_for(threads).get()
        {
            warnings.push(Warning::Quota { threads, quota });
        }
        if !outside.is_empty() && *self != Self::Isolated {
            warnings.push(Warning::OutsideMask {
                cpus: outside,
                allowed: allowed.clone(),
            });
        }
        warnings.extend(shared_cores(topology, taken, &choice));
        warnings
    }
}

/// One warning for each core on which two threads are held, if cores of `choice` have none.
fn shared_cores(topology: &Topology, taken: &[CpuSet], choice: &CpuSet) -> Vec<Warning> {
    let core = |cpu: usize| topology.spot(cpu).core;
    let mut used: BTreeMap<usize, CpuSet> = BTreeMap::new();
    for cpus in taken.iter().filter(|cpus| cpus.len() == 1) {
        for cpu in cpus {
            used.entry(core(cpu)).or_default().insert(cpu);
        }
    }
    let free = choice.iter().filter(|cpu| !used.contains_key(&core(*cpu)));
    let free: CpuSet = free.collect();
    if free.is_empty() {
        return Vec::new();
    }
    let shared = used.into_values().filter(|cpus| cpus.len() > 1);
    let warning = |cpus| Warning::SharedCore {
        cpus,
        free: free.clone(),
    };
    shared.map(warning).collect()
}

/// A place on each of `cpus`.
fn each(cpus: impl IntoIterator<Item = usize>) -> Vec<CpuSet> {
    cpus.into_iter().map(|cpu| CpuSet::from([cpu])).collect()
}

/// All of `asked`, if they can be had.
fn reachable(topology: &Topology, asked: CpuSet) -> Result<CpuSet, PlacementError> {
    match topology.reachable() {
        Some(reachable) if !asked.is_subset(reachable) => Err(PlacementError::Unreachable {
            asked: asked.difference(reachable),
            reachable: reachable.clone(),
        }),
        _ => Ok(asked),
    }
}

/// The isolated CPUs that can be had, of which there are some.
fn isolated(topology: &Topology) -> Result<CpuSet, PlacementError> {
    let isolated = topology.isolated();
    let within = topology.reachable().unwrap_or(isolated);
    let found = isolated.intersection(within);
    if found.is_empty() {
        return Err(PlacementError::NoneIsolated {
            isolated: isolated.clone(),
            allowed: topology.allowed().clone(),
        });
    }
    Ok(found)
}

//! What Linux tells below `/sys/devices/system` of CPUs, their cores, caches and nodes.

use super::cpu_set::CpuSet;
use super::files::Files;
use super::spot::Spot;
use std::collections::BTreeMap;

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

/// Folders of caches that one CPU may have.
const CACHES_MAX: usize = 16;

/// The CPUs that are online.
pub(super) fn online(files: &mut Files<'_>) -> Option<CpuSet> {
    let path = format!("{CPU}/online");
    let text = files.required(&path)?;
    let online = files.list(&path, &text)?;
    if online.is_empty() {
        files.odd(&path, "says that no CPU is online");
        return None;
    }
    Some(online)
}

/// The CPUs on which the system schedules nothing by itself.
pub(super) fn isolated(files: &mut Files<'_>) -> CpuSet {
    let isolated = files.optional_list(&format!("{CPU}/isolated"));
    isolated.unwrap_or_default()
}

/// Where each of `cpus` lies.
pub(super) fn spots(files: &mut Files<'_>, cpus: &CpuSet) -> BTreeMap<usize, Spot> {
    let mut spots = BTreeMap::new();
    let mut some_core_told = false;
    for cpu in cpus {
        let core = core(files, cpu);
        some_core_told |= core.is_some();
        let spot = Spot {
            core: core.unwrap_or(cpu),
            cache: cache(files, cpu),
            node: 0,
        };
        spots.insert(cpu, spot);
    }
    // One note for all: where the system tells of none, it tells of no other either.
    if let (false, Some(cpu)) = (some_core_told, cpus.first()) {
        files.required(&format!("{CPU}/cpu{cpu}/topology/core_cpus_list"));
    }
    for (node, cpus) in nodes(files) {
        for cpu in &cpus {
            if let Some(spot) = spots.get_mut(&cpu) {
                spot.node = node;
            }
        }
    }
    spots
}

/// The first CPU of the core of `cpu`.
fn core(files: &mut Files<'_>, cpu: usize) -> Option<usize> {
    let folder = format!("{CPU}/cpu{cpu}/topology");
    // The second is the name that kernels before 5.3 have.
    ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| first_mate(files, &format!("{folder}/{name}"), cpu))
}

/// The first CPU that shares the last-level cache of `cpu`.
fn cache(files: &mut Files<'_>, cpu: usize) -> Option<usize> {
    let mut last: Option<(u32, usize)> = None;
    for index in 0..CACHES_MAX {
        let folder = format!("{CPU}/cpu{cpu}/cache/index{index}");
        let path = format!("{folder}/level");
        let Some(text) = files.optional(&path) else {
            break;
        };
        let Ok(level) = text.trim().parse() else {
            files.odd(&path, "is no number");
            continue;
        };
        if last.is_none_or(|(last, _)| last < level) {
            let first = first_mate(files, &format!("{folder}/shared_cpu_list"), cpu);
            last = first.map(|first| (level, first)).or(last);
        }
    }
    last.map(|(_, first)| first)
}

/// The first CPU of the list in `path`, which must have `cpu` in it.
fn first_mate(files: &mut Files<'_>, path: &str, cpu: usize) -> Option<usize> {
    let mates = files.optional_list(path)?;
    if !mates.contains(cpu) {
        files.odd(path, format_args!("lacks CPU {cpu} itself"));
        return None;
    }
    mates.first()
}

/// The CPUs of each node; a node has a number as a CPU has one.
fn nodes(files: &mut Files<'_>) -> Vec<(usize, CpuSet)> {
    let online = files.optional_list(&format!("{NODE}/online"));
    let mut nodes = Vec::new();
    for node in &online.unwrap_or_default() {
        let cpus = files.optional_list(&format!("{NODE}/node{node}/cpulist"));
        nodes.extend(cpus.map(|cpus| (node, cpus)));
    }
    nodes
}

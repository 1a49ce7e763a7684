//! For how long a task does nothing else when its state is taken.

use super::flow::Flow;
use super::watch::{LOOK_SOON, completed, last_begun, next_look};
use super::{SUMS, run};
use crate::case::Case;
use crate::measure::checkpoint::Flowed;
use crate::measure::{NoCheckpoint, Site};
use crate::pipeline::numbers::{Totals, key};
use crate::recorder::Recorder;
use crate::registry::RoundError;
use crate::subjects::pipelines::mailring::ends::{Home, Parts, Sums};
use mailring::checkpoint::{CheckpointReport, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobHandle};
use mailring::stream::{Keyed, Sum};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// From one checkpoint's beginning to the next's, where they take no longer: records of all key groups
/// come in between.
const EVERY: Duration = Duration::from_millis(20);

/// Takes checkpoints into memory for so long, while one thread makes numbers and sums them by key.
pub(super) fn timed(
    site: &Site,
    case: &Case,
    keys: usize,
    time: Duration,
) -> Result<Flowed, RoundError> {
    let home = Home::new(site.clock);
    let flow = Flow::default();
    let job = sums(case, keys, &flow, &home);
    let settings = CheckpointSettings::new(EVERY);
    let storage = CheckpointStorage::in_memory();
    let job = job.checkpoints(Checkpointing::new(storage, settings));
    let times = run(site, case, 1, &job, |job| {
        let times = watch(site, job, keys, time);
        flow.end();
        times
    })?;
    Ok(Flowed {
        made: flow.made(),
        sums: home.arrived(|all, more| all.with(&more)).result,
        times,
    })
}

/// The numbers of a flow, summed by key by one task beside their source.
fn sums(case: &Case, keys: usize, flow: &Flow, home: &Home<Totals>) -> Job {
    let flow = flow.clone();
    let note = |totals: &mut Totals, sum: Keyed<u64, u64>| totals.note(sum.key, sum.value);
    Job::new("sync")
        .channel_capacity(case.capacity)
        .source("numbers", Parts::new(home, move |_, _| flow.numbers()))
        .on_thread(0)
        .key_by(move |record| key(*record, keys))
        .named(SUMS)
        .on_thread(0)
        .aggregate(Sum::of(|record: &u64| *record))
        .sink("note", Sums::new(home, Totals::new(keys), note))
}

/// The sync parts of all checkpoints of so long that begin when all keys are there; one at least, unless
/// the user has asked to stop.
fn watch(
    site: &Site,
    job: &JobHandle,
    keys: usize,
    time: Duration,
) -> Result<Recorder, NoCheckpoint> {
    let checkpoints = job.checkpoints().ok_or_else(|| NoCheckpoint::of("none"))?;
    let goes_on = || !site.is_interrupted() && !job.has_ended();
    while goes_on() && job.snapshot().records_in(SUMS) < keys as u64 {
        job.wait_timeout(LOOK_SOON);
    }
    let before = last_begun(&checkpoints.statistics());
    let until = Instant::now() + time;
    let mut sync_ns = BTreeMap::new();
    while goes_on() && (sync_ns.is_empty() || Instant::now() < until) {
        job.wait_timeout(next_look(until));
        let statistics = checkpoints.statistics();
        let new = completed(&statistics).filter(|report| Some(report.id) > before);
        sync_ns.extend(new.map(|report| (report.id, of_state(report))));
    }
    let mut times = site.recorder();
    sync_ns.into_values().for_each(|ns| times.record(ns));
    Ok(times)
}

/// The sync part of the subtask that has the state.
fn of_state(report: &CheckpointReport) -> u64 {
    let of_state = report
        .subtasks
        .iter()
        .max_by_key(|(_, metrics)| metrics.state_bytes);
    of_state.map_or(0, |(_, metrics)| metrics.sync_ns)
}

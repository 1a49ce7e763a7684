//! From the start of a job that goes on from a checkpoint to its first result.

use super::flow::Flow;
use super::folder::Folder;
use super::watch::LOOK_SOON;
use super::{SUMS, engine, first_checkpoint, start};
use crate::case::Case;
use crate::clock::Ticks;
use crate::measure::checkpoint::Flowed;
use crate::measure::{NoCheckpoint, Site};
use crate::pipeline::numbers::{Totals, key};
use crate::registry::RoundError;
use crate::subjects::pipelines::mailring::ends::{Home, Parts, Sums};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobHandle, RunError};
use mailring::stream::{Keyed, Sum};
use mailring::task::Engine;

/// The sums that came, and when the first of them did.
type Noted = (Totals, Option<Ticks>);

/// Has a job take a checkpoint, ends it as a crash would, and starts it again.
pub(super) fn timed(site: &Site, case: &Case, keys: usize) -> Result<Flowed, RoundError> {
    let folder = Folder::new()?;
    let engine = engine::built(engine::engine(site, case, 1))?;
    if !crashed(site, case, keys, &engine, folder.storage()?)? {
        return Ok(nothing(site, keys));
    }

    let home = Home::new(site.clock);
    let flow = Flow::default();
    let job = sums(site, case, keys, &flow, &home, folder.storage()?);
    let began = site.clock.now();
    let job = start(&job, &engine)?;
    // Each key comes once more, so that the sum of each is known in the end.
    let has_all = until_each_key(site, &job, keys);
    flow.end();
    job.wait().map_err(NoCheckpoint::of)?;
    engine::end(&engine);

    if !has_all {
        return Ok(nothing(site, keys));
    }
    let (sums, first) = home.arrived(|all, _| all).result;
    let mut times = site.recorder();
    if let Some(first) = first {
        times.record(site.clock.ns(first.saturating_sub(began)));
    }
    Ok(Flowed {
        made: flow.made(),
        sums,
        times,
    })
}

/// What there is when the user has asked to stop.
fn nothing(site: &Site, keys: usize) -> Flowed {
    Flowed {
        made: 0,
        sums: Totals::new(keys),
        times: site.recorder(),
    }
}

/// A job that takes a checkpoint when it has all keys, and then is cancelled; whether it was not cut
/// short.
fn crashed(
    site: &Site,
    case: &Case,
    keys: usize,
    engine: &Engine,
    storage: CheckpointStorage,
) -> Result<bool, RoundError> {
    let home = Home::new(site.clock);
    let job = sums(site, case, keys, &Flow::default(), &home, storage);
    let job = start(&job, engine)?;
    let first = match until_each_key(site, &job, keys) {
        true => first_checkpoint(site, &job)?,
        false => None,
    };
    let has_one = first.transpose().map_err(NoCheckpoint::of)?.is_some();
    job.cancel();
    match job.wait() {
        Ok(_) | Err(RunError::Canceled(_)) => Ok(has_one),
        Err(error) => Err(NoCheckpoint::of(error).into()),
    }
}

/// Waits until each key had a record in this run of the job; whether it did, and was not cut short.
fn until_each_key(site: &Site, job: &JobHandle, keys: usize) -> bool {
    while !site.is_interrupted() && !job.has_ended() {
        if job.snapshot().records_in(SUMS) >= keys as u64 {
            return true;
        }
        job.wait_timeout(LOOK_SOON);
    }
    false
}

fn sums(
    site: &Site,
    case: &Case,
    keys: usize,
    flow: &Flow,
    home: &Home<Noted>,
    storage: CheckpointStorage,
) -> Job {
    let (clock, flow) = (site.clock, flow.clone());
    let note = move |(totals, first): &mut Noted, sum: Keyed<u64, u64>| {
        first.get_or_insert_with(|| clock.now());
        totals.note(sum.key, sum.value);
    };
    let job = Job::new("restart").channel_capacity(case.capacity);
    job.checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
        .source("numbers", Parts::new(home, move |_, _| flow.numbers()))
        .on_thread(0)
        .key_by(move |record| key(*record, keys))
        .named(SUMS)
        .on_thread(0)
        .aggregate(Sum::of(|record: &u64| *record))
        .sink("note", Sums::new(home, (Totals::new(keys), None), note))
}

//! From when a checkpoint is asked for until it is complete, of tasks without state and without records.

use super::{by_hand, first_checkpoint, run};
use crate::case::Case;
use crate::measure::{NoCheckpoint, Site};
use crate::recorder::Recorder;
use crate::registry::RoundError;
use mailring::job::{Job, JobHandle};
use mailring::letter::BoxError;
use mailring::stream::{Polled, Source, SourceFactory, StopMode, Subtask};

/// Sources, and as many who take what there is of them.
const OF_EACH: u32 = 2;

/// Asks for so many checkpoints, one after the other.
pub(super) fn timed(site: &Site, case: &Case, trips: u64) -> Result<Recorder, RoundError> {
    let job = Job::new("empty").checkpoints(by_hand());
    let job = job
        .source("nothing", Silent)
        .parallelism(OF_EACH)
        .on_thread(0)
        .rebalance()
        .parallelism(OF_EACH)
        .on_thread(0)
        .sink("nobody", |()| {});
    run(site, case, case.producers, &job, |job| {
        let times = ask(site, job, trips);
        job.stop(StopMode::NoDrain);
        times
    })
}

fn ask(site: &Site, job: &JobHandle, trips: u64) -> Result<Recorder, NoCheckpoint> {
    let checkpoints = job.checkpoints().ok_or_else(|| NoCheckpoint::of("none"))?;
    // What comes of it is told by those that are timed.
    let _first = first_checkpoint(site, job)?;
    let mut times = site.recorder();
    for _ in 0..trips {
        if site.is_interrupted() {
            break;
        }
        let start = site.clock.now();
        let asked = checkpoints.trigger().wait();
        let end = site.clock.now_after_loads();
        asked.map_err(NoCheckpoint::of)?;
        times.record(site.clock.ns(end.saturating_sub(start)));
    }
    let statistics = checkpoints.statistics();
    let tasks = statistics.last_completed.map(|last| last.subtasks.len());
    match tasks {
        Some(tasks) if tasks != 2 * OF_EACH as usize => {
            let reason = format!("{tasks} tasks have answered");
            Err(NoCheckpoint::of(reason))
        }
        _ => Ok(times),
    }
}

/// A source of no records, which waits for its end.
#[derive(Clone)]
struct Silent;

impl SourceFactory for Silent {
    type Out = ();
    type Source = Self;

    fn create(self, _: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl Source for Silent {
    type Out = ();

    fn poll(&mut self) -> Result<Polled<()>, BoxError> {
        Ok(Polled::Pending)
    }
}

//! Jobs that take checkpoints, go on from them after failures, and end.
#![cfg(feature = "checkpoint")]

mod busy;
mod deaths;
mod ends;
mod expiry;
mod fencing;
mod figures;
#[cfg(feature = "csv")]
mod files;
mod hooks;
mod inputs;
mod kinds;
mod kit;
mod mailboxes;
mod observed;
mod promises;
mod records;
mod refusals;
mod retention;
#[path = "../scratch/mod.rs"]
mod scratch;
mod sources;
mod stepped;
mod timers;
mod tolerance;
mod unanswered;
mod unclear;
mod unshowable;
mod waiting;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::checkpoint::{
    CheckpointCause, CheckpointSettings, CheckpointStorage, RetentionPolicy,
};
use mailring::job::{Checkpointing, Job, RestartStrategy};
use mailring::stream::{Collect, FromIter, Generator};
use mailring::task::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn engine(threads: usize) -> Engine {
    Engine::builder().threads(threads).build().unwrap()
}

#[test]
fn a_job_that_ends_takes_a_last_checkpoint() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let out = Collect::new();
        let engine = engine(2);
        let job = Job::new("sums")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", FromIter::new(0..1_000_u64))
            .key_by(|number| number % 10)
            .reduce(|sum, number| *sum += number)
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        job.wait().unwrap();
        let statistics = checkpoints.statistics();
        assert_eq!(statistics.counts.completed, 1);
        let last = statistics.last_completed.unwrap();
        assert_eq!(last.cause, CheckpointCause::Final);
        assert_eq!(out.take().len(), 1_000);
    });
}

/// The last sum of each key is what it is without a failure.
#[test]
fn a_job_goes_on_from_its_last_checkpoint_after_a_failure() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let out = Collect::new();
        let engine = engine(2);
        let settings = CheckpointSettings::new(Duration::from_millis(1));
        let failures = Arc::new(AtomicU32::new(0));
        let failed = Arc::clone(&failures);
        let handle = Job::new("sums")
            .checkpoints(Checkpointing::new(storage, settings))
            .restart(RestartStrategy::fixed_delay(10, Duration::ZERO))
            .source(
                "numbers",
                Generator::new(|number| number)
                    .count(200_000)
                    .per_second(1_000_000)
                    .unwrap(),
            )
            .key_by(|number| number % 10)
            .reduce(|sum, number| *sum += number)
            .try_map(move |sum| {
                let times = failed.load(Ordering::Relaxed);
                if times < 3 && sum > u64::from(times + 1) * 100_000_000 {
                    failed.fetch_add(1, Ordering::Relaxed);
                    return Err("it is too much");
                }
                Ok(sum)
            })
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        let checkpoints = handle.checkpoints().unwrap();
        let report = handle.wait().unwrap();
        assert_eq!(report.restarts, 3);
        let mut last = BTreeMap::new();
        for sum in out.take() {
            // All numbers of a key have its last digit, and so have ten of them.
            last.insert(sum % 10, sum);
        }
        let statistics = checkpoints.statistics();
        assert!(statistics.counts.restored > 0, "{statistics:?}");
        let total: u64 = (0..200_000).sum();
        let largest = last.values().copied().max().unwrap();
        assert_eq!(
            largest,
            (0..200_000).filter(|number| number % 10 == 9).sum::<u64>(),
            "{total}"
        );
    });
}

#[test]
fn a_job_that_was_over_does_nothing_when_it_is_started_again() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(2);
        let run = || {
            let out = Collect::new();
            let settings = CheckpointSettings::manual().retention(RetentionPolicy::Always);
            Job::new("once")
                .checkpoints(Checkpointing::new(storage.clone(), settings))
                .source("numbers", FromIter::new(0..100_u64))
                .sink("collect", out.clone())
                .run(&engine)
                .unwrap();
            out.take().len()
        };
        assert_eq!((run(), run()), (100, 0));
    });
}

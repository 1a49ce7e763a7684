//! Jobs that take checkpoints, go on from them after failures, and end.
#![cfg(feature = "checkpoint")]

mod busy;
mod deaths;
mod deletions;
mod ends;
mod expiry;
#[path = "../checkpoint_storage/faulty.rs"]
mod faulty;
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
mod overtaken;
mod promises;
mod records;
mod refusals;
mod retention;
#[cfg(target_os = "linux")]
mod same_cpu;
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

use kit::{At, Passing};
use mailring::checkpoint::{
    CheckpointCause, CheckpointSettings, CheckpointStorage, RetentionPolicy,
};
use mailring::job::{Checkpointing, Job, JobState, RestartStrategy};
use mailring::stream::{Collect, FromIter, Generator, StopMode};
use mailring::task::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
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
    const FAILURES: u32 = 3;
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let out = Collect::new();
        let engine = engine(2);
        let settings = CheckpointSettings::new(Duration::from_millis(1));
        // An attempt fails behind a checkpoint of its own.
        let (failures, covered) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
        let (failed, is_covered) = (Arc::clone(&failures), Arc::clone(&covered));
        let passing = Passing::new(move |at, _id| {
            if at == At::Complete {
                is_covered.store(failed.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            Ok(())
        });
        let failed = Arc::clone(&failures);
        let last = Arc::<AtomicU64>::default();
        let made = Arc::clone(&last);
        let numbers = Generator::new(move |number| {
            made.store(number, Ordering::Relaxed);
            (number % 10, number)
        });
        let handle = Job::new("sums")
            .checkpoints(Checkpointing::new(storage, settings))
            .restart(RestartStrategy::fixed_delay(FAILURES, Duration::ZERO))
            .source("numbers", numbers.per_second(100_000).unwrap())
            .key_by(|(digit, _)| *digit)
            .reduce(|sum, (_, number)| sum.1 += number)
            .transform("passing", move || passing)
            .try_map(move |sum| {
                let times = failed.load(Ordering::Relaxed);
                if times < FAILURES && covered.load(Ordering::Relaxed) > times {
                    failed.store(times + 1, Ordering::Relaxed);
                    return Err("it is too much");
                }
                Ok(sum)
            })
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        let checkpoints = handle.checkpoints().unwrap();
        watchdog::until(|| failures.load(Ordering::Relaxed) == FAILURES);
        // Each key comes once more. While the job waits for its restart, what is told is of the attempt that
        // failed.
        watchdog::until(|| {
            let snapshot = handle.snapshot();
            let is_last = snapshot.restarts == FAILURES && snapshot.state == JobState::Running;
            is_last && snapshot.records_in("numbers") >= 10
        });
        handle.stop(StopMode::Drain);
        let report = handle.wait().unwrap();
        assert_eq!(report.restarts, FAILURES);
        assert_eq!(
            checkpoints.statistics().counts.restored,
            u64::from(FAILURES)
        );
        let found: BTreeMap<_, _> = out.take().into_iter().collect();
        let mut expected = BTreeMap::new();
        for number in 0..=last.load(Ordering::Relaxed) {
            *expected.entry(number % 10).or_default() += number;
        }
        assert_eq!(found, expected);
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

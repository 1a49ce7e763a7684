//! Jobs whose chain another coordinator has taken over.

use super::kit::Visible;
use super::{LIMIT, engine, watchdog};
use mailring::checkpoint::{
    CheckpointSettings, CheckpointStorage, CommitChain, CompletedCheckpoint, RestoreFrom,
};
use mailring::job::{Checkpointing, Job, RestartStrategy, RunError};
use mailring::stream::{Discard, Generator, StopMode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// It does not take back by a restart what it has lost without its knowledge.
#[test]
fn a_job_that_was_fenced_does_not_start_again_and_leaves_the_chain_alone() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(1);
        let fails = Arc::new(AtomicBool::new(false));
        let failing = Arc::clone(&fails);
        let settings = CheckpointSettings::manual();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage.clone(), settings))
            .restart(RestartStrategy::fixed_delay(100, Duration::ZERO))
            .source("numbers", Generator::new(|number| number))
            .try_map(move |number| match failing.load(Ordering::Relaxed) {
                true => Err("on purpose"),
                false => Ok(number),
            })
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let (mut other, _) =
            CommitChain::take_over(&storage, "numbers", 1, RestoreFrom::Latest).unwrap();
        fails.store(true, Ordering::Relaxed);
        let Err(RunError::Failed { cause, report, .. }) = job.wait() else {
            panic!("it went on");
        };
        assert!(cause.to_string().contains("another coordinator"), "{cause}");
        assert_eq!(report.failures.len(), 2, "{:?}", report.failures);
        other
            .commit(CompletedCheckpoint {
                job: "numbers".into(),
                epoch: other.epoch(),
                id: other.next_id(),
                begun_ms: 0,
                options: Default::default(),
                duration_ns: 0,
                max_parallelism: 1,
                vertices: Vec::new(),
                coordinator_states: Vec::new(),
                master_states: Vec::new(),
            })
            .unwrap();
    });
}

/// The one that was started first is left behind, and ends for good; what both have made visible is there
/// once.
#[test]
fn of_two_jobs_on_one_storage_the_first_is_fenced_and_the_second_goes_on() {
    watchdog::watched_for(LIMIT, || {
        let (storage, visible) = (CheckpointStorage::in_memory(), Visible::new());
        let engine = engine(2);
        let start = || {
            let every = CheckpointSettings::new(Duration::from_millis(1));
            let numbers = Generator::new(|number| number);
            Job::new("numbers")
                .checkpoints(Checkpointing::new(storage.clone(), every))
                .restart(RestartStrategy::fixed_delay(100, Duration::ZERO))
                .source("numbers", numbers.per_second(20_000).unwrap())
                .forward()
                .sink("visible", visible.clone())
                .start(&engine)
                .unwrap()
        };
        let first = start();
        let checkpoints = first.checkpoints().unwrap();
        watchdog::until(|| checkpoints.statistics().counts.completed > 3);
        let second = start();
        let Err(RunError::Failed { cause, report, .. }) = first.wait() else {
            panic!("it went on");
        };
        let words = "checkpoint: another coordinator has taken over: it wrote chain/";
        assert!(cause.to_string().starts_with(words), "{cause}");
        assert_eq!(report.restarts, 0);
        let checkpoints = second.checkpoints().unwrap();
        watchdog::until(|| checkpoints.statistics().counts.completed > 3);
        second.stop(StopMode::Drain);
        let report = second.wait().unwrap();
        assert_eq!((report.restarts, report.failures.len()), (0, 0));
        let numbers = visible.sorted();
        assert!((0..numbers.len() as u64).eq(numbers));
    });
}

/// Somebody who mistypes a second start does not stop what runs.
#[test]
fn a_start_that_is_refused_leaves_the_chain_to_who_has_it() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(2);
        let job = |parallelism| {
            let settings = CheckpointSettings::manual();
            Job::new("sums")
                .checkpoints(Checkpointing::new(storage.clone(), settings))
                .source("numbers", Generator::new(|number| number))
                .key_by(|number| number % 7)
                .parallelism(parallelism)
                .reduce(|sum, number| *sum = sum.wrapping_add(number))
                .sink("discard", Discard)
        };
        let first = job(1).start(&engine).unwrap();
        let checkpoints = first.checkpoints().unwrap();
        watchdog::until(|| checkpoints.trigger().wait().is_ok());
        let Err(error) = job(2).start(&engine) else {
            panic!("another parallelism is not restored");
        };
        assert!(error.to_string().contains("subtasks"), "{error}");
        checkpoints.trigger().wait().unwrap();
        first.cancel();
    });
}

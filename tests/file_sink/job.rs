//! The sink at the end of a job that fails, is cancelled, and goes on.

use crate::kit::{Folder, is_written};
use crate::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, RetentionPolicy};
use mailring::job::{Checkpointing, Job, RestartStrategy};
use mailring::stream::Generator;
use mailring::task::Engine;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const RECORDS: u32 = 20_000;

fn engine() -> Engine {
    Engine::builder().threads(2).build().unwrap()
}

/// Two subtasks write what two others make.
fn job(folder: &Folder, checkpointing: Option<Checkpointing>, failures: u32) -> Job {
    let mut job = Job::new("lines").restart(RestartStrategy::fixed_delay(failures, Duration::ZERO));
    if let Some(checkpointing) = checkpointing {
        job = job.checkpoints(checkpointing);
    }
    let failed = Arc::new(AtomicU32::new(0));
    let numbers = Generator::new(|number| number as u32).count(u64::from(RECORDS));
    job.source("numbers", numbers.per_second(200_000).unwrap())
        .parallelism(2)
        .rebalance()
        .parallelism(2)
        .try_map(move |number| {
            let times = failed.load(Ordering::Relaxed);
            if times < failures && number > (times + 1) * RECORDS / (failures + 1) {
                failed.fetch_add(1, Ordering::Relaxed);
                return Err("it fails here");
            }
            Ok(number)
        })
        .sink("lines", folder.sink())
}

/// Each number is there once.
fn check(folder: &Folder) {
    let mut numbers = folder.numbers();
    numbers.sort_unstable();
    let all: Vec<u32> = (0..RECORDS).filter(|&number| is_written(number)).collect();
    assert_eq!(numbers, all);
    assert!(folder.staged().is_empty());
}

#[test]
fn a_job_that_fails_and_goes_on_writes_each_record_once() {
    watched(|| {
        let folder = Folder::new("job-fails");
        let settings = CheckpointSettings::new(Duration::from_millis(2));
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), settings);
        let report = job(&folder, Some(checkpointing), 3).run(&engine()).unwrap();
        // Both subtasks may fail in one attempt.
        assert!((1..=3).contains(&report.restarts), "{report:?}");
        check(&folder);
    });
}

#[test]
fn a_job_that_is_cancelled_and_started_again_writes_each_record_once() {
    watched(|| {
        let folder = Folder::new("job-again");
        let storage = CheckpointStorage::in_memory();
        let checkpointing = || {
            let settings = CheckpointSettings::manual().retention(RetentionPolicy::Always);
            Some(Checkpointing::new(storage.clone(), settings))
        };
        let engine = engine();
        for _ in 0..3 {
            let handle = job(&folder, checkpointing(), 0).start(&engine).unwrap();
            let checkpoints = handle.checkpoints().unwrap();
            // It may be over by then: its last checkpoint is complete then.
            let _taken = checkpoints.trigger().wait();
            handle.cancel();
            let _cancelled = handle.wait();
        }
        job(&folder, checkpointing(), 0).run(&engine).unwrap();
        check(&folder);
    });
}

#[test]
fn a_job_without_checkpoints_says_that_nothing_would_be_committed() {
    watched(|| {
        let folder = Folder::new("job-none");
        let error = job(&folder, None, 0).run(&engine()).unwrap_err();
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        let told = std::iter::from_fn(|| {
            let told = cause?;
            cause = told.source();
            Some(told.to_string())
        });
        let told: Vec<String> = told.collect();
        let says_so = |told: &String| told.contains("the job takes no checkpoints");
        assert!(told.iter().any(says_so), "{told:?}");
    });
}

//! Promises of checkpoints are answered, whatever becomes of the job.

use crate::engine;
use crate::kit::asked;
use crate::watchdog::watched;
use mailring::checkpoint::{CheckpointFailureReason, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job};
use mailring::stream::{Discard, FromIter, Generator};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn after_the_job_each_says_that_it_is_over() {
    // More than may be on their way to who answers.
    const ASKED: usize = 1_100;
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(1);
        let job = Job::new("short")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", FromIter::new(0..10_u64))
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        job.wait().unwrap();
        for _ in 0..ASKED {
            let failure = checkpoints.trigger().wait().unwrap_err();
            assert_eq!(failure.reason, CheckpointFailureReason::CoordinatorShutdown);
        }
    });
}

#[test]
fn one_whose_job_is_dropped_waits_for_no_storage() {
    watched(|| {
        let blocks = Arc::new(AtomicBool::new(false));
        let ((block, blocked), (open, opened)) = (channel(), channel::<()>());
        let (is_blocking, opened) = (Arc::clone(&blocks), Mutex::new(opened));
        let storage = asked(move |_file| {
            if is_blocking.load(Ordering::Relaxed) {
                block.send(()).unwrap();
                // Opened for good where nobody is there to open.
                let _open = opened.lock().unwrap().recv();
            }
            true
        });
        let engine = engine(1);
        let numbers = Generator::new(|number| number).per_second(100).unwrap();
        let job = Job::new("dropped")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        while checkpoints.trigger().wait().is_err() {}
        blocks.store(true, Ordering::Relaxed);
        let promise = checkpoints.trigger();
        blocked.recv().unwrap();
        let dropping = thread::spawn(move || drop(job));
        let failure = promise.wait().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::CoordinatorShutdown);
        drop(open);
        dropping.join().unwrap();
    });
}

#[test]
fn a_job_may_have_as_many_on_their_way_as_can_be_said() {
    watched(|| {
        let settings = CheckpointSettings::manual().max_concurrent(u32::MAX);
        let job = Job::new("many")
            .checkpoints(Checkpointing::new(CheckpointStorage::in_memory(), settings))
            .source("numbers", FromIter::new(0..10_u64))
            .sink("discard", Discard);
        let report = job.run(&engine(1)).unwrap();
        assert_eq!(report.records_in("numbers"), 10);
    });
}

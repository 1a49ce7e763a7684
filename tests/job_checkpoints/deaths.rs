//! Jobs whose tasks fail at a step of a checkpoint, and go on from the last one: T168, case B64.

use super::engine;
use super::kit::{At, Fails, Passing, Shelf, Visible, once};
use super::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStorage, CheckpointSummary,
};
use mailring::job::{Checkpointing, Job, JobCheckpoints, JobReport, RestartStrategy};
use mailring::stream::{Discard, Generator};
use mailring::task::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const NUMBERS: u64 = 2_000;
const KEYS: u64 = 7;

/// In which vertex something fails.
#[derive(Clone, Copy, Debug)]
enum Where {
    InTheMiddle,
    BesideState,
}

/// The sums of numbers by key, with what may fail in two places; each sum is made visible once.
fn sums(
    storage: CheckpointStorage,
    settings: CheckpointSettings,
    middle: Passing,
    last: Passing,
) -> (JobReport, Vec<u64>) {
    let visible = Visible::new();
    let engine = engine(2);
    let report = Job::new("sums")
        .parallelism(2)
        .checkpoints(Checkpointing::new(storage, settings))
        .restart(RestartStrategy::fixed_delay(3, Duration::ZERO))
        .source("numbers", Generator::new(|number| number).count(NUMBERS))
        .forward()
        .parallelism(1)
        .named("middle")
        .transform("passing", move || middle)
        .key_by(|number| number % KEYS)
        .named("sums")
        .reduce(|sum, number| *sum += number)
        .transform("passing", move || last)
        .sink("visible", visible.clone())
        .run(&engine)
        .unwrap();
    (report, visible.sorted())
}

/// What is visible without any failure.
fn expected() -> Vec<u64> {
    let mut sums = [0; KEYS as usize];
    let mut all: Vec<u64> = (0..NUMBERS)
        .map(|number| {
            let sum = &mut sums[(number % KEYS) as usize];
            *sum += number;
            *sum
        })
        .collect();
    all.sort_unstable();
    all
}

fn fine() -> Passing {
    Passing::new(|_, _| Ok(()))
}

fn every_ms() -> CheckpointSettings {
    CheckpointSettings::new(Duration::from_millis(1))
}

#[test]
fn t168_a_task_that_fails_in_any_step_goes_on_from_the_last_checkpoint() {
    watched(|| {
        let steps = [
            At::Open,
            At::Prepare,
            At::Snapshot,
            At::Encode,
            At::Complete,
        ];
        for step in steps {
            for fails in [Fails::ByAnError, Fails::ByAPanic] {
                for place in [Where::InTheMiddle, Where::BesideState] {
                    // The last checkpoint, at least, comes to each step.
                    let failing = Passing::new(once(step, 1, fails));
                    let (middle, last) = match place {
                        Where::InTheMiddle => (failing, fine()),
                        Where::BesideState => (fine(), failing),
                    };
                    let storage = CheckpointStorage::in_memory();
                    let (report, visible) = sums(storage, every_ms(), middle, last);
                    let at = format!("{step:?} {fails:?} {place:?}");
                    assert_eq!(report.restarts, 1, "{at}");
                    let cause = report.failures[0].cause.to_string();
                    assert!(cause.contains("on purpose"), "{at}: {cause}");
                    assert!(visible == expected(), "{at}");
                }
            }
        }
    });
}

#[test]
fn t168_a_task_whose_state_is_not_stored_goes_on_from_the_last_checkpoint() {
    watched(|| {
        let written = AtomicU32::new(0);
        let storage = Shelf::new().asked(move |file| {
            file.starts_with("chain/") || written.fetch_add(1, Ordering::Relaxed) != 2
        });
        let settings = every_ms().inline_state_max(0);
        let (report, visible) = sums(storage, settings, fine(), fine());
        assert_eq!(report.restarts, 1);
        let cause = report.failures[0].cause.to_string();
        assert!(cause.contains("cannot write chk-"), "{cause}");
        assert!(
            cause.contains("1 failed in a row, 0 are tolerated"),
            "{cause}"
        );
        assert!(visible == expected());
    });
}

/// A checkpoint, as soon as the job's tasks run.
fn complete(checkpoints: &JobCheckpoints) -> CheckpointSummary {
    loop {
        match checkpoints.trigger().wait() {
            Ok(summary) => return summary,
            Err(failure) => assert_eq!(
                failure.reason,
                CheckpointFailureReason::NotAllRequiredTasksRunning,
                "{failure}"
            ),
        }
        std::thread::yield_now();
    }
}

#[test]
fn b64_a_task_that_dies_between_barrier_and_acknowledgement_has_the_job_go_on_at_once() {
    watched(|| {
        let shelf = Shelf::new();
        // What the first task stores of the seventh checkpoint comes late.
        let is_released = Arc::new(AtomicBool::new(false));
        let released = Arc::clone(&is_released);
        let storage = shelf.asked(move |file| {
            if file.starts_with("chk-00000000000000000007") && file.ends_with("/0-0") {
                until(|| released.load(Ordering::Relaxed));
            }
            true
        });
        let settings = CheckpointSettings::manual()
            .timeout(Duration::from_secs(60))
            .tolerable_failures(10)
            .inline_state_max(0);
        let has_failed = AtomicBool::new(false);
        let second = Passing::new(move |at, id| {
            if at == At::Snapshot && id == 7 && !has_failed.swap(true, Ordering::Relaxed) {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            Ok(())
        });
        let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
        let engine = Engine::builder().threads(2).clock(ManualClock::new());
        let engine = engine.build().unwrap();
        let job = Job::new("three")
            .checkpoints(Checkpointing::new(storage, settings))
            .restart(RestartStrategy::fixed_delay(5, Duration::ZERO))
            .source("one", numbers)
            .forward()
            .named("two")
            .transform("passing", move || second)
            .forward()
            .named("three")
            .transform("passing", fine)
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        while complete(&checkpoints).id.get() < 6 {}
        // It does not wait for its timeout: time stands still.
        let failure = checkpoints.trigger().wait().unwrap_err();
        assert_eq!(failure.id.map(|id| id.get()), Some(7));
        assert_eq!(failure.reason, CheckpointFailureReason::JobFailover);
        assert!(failure.detail.contains("subtask two/0"), "{failure}");
        assert!(failure.detail.contains("on purpose"), "{failure}");
        assert!(complete(&checkpoints).id.get() >= 8);
        let statistics = checkpoints.statistics();
        assert_eq!(statistics.counts.restored, 1);
        assert_eq!(statistics.last_restored.unwrap().id.get(), 6);

        // What comes late changes nothing, and is not left behind.
        is_released.store(true, Ordering::Relaxed);
        let of_the_seventh = |file: &String| file.starts_with("chk-00000000000000000007");
        until(|| !shelf.files().iter().any(of_the_seventh));
        complete(&checkpoints);
        assert_eq!(job.snapshot().restarts, 1);
        job.cancel();
        let _canceled = job.wait().unwrap_err();
    });
}

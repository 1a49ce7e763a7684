//! When hooks are called for a checkpoint, and what becomes of one whose hook fails or hangs: T140, T148.

use super::kit::*;
use crate::engine;
use crate::kit::{Shelf, Stand};
use crate::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStatus, CheckpointStorage,
    MasterHookError,
};
use mailring::job::{Checkpointing, Job, JobError, JobState};
use mailring::letter::Outcome;
use mailring::stream::{Discard, Generator, StreamTask};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

fn failures(stand: &mut Stand) -> Vec<(CheckpointFailureReason, String)> {
    let history = stand.statistics().history;
    let failed = history.iter().filter_map(|report| match &report.status {
        CheckpointStatus::Failed { reason, detail } => Some((*reason, detail.to_string())),
        _ => None,
    });
    failed.collect()
}

#[test]
fn t140_hooks_are_called_in_order_beside_the_coordinator_and_before_any_task_is_told() {
    watched(|| {
        let log = Log::default();
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand())
            .master_hook(hook("b", &log, fine))
            .master_hook(hook("a", &log, fine));
        let mut stand = Stand::new(&job(checkpointing, &log));
        stand.go_on();
        assert_eq!(log.take(), ["task: Open 0"], "it begins for the first time");
        let mut promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        assert!(log.take().is_empty(), "what blocks is elsewhere");
        assert!(stand.job.run_beside());
        assert_eq!(log.take(), ["b: Trigger(1)", "a: Trigger(1)"]);
        stand.go_on();
        assert_eq!(log.take(), ["task: Snapshot 1"]);
        assert_eq!(promise.try_take().unwrap().unwrap().id.get(), 1);
    });
}

#[test]
fn t140_a_hook_runs_on_no_thread_of_a_task_nor_of_storage() {
    watched(|| {
        let log = Log::default();
        let threads = Log::default();
        let named = threads.clone();
        let named = hook("a", &log, move |_| {
            named.add(std::thread::current().name().unwrap().to_owned());
            Ok(())
        });
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let engine = engine(1);
        let job = job(checkpointing.master_hook(named), &log)
            .start(&engine)
            .unwrap();
        complete(&job.checkpoints().unwrap());
        job.cancel();
        let _canceled = job.wait().unwrap_err();
        assert_eq!(threads.take(), ["numbers-hooks-0"]);
    });
}

#[test]
fn two_hooks_of_one_identifier_are_refused_when_the_job_starts() {
    watched(|| {
        let shelf = Shelf::new();
        let log = Log::default();
        let checkpointing = Checkpointing::new(shelf.storage(), by_hand())
            .master_hook(hook("a", &log, fine))
            .master_hook(Words("a"));
        let job = job(checkpointing, &log);
        let refused = [
            job.on_this_thread(ManualClock::new()).unwrap_err(),
            job.start(&engine(1)).unwrap_err(),
        ];
        for error in refused {
            assert!(
                matches!(&error, JobError::MasterHooks(MasterHookError::Taken { .. })),
                "{error}"
            );
            assert_eq!(
                error.to_string(),
                "two hooks of the job have the identifier \"a\": each needs one of its own"
            );
        }
        assert!(shelf.files().is_empty() && log.take().is_empty());
    });
}

#[test]
fn t148_a_hook_that_fails_or_panics_takes_its_checkpoint_with_it_and_the_next_works() {
    watched(|| {
        let log = Log::default();
        let failing = hook("a", &log, |call| match call {
            Call::Trigger(1) => Err("the ledger is closed".into()),
            _ => Ok(()),
        });
        // Its own state of being called is left behind by the panic.
        let panicking = Panics(AtomicU32::new(0));
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand())
            .master_hook(failing)
            .master_hook(panicking)
            .master_hook(hook("last", &log, fine));
        let mut stand = Stand::new(&job(checkpointing, &log));
        stand.go_on();
        log.take();
        for _ in 0..3 {
            let mut promise = stand.trigger();
            stand.go_on();
            let _told = promise.try_take().unwrap();
        }
        let reason = CheckpointFailureReason::MasterHookFailure;
        let expected = [
            (
                reason,
                "the hook \"a\" failed at checkpoint 1: the ledger is closed",
            ),
            (
                reason,
                "the hook \"panics\" failed at checkpoint 2: it panicked: on purpose",
            ),
        ];
        let failed = failures(&mut stand);
        let failed: Vec<_> = failed
            .iter()
            .map(|(reason, detail)| (*reason, &**detail))
            .collect();
        assert_eq!(failed, expected, "and the job tolerates no failure");
        assert_eq!(
            log.take(),
            [
                "a: Trigger(1)",
                "a: Trigger(2)",
                "a: Trigger(3)",
                "last: Trigger(3)",
                "task: Snapshot 3"
            ]
        );
        assert_eq!(stand.statistics().counts.completed, 1);
    });
}

#[test]
fn t148_what_a_hook_says_after_the_timeout_is_not_heeded() {
    watched(|| {
        let log = Log::default();
        let settings = CheckpointSettings::new(Duration::from_millis(100))
            .timeout(Duration::from_millis(250))
            .tolerable_failures(10);
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), settings);
        let mut stand = Stand::new(&job(checkpointing.master_hook(hook("a", &log, fine)), &log));
        stand.go_on();
        log.take();
        // The first call does not return as long as what blocks is not run.
        for _ in 0..90 {
            stand.advance_ms(10);
            stand.step_without(&[]).unwrap();
        }
        let expired = (
            CheckpointFailureReason::Expired,
            "hooks did not answer".to_owned(),
        );
        let failed = failures(&mut stand);
        assert!(failed.len() >= 3, "{failed:?}");
        assert!(failed.iter().all(|failed| *failed == expired), "{failed:?}");
        // The fourth is on its way, and waits for the first call.
        let in_progress = failed.len() as u64 + 1;
        assert_eq!(stand.statistics().counts.in_progress, 1);
        assert!(log.take().is_empty());

        assert!(stand.job.run_beside());
        assert_eq!(log.take(), ["a: Trigger(1)"]);
        stand.step_without(&[]).unwrap();
        assert!(log.take().is_empty(), "no task is told of what is over");
        stand.go_on();
        let called = format!("a: Trigger({in_progress})");
        let snapshot = format!("task: Snapshot {in_progress}");
        let then = log.take();
        assert_eq!(
            then[..2],
            [called, snapshot],
            "hooks are not called for what is over"
        );
        assert_eq!(failures(&mut stand).len() as u64, in_progress - 1);
        let last = stand.statistics().last_completed.unwrap();
        assert!(last.id.get() >= in_progress);
    });
}

#[test]
fn t148_hooks_are_not_called_for_a_checkpoint_that_came_to_nothing_while_they_were_waited_for() {
    watched(|| {
        let log = Log::default();
        let settings = by_hand().timeout(Duration::from_millis(250));
        let settings = settings.tolerable_failures(2);
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), settings);
        let mut stand = Stand::new(&job(checkpointing.master_hook(hook("a", &log, fine)), &log));
        stand.go_on();
        log.take();
        for _ in 0..2 {
            let mut promise = stand.trigger();
            stand.step_without(&[]).unwrap();
            stand.advance_ms(250);
            stand.step_without(&[]).unwrap();
            let failure = promise.try_take().unwrap().unwrap_err();
            assert_eq!(failure.reason, CheckpointFailureReason::Expired);
        }
        stand.go_on();
        assert_eq!(log.take(), ["a: Trigger(1)"]);
        let mut promise = stand.trigger();
        stand.go_on();
        promise.try_take().unwrap().unwrap();
        assert_eq!(log.take(), ["a: Trigger(3)", "task: Snapshot 3"]);
    });
}

#[test]
fn t148_a_job_ends_though_a_hook_has_failed_at_its_last_checkpoint() {
    watched(|| {
        let log = Log::default();
        let failing = hook("a", &log, |call| match call {
            Call::Trigger(1) => Err("the ledger is closed".into()),
            _ => Ok(()),
        });
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let job = Job::new("numbers")
            .checkpoints(checkpointing.master_hook(failing))
            .source("a", Generator::new(|number| number).count(10))
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        stand.advance_ms(999);
        stand.go_on();
        assert_eq!(log.take(), ["a: Trigger(1)"], "it is not tried at once");
        assert_eq!(stand.job.state(), JobState::Running);
        stand.advance_ms(1);
        let _ended = stand.job.run_until_idle().unwrap();
        assert_eq!(log.take(), ["a: Trigger(2)"]);
        assert_eq!(stand.job.state(), JobState::Finished);
    });
}

#[test]
fn t148_a_job_that_starts_again_waits_for_a_hook_that_is_being_called() {
    watched(|| {
        let log = Log::default();
        let (is_called, is_released) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (called, released) = (Arc::clone(&is_called), Arc::clone(&is_released));
        let slow = hook("a", &log, move |call| {
            if call == Call::Trigger(2) {
                called.store(true, Ordering::Relaxed);
                until(|| released.load(Ordering::Relaxed));
            }
            Ok(())
        });
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let checkpointing = checkpointing.master_hook(slow);
        let engine = engine(1);
        let failing = Failing::start(checkpointing, 1, &log, &engine);
        complete(&failing.checkpoints);
        let promise = failing.checkpoints.trigger();
        until(|| is_called.load(Ordering::Relaxed));
        // Tasks and the coordinator are not held up.
        let b = failing.job.executor("b", 0).unwrap();
        let failed = b.execute(|_task: &mut StreamTask| -> Outcome { Err("on purpose".into()) });
        failed.unwrap();
        let failure = promise.wait().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::JobFailover);
        until(|| failing.job.snapshot().state == JobState::Restarting);
        assert_eq!(log.take(), ["task: Open", "a: Trigger(1)", "a: Trigger(2)"]);
        is_released.store(true, Ordering::Relaxed);
        assert_eq!(complete(&failing.checkpoints), 3);
        assert_eq!(
            log.take(),
            ["a: Restore(1, Some(100))", "task: Open", "a: Trigger(3)"]
        );
        failing.end();
    });
}

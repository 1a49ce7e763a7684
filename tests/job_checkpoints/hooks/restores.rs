//! Hooks go back with a job that goes on from a checkpoint: T160.

use super::kit::*;
use crate::engine;
use crate::kit::{Shelf, Stand, asked};
use crate::scratch::Scratch;
use crate::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointStorage, RestoreFrom};
use mailring::job::{Checkpointing, JobError, JobState, RunError};
use mailring::stream::{CheckpointId, StopMode};
use mailring::task::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Has a job take two checkpoints, and stopped so that it can go on later.
fn begin(storage: &CheckpointStorage, hooks: impl FnOnce(Checkpointing, &Log) -> Checkpointing) {
    let log = Log::default();
    let checkpointing = hooks(Checkpointing::new(storage.clone(), by_hand()), &log);
    let mut stand = Stand::new(&job(checkpointing, &log));
    stand.go_on();
    let mut promise = stand.trigger();
    stand.go_on();
    promise.try_take().unwrap().unwrap();
    stand.job.stop(StopMode::NoDrain);
    let _ended = stand.job.run_until_idle().unwrap();
    assert_eq!(stand.job.state(), JobState::Finished);
}

#[test]
fn t160_hooks_get_back_what_they_gave_before_any_task_begins() {
    watched(|| {
        let shelf = Shelf::new();
        begin(&shelf.storage(), |of, log| {
            of.master_hook(hook("a", log, fine))
        });
        let first = CheckpointId::new(1).unwrap();
        for (from, number, given) in [
            (RestoreFrom::Checkpoint(first), 1, "None"),
            (RestoreFrom::Latest, 3, "Some(300)"),
        ] {
            let log = Log::default();
            let checkpointing = Checkpointing::new(shelf.storage(), by_hand())
                .restore(from)
                .master_hook(hook("new", &log, fine))
                .master_hook(hook("a", &log, fine));
            let mut stand = Stand::new(&job(checkpointing, &log));
            stand.go_on();
            let began = [
                format!("new: Restore({number}, {given})"),
                format!("a: Restore({number}, Some({number}00))"),
                "task: Open 0".to_owned(),
            ];
            assert_eq!(log.take(), began);
            let mut promise = stand.trigger();
            stand.go_on();
            promise.try_take().unwrap().unwrap();
        }
    });
}

#[test]
fn t160_hooks_get_back_what_they_gave_to_a_checkpoint_elsewhere() {
    watched(|| {
        let scratch = Scratch::new("hooks");
        let storage = CheckpointStorage::local(scratch.folder()).unwrap();
        begin(&storage, |of, log| of.master_hook(hook("a", log, fine)));
        let log = Log::default();
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand())
            .restore(RestoreFrom::Path(scratch.folder().into()))
            .master_hook(hook("a", &log, fine));
        let engine = engine(1);
        let job = job(checkpointing, &log).start(&engine).unwrap();
        let began = log.take();
        assert_eq!(began[0], "a: Restore(2, Some(200))", "{began:?}");
        job.cancel();
        let _canceled = job.wait().unwrap_err();
    });
}

#[test]
fn t160_state_of_a_hook_that_the_job_lacks_is_refused_unless_it_may_be_let_go_of() {
    watched(|| {
        let shelf = Shelf::new();
        begin(&shelf.storage(), |of, log| {
            of.master_hook(hook("a", log, fine))
                .master_hook(hook("gone", log, fine))
        });
        let log = Log::default();
        let again = || {
            let checkpointing = Checkpointing::new(shelf.storage(), by_hand());
            checkpointing.master_hook(hook("a", &log, fine))
        };
        let refused = job(again(), &log).on_this_thread(ManualClock::new());
        let why = match refused.unwrap_err() {
            error @ JobError::Recovery(_) => error.to_string(),
            error => panic!("{error}"),
        };
        assert_eq!(
            why,
            "the job cannot be restored: the checkpoint has state for which the job has no place: that of \
             hook gone, which the job does not have; give those names back, or allow state that is not \
             restored"
        );
        assert!(log.take().is_empty());
        let mut stand = Stand::new(&job(again().allow_non_restored_state(), &log));
        stand.go_on();
        assert_eq!(log.take(), ["a: Restore(2, Some(200))", "task: Open 0"]);
    });
}

#[test]
fn t160_a_hook_with_another_type_is_refused_and_the_chain_left_to_who_has_it() {
    watched(|| {
        let shelf = Shelf::new();
        begin(&shelf.storage(), |of, log| {
            of.master_hook(hook("a", log, fine))
        });
        let files = shelf.files();
        let log = Log::default();
        let checkpointing = Checkpointing::new(shelf.storage(), by_hand());
        let job = job(checkpointing.master_hook(Words("a")), &log);
        let says = "the job cannot be restored: the hook \"a\" was stored as u64 and has String now: its \
                    state must have the type it had, or the hook another identifier";
        let refused = job.on_this_thread(ManualClock::new()).unwrap_err();
        assert_eq!(refused.to_string(), says);
        let refused = job.start(&engine(1)).unwrap_err();
        assert_eq!(refused.to_string(), says);
        assert_eq!(shelf.files(), files, "it was not taken over");
    });
}

#[test]
fn t160_hooks_go_back_with_a_job_that_starts_again() {
    watched(|| {
        let log = Log::default();
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let checkpointing = checkpointing.master_hook(hook("a", &log, fine));
        let engine = engine(1);
        let failing = Failing::start(checkpointing, 2, &log, &engine);
        failing.fail();
        assert_eq!(complete(&failing.checkpoints), 2);
        failing.fail();
        assert_eq!(complete(&failing.checkpoints), 4);
        failing.end();
        let all = [
            "task: Open",
            "a: Trigger(1)",
            // There is no checkpoint yet.
            "a: Reset",
            "task: Open",
            "a: Trigger(2)",
            "a: Trigger(3)",
            "a: Restore(2, Some(200))",
            "task: Open",
            "a: Trigger(4)",
        ];
        assert_eq!(log.take(), all);
    });
}

#[test]
fn a_hook_that_cannot_go_back_or_panics_fails_the_attempt() {
    watched(|| {
        let log = Log::default();
        let left = AtomicU32::new(1);
        let failing = hook("a", &log, move |call| match call {
            Call::Restore(..) if left.swap(0, Ordering::Relaxed) > 0 => {
                Err("the ledger is closed".into())
            }
            _ => Ok(()),
        });
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let checkpointing = checkpointing.master_hook(failing);
        let engine = engine(1);
        let failing = Failing::start(checkpointing, 2, &log, &engine);
        complete(&failing.checkpoints);
        failing.fail();
        complete(&failing.checkpoints);
        let snapshot = failing.job.snapshot();
        assert_eq!(snapshot.restarts, 2);
        assert_eq!(
            snapshot.failures[1].cause.to_string(),
            "recovery: the hook \"a\" cannot go back to checkpoint 1: the ledger is closed"
        );
        failing.end();

        // The first attempt of another job.
        let shelf = Shelf::new();
        let never = || Panics(AtomicU32::new(1));
        begin(&shelf.storage(), |of, _| of.master_hook(never()));
        let again = |hook| {
            let checkpointing = Checkpointing::new(shelf.storage(), by_hand());
            job(checkpointing.master_hook(hook), &log)
        };
        let says = "the job cannot be restored: the hook \"panics\" cannot go back to checkpoint 2: it \
                    panicked: on purpose";
        let refused = again(Panics(AtomicU32::new(0))).start(&engine).unwrap_err();
        assert!(matches!(refused, JobError::Recovery(_)), "{refused}");
        assert_eq!(refused.to_string(), says);
        let refused = again(Panics(AtomicU32::new(0))).on_this_thread(ManualClock::new());
        assert_eq!(refused.unwrap_err().to_string(), says);
        let job = again(never()).start(&engine).unwrap();
        complete(&job.checkpoints().unwrap());
        job.cancel();
        let _canceled = job.wait().unwrap_err();
    });
}

#[test]
fn t148_a_job_that_is_cancelled_while_a_hook_goes_back_is_not_deployed() {
    watched(|| {
        let log = Log::default();
        let (is_called, is_released) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (called, released) = (Arc::clone(&is_called), Arc::clone(&is_released));
        let slow = hook("a", &log, move |call| {
            if matches!(call, Call::Restore(..)) {
                called.store(true, Ordering::Relaxed);
                until(|| released.load(Ordering::Relaxed));
            }
            Ok(())
        });
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), by_hand());
        let engine = engine(1);
        let failing = Failing::start(checkpointing.master_hook(slow), 1, &log, &engine);
        complete(&failing.checkpoints);
        failing.fail();
        until(|| is_called.load(Ordering::Relaxed));
        log.take();
        failing.job.cancel();
        until(|| failing.job.has_ended());
        is_released.store(true, Ordering::Relaxed);
        let Err(RunError::Canceled(report)) = failing.job.wait() else {
            panic!("it was cancelled");
        };
        assert_eq!(report.restarts, 1);
        assert!(log.take().is_empty(), "no task begins");
    });
}

/// What it begins with is found out all the same; nobody is to begin with it.
#[test]
fn t148_hooks_do_not_go_back_for_a_job_that_is_cancelled_while_it_takes_over_again() {
    watched(|| {
        let log = Log::default();
        let (is_held_up, is_released) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (held_up, released) = (Arc::clone(&is_held_up), Arc::clone(&is_released));
        let storage = asked(move |file| {
            // Behind the first take-over, and a checkpoint.
            if file == "chain/00000000000000000003" {
                held_up.store(true, Ordering::Relaxed);
                until(|| released.load(Ordering::Relaxed));
            }
            true
        });
        let checkpointing = Checkpointing::new(storage, by_hand());
        let checkpointing = checkpointing.master_hook(hook("a", &log, fine));
        let engine = engine(1);
        let failing = Failing::start(checkpointing, 1, &log, &engine);
        complete(&failing.checkpoints);
        failing.fail();
        until(|| is_held_up.load(Ordering::Relaxed));
        log.take();
        failing.job.cancel();
        until(|| failing.job.snapshot().state == JobState::Canceled);
        // What is asked behind it is answered behind it.
        failing.checkpoints.trigger().wait().unwrap_err();
        is_released.store(true, Ordering::Relaxed);
        // It waits for what is left to be done.
        failing.job.wait().unwrap_err();
        assert!(log.take().is_empty(), "no hook is called");
    });
}

/// An engine whose time is moved by hand.
fn at_hand(threads: usize) -> (Engine, ManualClock) {
    let clock = ManualClock::new();
    let engine = Engine::builder().threads(threads).clock(clock.clone());
    (engine.build().unwrap(), clock)
}

#[test]
fn t148_a_job_does_not_wait_for_ever_for_a_hook_that_does_not_return() {
    watched(|| {
        let log = Log::default();
        let (is_called, is_released) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (called, released) = (Arc::clone(&is_called), Arc::clone(&is_released));
        let stuck = hook("a", &log, move |call| {
            if matches!(call, Call::Restore(..)) {
                called.store(true, Ordering::Relaxed);
                until(|| released.load(Ordering::Relaxed));
            }
            Ok(())
        });
        let settings = by_hand().timeout(Duration::from_secs(60));
        let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), settings);
        let checkpointing = checkpointing.master_hook(stuck);
        let (engine, clock) = at_hand(1);
        let failing = Failing::start(checkpointing, 1, &log, &engine);
        complete(&failing.checkpoints);
        failing.fail();
        // Nothing else waits for time to pass any more.
        until(|| is_called.load(Ordering::Relaxed));
        clock.advance(Duration::from_secs(60));
        until(|| failing.job.has_ended());
        is_released.store(true, Ordering::Relaxed);
        let Err(RunError::Failed { cause, .. }) = failing.job.wait() else {
            panic!("it failed");
        };
        assert_eq!(
            cause.to_string(),
            "recovery: a hook has not returned from a call for 60s, one of: a"
        );
        assert_eq!(failing.checkpoints.statistics().counts.restored, 0);
    });
}

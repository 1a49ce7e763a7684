//! What is to be deleted and cannot be: it is counted and told with its file's name, and fails nothing.

use super::engine;
use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{At, Passing, Shelf, Stand};
use super::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStorage, FailedDeletions,
    RetentionPolicy,
};
use mailring::job::{Checkpointing, Job, JobCheckpoints, JobState};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, CheckpointNotice, Discard, Generator, Operator, OperatorSnapshot, Output, Record,
};
use mailring::task::Engine;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What becomes of deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Done,
    Fail,
    Panic,
}

/// A store in which deletions have such a fate while it is dark.
fn storage(shelf: &Shelf, is_dark: &Arc<AtomicBool>, fate: Fate) -> CheckpointStorage {
    let is_dark = Arc::clone(is_dark);
    let faulty = FaultyStore::new(shelf.store(), move |_, asked| {
        if asked != Asked::Delete || !is_dark.load(Ordering::Relaxed) {
            return Fault::Nothing;
        }
        match fate {
            Fate::Done => Fault::Nothing,
            Fate::Fail => Fault::Before,
            // Without the panic hook, which would print a backtrace.
            Fate::Panic => std::panic::resume_unwind(Box::new("on purpose")),
        }
    });
    CheckpointStorage::new(faulty, "")
}

fn settings() -> CheckpointSettings {
    CheckpointSettings::manual().inline_state_max(0)
}

fn job(checkpointing: Checkpointing) -> Job {
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    Job::new("numbers")
        .checkpoints(checkpointing)
        .source("numbers", numbers)
        .sink("discard", Discard)
}

fn complete_one(stand: &mut Stand) -> u64 {
    let promise = stand.trigger();
    stand.go_on();
    promise.wait().unwrap().id.get()
}

fn failed(stand: &mut Stand) -> FailedDeletions {
    stand.statistics().failed_deletions
}

fn of_state(file: &&String) -> bool {
    file.starts_with("chk-")
}

#[test]
fn an_older_checkpoint_that_cannot_be_deleted_is_told_and_the_next_one_is_complete() {
    watched(|| {
        let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::default());
        let storage = storage(&shelf, &is_dark, Fate::Fail);
        let mut stand = Stand::new(&job(Checkpointing::new(storage, settings())));
        stand.go_on();
        assert_eq!(complete_one(&mut stand), 1);
        assert_eq!(failed(&mut stand), FailedDeletions::default());
        let table = stand.statistics().to_string();
        assert!(!table.contains("deletions"), "{table}");
        is_dark.store(true, Ordering::Relaxed);
        assert_eq!(complete_one(&mut stand), 2);
        let once = failed(&mut stand);
        assert_eq!(once.count, 1);
        let last = once.last.unwrap();
        let file = "chain/00000000000000000002";
        assert!(
            last.starts_with(&format!("cannot delete {file}: ")),
            "{last}"
        );
        let table = stand.statistics().to_string();
        let line = table.lines().nth(1).unwrap();
        let words = format!("failed deletions: 1, the last: cannot delete {file}: ");
        assert!(line.starts_with(&words), "{table}");
        let is_narrow = |line: &str| line.chars().count() <= 80;
        assert!(table.lines().all(is_narrow), "{table}");
        // The first is tried once more, beside the second.
        assert_eq!(complete_one(&mut stand), 3);
        assert_eq!(failed(&mut stand).count, 3);
        is_dark.store(false, Ordering::Relaxed);
        assert_eq!(complete_one(&mut stand), 4);
        assert_eq!(failed(&mut stand).count, 3);
        assert_eq!(shelf.files().iter().filter(of_state).count(), 1);
        assert_eq!(stand.job.state(), JobState::Running);
        let counts = stand.statistics().counts;
        assert_eq!((counts.completed, counts.failed.total()), (4, 0));
    });
}

/// It is what a restart begins with; the only attempt of a stepped job does so on its own thread.
#[test]
fn what_an_earlier_run_has_left_and_cannot_be_deleted_is_told() {
    watched(|| {
        let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::new(true.into()));
        for run in 0..3 {
            let storage = storage(&shelf, &is_dark, Fate::Fail);
            let mut stand = Stand::new(&job(Checkpointing::new(storage, settings())));
            // Of take-overs, the last is needed.
            assert_eq!(failed(&mut stand).count, run);
            let last = failed(&mut stand).last.unwrap_or_default();
            assert!(run == 0 || last.contains("chain/0"), "{last}");
            std::mem::forget(stand);
        }
        let storage = storage(&shelf, &is_dark, Fate::Fail);
        let engine = engine(1);
        let job = job(Checkpointing::new(storage, settings()));
        let job = job.start(&engine).unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| checkpoints.statistics().failed_deletions.count == 3);
        job.cancel();
    });
}

#[test]
fn state_of_a_failed_checkpoint_that_cannot_be_deleted_is_told() {
    watched(|| {
        for (fate, words) in [
            (Fate::Done, ""),
            (Fate::Fail, "cannot delete chk-00000000000000000001-1/0-0: "),
            (Fate::Panic, "deleting state panicked: on purpose"),
        ] {
            let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::new(true.into()));
            let storage = storage(&shelf, &is_dark, fate);
            let passing = Passing::new(|at, _| match at {
                At::Encode => Err("on purpose".into()),
                _ => Ok(()),
            });
            let numbers = Generator::new(|number| number).per_second(1).unwrap();
            let settings = settings().tolerable_failures(9);
            let job = Job::new("numbers")
                .checkpoints(Checkpointing::new(storage, settings))
                .source("numbers", numbers)
                .forward()
                .transform("passing", move || passing.clone())
                .sink("discard", Discard);
            let mut stand = Stand::new(&job);
            stand.go_on();
            let promise = stand.trigger();
            stand.go_on();
            promise.wait().unwrap_err();
            let failed = failed(&mut stand);
            assert_eq!(failed.count, u64::from(fate != Fate::Done), "{fate:?}");
            let last = failed.last.unwrap_or_default();
            assert!(last.starts_with(words), "{last}");
            let left = shelf.files().iter().filter(of_state).count();
            assert_eq!(left, usize::from(fate != Fate::Done), "{fate:?}");
        }
    });
}

/// Also where the store panics.
#[test]
fn a_job_that_keeps_none_and_cannot_delete_them_ends_and_tells_so() {
    watched(|| {
        for (fate, words) in [
            (Fate::Done, ""),
            (Fate::Fail, "cannot delete chain/"),
            (Fate::Panic, "deleting all checkpoints panicked: on purpose"),
        ] {
            let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::default());
            let storage = storage(&shelf, &is_dark, fate);
            let settings = settings().retention(RetentionPolicy::Never);
            let engine = engine(1);
            let job = job(Checkpointing::new(storage, settings));
            let job = job.start(&engine).unwrap();
            let checkpoints = job.checkpoints().unwrap();
            until(|| checkpoints.trigger().wait().is_ok());
            let before = checkpoints.statistics().failed_deletions;
            assert_eq!(before, FailedDeletions::default());
            is_dark.store(true, Ordering::Relaxed);
            job.cancel();
            let _canceled = job.wait().unwrap_err();
            let told = checkpoints.statistics().failed_deletions;
            let last = told.last.unwrap_or_default();
            assert!(last.starts_with(words), "{fate:?}: {last}");
            let states = shelf.files().iter().filter(of_state).count();
            match fate {
                Fate::Done => assert_eq!((told.count, states), (0, 0)),
                _ => assert!(told.count >= 1 && states > 0, "{fate:?} {last}"),
            }
            // It is told when its keeper is gone as well.
            drop(engine);
            let after = checkpoints.statistics().failed_deletions;
            assert_eq!(after.count, told.count);
        }
    });
}

/// Passes on what comes, has some state, and says when a checkpoint was aborted.
#[derive(Clone)]
struct Watching {
    is_aborted: Arc<AtomicBool>,
}

impl<T: 'static> Operator<T> for Watching {
    type Out = T;

    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Outcome {
        out.record(record)
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(OperatorSnapshot::operator(|| Ok(vec![7])))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        if matches!(notice, CheckpointNotice::Aborted { .. }) {
            self.is_aborted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Waits until the job takes a checkpoint and `holds`.
fn trigger_until(checkpoints: &JobCheckpoints, holds: impl Fn() -> bool) {
    loop {
        let mut promise = checkpoints.trigger();
        loop {
            if holds() {
                return;
            }
            if let Some(told) = promise.try_take() {
                // Not all tasks run.
                let reason = told.unwrap_err().reason;
                let expected = CheckpointFailureReason::NotAllRequiredTasksRunning;
                assert_eq!(reason, expected);
                break;
            }
            thread::yield_now();
        }
    }
}

#[test]
fn state_that_is_stored_when_its_checkpoint_has_expired_is_deleted_by_who_stored_it() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    watched(|| {
        for fault in [Fault::Nothing, Fault::Before] {
            let (shelf, clock) = (Shelf::new(), ManualClock::new());
            let (open, opened) = channel::<()>();
            let opened = Mutex::new(Some(opened));
            let is_held_up = Arc::new(AtomicBool::new(false));
            let deletions = Arc::new(AtomicU32::new(0));
            let (held_up, deleted) = (Arc::clone(&is_held_up), Arc::clone(&deletions));
            let store = FaultyStore::new(shelf.store(), move |_, asked| match asked {
                Asked::Put => {
                    if let Some(opened) = opened.lock().unwrap().take() {
                        held_up.store(true, Ordering::Relaxed);
                        let _gone = opened.recv();
                    }
                    Fault::Nothing
                }
                Asked::Delete => {
                    deleted.fetch_add(1, Ordering::Relaxed);
                    fault
                }
                _ => Fault::Nothing,
            });
            let is_aborted = Arc::new(AtomicBool::new(false));
            let watching = Watching {
                is_aborted: Arc::clone(&is_aborted),
            };
            let settings = settings().timeout(TIMEOUT).tolerable_failures(9);
            let storage = CheckpointStorage::new(store, "");
            let engine = Engine::builder().threads(1).clock(clock.clone());
            let engine = engine.build().unwrap();
            let numbers = Generator::new(|number| number).per_second(1).unwrap();
            let job = Job::new("numbers")
                .checkpoints(Checkpointing::new(storage, settings))
                .source("numbers", numbers)
                .transform("watching", move || watching.clone())
                .sink("discard", Discard)
                .start(&engine)
                .unwrap();
            let checkpoints = job.checkpoints().unwrap();
            trigger_until(&checkpoints, || is_held_up.load(Ordering::Relaxed));
            clock.advance(TIMEOUT);
            until(|| is_aborted.load(Ordering::Relaxed));
            assert_eq!(deletions.load(Ordering::Relaxed), 0);
            open.send(()).unwrap();
            until(|| deletions.load(Ordering::Relaxed) == 1);
            let left = || shelf.files().iter().filter(of_state).count();
            match fault {
                Fault::Nothing => until(|| left() == 0),
                _ => {
                    until(|| checkpoints.statistics().failed_deletions.count == 1);
                    assert_eq!(left(), 1);
                    let last = checkpoints.statistics().failed_deletions.last.unwrap();
                    assert!(last.starts_with("cannot delete chk-0"), "{last}");
                }
            }
            job.cancel();
        }
    });
}

//! Jobs that were left behind, and meet an error of storage before they hear of the other one: whoever takes
//! over deletes what is not kept. They end by that they were fenced, and the error is told beside it.

use super::engine;
use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{Shelf, Stand};
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, CommitChain, RestoreFrom};
use mailring::job::{Checkpointing, Job, JobError, JobState, RestartStrategy, RunError};
use mailring::processor::Failure;
use mailring::stream::{Discard, Generator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

fn job(storage: CheckpointStorage) -> Job {
    let settings = CheckpointSettings::manual().inline_state_max(0);
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("numbers", numbers)
        .sink("discard", Discard)
}

/// Another coordinator takes over, which has nothing to do with the job.
fn overtake(shelf: &Shelf) {
    let taken = CommitChain::take_over(&shelf.storage(), "numbers", 1, RestoreFrom::Latest);
    drop(taken.unwrap());
}

fn complete_one(stand: &mut Stand) {
    stand.go_on();
    let promise = stand.trigger();
    stand.go_on();
    promise.wait().unwrap();
}

/// Goes on until it fails.
fn fail(stand: &mut Stand) -> Failure {
    loop {
        if let Err(failure) = stand.step_without(&[]) {
            return failure;
        }
        while stand.job.run_beside() {}
    }
}

#[test]
fn state_that_cannot_be_stored_after_another_has_taken_over_ends_the_job_by_that() {
    watched(|| {
        for is_overtaken in [false, true] {
            let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::default());
            let dark = Arc::clone(&is_dark);
            let storage = shelf
                .asked(move |file| !(dark.load(Ordering::Relaxed) && file.starts_with("chk-")));
            let mut stand = Stand::new(&job(storage));
            complete_one(&mut stand);
            if is_overtaken {
                overtake(&shelf);
            }
            is_dark.store(true, Ordering::Relaxed);
            let promise = stand.trigger();
            let failure = fail(&mut stand).to_string();
            let error = "cannot write chk-00000000000000000002-1/0-0: ";
            if is_overtaken {
                let words = "checkpoint: another coordinator has taken over: it wrote \
                             chain/00000000000000000003; what failed here: ";
                assert!(failure.starts_with(&format!("{words}{error}")), "{failure}");
            } else {
                assert!(!failure.contains("another coordinator"), "{failure}");
                assert!(failure.contains(error), "{failure}");
            }
            promise.wait().unwrap_err();
            assert_eq!(stand.job.state(), JobState::Failed);
            // One that was fenced leaves the state alone that it has stored.
            assert!(shelf.files().iter().any(|file| file.starts_with("chk-")));
        }
    });
}

/// A store in which the read of that number fails that comes after a take-over through it, and something
/// comes to pass before.
fn fails_to_read(
    shelf: &Shelf,
    number: u32,
    before: impl Fn() + Send + Sync + 'static,
) -> CheckpointStorage {
    let (reads, has_taken_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let store = FaultyStore::new(shelf.store(), move |_, asked| match asked {
        Asked::Create => {
            has_taken_over.store(true, Ordering::Relaxed);
            Fault::Nothing
        }
        Asked::Get if has_taken_over.load(Ordering::Relaxed) => {
            if reads.fetch_add(1, Ordering::Relaxed) + 1 == number {
                before();
                return Fault::Before;
            }
            Fault::Nothing
        }
        _ => Fault::Nothing,
    });
    CheckpointStorage::new(store, "")
}

/// A shelf with one checkpoint of a job that has not ended.
fn stored() -> Shelf {
    let shelf = Shelf::new();
    let mut stand = Stand::new(&job(shelf.storage()));
    complete_one(&mut stand);
    std::mem::forget(stand);
    shelf
}

#[test]
fn a_start_that_cannot_read_since_another_has_taken_over_says_so() {
    watched(|| {
        for number in 1.. {
            let [alone, overtaken] = [false, true].map(|is_overtaken| {
                let shelf = stored();
                let other = shelf.clone();
                let storage = fails_to_read(&shelf, number, move || {
                    if is_overtaken {
                        overtake(&other);
                    }
                });
                let clock = mailring::ManualClock::new();
                let started = job(storage).on_this_thread(clock).map(drop);
                started.err()
            });
            let (Some(alone), Some(overtaken)) = (&alone, &overtaken) else {
                // Only what is read to find out what may be deleted is left.
                assert!(alone.is_none() && overtaken.is_none(), "read {number}");
                assert!(number > 3, "the record, once more, and the state");
                break;
            };
            assert!(matches!(alone, JobError::Recovery(_)), "{alone:?}");
            let (alone, overtaken) = (alone.to_string(), overtaken.to_string());
            assert!(!alone.contains("another"), "read {number}: {alone}");
            let words = "the job cannot be restored: another coordinator has taken over: it wrote \
                         chain/00000000000000000004; what failed here: cannot ";
            assert!(overtaken.starts_with(words), "read {number}: {overtaken}");
        }
    });
}

/// It does not start again, though it was to.
#[test]
fn a_restart_that_cannot_read_since_another_has_taken_over_is_the_last() {
    watched(|| {
        for number in 1..=3 {
            let shelf = Shelf::new();
            let other = shelf.clone();
            let fails = Arc::new(AtomicBool::new(false));
            let (failing, is_to_be_overtaken) = (Arc::clone(&fails), Arc::clone(&fails));
            let reads = AtomicU32::new(0);
            let creates = AtomicU32::new(0);
            let store = FaultyStore::new(shelf.store(), move |_, asked| {
                if !is_to_be_overtaken.load(Ordering::Relaxed) {
                    return Fault::Nothing;
                }
                match asked {
                    // The take-over, and not a record of a checkpoint before.
                    Asked::Create => {
                        creates.fetch_add(1, Ordering::Relaxed);
                        Fault::Nothing
                    }
                    Asked::Get if creates.load(Ordering::Relaxed) > 0 => {
                        let read = reads.fetch_add(1, Ordering::Relaxed) + 1;
                        if read == number {
                            overtake(&other);
                            return Fault::Before;
                        }
                        Fault::Nothing
                    }
                    _ => Fault::Nothing,
                }
            });
            let settings = CheckpointSettings::manual().inline_state_max(0);
            let storage = CheckpointStorage::new(store, "");
            let engine = engine(1);
            let job = Job::new("numbers")
                .checkpoints(Checkpointing::new(storage, settings))
                .restart(RestartStrategy::fixed_delay(100, Duration::ZERO))
                .source("numbers", Generator::new(|number| number))
                .try_map(move |number| match failing.load(Ordering::Relaxed) {
                    true => Err("on purpose"),
                    false => Ok(number),
                })
                .sink("discard", Discard)
                .start(&engine)
                .unwrap();
            let checkpoints = job.checkpoints().unwrap();
            until(|| checkpoints.trigger().wait().is_ok());
            fails.store(true, Ordering::Relaxed);
            let Err(RunError::Failed { cause, report, .. }) = job.wait() else {
                panic!("it went on");
            };
            let cause = cause.to_string();
            assert!(cause.contains("another coordinator"), "{cause}");
            assert!(cause.contains("what failed here: cannot "), "{cause}");
            assert_eq!(report.failures.len(), 2, "{:?}", report.failures);
        }
    });
}

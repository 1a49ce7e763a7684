//! Records of which nobody knows whether they were written: what they name is kept, and the job goes on from
//! them if they are there, T152, bug K49.

#[path = "../checkpoint_storage/faulty.rs"]
mod faulty;

use super::kit::{Shelf, Stand, Visible};
use super::watchdog::watched;
use faulty::{Asked, Fault, FaultyStore};
use mailring::checkpoint::{CheckpointFailureReason, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job};
use mailring::stream::Generator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Written,
    NotWritten,
    /// Who writes it panics.
    Panics,
}

/// A job whose storage is as it should be.
fn job(storage: CheckpointStorage, visible: &Visible<u64>) -> Job {
    let settings = CheckpointSettings::manual()
        .inline_state_max(0)
        .tolerable_failures(u32::MAX);
    let numbers = Generator::new(|number| number).per_second(100).unwrap();
    Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("numbers", numbers)
        .forward()
        .named("sink")
        .sink("visible", visible.clone())
}

/// The second of a job's checkpoints has such a fate; the job goes on, and its process dies. The number of
/// the one that the next goes on from.
fn goes_on_from(fate: Fate, visible: &Visible<u64>) -> u64 {
    let shelf = Shelf::new();
    let is_dark = Arc::<AtomicBool>::default();
    let dark = Arc::clone(&is_dark);
    let faulty = FaultyStore::new(shelf.store(), move |_, asked| {
        let is_dark = dark.load(Ordering::Relaxed);
        match (asked, fate) {
            (_, _) if !is_dark => Fault::Nothing,
            // Without the panic hook, which would print a backtrace.
            (Asked::Create, Fate::Panics) => std::panic::resume_unwind(Box::new("on purpose")),
            (Asked::Create, Fate::Written) => Fault::After,
            _ => Fault::Before,
        }
    });
    let mut stand = Stand::new(&job(CheckpointStorage::new(faulty, ""), visible));
    stand.go_on();
    for _ in 0..2 {
        stand.advance_ms(100);
        let promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        // The states of both tasks, and then the record.
        assert!(stand.job.run_beside() && stand.job.run_beside());
        stand.step_without(&[]).unwrap();
        if stand.statistics().counts.completed == 1 {
            is_dark.store(true, Ordering::Relaxed);
        }
        assert!(stand.job.run_beside());
        is_dark.store(false, Ordering::Relaxed);
        stand.step_without(&[]).unwrap();
        match promise.wait() {
            Ok(summary) => assert_eq!(summary.id.get(), 1),
            Err(failure) => {
                assert_eq!(failure.id.map(|id| id.get()), Some(2));
                assert_eq!(failure.reason, CheckpointFailureReason::FinalizeFailure);
            }
        }
    }
    // What was to be deleted, if anything, is.
    stand.go_on();
    assert_eq!(stand.statistics().counts.failed.total(), 1);
    std::mem::forget(stand);
    let files = shelf.files();
    let of_second = |file: &&String| file.starts_with("chk-00000000000000000002");
    assert_eq!(files.iter().filter(of_second).count(), 2, "{files:?}");

    let mut stand = Stand::new(&job(shelf.storage(), visible));
    stand.go_on();
    stand.advance_ms(1_000);
    let promise = stand.trigger();
    stand.go_on();
    promise.wait().unwrap();
    let restored = stand.statistics().last_restored.unwrap();
    std::mem::forget(stand);
    restored.id.get()
}

#[test]
fn k49_a_record_that_was_written_in_secret_is_whole() {
    watched(|| {
        for fate in [Fate::Written, Fate::NotWritten] {
            let visible = Visible::new();
            let expected = match fate {
                Fate::Written => 2,
                _ => 1,
            };
            assert_eq!(goes_on_from(fate, &visible), expected, "{fate:?}");
            let numbers = visible.sorted();
            assert!((0..numbers.len() as u64).eq(numbers), "{fate:?}");
        }
    });
}

#[test]
fn t152_who_panics_while_a_record_is_written_may_have_written_it() {
    watched(|| {
        let visible = Visible::new();
        assert_eq!(goes_on_from(Fate::Panics, &visible), 1);
        let numbers = visible.sorted();
        assert!((0..numbers.len() as u64).eq(numbers));
    });
}

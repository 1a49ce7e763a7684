//! Records of which nobody knows whether they were written: what they name is kept, and the job goes on from
//! them if they are there, T152, bug K49.

use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{Shelf, Stand, Visible};
use super::watchdog::watched;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStorage, CommitChain, RestoreFrom,
    RetentionPolicy,
};
use mailring::job::{Checkpointing, Job, JobState};
use mailring::ring::Budget;
use mailring::stream::Generator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Written,
    NotWritten,
    /// Who writes it panics.
    Panics,
}

fn manual() -> CheckpointSettings {
    CheckpointSettings::manual()
        .inline_state_max(0)
        .tolerable_failures(u32::MAX)
}

/// A job whose storage is as it should be.
fn job(storage: CheckpointStorage, visible: &Visible<u64>) -> Job {
    job_with(manual(), storage, visible)
}

fn job_with(
    settings: CheckpointSettings,
    storage: CheckpointStorage,
    visible: &Visible<u64>,
) -> Job {
    let numbers = Generator::new(|number| number).per_second(100).unwrap();
    Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("numbers", numbers)
        .forward()
        .named("sink")
        .sink("visible", visible.clone())
}

/// A store that does as it should until it is dark: then a record that is written has such a fate.
fn faulty(shelf: &Shelf, is_dark: &Arc<AtomicBool>, fate: Fate) -> CheckpointStorage {
    let dark = Arc::clone(is_dark);
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
    CheckpointStorage::new(faulty, "")
}

/// The second of a job's checkpoints has such a fate; the job goes on, and its process dies. The number of
/// the one that the next goes on from.
fn goes_on_from(fate: Fate, visible: &Visible<u64>) -> u64 {
    let shelf = Shelf::new();
    let is_dark = Arc::<AtomicBool>::default();
    let mut stand = Stand::new(&job(faulty(&shelf, &is_dark, fate), visible));
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

/// Whether it was written or not: a job that keeps none leaves none that another start would go on from.
#[test]
fn t195_a_record_that_may_be_written_is_kept_no_more_than_others_when_the_job_is_over() {
    watched(|| {
        for fate in [Fate::Written, Fate::NotWritten, Fate::Panics] {
            for is_over_first in [false, true] {
                let (shelf, is_dark) = (Shelf::new(), Arc::<AtomicBool>::default());
                let settings = manual().retention(RetentionPolicy::Never);
                let storage = faulty(&shelf, &is_dark, fate);
                let job = job_with(settings, storage, &Visible::new());
                let mut stand = Stand::new(&job);
                stand.go_on();
                let promise = stand.trigger();
                stand.step_without(&[]).unwrap();
                assert!(stand.job.run_beside() && stand.job.run_beside());
                stand.step_without(&[]).unwrap();
                is_dark.store(true, Ordering::Relaxed);
                if is_over_first {
                    stand.job.cancel();
                }
                assert!(stand.job.run_beside());
                is_dark.store(false, Ordering::Relaxed);
                let _ended = stand.step_without(&[]);
                stand.job.cancel();
                let failure = promise.wait().unwrap_err();
                assert_eq!(failure.reason, CheckpointFailureReason::FinalizeFailure);
                while stand.job.run_beside() {
                    let _step = stand.job.step_checkpoints(Budget::letters(50)).unwrap();
                }
                let at = format!("{fate:?} {is_over_first}");
                assert!(shelf.storage().latest().unwrap().is_none(), "{at}");
                let files = shelf.files();
                let mut states = files.iter().filter(|file| file.starts_with("chk-"));
                assert_eq!(states.next(), None, "{at}");
            }
        }
    });
}

/// Its answer comes too late for its checkpoint; what it names is kept all the same.
#[test]
fn k49_a_record_that_is_written_when_nobody_waits_for_it_any_more_is_whole() {
    watched(|| {
        let (shelf, visible) = (Shelf::new(), Visible::new());
        let storage = shelf.storage().request_timeout(Duration::from_millis(500));
        let mut stand = Stand::new(&job(storage, &visible));
        stand.go_on();
        stand.advance_ms(100);
        let promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        // The states of both tasks; the record waits.
        assert!(stand.job.run_beside() && stand.job.run_beside());
        stand.step_without(&[]).unwrap();
        stand.advance_ms(500);
        stand.step_without(&[]).unwrap();
        let failure = promise.wait().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::FinalizeFailure);
        stand.go_on();
        std::mem::forget(stand);

        let mut stand = Stand::new(&job(shelf.storage(), &visible));
        stand.go_on();
        stand.advance_ms(1_000);
        let promise = stand.trigger();
        stand.go_on();
        assert_eq!(promise.wait().unwrap().id.get(), 2);
        let restored = stand.statistics().last_restored.unwrap();
        assert_eq!(restored.id.get(), 1);
        std::mem::forget(stand);
        let numbers = visible.sorted();
        assert!((0..numbers.len() as u64).eq(numbers));
    });
}

/// However late the answer is, the job does not go on behind another's back.
#[test]
fn who_hears_too_late_that_another_has_taken_over_ends_all_the_same() {
    watched(|| {
        let shelf = Shelf::new();
        let storage = shelf.storage().request_timeout(Duration::from_millis(500));
        let mut stand = Stand::new(&job(storage.clone(), &Visible::new()));
        stand.go_on();
        let promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        assert!(stand.job.run_beside() && stand.job.run_beside());
        stand.step_without(&[]).unwrap();
        stand.advance_ms(500);
        stand.step_without(&[]).unwrap();
        assert!(promise.wait().is_err());
        let _other = CommitChain::take_over(&storage, "numbers", 1, RestoreFrom::Latest).unwrap();
        while stand.job.run_beside() {}
        let failure = stand.step_without(&[]).unwrap_err();
        let says = "another coordinator";
        assert!(failure.to_string().contains(says), "{failure}");
        assert_eq!(stand.job.state(), JobState::Failed);
    });
}

//! Jobs that fail or end while a record is being written, or while their chain is taken over once more:
//! Q2 and Q3, T182; what a job goes on from that was told where to begin; and what a death has left, T184.

use super::engine;
use super::kit::{Shelf, Stand, Visible};
use super::scratch::Scratch;
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, RestoreFrom, RetentionPolicy};
use mailring::job::{Checkpointing, Job, JobCheckpoints, JobHandle, JobState, RestartStrategy};
use mailring::stream::{CheckpointId, Generator, StopMode};
use mailring::task::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Holds up who first writes a record, until it is let go of; all others, where they wait, until the record or
/// one behind it is there.
#[derive(Clone)]
struct Gate {
    file: String,
    shelf: Shelf,
    others_wait: bool,
    comers: Arc<AtomicU32>,
    is_open: Arc<AtomicBool>,
}

impl Gate {
    /// Around record number `number` of the chain; the first is the takeover's.
    fn at_record(shelf: &Shelf, number: u64) -> Self {
        Self {
            file: record(number),
            shelf: shelf.clone(),
            others_wait: false,
            comers: Arc::default(),
            is_open: Arc::default(),
        }
    }

    fn storage(&self) -> CheckpointStorage {
        let gate = self.clone();
        self.shelf.asked(move |file| {
            if file == gate.file {
                match gate.comers.fetch_add(1, Ordering::Relaxed) {
                    0 => until(|| gate.is_open.load(Ordering::Relaxed)),
                    _ if gate.others_wait => until(|| gate.is_behind_it()),
                    _ => {}
                }
            }
            true
        })
    }

    /// Whoever wrote it may have deleted it since.
    fn is_behind_it(&self) -> bool {
        let files = self.shelf.files();
        let mut records = files.iter().filter(|file| file.starts_with("chain/"));
        records.any(|record| *record >= self.file)
    }

    fn wait_for_a_comer(&self) {
        until(|| self.comers.load(Ordering::Relaxed) > 0);
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }
}

fn record(number: u64) -> String {
    format!("chain/{number:020}")
}

/// An endless job that fails when it is told to.
struct Numbers {
    job: JobHandle,
    checkpoints: JobCheckpoints,
    fails: Arc<AtomicBool>,
    visible: Visible<u64>,
}

impl Numbers {
    fn start(engine: &Engine, checkpointing: Checkpointing, restarts: u32) -> Self {
        let (visible, fails) = (Visible::new(), Arc::<AtomicBool>::default());
        let failing = Arc::clone(&fails);
        let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
        let job = Job::new("numbers")
            .checkpoints(checkpointing)
            .restart(RestartStrategy::fixed_delay(restarts, Duration::ZERO))
            .source("numbers", numbers)
            .forward()
            .named("sink")
            .try_map(move |number| match failing.swap(false, Ordering::Relaxed) {
                true => Err("on purpose"),
                false => Ok(number),
            })
            .sink("visible", visible.clone())
            .start(engine)
            .unwrap();
        Self {
            checkpoints: job.checkpoints().unwrap(),
            job,
            fails,
            visible,
        }
    }

    /// Completes a checkpoint as soon as all tasks run; its number.
    fn complete(&self) -> u64 {
        loop {
            if let Ok(summary) = self.checkpoints.trigger().wait() {
                return summary.id.get();
            }
            assert!(!self.job.has_ended(), "{:?}", self.job.snapshot());
        }
    }

    fn fail(&self) {
        self.fails.store(true, Ordering::Relaxed);
    }

    fn wait_until_it_restarts(&self) {
        until(|| self.job.snapshot().state == JobState::Restarting);
    }

    fn restored(&self) -> Option<u64> {
        let restored = self.checkpoints.statistics().last_restored;
        restored.map(|restored| restored.id.get())
    }
}

fn manual() -> CheckpointSettings {
    CheckpointSettings::manual().inline_state_max(0)
}

#[test]
fn t182_a_restart_waits_for_a_record_that_is_being_written_and_goes_on_from_it() {
    watched(|| {
        let (engine, shelf) = (engine(2), Shelf::new());
        let gate = Gate::at_record(&shelf, 3);
        let numbers = Numbers::start(&engine, Checkpointing::new(gate.storage(), manual()), 1);
        assert_eq!(numbers.complete(), 1);
        let second = numbers.checkpoints.trigger();
        gate.wait_for_a_comer();
        numbers.fail();
        numbers.wait_until_it_restarts();
        assert!(!shelf.files().contains(&record(3)));
        gate.open();
        assert_eq!(second.wait().unwrap().id.get(), 2);
        assert_eq!(numbers.complete(), 3);
        assert_eq!(numbers.restored(), Some(2));
        numbers.job.stop(StopMode::Drain);
        let report = numbers.job.wait().unwrap();
        assert_eq!((report.restarts, report.failures.len()), (1, 1));
        let visible = numbers.visible.sorted();
        assert!((0..visible.len() as u64).eq(visible));
    });
}

#[test]
fn a_job_that_ends_while_its_restart_waits_for_a_record_does_not_take_over_again() {
    watched(|| {
        let (engine, shelf) = (engine(2), Shelf::new());
        let gate = Gate::at_record(&shelf, 3);
        let numbers = Numbers::start(&engine, Checkpointing::new(gate.storage(), manual()), 9);
        assert_eq!(numbers.complete(), 1);
        let second = numbers.checkpoints.trigger();
        gate.wait_for_a_comer();
        numbers.fail();
        numbers.wait_until_it_restarts();
        numbers.job.cancel();
        until(|| numbers.job.has_ended());
        gate.open();
        assert_eq!(second.wait().unwrap().id.get(), 2);
        let _canceled = numbers.job.wait().unwrap_err();
        let latest = shelf.storage().latest().unwrap().expect("it is kept");
        assert_eq!(latest.checkpoint().id.get(), 2);
        assert!(!shelf.files().contains(&record(4)), "{:?}", shelf.files());
    });
}

/// Whoever takes over leaves the one before it without the right to delete: it falls to itself.
#[test]
fn a_job_that_ends_while_it_takes_over_again_keeps_what_its_policy_says() {
    watched(|| {
        for policy in [RetentionPolicy::Never, RetentionPolicy::Always] {
            let (engine, shelf) = (engine(2), Shelf::new());
            let gate = Gate {
                others_wait: true,
                ..Gate::at_record(&shelf, 3)
            };
            let checkpointing = Checkpointing::new(gate.storage(), manual().retention(policy));
            let numbers = Numbers::start(&engine, checkpointing, 9);
            assert_eq!(numbers.complete(), 1);
            numbers.fail();
            gate.wait_for_a_comer();
            numbers.job.cancel();
            until(|| numbers.job.has_ended());
            gate.open();
            let _canceled = numbers.job.wait().unwrap_err();
            let files = shelf.files();
            let has_state = files.iter().any(|file| file.starts_with("chk-"));
            assert_eq!(has_state, policy == RetentionPolicy::Always, "{files:?}");
        }
    });
}

/// Two checkpoints that are kept, of a job that is over.
fn begin(engine: &Engine, storage: &CheckpointStorage) {
    let checkpointing = Checkpointing::new(storage.clone(), manual().retained(2));
    let numbers = Numbers::start(engine, checkpointing, 0);
    assert_eq!((numbers.complete(), numbers.complete()), (1, 2));
    numbers.job.cancel();
    let _canceled = numbers.job.wait().unwrap_err();
}

/// It begins where it is told to, and again there as long as it has nothing of its own; then with that.
fn check_where_it_goes_on(engine: &Engine, checkpointing: Checkpointing, from: RestoreFrom) {
    let at = format!("{from:?}");
    let numbers = Numbers::start(engine, checkpointing.restore(from), 3);
    until(|| numbers.job.snapshot().records_in("sink") > 0);
    assert_eq!(numbers.restored(), Some(1), "{at}");
    numbers.fail();
    until(|| numbers.checkpoints.statistics().counts.restored == 2);
    assert_eq!(numbers.restored(), Some(1), "{at}");
    let own = numbers.complete();
    assert!(own > 1, "{at}");
    numbers.fail();
    until(|| numbers.checkpoints.statistics().counts.restored == 3);
    assert_eq!(numbers.restored(), Some(own), "{at}");
    assert!(numbers.complete() > own, "{at}");
    assert_eq!(numbers.job.snapshot().failures.len(), 2, "{at}");
    numbers.job.cancel();
    let _canceled = numbers.job.wait().unwrap_err();
}

#[test]
fn a_job_that_was_told_where_to_begin_goes_on_from_its_own_checkpoints_after_a_failure() {
    watched(|| {
        let engine = engine(2);
        let storage = CheckpointStorage::in_memory();
        begin(&engine, &storage);
        let first = CheckpointId::new(1).unwrap();
        let checkpointing = Checkpointing::new(storage, manual());
        check_where_it_goes_on(&engine, checkpointing, RestoreFrom::Checkpoint(first));

        let scratch = Scratch::new("begins");
        let local = || CheckpointStorage::local(scratch.folder()).unwrap();
        begin(&engine, &local());
        let path = scratch.path(&record(2));
        let elsewhere = Checkpointing::new(CheckpointStorage::in_memory(), manual());
        check_where_it_goes_on(&engine, elsewhere, RestoreFrom::Path(path.clone()));
        let here = Checkpointing::new(local(), manual());
        check_where_it_goes_on(&engine, here, RestoreFrom::Path(path));
    });
}

/// A run that comes to no checkpoint of its own leaves no more behind than it has found.
#[test]
fn t184_what_a_death_has_left_is_deleted_when_the_next_attempt_has_begun() {
    watched(|| {
        let shelf = Shelf::new();
        let has_state = || shelf.files().iter().any(|file| file.starts_with("chk-"));
        let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(shelf.storage(), manual()))
            .source("numbers", numbers)
            .forward()
            .named("sink")
            .sink("visible", Visible::<u64>::new());
        let mut stand = Stand::new(&job);
        stand.go_on();
        let _promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        // The states of both tasks are stored, and then the process dies.
        assert!(stand.job.run_beside() && stand.job.run_beside());
        std::mem::forget(stand);
        assert!(has_state());
        let engine = engine(1);
        let job = job.start(&engine).unwrap();
        until(|| !has_state());
        job.cancel();
        let _canceled = job.wait().unwrap_err();
    });
}

//! Sources of other kinds: with a loop of their own, which place checkpoints themselves, and that are fed.

use super::engine;
use super::kit::{At, Fails, Passing, Stand, Visible, once};
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobState, RestartStrategy};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, LegacySource, OperatorSnapshot, Polled, Record, Setting, Source, SourceContext,
    SourceFactory, SourceFunction, StopMode, Subtask,
};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts up to a number, in a loop of its own; what it has emitted in all runs is counted.
#[derive(Clone)]
struct Counting {
    to: u64,
    emitted: Arc<AtomicU64>,
}

impl SourceFunction for Counting {
    type Out = u64;
    /// The next number.
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut SourceContext<u64, u64>) -> Outcome {
        while context.is_running() {
            let mut hold = context.lock();
            let next = *hold;
            if next == self.to {
                break;
            }
            hold.emit(next)?;
            *hold += 1;
            self.emitted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn a_source_with_a_loop_goes_on_from_its_state_after_a_failure() {
    watched(|| {
        for step in [At::Prepare, At::Snapshot, At::Complete] {
            let visible = Visible::new();
            let counting = Counting {
                to: 5_000,
                emitted: Arc::default(),
            };
            let failing = Passing::new(once(step, 3, Fails::ByAPanic));
            let settings = CheckpointSettings::new(Duration::from_millis(1));
            let storage = CheckpointStorage::in_memory();
            let report = Job::new("counting")
                .checkpoints(Checkpointing::new(storage, settings))
                .restart(RestartStrategy::fixed_delay(3, Duration::ZERO))
                .source("numbers", LegacySource::new(counting))
                .rebalance()
                .parallelism(2)
                .transform("passing", move || failing)
                .sink("visible", visible.clone())
                .run(&engine(2))
                .unwrap();
            assert!(report.restarts <= 1);
            assert!((0..5_000).eq(visible.sorted()), "{step:?}");
        }
    });
}

#[test]
fn a_source_with_a_loop_is_stopped_and_goes_on_later() {
    watched(|| {
        let (visible, storage) = (Visible::new(), CheckpointStorage::in_memory());
        let counting = Counting {
            to: 200_000,
            emitted: Arc::default(),
        };
        let job = || {
            let settings = CheckpointSettings::new(Duration::from_millis(1));
            Job::new("counting")
                .checkpoints(Checkpointing::new(storage.clone(), settings))
                .source("numbers", LegacySource::new(counting.clone()))
                .forward()
                .sink("visible", visible.clone())
        };
        let engine = engine(2);
        let first = job().start(&engine).unwrap();
        until(|| counting.emitted.load(Ordering::Relaxed) > 100);
        first.stop(StopMode::NoDrain);
        first.wait().unwrap();
        let begun = visible.values().len() as u64;
        assert!((0..begun).eq(visible.values()));
        job().run(&engine).unwrap();
        assert!((0..200_000).eq(visible.values()));
        // Nothing was given twice.
        assert_eq!(counting.emitted.load(Ordering::Relaxed), 200_000);
    });
}

/// Emits two numbers in one hold of its lock, and the second one when somebody waits for the lock.
#[derive(Clone, Default)]
struct Holding {
    holds: Arc<AtomicU64>,
}

impl SourceFunction for Holding {
    type Out = u64;
    /// How many numbers it has emitted.
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut SourceContext<u64, u64>) -> Outcome {
        let mut hold = context.lock();
        hold.emit(1)?;
        self.holds.store(1, Ordering::Release);
        while hold.is_running() && !hold.has_waiters() {
            std::thread::yield_now();
        }
        hold.emit(2)?;
        *hold = 2;
        self.holds.store(2, Ordering::Release);
        drop(hold);
        while context.is_running() {
            std::thread::yield_now();
        }
        Ok(())
    }
}

#[test]
fn t181_a_checkpoint_waits_for_a_loop_that_blocks_with_its_lock() {
    watched(|| {
        let (visible, holding) = (Visible::new(), Holding::default());
        let storage = CheckpointStorage::in_memory();
        let settings = CheckpointSettings::manual();
        let engine = engine(1);
        let job = Job::new("holding")
            .checkpoints(Checkpointing::new(storage, settings))
            .source("numbers", LegacySource::new(holding.clone()))
            .forward()
            .sink("visible", visible.clone())
            .start(&engine)
            .unwrap();
        until(|| holding.holds.load(Ordering::Acquire) == 1);
        // It is refused until all tasks run.
        let checkpoints = job.checkpoints().unwrap();
        until(|| checkpoints.trigger().wait().is_ok());
        assert_eq!(holding.holds.load(Ordering::Acquire), 2);
        // All of the hold belongs to the checkpoint.
        until(|| !visible.values().is_empty());
        assert_eq!(visible.values(), [1, 2]);
        job.stop(StopMode::NoDrain);
        job.wait().unwrap();
    });
}

const NUMBERS: u64 = 100;
const BETWEEN: u64 = 10;

/// Places checkpoint n behind the first 10 n numbers.
#[derive(Clone, Default)]
struct Placing {
    next: u64,
    placed: u64,
}

impl Source for Placing {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let restored = setting.restored();
        if let Some(bytes) = restored.and_then(|of| of.managed_operator.first()) {
            self.next = postcard::from_bytes(bytes)?;
            self.placed = self.next / BETWEEN;
        }
        Ok(())
    }

    fn is_induced(&self) -> bool {
        true
    }

    fn poll(&mut self) -> Result<Polled<u64>, BoxError> {
        if self.next == BETWEEN * (self.placed + 1) {
            self.placed += 1;
            let id = NonZeroU64::new(self.placed).ok_or("counted from 1")?;
            return Ok(Polled::Checkpoint(CheckpointId(id)));
        }
        if self.next == NUMBERS {
            return Ok(Polled::End);
        }
        self.next += 1;
        Ok(Polled::Record(Record::new(self.next - 1)))
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let next = self.next;
        Ok(OperatorSnapshot::operator(move || {
            Ok(postcard::to_stdvec(&next)?)
        }))
    }
}

impl SourceFactory for Placing {
    type Out = u64;
    type Source = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[test]
fn a_source_that_places_checkpoints_has_each_where_it_is_through_all_restarts() {
    watched(|| {
        let (visible, storage) = (Visible::new(), CheckpointStorage::in_memory());
        let job = || {
            let settings = CheckpointSettings::manual();
            Job::new("placing")
                .checkpoints(Checkpointing::new(storage.clone(), settings))
                .source("numbers", Placing::default())
                .parallelism(2)
                .forward()
                .sink("visible", visible.clone())
        };
        for begins_at in [0, 3, 6] {
            let mut stand = Stand::new(&job());
            stand.go_on();
            // It waits at its place for the request.
            for id in begins_at + 1..=begins_at + 3 {
                let mut promise = stand.trigger();
                stand.go_on();
                let summary = promise.try_take().unwrap().unwrap();
                assert_eq!(summary.id.get(), id);
                let numbers = (0..id * BETWEEN).flat_map(|number| [number; 2]);
                assert!(numbers.eq(visible.sorted()));
            }
            if begins_at == 3 {
                // One whose record was not written: its number comes again.
                break_off(stand);
                continue;
            }
            std::mem::forget(stand);
        }
        let engine = engine(1);
        let last = job().start(&engine).unwrap();
        last.stop(StopMode::Drain);
        last.wait().unwrap();
    });
}

/// The process dies when a checkpoint is about to be stored.
fn break_off(mut stand: Stand) {
    let _promise = stand.trigger();
    stand.step_without(&[]).unwrap();
    assert_eq!(stand.job.state(), JobState::Running);
    std::mem::forget(stand);
}

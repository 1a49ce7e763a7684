//! What befalls tasks that wait for their last checkpoint: one behind them fails, or the job is stopped:
//! T127, T192.

use super::engine;
use super::kit::{At, Passing, Shelf, Stand, Visible, asked};
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointCause, CheckpointSettings};
use mailring::job::{Checkpointing, Job, JobState, RestartStrategy, RunError};
use mailring::letter::Outcome;
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::{FromIter, Setting, Sink, SinkFactory, StopMode, Subtask};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const NUMBERS: u64 = 100;

/// The second of two consumers to take the last checkpoint fails once the state of the first is stored.
fn failing_consumer(is_stored: &Arc<AtomicBool>) -> Passing {
    let (is_stored, taken) = (Arc::clone(is_stored), AtomicU32::new(0));
    Passing::new(move |at, _id| {
        if at != At::Snapshot || taken.fetch_add(1, Ordering::Relaxed) != 1 {
            return Ok(());
        }
        until(|| is_stored.load(Ordering::Relaxed));
        Err("on purpose".into())
    })
}

/// A source that has nothing to do but to wait, and two consumers of which one fails then.
fn consumers(visible: &Visible<u64>, strategy: RestartStrategy) -> Job {
    let is_stored = Arc::<AtomicBool>::default();
    let passing = failing_consumer(&is_stored);
    let storage = Shelf::new().asked(move |file| {
        if file.contains("/1-") {
            is_stored.store(true, Ordering::Relaxed);
        }
        true
    });
    let settings = CheckpointSettings::manual().inline_state_max(0);
    Job::new("two consumers")
        .checkpoints(Checkpointing::new(storage, settings))
        .restart(strategy)
        .source("numbers", FromIter::new(0..NUMBERS))
        .rebalance()
        .named("consumers")
        .parallelism(2)
        .transform("passing", move || passing)
        .sink("visible", visible.clone())
}

#[test]
fn t192_a_source_waits_no_longer_where_one_of_its_consumers_fails_behind_its_end() {
    watched(|| {
        let visible = Visible::new();
        let job = consumers(&visible, RestartStrategy::Never);
        let Err(RunError::Failed {
            task,
            cause,
            report,
        }) = job.run(&engine(3))
        else {
            panic!("it went on");
        };
        assert!(task.contains("/consumers/"), "{task}");
        assert!(cause.to_string().contains("on purpose"), "{cause}");
        // All had come to the end of their data, and all have ended.
        assert_eq!(report.tasks.len(), 3);
        assert_eq!(report.records_in("consumers"), NUMBERS);
        assert!(visible.values().is_empty(), "no checkpoint is complete");
    });
}

#[test]
fn t192_the_job_goes_on_if_its_strategy_says_so_and_then_the_source_ends() {
    watched(|| {
        let visible = Visible::new();
        let job = consumers(&visible, RestartStrategy::fixed_delay(1, Duration::ZERO));
        let report = job.run(&engine(3)).unwrap();
        assert_eq!((report.restarts, report.failures.len()), (1, 1));
        assert!((0..NUMBERS).eq(visible.sorted()));
    });
}

/// How often it was told that its data has ended, and finished by that.
#[derive(Clone, Default)]
struct Ends(Arc<AtomicU32>);

impl<T: 'static> SinkFactory<T> for Ends {
    type Sink = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, mailring::letter::BoxError> {
        Ok(self)
    }
}

impl<T> Sink<T> for Ends {
    fn open(&mut self, _setting: &Setting) -> Outcome {
        Ok(())
    }

    fn record(&mut self, _record: mailring::stream::Record<T>) -> Outcome {
        Ok(())
    }

    fn finish(&mut self) -> Outcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Stopped again, a job that has come to its end by itself still waits for its last checkpoint, and ends by
/// that.
#[test]
fn t127_a_job_that_is_stopped_while_it_waits_for_its_last_checkpoint_ends_by_that() {
    watched(|| {
        for mode in [StopMode::Drain, StopMode::NoDrain] {
            let records = AtomicU32::new(0);
            // The takeover's, and then three that are refused: the first try fails.
            let storage = asked(move |file| {
                !file.starts_with("chain/")
                    || !(1..4).contains(&records.fetch_add(1, Ordering::Relaxed))
            });
            let ends = Ends::default();
            let job = || {
                let settings = CheckpointSettings::manual().tolerable_failures(u32::MAX);
                Job::new("short")
                    .checkpoints(Checkpointing::new(storage.clone(), settings))
                    .source("numbers", FromIter::new(0..NUMBERS))
                    .forward()
                    .named("sink")
                    .sink("ends", ends.clone())
            };
            let mut stand = Stand::new(&job());
            stand.go_on();
            assert_eq!(stand.statistics().counts.failed.total(), 1);
            assert_eq!(ends.0.load(Ordering::Relaxed), 1);
            stand.job.stop(mode);
            stand.go_on();
            assert_eq!(stand.job.state(), JobState::Running, "{mode:?}");
            for task in 0..2 {
                let step = stand.job.step(task, Budget::letters(50)).unwrap();
                assert!(matches!(step, Step::Idle), "{step:?}");
            }
            stand.advance_ms(2_000);
            stand.go_on();
            assert_eq!(stand.job.state(), JobState::Finished, "{mode:?}");
            assert_eq!(ends.0.load(Ordering::Relaxed), 1, "{mode:?}");
            let completed = stand.statistics().last_completed.unwrap();
            assert_eq!(completed.cause, CheckpointCause::Final);
            assert_eq!(stand.job.report().records_in("sink"), NUMBERS);
            // It is over: nothing is left to be done later.
            let mut again = Stand::new(&job());
            again.advance_ms(2_000);
            again.go_on();
            assert_eq!(again.job.state(), JobState::Finished, "{mode:?}");
            assert_eq!(again.job.report().records_in("sink"), 0, "{mode:?}");
            assert_eq!(ends.0.load(Ordering::Relaxed), 1, "{mode:?}");
        }
    });
}

//! Storage that does not answer holds a job up for a time, and no longer.

use super::kit::{At, Fails, Passing, Shelf, Stand, Visible, once};
use super::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStorage, CommitChain, RestoreFrom,
};
use mailring::job::{Checkpointing, Job, JobError, JobHandle, RestartStrategy};
use mailring::stream::{Discard, Generator, StopMode};
use mailring::task::Engine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(1);

/// Where the first that writes a file is held up until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Passage>, Condvar)>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Passage {
    #[default]
    Free,
    Closed,
    Open,
}

impl Gate {
    /// Comes by; who comes first waits.
    fn pass(&self) {
        let (passage, opened) = &*self.0;
        let mut passage = passage.lock().unwrap();
        if *passage == Passage::Free {
            *passage = Passage::Closed;
            while *passage == Passage::Closed {
                passage = opened.wait(passage).unwrap();
            }
        }
    }

    fn holds_somebody_up(&self) -> bool {
        *self.0.0.lock().unwrap() == Passage::Closed
    }

    fn is_nobody_elses(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = Passage::Open;
        self.0.1.notify_all();
    }

    /// Storage in which whoever first writes `file` is held up.
    fn before(&self, shelf: &Shelf, file: &'static str) -> CheckpointStorage {
        let gate = self.clone();
        let storage = shelf.asked(move |written| {
            if written == file {
                gate.pass();
            }
            true
        });
        storage.request_timeout(TIMEOUT)
    }
}

fn engine(clock: &ManualClock) -> Engine {
    let engine = Engine::builder().threads(1).clock(clock.clone());
    engine.build().unwrap()
}

/// Lets time pass until the job has begun again so often.
fn restarted(job: &JobHandle, clock: &ManualClock, times: u32) {
    until(|| {
        clock.advance(TIMEOUT);
        job.snapshot().restarts >= times
    });
}

#[test]
fn a_checkpoint_whose_record_is_not_answered_has_failed_and_the_answer_is_heeded() {
    watched(|| {
        let storage = CheckpointStorage::in_memory().request_timeout(TIMEOUT);
        let settings = CheckpointSettings::manual()
            .timeout(60 * TIMEOUT)
            .tolerable_failures(10);
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage.clone(), settings))
            .source("numbers", numbers)
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let mut first = stand.trigger();
        stand.step_without(&[]).unwrap();
        assert!(stand.job.run_beside(), "the state is stored");
        stand.step_without(&[]).unwrap();
        // The record is to be written now, and is not.
        stand.advance_ms(999);
        stand.step_without(&[]).unwrap();
        assert!(first.try_take().is_none());
        stand.advance_ms(1);
        stand.step_without(&[]).unwrap();
        let failure = first.try_take().unwrap().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::FinalizeFailure);
        assert_eq!(
            &*failure.detail,
            "the storage has not answered within 1s, and it is not known whether the record of \
             checkpoint 1 was created"
        );
        assert_eq!(stand.statistics().counts.failed.total(), 1);
        // It is, after all.
        assert!(stand.job.run_beside());
        assert_eq!(storage.latest().unwrap().unwrap().checkpoint().id.get(), 1);
        let mut second = stand.trigger();
        stand.go_on();
        assert_eq!(second.try_take().unwrap().unwrap().id.get(), 2);
        assert_eq!(storage.latest().unwrap().unwrap().checkpoint().id.get(), 2);
    });
}

#[test]
fn a_record_that_was_answered_in_time_is_not_waited_for_any_more() {
    watched(|| {
        let storage = CheckpointStorage::in_memory().request_timeout(TIMEOUT);
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        for id in 1..=3 {
            let promise = stand.trigger();
            stand.go_on();
            assert_eq!(promise.wait().unwrap().id.get(), id);
            stand.advance_ms(2_000);
            stand.go_on();
        }
        let counts = stand.statistics().counts;
        assert_eq!((counts.completed, counts.failed.total()), (3, 0));
    });
}

#[test]
fn a_job_waits_for_a_record_for_a_time_and_goes_on_from_it_when_it_is_answered() {
    watched(|| {
        let (clock, gate, shelf) = (ManualClock::new(), Gate::default(), Shelf::new());
        let engine = engine(&clock);
        let storage = gate.before(&shelf, "chain/00000000000000000002");
        let settings = CheckpointSettings::manual().timeout(600 * TIMEOUT);
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, settings))
            .restart(RestartStrategy::fixed_delay(1_000, Duration::ZERO))
            .source(
                "numbers",
                Generator::new(|number| number).per_second(1).unwrap(),
            )
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| {
            // One that comes before all tasks run is refused.
            let _promise = checkpoints.trigger();
            gate.holds_somebody_up()
        });
        restarted(&job, &clock, 3);
        let failures = job.snapshot().failures;
        let causes: Vec<_> = failures.iter().map(|of| of.cause.to_string()).collect();
        assert!(
            causes[0].contains("whether the record of checkpoint 1 was created"),
            "{causes:?}"
        );
        assert!(
            causes[1].contains("what became of the record of the last checkpoint"),
            "{causes:?}"
        );
        assert!(shelf.files().iter().all(|file| !file.ends_with("3")));
        gate.open();
        until(|| checkpoints.statistics().last_restored.is_some());
        let restored = checkpoints.statistics().last_restored.unwrap();
        assert_eq!(restored.id.get(), 1);
        job.stop(StopMode::NoDrain);
        job.wait().unwrap();
    });
}

/// The time that the one before has not used is not counted against it.
#[test]
fn each_attempt_waits_for_a_record_for_a_time_of_its_own() {
    watched(|| {
        let (clock, shelf) = (ManualClock::new(), Shelf::new());
        let engine = engine(&clock);
        let gates = [Gate::default(), Gate::default()];
        let [first, second] = gates.clone();
        let storage = shelf.asked(move |file| {
            match file {
                "chain/00000000000000000002" => first.pass(),
                "chain/00000000000000000004" => second.pass(),
                _ => {}
            }
            true
        });
        let storage = storage.request_timeout(TIMEOUT);
        let settings = CheckpointSettings::manual().timeout(600 * TIMEOUT);
        let fails = Arc::new(AtomicBool::new(false));
        let failing = Arc::clone(&fails);
        let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, settings))
            .restart(RestartStrategy::fixed_delay(1_000, Duration::ZERO))
            .source("numbers", numbers)
            .try_map(
                move |number: u64| match failing.swap(false, Ordering::Relaxed) {
                    true => Err("on purpose"),
                    false => Ok(number),
                },
            )
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        // What is asked behind it is answered behind it.
        let has_begun_to_wait = |restarts| {
            until(|| job.snapshot().restarts == restarts);
            let _told = checkpoints.statistics();
        };
        let trigger_until_held_up = |gate: &Gate| {
            until(|| {
                // One that comes before all tasks run is refused.
                let _promise = checkpoints.trigger();
                gate.holds_somebody_up()
            });
        };
        trigger_until_held_up(&gates[0]);
        clock.advance(TIMEOUT);
        has_begun_to_wait(1);
        clock.advance(TIMEOUT / 4);
        gates[0].open();
        until(|| checkpoints.statistics().last_restored.is_some());
        trigger_until_held_up(&gates[1]);
        fails.store(true, Ordering::Relaxed);
        clock.advance(TIMEOUT / 4);
        has_begun_to_wait(2);
        // More than the first one might have waited, and less than the second may.
        clock.advance(TIMEOUT / 2);
        for _ in 0..3 {
            let _told = checkpoints.statistics();
        }
        gates[1].open();
        until(|| {
            let restored = checkpoints.statistics().last_restored;
            restored.is_some_and(|of| of.id.get() > 1)
        });
        let failures = job.snapshot().failures;
        assert_eq!(failures.len(), 2, "{failures:?}");
        job.stop(StopMode::NoDrain);
        job.wait().unwrap();
    });
}

#[test]
fn an_attempt_that_is_not_answered_is_given_up_and_the_next_one_is_not_fenced_by_it() {
    watched(|| {
        let (clock, gate, shelf) = (ManualClock::new(), Gate::default(), Shelf::new());
        let engine = engine(&clock);
        // The first attempt has taken over by the first record.
        let storage = gate.before(&shelf, "chain/00000000000000000002");
        let visible = Visible::new();
        let failing = Passing::new(once(At::Open, 1, Fails::ByAnError));
        let job = Job::new("numbers")
            .parallelism(2)
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .restart(RestartStrategy::fixed_delay(1_000, Duration::ZERO))
            .source("numbers", Generator::new(|number| number).count(100))
            .transform("passing", move || failing.clone())
            .sink("visible", visible.clone())
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| gate.holds_somebody_up());
        restarted(&job, &clock, 2);
        let cause = job.snapshot().failures[1].cause.to_string();
        assert!(cause.contains("what the job is to begin with"), "{cause}");
        until(|| checkpoints.statistics().last_completed.is_some());
        gate.open();
        job.wait().unwrap();
        assert_eq!(visible.sorted(), (0..100).collect::<Vec<u64>>());
        // Who was held up has written nothing when it went on.
        let last = checkpoints.statistics().last_completed.unwrap().id;
        let (_, restored) =
            CommitChain::take_over(&shelf.storage(), "numbers", 1, RestoreFrom::Latest).unwrap();
        assert_eq!(restored.unwrap().checkpoint().id, last);
    });
}

#[test]
fn a_job_that_has_failed_by_what_is_not_answered_does_not_wait_for_it_once_more() {
    watched(|| {
        let (clock, gate, shelf) = (ManualClock::new(), Gate::default(), Shelf::new());
        let engine = engine(&clock);
        let storage = gate.before(&shelf, "chain/00000000000000000002");
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| {
            let _promise = checkpoints.trigger();
            gate.holds_somebody_up()
        });
        until(|| {
            clock.advance(TIMEOUT);
            job.has_ended()
        });
        let begun = Instant::now();
        let why = job.wait().unwrap_err().to_string();
        drop(engine);
        // What is left to be done is waited for by the system's clock, for 30 seconds each.
        assert!(begun.elapsed() < Duration::from_secs(25));
        assert!(why.contains("the record of checkpoint 1"), "{why}");
        gate.open();
    });
}

/// It has not taken the chain over before: then whoever has it would be left alone in any case.
#[test]
fn a_start_that_is_not_answered_is_refused_and_takes_nothing_from_who_comes_next() {
    fn start(
        clock: &ManualClock,
        storage: CheckpointStorage,
    ) -> (Engine, Result<JobHandle, JobError>) {
        let engine = engine(clock);
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .sink("discard", Discard)
            .start(&engine);
        (engine, job)
    }
    watched(|| {
        let (clock, gate, shelf) = (ManualClock::new(), Gate::default(), Shelf::new());
        let storage = gate.before(&shelf, "chain/00000000000000000001");
        let first = {
            let clock = clock.clone();
            thread::spawn(move || {
                let (_engine, job) = start(&clock, storage);
                job.map(drop).unwrap_err().to_string()
            })
        };
        until(|| gate.holds_somebody_up());
        until(|| {
            clock.advance(TIMEOUT);
            first.is_finished()
        });
        let why = first.join().unwrap();
        assert!(why.contains("what the job is to begin with"), "{why}");
        let (_engine, second) = start(&clock, shelf.storage());
        let second = second.unwrap();
        gate.open();
        // Whoever was held up has ended.
        until(|| gate.is_nobody_elses());
        let checkpoints = second.checkpoints().unwrap();
        until(|| checkpoints.trigger().wait().is_ok());
        second.stop(StopMode::NoDrain);
        second.wait().unwrap();
        let records = shelf.files();
        let records = records.iter().filter(|file| file.starts_with("chain/"));
        assert_eq!(records.count(), 2, "a take-over, and a checkpoint");
    });
}

#[test]
fn an_older_checkpoint_that_cannot_be_read_stops_no_job() {
    watched(|| {
        let shelf = Shelf::new();
        let begin = || {
            let settings = CheckpointSettings::manual().retained(2);
            let numbers = Generator::new(|number| number).per_second(1).unwrap();
            let job = Job::new("numbers")
                .checkpoints(Checkpointing::new(shelf.storage(), settings))
                .source("numbers", numbers)
                .sink("discard", Discard);
            let mut stand = Stand::new(&job);
            stand.go_on();
            stand
        };
        let take = |stand: &mut Stand| {
            let mut promise = stand.trigger();
            stand.go_on();
            promise.try_take().unwrap().unwrap().id.get()
        };
        let mut stand = begin();
        assert_eq!([take(&mut stand), take(&mut stand)], [1, 2]);
        // Neither run ends.
        std::mem::forget(stand);
        shelf.change("chain/00000000000000000002", |bytes| bytes.truncate(40));
        let mut stand = begin();
        assert_eq!(stand.statistics().last_restored.unwrap().id.get(), 2);
        assert_eq!([take(&mut stand), take(&mut stand)], [3, 4]);
        let files = shelf.files();
        let records: Vec<_> = files.iter().filter(|of| of.starts_with("chain/")).collect();
        assert_eq!(records.len(), 3, "{files:?}");
    });
}

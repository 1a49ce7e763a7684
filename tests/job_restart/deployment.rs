//! Attempts that cannot be deployed, and what attempts leave behind.

use mailring::ManualClock;
use mailring::job::{Job, JobError, JobState, RestartStrategy, RunError};
use mailring::stream::{Collect, Discard, FromIter};
use mailring::task::{Engine, Shutdown, TaskHandle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crate::failing::{Failing, How, failing, of_attempt, until_state};
use crate::watchdog::{until, watched};

const DELAY: Duration = Duration::from_secs(1);

fn engine(clock: &ManualClock, threads: usize, slots: &[&str]) -> Engine {
    let engine = Engine::builder().threads(threads).clock(clock.clone());
    engine.slots(slots.iter().copied()).build().unwrap()
}

/// A task that has a slot of that thread.
fn squatter(engine: &Engine, thread: usize) -> TaskHandle<()> {
    let task = engine.task("squatter").on_thread(thread);
    task.spawn(|_cx| ()).unwrap()
}

#[test]
fn a_restart_without_slots_is_a_failure_like_another() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = engine(&clock, 1, &["a", "b"]);
        let out = Collect::new();
        let job = Job::new("job").restart(RestartStrategy::fixed_delay(9, DELAY));
        let job = failing(job, 100, Failing::new(How::AtRecord(3), 1), &out);
        let job = job.start(&engine).unwrap();
        until_state(&job, JobState::Restarting);
        let squatter = squatter(&engine, 0);
        for failures in [2, 3] {
            clock.advance(DELAY);
            until(|| job.snapshot().failures.len() == failures);
            until_state(&job, JobState::Restarting);
        }
        squatter.cancel();
        squatter.join().unwrap();
        clock.advance(DELAY);
        let report = job.wait().unwrap();
        assert_eq!(report.restarts, 3);
        let failures = report.failures.iter();
        let told: Vec<_> = failures
            .map(|failure| format!("{}: {}", failure.task, failure.cause))
            .collect();
        let no_slots = "job: deployment: the job needs 2 slots and 1 are free";
        assert_eq!(
            told,
            [
                "job/failing/0: default action: no luck at a record",
                no_slots,
                no_slots
            ]
        );
        assert!((0..100).eq(of_attempt(&out.take(), 4)));
    });
}

#[test]
fn what_was_deployed_of_an_attempt_ends_where_the_rest_cannot_be() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = engine(&clock, 3, &["only"]);
        let out = Collect::new();
        let fails = Failing::new(How::AtRecord(3), 1);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(2, DELAY))
            .source("numbers", FromIter::new(0..100_u64))
            .on_thread(0)
            .forward()
            .named("failing")
            .on_thread(1)
            .transform("fail", move || fails)
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        until_state(&job, JobState::Restarting);
        // Slots enough are free, but the source's thread has none. Its taker comes first.
        let squatter = squatter(&engine, 0);
        clock.advance(DELAY);
        until(|| job.snapshot().failures.len() == 2);
        until_state(&job, JobState::Restarting);
        assert_eq!(engine.handle().free_slots(), Some(2));
        squatter.cancel();
        squatter.join().unwrap();
        clock.advance(DELAY);
        assert_eq!(job.wait().unwrap().restarts, 2);
        assert!((0..100).eq(of_attempt(&out.take(), 3)));
    });
}

#[test]
fn a_job_without_slots_from_the_start_is_not_started() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = engine(&clock, 3, &["only"]);
        let job = || {
            Job::new("job")
                .restart(RestartStrategy::fixed_delay(2, DELAY))
                .source("numbers", FromIter::new(0..100_u64))
                .on_thread(0)
                .forward()
                .on_thread(1)
                .sink("discard", Discard)
        };
        let squatter = squatter(&engine, 0);
        assert!(matches!(
            job().start(&engine).unwrap_err(),
            JobError::TooFewSlots { needed: 2, .. }
        ));
        squatter.cancel();
        squatter.join().unwrap();
        // The taker may not have given its slot back yet.
        until(|| engine.handle().free_slots() == Some(3));
        job().run(&engine).unwrap();
    });
}

/// Panics when it is copied, where that is armed.
#[derive(Debug)]
struct Panicking(Arc<AtomicBool>);

impl Clone for Panicking {
    fn clone(&self) -> Self {
        assert!(!self.0.load(SeqCst), "copied on purpose");
        Self(Arc::clone(&self.0))
    }
}

#[test]
fn a_factory_that_panics_fails_the_attempt_and_not_the_master() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = engine(&clock, 1, &["a", "b"]);
        let out = Collect::new();
        let is_armed = Arc::new(AtomicBool::new(false));
        let panicking = Panicking(Arc::clone(&is_armed));
        let fails = Failing::new(How::AtRecord(3), 1);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(2, DELAY))
            .source("numbers", FromIter::new(0..100_u64))
            .map(move |number| {
                let _there = &panicking;
                number
            })
            .forward()
            .named("failing")
            .transform("fail", move || fails)
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        until_state(&job, JobState::Restarting);
        is_armed.store(true, SeqCst);
        clock.advance(DELAY);
        until(|| job.snapshot().failures.len() == 2);
        until_state(&job, JobState::Restarting);
        // The taker, which was deployed, has ended.
        assert_eq!(engine.handle().free_slots(), Some(2));
        is_armed.store(false, SeqCst);
        clock.advance(DELAY);
        let report = job.wait().unwrap();
        let cause = &report.failures[1].cause;
        assert_eq!(cause.to_string(), "deployment panicked: copied on purpose");
        assert!((0..100).eq(of_attempt(&out.take(), 3)));
    });
}

#[test]
fn a_feed_goes_on_with_what_it_has_not_given_and_ends_with_the_job() {
    watched(|| {
        let engine = crate::failing::engine(1);
        let (feeder, source) = mailring::stream::feed(16).unwrap();
        let out = Collect::new();
        let fails = Failing::new(How::AtRecord(0), 2);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(2, Duration::ZERO))
            .source("outside", source)
            .transform("fail", move || fails)
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        // The first two fail an attempt each.
        for number in 0..10_u64 {
            feeder.send(number).unwrap();
        }
        until(|| job.snapshot().records_in("outside") == 8);
        job.cancel();
        let RunError::Canceled(report) = job.wait().unwrap_err() else {
            panic!("it was cancelled")
        };
        assert_eq!(report.restarts, 2);
        assert!((2..10).eq(of_attempt(&out.take(), 3)));
        assert!(feeder.is_closed());
    });
}

#[test]
fn a_hundred_restarts_leave_nothing_behind() {
    watched(|| {
        let engine = Engine::builder()
            .threads(2)
            .slots(["a", "b"])
            .build()
            .unwrap();
        let job = |fails| {
            Job::new("job")
                .restart(RestartStrategy::fixed_delay(100, Duration::ZERO))
                .source("numbers", FromIter::new(0..100_u64))
                .rebalance()
                .parallelism(3)
                .transform("fail", move || fails)
                .sink("discard", Discard)
        };
        let report = job(Failing::new(How::AtRecord(3), 100))
            .run(&engine)
            .unwrap();
        assert_eq!(report.restarts, 100);
        assert_eq!(
            report.failures.len(),
            mailring::job::JobReport::FAILURES_MAX
        );
        // Every slot is needed again.
        assert_eq!(engine.handle().free_slots(), Some(4));
        let report = job(Failing::new(How::InOpen, 0)).run(&engine).unwrap();
        assert_eq!(report.records_in("rebalance"), 100);
        until(|| engine.snapshot().tasks.is_empty());
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

/// Is dropped without panicking by everybody but who looks after the job.
#[derive(Clone)]
struct PanicsAtTheMaster;

impl Drop for PanicsAtTheMaster {
    fn drop(&mut self) {
        let thread = std::thread::current();
        if thread
            .name()
            .is_some_and(|name| name.starts_with("job-master"))
        {
            // Without the panic hook, which would print a backtrace.
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }
}

#[test]
fn what_a_job_was_made_of_may_panic_when_it_is_dropped() {
    watched(|| {
        let engine = Engine::builder().threads(1).build().unwrap();
        for strategy in [
            RestartStrategy::Never,
            RestartStrategy::fixed_delay(1, Duration::ZERO),
        ] {
            let kept = [PanicsAtTheMaster, PanicsAtTheMaster];
            let [first, second] = kept.clone();
            let report = Job::new("job")
                .restart(strategy)
                .source("numbers", FromIter::new(0..100_u64))
                .map(move |number| (number, &first).0)
                .rebalance()
                .map(move |number| (number, &second).0)
                .sink("discard", Discard)
                .run(&engine)
                .unwrap();
            assert_eq!(report.records_in("numbers"), 100);
        }
    });
}

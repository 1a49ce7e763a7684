//! Attempts that fail, and those that follow them.

use mailring::job::{Job, JobState, RestartStrategy, RunError};
use mailring::stream::Collect;
use mailring::{Clock, ManualClock};
use std::time::Duration;

use crate::failing::{Failing, How, engine, failing, of_attempt, until_state};
use crate::watchdog::{until, watched};

fn at_once(attempts: u32) -> RestartStrategy {
    RestartStrategy::fixed_delay(attempts, Duration::ZERO)
}

#[test]
fn a_job_that_fails_twice_gives_the_third_time_what_it_has_to() {
    watched(|| {
        for (threads, how, cause) in [
            (1, How::AtRecord(700), "no luck at a record"),
            (2, How::AtRecord(0), "no luck at a record"),
            (2, How::PanicAtRecord(700), "a record on purpose"),
            (1, How::InOpen, "no luck at the opening"),
            (2, How::PanicInOpen, "opening on purpose"),
        ] {
            let engine = engine(threads);
            let out = Collect::new();
            let job = Job::new("job").restart(at_once(2)).channel_capacity(16);
            let job = failing(job, 1_000, Failing::new(how, 2), &out);
            let report = job.run(&engine).unwrap();
            assert_eq!(
                (report.state, report.restarts),
                (JobState::Finished, 2),
                "{how:?}"
            );
            // The report is of the last attempt, and of what failed the others.
            assert_eq!(report.records_in("failing"), 1_000);
            assert!(report.tasks.iter().all(|task| task.attempt == 3));
            let failures = report.failures.iter();
            let attempts: Vec<_> = failures
                .map(|failure| {
                    assert_eq!(&*failure.task, "job/failing/0");
                    assert!(failure.cause.to_string().contains(cause), "{failure:?}");
                    let attempt = format!("job/failing/0 failed in attempt {}, ", failure.attempt);
                    let words = failure.to_string();
                    assert!(
                        words.starts_with(&attempt) && words.ends_with(&failure.cause.to_string())
                    );
                    failure.attempt
                })
                .collect();
            assert_eq!(attempts, [1, 2]);
            // What the others made is a beginning of it.
            let out = out.take();
            assert!((0..1_000).eq(of_attempt(&out, 3)));
            for attempt in [1, 2] {
                let made = of_attempt(&out, attempt);
                assert!((0..made.len() as u64).eq(made.iter().copied()));
                match how {
                    How::AtRecord(at) | How::PanicAtRecord(at) => {
                        assert_eq!(made.len() as u64, at);
                    }
                    How::InOpen | How::PanicInOpen => assert_eq!(made, []),
                }
            }
        }
    });
}

#[test]
fn a_job_is_given_up_after_its_attempts_and_tells_all_that_failed_it() {
    watched(|| {
        let engine = engine(2);
        let out = Collect::new();
        let job = Job::new("job").restart(at_once(2));
        let always = Failing::new(How::AtRecord(5), u32::MAX);
        let error = failing(job, 100, always, &out).run(&engine).unwrap_err();
        assert_eq!(
            error.to_string(),
            "task job/failing/0 failed after 2 restarts: default action: no luck at a record"
        );
        let RunError::Failed { task, report, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(&*task, "job/failing/0");
        assert_eq!((report.state, report.restarts), (JobState::Failed, 2));
        let attempts = report.failures.iter().map(|failure| failure.attempt);
        assert!(attempts.eq(1..=3));
        assert_eq!(out.take().len(), 3 * 5);
    });
}

#[test]
fn without_a_strategy_the_first_failure_ends_the_job() {
    watched(|| {
        let engine = engine(1);
        let out = Collect::new();
        let once = Failing::new(How::AtRecord(5), 1);
        let job = failing(Job::new("job"), 100, once, &out);
        let error = job.run(&engine).unwrap_err();
        assert_eq!(
            error.to_string(),
            "task job/failing/0 failed: default action: no luck at a record"
        );
        let RunError::Failed { report, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((report.restarts, report.failures.len()), (0, 1));
    });
}

#[test]
fn attempts_are_counted_from_the_first_ones_number() {
    watched(|| {
        let engine = engine(1);
        let out = Collect::new();
        let job = Job::new("job").attempt(5).restart(at_once(9));
        let job = failing(job, 10, Failing::new(How::AtRecord(5), 6), &out);
        let report = job.run(&engine).unwrap();
        assert_eq!(report.restarts, 2);
        assert_eq!(report.tasks[0].attempt, 7);
        let attempts = report.failures.iter().map(|failure| failure.attempt);
        assert!(attempts.eq(5..=6));
    });
}

#[test]
fn several_tasks_that_fail_together_are_one_failure() {
    watched(|| {
        let engine = engine(2);
        let out = Collect::new();
        // Were each of them counted, the attempts would not do.
        let fails = Failing::new(How::AtRecord(0), 3);
        let report = Job::new("job")
            .restart(at_once(3))
            .parallelism(8)
            .source("numbers", mailring::stream::FromIter::new(0..800_u64))
            .rebalance()
            .transform("fail", move || fails)
            .sink("collect", out.clone())
            .run(&engine)
            .unwrap();
        assert_eq!((report.restarts, report.failures.len()), (3, 3));
        let mut last = of_attempt(&out.take(), 4);
        last.sort_unstable();
        assert!((0..800).eq(last));
    });
}

#[test]
fn the_delay_is_waited_for_by_the_engines_clock() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = mailring::task::Engine::builder()
            .threads(1)
            .clock(clock.clone())
            .build()
            .unwrap();
        let out = Collect::new();
        let delay = Duration::from_secs(10);
        let job = Job::new("job").restart(RestartStrategy::fixed_delay(5, delay));
        let job = failing(job, 10, Failing::new(How::AtRecord(5), 2), &out);
        let started = clock.now();
        let job = job.start(&engine).unwrap();
        for restarts in 0..2 {
            let failures = restarts as usize + 1;
            until(|| job.snapshot().failures.len() == failures);
            until_state(&job, JobState::Restarting);
            clock.advance(delay - Duration::from_nanos(1));
            let snapshot = job.snapshot();
            assert_eq!(
                (snapshot.state, snapshot.restarts),
                (JobState::Restarting, restarts)
            );
            assert!(!job.has_ended() && !job.wait_timeout(Duration::ZERO));
            clock.advance(Duration::from_nanos(1));
        }
        let report = job.wait().unwrap();
        assert_eq!(report.duration, clock.now() - started);
        let after: Vec<_> = report
            .failures
            .iter()
            .map(|failure| failure.after)
            .collect();
        assert_eq!(after, [Duration::ZERO, delay]);
    });
}

//! The handle of a job, through its restarts.

use mailring::ManualClock;
use mailring::job::{Job, JobHandle, JobState, RestartStrategy};
use mailring::stream::{Discard, FromIter, StopMode};
use mailring::task::{Engine, Shutdown};
use std::time::Duration;

use crate::failing::{Failing, How, engine};
use crate::watchdog::{until, watched};

/// Endless, and fails once.
fn endless() -> Job {
    let fails = Failing::new(How::AtRecord(100), 1);
    Job::new("job")
        .restart(RestartStrategy::fixed_delay(1, Duration::ZERO))
        .source("numbers", FromIter::new(0_u64..))
        .forward()
        .named("failing")
        .transform("fail", move || fails)
        .sink("discard", Discard)
}

/// Waits until the second attempt is deployed.
fn until_restarted(job: &JobHandle) {
    until(|| {
        let snapshot = job.snapshot();
        (snapshot.state, snapshot.restarts) == (JobState::Running, 1)
    });
}

#[test]
fn executors_and_snapshots_are_those_of_the_present_attempt() {
    watched(|| {
        let engine = engine(2);
        let job = endless().start(&engine).unwrap();
        until_restarted(&job);
        until(|| job.snapshot().missing == 0 && job.snapshot().records_in("failing") > 100);
        let snapshot = job.snapshot();
        assert_eq!((snapshot.state, snapshot.restarts), (JobState::Running, 1));
        assert!(snapshot.tasks.iter().all(|task| task.attempt == 2));
        assert_eq!(snapshot.failures.len(), 1);
        for vertex in ["numbers", "failing"] {
            let task = job.executor(vertex, 0).unwrap();
            let asked = task.ask(|task| format!("{task:?}")).unwrap();
            assert!(asked.wait().unwrap().contains(vertex));
        }
        assert!(job.executor("failing", 1).is_none());
        assert!(!job.has_ended());
        job.stop(StopMode::Drain);
        let report = job.wait().unwrap();
        assert_eq!((report.state, report.restarts), (JobState::Finished, 1));
        assert_eq!(report.records_in("numbers"), report.records_in("failing"));
    });
}

#[test]
fn a_snapshot_tells_of_one_attempt_though_the_next_one_begins_meanwhile() {
    const RESTARTS: u32 = 200;
    watched(|| {
        let engine = engine(2);
        let fails = Failing::new(How::AtRecord(3), RESTARTS);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(RESTARTS, Duration::ZERO))
            .source("numbers", FromIter::new(0_u64..))
            .forward()
            .named("failing")
            .transform("fail", move || fails)
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        loop {
            let snapshot = job.snapshot();
            if snapshot.state != JobState::Running {
                continue;
            }
            let attempt = 1 + snapshot.restarts;
            assert!(snapshot.tasks.iter().all(|task| task.attempt == attempt));
            let last = snapshot.failures.last();
            assert_eq!(last.map_or(1, |failure| failure.attempt + 1), attempt);
            if snapshot.restarts == RESTARTS {
                break;
            }
        }
        job.cancel();
        assert!(job.wait().is_err());
    });
}

#[test]
fn a_snapshot_of_a_job_that_has_ended_tells_how_long_it_took() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = Engine::builder().threads(1).clock(clock.clone());
        let engine = engine.build().unwrap();
        let job = endless().start(&engine).unwrap();
        clock.advance(Duration::from_secs(3));
        job.cancel();
        assert!(job.wait_timeout(Duration::MAX));
        clock.advance(Duration::from_secs(4));
        assert_eq!(job.snapshot().duration, Duration::from_secs(3));
        assert!(job.wait().is_err());
    });
}

#[test]
fn an_executor_of_an_attempt_that_is_over_takes_nothing_any_more() {
    watched(|| {
        let engine = engine(1);
        let held = std::sync::Barrier::new(2);
        let held = std::sync::Arc::new(held);
        let gate = std::sync::Arc::clone(&held);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(1, Duration::ZERO))
            .source("numbers", FromIter::new(0_u64..))
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let first = job.executor("numbers", 0).unwrap();
        first
            .execute(move |_task| {
                gate.wait();
                Err::<(), _>("on purpose")
            })
            .unwrap();
        held.wait();
        until_restarted(&job);
        assert!(first.execute(|_task| ()).is_err());
        let second = job.executor("numbers", 0).unwrap();
        second.ask(|_task| ()).unwrap().wait().unwrap();
        job.cancel();
        assert!(job.wait().is_err());
    });
}

#[test]
fn a_job_that_was_run_again_is_cancelled_and_waited_for_as_any() {
    watched(|| {
        let engine = engine(2);
        let job = endless().start(&engine).unwrap();
        until_restarted(&job);
        assert!(!job.wait_timeout(Duration::from_millis(1)));
        job.cancel();
        assert!(job.wait_timeout(Duration::MAX) && job.has_ended());
        let snapshot = job.snapshot();
        assert_eq!(snapshot.state, JobState::Canceled);
        let report = match job.wait().unwrap_err() {
            mailring::job::RunError::Canceled(report) => report,
            error => panic!("{error}"),
        };
        assert_eq!((report.restarts, report.failures.len()), (1, 1));
    });
}

#[test]
fn a_handle_that_is_dropped_cancels_the_present_attempt() {
    watched(|| {
        let engine = engine(1);
        let job = endless().start(&engine).unwrap();
        until_restarted(&job);
        until(|| !engine.snapshot().tasks.is_empty());
        drop(job);
        until(|| engine.snapshot().tasks.is_empty());
    });
}

#[test]
fn a_job_whose_tasks_somebody_cancels_is_not_run_again() {
    watched(|| {
        let engine = engine(1);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(5, Duration::ZERO))
            .source("numbers", FromIter::new(0_u64..))
            .forward()
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        // It cancels all tasks that it has.
        engine.shutdown(Shutdown::now()).unwrap();
        let report = match job.wait().unwrap_err() {
            mailring::job::RunError::Canceled(report) => report,
            error => panic!("{error}"),
        };
        assert_eq!((report.restarts, report.failures.len()), (0, 0));
    });
}

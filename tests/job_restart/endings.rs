//! Jobs that are ended while they wait to be run again.

use mailring::ManualClock;
use mailring::job::{Job, JobHandle, JobState, RestartStrategy, RunError};
use mailring::stream::{Collect, StopMode};
use mailring::task::{Engine, Shutdown};
use std::time::Duration;

use crate::failing::{Failing, How, failing, of_attempt, until_state};
use crate::watchdog::watched;

const DELAY: Duration = Duration::from_secs(10);

struct Waiting {
    clock: ManualClock,
    engine: Engine,
    job: JobHandle,
    out: Collect<(u32, u64)>,
}

/// A job that has failed once, and waits for its delay; on an engine that has just its slots.
fn waiting() -> Waiting {
    let clock = ManualClock::new();
    let engine = Engine::builder()
        .threads(1)
        .slots(["a", "b"])
        .clock(clock.clone())
        .build()
        .unwrap();
    let out = Collect::new();
    let job = Job::new("job").restart(RestartStrategy::fixed_delay(5, DELAY));
    let job = failing(job, 100, Failing::new(How::AtRecord(3), 1), &out);
    let job = job.start(&engine).unwrap();
    until_state(&job, JobState::Restarting);
    assert_eq!(engine.handle().free_slots(), Some(2));
    Waiting {
        clock,
        engine,
        job,
        out,
    }
}

#[test]
fn a_cancel_ends_the_wait() {
    watched(|| {
        let Waiting {
            clock,
            engine,
            job,
            out,
        } = waiting();
        job.cancel();
        let error = job.wait().unwrap_err();
        let RunError::Canceled(report) = error else {
            panic!("{error}")
        };
        assert_eq!((report.state, report.restarts), (JobState::Canceled, 0));
        // What it had failed by is told all the same.
        assert_eq!(report.failures.len(), 1);
        clock.advance(2 * DELAY);
        assert_eq!(of_attempt(&out.take(), 2), []);
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn a_stop_ends_the_wait_and_the_job_has_failed() {
    watched(|| {
        for mode in [StopMode::Drain, StopMode::NoDrain] {
            let waiting = waiting();
            waiting.job.stop(mode);
            assert!(waiting.job.wait_timeout(Duration::MAX));
            assert!(waiting.job.has_ended());
            assert_eq!(waiting.job.snapshot().state, JobState::Failed);
            let Waiting { job, .. } = waiting;
            let error = job.wait().unwrap_err();
            assert_eq!(
                error.to_string(),
                "task job/failing/0 failed: default action: no luck at a record"
            );
        }
    });
}

#[test]
fn a_job_that_was_stopped_before_it_failed_is_not_run_again() {
    watched(|| {
        let engine = crate::failing::engine(1);
        let fails_at_the_end = mailring::stream::FromIter::new(0_u64..);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(5, Duration::ZERO))
            .source("numbers", fails_at_the_end)
            .forward()
            .named("failing")
            .transform("finish", || FailsToFinish)
            .sink("discard", mailring::stream::Discard)
            .start(&engine)
            .unwrap();
        job.stop(StopMode::Drain);
        let RunError::Failed { cause, report, .. } = job.wait().unwrap_err() else {
            panic!("it has failed")
        };
        assert!(cause.to_string().contains("nothing to finish"), "{cause}");
        assert_eq!((report.restarts, report.failures.len()), (0, 1));
    });
}

#[derive(Debug)]
struct FailsToFinish;

impl mailring::stream::Operator<u64> for FailsToFinish {
    type Out = u64;

    fn process(
        &mut self,
        record: mailring::stream::Record<u64>,
        out: &mut impl mailring::stream::Output<u64>,
    ) -> mailring::letter::Outcome {
        out.record(record)
    }

    fn finish(
        &mut self,
        _out: &mut impl mailring::stream::Output<u64>,
    ) -> mailring::letter::Outcome {
        Err("nothing to finish".into())
    }
}

#[test]
fn a_handle_that_is_dropped_ends_the_wait() {
    watched(|| {
        let Waiting {
            clock,
            engine,
            job,
            out,
        } = waiting();
        drop(job);
        clock.advance(2 * DELAY);
        assert_eq!(of_attempt(&out.take(), 2), []);
        assert_eq!(engine.handle().free_slots(), Some(2));
    });
}

#[test]
fn a_job_whose_engine_was_shut_down_is_not_run_again() {
    watched(|| {
        let Waiting { engine, job, .. } = waiting();
        engine.shutdown(Shutdown::now()).unwrap();
        // It does not wait for its delay any more.
        let error = job.wait().unwrap_err();
        assert_eq!(
            error.to_string(),
            "job job failed: deployment: the engine has been shut down"
        );
        let RunError::Failed { task, report, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(&*task, "job");
        assert_eq!(report.failures.len(), 2);
    });
}

#[test]
fn a_job_whose_engine_drains_in_the_midst_of_it_is_cancelled() {
    watched(|| {
        let engine = crate::failing::engine(1);
        let job = Job::new("job")
            .restart(RestartStrategy::fixed_delay(5, Duration::ZERO))
            .source("numbers", mailring::stream::FromIter::new(0_u64..))
            .forward()
            .sink("discard", mailring::stream::Discard)
            .start(&engine)
            .unwrap();
        let drain = Shutdown::drain_within(Duration::from_secs(60));
        engine.shutdown(drain).unwrap();
        let error = job.wait().unwrap_err();
        let RunError::Canceled(report) = error else {
            panic!("{error}")
        };
        assert_eq!((report.state, report.restarts), (JobState::Canceled, 0));
    });
}

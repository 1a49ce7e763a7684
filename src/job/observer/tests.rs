//! What an observer is told and asked, by jobs on an engine.

use super::{JobObserver, Master, Recovery, Restored};
use crate::job::members::{Member, Members};
use crate::job::plan::plan;
use crate::job::{
    Job, JobError, JobFailure, JobHandle, JobState, RestartStrategy, RunError, deploy,
};
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::stream::{Deployment, Discard, FromIter, StopMode};
use crate::sync::{Mutex, PlainArc, SetOnce, SharedClock};
use crate::task::{Engine, IoPool};
use crate::wait::reply;
use core::time::Duration;

/// What was told, in order.
#[derive(Clone, Default)]
struct Log(PlainArc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        core::mem::take(&mut *self.0.lock())
    }
}

/// Says what it is told; fails each attempt but the last one when all of it runs, and stops that.
struct Double<F> {
    log: Log,
    last_attempt: u32,
    recover: F,
}

impl<F: FnMut(u32, Recovery) + Send> JobObserver for Double<F> {
    fn recover(&mut self, attempt: u32, recovery: Recovery) {
        self.log.add(format!("recover {attempt}"));
        (self.recover)(attempt, recovery);
    }

    fn all_running(&mut self, attempt: u32, members: &[Member]) {
        self.log.add(format!("all of {attempt} run"));
        if attempt < self.last_attempt {
            members[1].handle.fail("on purpose").unwrap();
        } else {
            let stop = |task: &mut crate::stream::StreamTask| {
                task.stop(StopMode::Drain);
            };
            members[0].handle.post(stop).unwrap();
        }
    }

    fn task_finished(&mut self, attempt: u32, task: usize) {
        self.log.add(format!("{task} of {attempt} has finished"));
    }

    fn failed(&mut self, failure: &JobFailure) {
        let JobFailure { task, attempt, .. } = failure;
        self.log.add(format!("{task} of {attempt} has failed"));
    }

    fn left_running(&mut self, attempt: u32) {
        self.log.add(format!("{attempt} runs no longer"));
    }

    fn ended(&mut self, state: JobState) {
        self.log.add(format!("ended: {state:?}"));
    }
}

/// Starts an endless job of two tasks, whose last attempt is number `last_attempt`.
fn start(
    engine: &Engine,
    log: &Log,
    last_attempt: u32,
    recover: impl FnMut(u32, Recovery) + Send + 'static,
) -> Result<JobHandle, JobError> {
    let observer = Double {
        log: log.clone(),
        last_attempt,
        recover,
    };
    observed(engine, observer)
}

/// Starts an endless job of two tasks.
fn observed(engine: &Engine, observer: impl JobObserver + 'static) -> Result<JobHandle, JobError> {
    let job = Job::new("job")
        .restart(RestartStrategy::fixed_delay(10, Duration::ZERO))
        .source("numbers", FromIter::new(0_u64..))
        .forward()
        .sink("discard", Discard);
    let blueprint = plan(&job.graph.0.borrow())?;
    let clock = SharedClock::System;
    let origin = blueprint.origin(&clock);
    let own_engine = deploy::own_engine(&blueprint, &clock)?;
    let (engine, observer) = (engine.handle(), Box::new(observer));
    let job = deploy::look_after(blueprint, &engine, own_engine, clock, origin, observer)?;
    deploy::begin(&job)?;
    Ok(job)
}

fn engine() -> Engine {
    Engine::builder().threads(1).build().unwrap()
}

fn nothing() -> Result<Restored, BoxError> {
    Ok(Box::new(|_deployment| Ok(())))
}

#[test]
fn it_is_told_of_each_attempt_from_its_recovery_to_its_end() {
    let (engine, log) = (engine(), Log::default());
    let pool = IoPool::builder().threads(1).build().unwrap();
    let job = start(&engine, &log, 2, move |_attempt, recovery| {
        // As from a disk.
        let read = move || recovery.answer(nothing());
        pool.run(read).map_err(|error| error.to_string()).unwrap();
    });
    let report = job.unwrap().wait().unwrap();
    assert_eq!((report.state, report.restarts), (JobState::Finished, 1));
    let told = log.take();
    let mut expected = [
        "recover 1",
        "all of 1 run",
        "job/forward/0 of 1 has failed",
        "1 runs no longer",
        "recover 2",
        "all of 2 run",
        "0 of 2 has finished",
        "1 of 2 has finished",
        "2 runs no longer",
        "ended: Finished",
    ];
    // A task's end is seen when its thread has told it: either may be the first.
    if told.get(6).is_some_and(|first| first.starts_with('1')) {
        expected.swap(6, 7);
    }
    assert_eq!(told, expected);
}

#[test]
fn a_job_that_cannot_be_restored_is_not_started() {
    type Answer = fn(Recovery);
    let engine = engine();
    let answers: [(Answer, &str); 3] = [
        (
            |recovery| recovery.answer(Err("the disk is gone".into())),
            "the job cannot be restored: the disk is gone",
        ),
        (
            |recovery| {
                let refuse = |_: &mut Deployment| Err("another parallelism".into());
                recovery.answer(Ok(Box::new(refuse)));
            },
            "the job cannot be restored: another parallelism",
        ),
        (
            drop,
            "the job cannot be restored: nobody says what the attempt begins with",
        ),
    ];
    for (answer, message) in answers {
        let log = Log::default();
        let error = start(&engine, &log, 1, move |_attempt, recovery| answer(recovery));
        assert_eq!(error.unwrap_err().to_string(), message);
        let expected = ["recover 1", "job of 1 has failed", "ended: Failed"];
        assert_eq!(log.take(), expected);
    }
}

#[test]
fn a_restart_that_cannot_be_restored_is_a_failure_like_another() {
    let (engine, log) = (engine(), Log::default());
    let job = start(&engine, &log, 4, |attempt, recovery| match attempt {
        2 => recovery.answer(Err("the disk is gone".into())),
        3 => drop(recovery),
        _ => recovery.answer(nothing()),
    });
    let report = job.unwrap().wait().unwrap();
    let failures = report.failures.iter();
    let causes: Vec<_> = failures.map(|failure| failure.cause.to_string()).collect();
    let expected = [
        "reported: on purpose",
        "recovery: the disk is gone",
        "recovery: nobody says what the attempt begins with",
    ];
    assert_eq!(causes, expected);
    assert_eq!(report.restarts, 3);
    // No attempt runs no longer that never ran.
    let no_longer = log.take();
    let no_longer = no_longer.iter().filter(|told| told.ends_with("no longer"));
    assert!(no_longer.eq(&["1 runs no longer", "4 runs no longer"]));
}

#[test]
fn what_an_attempt_begins_with_is_given_to_each_deployment() {
    let (engine, log) = (engine(), Log::default());
    let given = Log::default();
    let names = given.clone();
    let job = start(&engine, &log, 2, move |_attempt, recovery| {
        let names = names.clone();
        recovery.answer(Ok(Box::new(move |deployment| {
            let subtask = deployment.subtask();
            names.add(format!("{} of {}", subtask.vertex, subtask.attempt));
            Ok(())
        })));
    });
    job.unwrap().wait().unwrap();
    let expected = [
        "numbers of 1",
        "forward of 1",
        "numbers of 2",
        "forward of 2",
    ];
    assert_eq!(given.take(), expected);
}

#[test]
fn what_comes_too_late_is_not_deployed() {
    type End = fn(&JobHandle);
    let endings: [(End, JobState); 2] = [
        (JobHandle::cancel, JobState::Canceled),
        (|job| job.stop(StopMode::Drain), JobState::Failed),
    ];
    for (end, state) in endings {
        let (engine, log) = (engine(), Log::default());
        let (answer, recovering) = reply();
        let mut answer = Some(answer);
        let job = start(&engine, &log, 9, move |attempt, recovery| match attempt {
            1 => recovery.answer(nothing()),
            _ => assert!(answer.take().unwrap().send(recovery).is_ok()),
        });
        let job = job.unwrap();
        let recovery: Recovery = recovering.wait().unwrap();
        assert_eq!(job.snapshot().state, JobState::Restarting);
        end(&job);
        assert!(job.wait_timeout(Duration::MAX) && job.has_ended());
        recovery.answer(nothing());
        assert_eq!(job.snapshot().state, state);
        match job.wait().unwrap_err() {
            RunError::Canceled(report) => assert_eq!(state, report.state),
            RunError::Failed { cause, report, .. } => {
                assert_eq!(state, report.state);
                assert_eq!(cause.to_string(), "reported: on purpose");
            }
            error => panic!("{error}"),
        }
        let told = log.take();
        assert_eq!(
            told[4..],
            ["recover 2".to_owned(), format!("ended: {state:?}")]
        );
    }
}

/// Notes whether the job has ended for others when it is told of the end.
struct Ends {
    members: PlainArc<SetOnce<Members>>,
    had_ended: PlainArc<SetOnce<bool>>,
}

impl JobObserver for Ends {
    fn ended(&mut self, _state: JobState) {
        let had_ended = self.members.get().map(Members::has_ended);
        let _once = self.had_ended.set(had_ended.unwrap());
    }
}

/// What somebody else does then comes behind it.
#[test]
fn it_is_told_of_the_end_before_anybody_else_can_see_it() {
    let (engine, members) = (engine(), PlainArc::<SetOnce<Members>>::default());
    let had_ended = PlainArc::<SetOnce<bool>>::default();
    let observer = Ends {
        members: PlainArc::clone(&members),
        had_ended: PlainArc::clone(&had_ended),
    };
    let job = observed(&engine, observer).unwrap();
    assert!(members.set(job.members.clone()).is_ok());
    job.cancel();
    let _canceled = job.wait().unwrap_err();
    assert_eq!(had_ended.get(), Some(&false));
}

#[test]
fn an_answer_reaches_a_master_whose_mailbox_is_full() {
    let (engine, log) = (engine(), Log::default());
    let (answer, recovering) = reply();
    let mut answer = Some(answer);
    let job = start(&engine, &log, 2, move |attempt, recovery| match attempt {
        1 => recovery.answer(nothing()),
        _ => assert!(answer.take().unwrap().send(recovery).is_ok()),
    });
    let job = job.unwrap();
    let recovery: Recovery = recovering.wait().unwrap();
    // Who keeps checkpoints is on the master's thread as well, and so cannot wait for room.
    let beside = job._engine.task("beside").on_thread(0);
    let beside = beside.spawn(|_cx| ()).unwrap();
    let (begun, has_begun) = reply();
    let (go_on, filled) = reply::<()>();
    let answered = beside.ask(move |()| {
        begun.send(()).unwrap();
        filled.wait().unwrap();
        recovery.answer(nothing());
    });
    has_begun.wait().unwrap();
    while job.master.try_post(|_master| {}).is_ok() {}
    go_on.send(()).unwrap();
    answered.unwrap().wait().unwrap();
    assert!(job.wait_timeout(Duration::from_secs(60)), "it hangs");
    assert_eq!(job.wait().unwrap().restarts, 1);
}

#[test]
fn a_job_that_fails_for_good_before_it_is_deployed_is_not_started() {
    let (engine, log) = (engine(), Log::default());
    let kept = PlainArc::new(Mutex::new(None));
    let keep = PlainArc::clone(&kept);
    let error = start(&engine, &log, 1, move |_attempt, recovery| {
        let cause = Failure::error("checkpoint", "the keeper is gone".into());
        let fail = |master: &mut Master| master.fail_job(cause, true);
        recovery.master.as_ref().unwrap().post(fail).unwrap();
        *keep.lock() = Some(recovery);
    });
    let error = error.unwrap_err().to_string();
    assert_eq!(
        error,
        "the job cannot be restored: checkpoint: the keeper is gone"
    );
    drop(kept.lock().take());
}

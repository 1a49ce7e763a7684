//! What follows what in a job's life, without tasks.

use super::{Next, Supervision};
use crate::job::{JobReport, JobState, RestartStrategy};
use crate::processor::Failure;
use crate::stream::StopMode;
use crate::sync::{Clock as _, ManualClock};
use core::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

struct Job {
    clock: ManualClock,
    supervision: Supervision,
}

impl Job {
    /// One that may fail so often, and is deployed with two tasks.
    fn deployed(attempts: u32) -> Self {
        let clock = ManualClock::new();
        let strategy = RestartStrategy::fixed_delay(attempts, SECOND);
        let mut supervision = Supervision::new(strategy, 1, clock.now());
        assert!(supervision.is_recovering(1));
        supervision.deployed(2);
        assert_eq!(supervision.state(), JobState::Running);
        Self { clock, supervision }
    }

    fn fails(&mut self, task: &str) -> Next {
        let cause = Failure::error("default action", "on purpose".into());
        self.supervision.failed(task, cause, self.clock.now())
    }

    fn all_ended(&mut self) -> Next {
        self.supervision.all_ended(self.clock.now())
    }

    fn cancel(&mut self) -> Next {
        self.supervision.cancel(self.clock.now())
    }

    fn stop(&mut self) -> Next {
        self.supervision.stop(StopMode::Drain, self.clock.now())
    }

    fn state(&self) -> JobState {
        self.supervision.state()
    }

    /// One that has failed, and waits for its delay.
    fn waiting() -> Self {
        let mut job = Self::deployed(1);
        assert_eq!(job.fails("a"), Next::CancelTasks);
        assert_eq!(job.all_ended(), Next::Wait(SECOND));
        assert_eq!(job.state(), JobState::Restarting);
        job
    }

    /// One that has failed, waited, and is to be deployed again.
    fn recovering() -> Self {
        let mut job = Self::waiting();
        assert_eq!(job.supervision.delay_over(), Next::Recover);
        assert!(job.supervision.is_recovering(2));
        assert_eq!(job.state(), JobState::Restarting);
        job
    }
}

#[test]
fn a_job_fails_waits_runs_again_and_finishes() {
    let mut job = Job::recovering();
    assert!(!job.supervision.is_recovering(1));
    job.supervision.deployed(2);
    assert_eq!(job.state(), JobState::Running);
    assert_eq!(job.supervision.restarts(), 1);
    job.clock.advance(SECOND);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Finished);
    job.clock.advance(SECOND);
    assert_eq!(job.supervision.duration(job.clock.now()), SECOND);
}

#[test]
fn all_run_when_the_last_task_is_open_and_never_when_one_has_failed() {
    let mut job = Job::deployed(1);
    assert_eq!(job.supervision.task_opened(job.clock.now()), Next::Nothing);
    assert_eq!(
        job.supervision.task_opened(job.clock.now()),
        Next::AllRunning
    );
    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    for _task in 0..2 {
        assert_eq!(job.supervision.task_opened(job.clock.now()), Next::Nothing);
    }
}

#[test]
fn what_fails_while_tasks_end_counts_for_nothing() {
    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.state(), JobState::Failing);
    assert_eq!(job.fails("b"), Next::Nothing);
    let failures: Vec<_> = job.supervision.failures().collect();
    assert_eq!(failures.len(), 1);
    assert_eq!((&*failures[0].task, failures[0].attempt), ("a", 1));
    assert_eq!(job.all_ended(), Next::Wait(SECOND));
}

#[test]
fn after_the_last_attempt_it_has_failed() {
    let mut job = Job::recovering();
    job.supervision.deployed(2);
    job.clock.advance(3 * SECOND);
    assert_eq!(job.fails("b"), Next::CancelTasks);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);
    let last = job.supervision.failures().last().unwrap();
    assert_eq!((&*last.task, last.attempt), ("b", 2));
    assert_eq!(last.after, 3 * SECOND);
    assert!(!job.supervision.may_restart());
}

#[test]
fn a_deployment_that_fails_is_a_failure_unless_it_is_the_first() {
    let mut job = Job::deployed(2);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.all_ended(), Next::Wait(SECOND));
    assert_eq!(job.supervision.delay_over(), Next::Recover);
    assert_eq!(job.fails("job"), Next::CancelTasks);
    assert_eq!(job.state(), JobState::Failing);
    assert_eq!(job.all_ended(), Next::Wait(SECOND));
    assert_eq!(job.supervision.delay_over(), Next::Recover);
    assert!(job.supervision.is_recovering(3));

    let clock = ManualClock::new();
    let strategy = RestartStrategy::fixed_delay(2, SECOND);
    let supervision = Supervision::new(strategy, 1, clock.now());
    let mut job = Job { clock, supervision };
    assert_eq!(job.fails("job"), Next::CancelTasks);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);
}

#[test]
fn a_cancel_ends_it_wherever_it_is() {
    let mut job = Job::deployed(1);
    assert_eq!(job.cancel(), Next::CancelTasks);
    assert_eq!(job.state(), JobState::Canceling);
    // A failure that comes of it changes nothing.
    assert_eq!(job.fails("a"), Next::Nothing);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Canceled);

    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.cancel(), Next::Nothing);
    assert_eq!(job.state(), JobState::Canceling);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Canceled);

    for mut job in [Job::waiting(), Job::recovering()] {
        assert_eq!(job.cancel(), Next::End);
        assert_eq!(job.state(), JobState::Canceled);
        assert_eq!(job.supervision.delay_over(), Next::Nothing);
        assert!(!job.supervision.is_recovering(2));
    }
}

#[test]
fn a_task_that_somebody_cancels_ends_the_job_and_one_that_ends_with_others_does_not() {
    let mut job = Job::deployed(1);
    assert_eq!(
        job.supervision.task_canceled(job.clock.now()),
        Next::CancelTasks
    );
    assert_eq!(job.state(), JobState::Canceling);

    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(
        job.supervision.task_canceled(job.clock.now()),
        Next::Nothing
    );
    assert_eq!(job.all_ended(), Next::Wait(SECOND));
}

#[test]
fn one_that_fails_for_good_is_not_cancelled_any_more() {
    let mut job = Job::deployed(0);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.cancel(), Next::Nothing);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);
}

#[test]
fn a_job_that_was_stopped_has_no_further_attempt() {
    // It runs, and then fails.
    let mut job = Job::deployed(1);
    assert_eq!(job.stop(), Next::StopSources(StopMode::Drain));
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);

    // It fails, and then is stopped.
    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(job.stop(), Next::Nothing);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);

    for mut job in [Job::waiting(), Job::recovering()] {
        assert_eq!(job.stop(), Next::End);
        assert_eq!(job.state(), JobState::Failed);
        assert_eq!(job.supervision.delay_over(), Next::Nothing);
    }

    // It runs, and does not fail.
    let mut job = Job::deployed(1);
    assert_eq!(job.stop(), Next::StopSources(StopMode::Drain));
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Finished);
}

#[test]
fn the_last_failures_are_kept() {
    let mut job = Job::deployed(u32::MAX);
    for attempt in 1..=20 {
        assert_eq!(job.fails("a"), Next::CancelTasks);
        assert_eq!(job.all_ended(), Next::Wait(SECOND));
        assert_eq!(job.supervision.delay_over(), Next::Recover);
        assert_eq!(job.supervision.restarts(), attempt);
        job.supervision.deployed(2);
    }
    let attempts = job.supervision.failures().map(|failure| failure.attempt);
    let expected = 21 - JobReport::FAILURES_MAX as u32..=20;
    assert!(expected.eq(attempts));
}

#[test]
fn what_makes_a_further_attempt_impossible_ends_it_wherever_it_is() {
    let fenced = |job: &mut Job| {
        let cause = Failure::error("checkpoint", "another has taken over".into());
        job.supervision
            .failed_for_good("job", cause, job.clock.now())
    };
    for mut job in [Job::deployed(1), Job::recovering()] {
        assert_eq!(fenced(&mut job), Next::CancelTasks);
        assert_eq!(job.all_ended(), Next::End);
        assert_eq!(job.state(), JobState::Failed);
    }
    let mut job = Job::deployed(1);
    assert_eq!(job.fails("a"), Next::CancelTasks);
    assert_eq!(fenced(&mut job), Next::Nothing);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Failed);

    let mut job = Job::waiting();
    assert_eq!(fenced(&mut job), Next::End);
    assert_eq!(job.state(), JobState::Failed);
    assert_eq!(&*job.supervision.failures().last().unwrap().task, "job");
    assert_eq!(job.supervision.delay_over(), Next::Nothing);

    let mut job = Job::deployed(1);
    assert_eq!(job.cancel(), Next::CancelTasks);
    assert_eq!(fenced(&mut job), Next::Nothing);
    assert_eq!(job.all_ended(), Next::End);
    assert_eq!(job.state(), JobState::Canceled);
}

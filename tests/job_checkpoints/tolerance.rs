//! How many checkpoints may fail before the job does, and what follows then.

use super::engine;
use super::kit::{At, Passing, Stand, Visible};
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointFailureReason, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobState, RestartStrategy, RunError};
use mailring::stream::{Discard, Generator};
use std::time::Duration;

/// Whose state cannot be encoded for the checkpoints of these numbers.
fn failing(numbers: &'static [u64]) -> Passing {
    Passing::new(
        move |at, id| match at == At::Encode && numbers.contains(&id) {
            true => Err("on purpose".into()),
            false => Ok(()),
        },
    )
}

#[test]
fn failures_in_a_row_are_counted_anew_after_each_that_is_complete() {
    watched(|| {
        let settings = CheckpointSettings::manual().tolerable_failures(2);
        let storage = CheckpointStorage::in_memory();
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, settings))
            .source("numbers", numbers)
            .transform("passing", || failing(&[1, 2, 4, 5, 7, 8, 9]))
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        for id in 1..=8 {
            let promise = stand.trigger();
            stand.go_on();
            match promise.wait() {
                Ok(summary) => assert_eq!(summary.id.get() % 3, 0),
                Err(failure) => {
                    assert_eq!(failure.id.map(|id| id.get()), Some(id));
                    assert_eq!(failure.reason, CheckpointFailureReason::AsyncException);
                }
            }
            assert_eq!(stand.job.state(), JobState::Running);
        }
        let promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        assert!(stand.job.run_beside());
        let failure = stand.step_without(&[]).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "checkpoint: checkpoint 9 was not completed: a subtask's state could not be stored: \
             subtask numbers/0: on purpose; 3 failed in a row, 2 are tolerated"
        );
        assert!(promise.wait().is_err());
        assert_eq!(stand.job.state(), JobState::Failed);
        let counts = stand.statistics().counts;
        assert_eq!((counts.completed, counts.failed.total()), (2, 7));
    });
}

#[test]
fn a_job_whose_checkpoints_fail_too_often_is_run_again_if_its_strategy_says_so() {
    watched(|| {
        for strategy in [
            RestartStrategy::fixed_delay(1, Duration::ZERO),
            RestartStrategy::Never,
        ] {
            let settings = CheckpointSettings::new(Duration::from_millis(1)).tolerable_failures(2);
            let visible = Visible::new();
            let is_run_again = !matches!(strategy, RestartStrategy::Never);
            let outcome = Job::new("numbers")
                .checkpoints(Checkpointing::new(CheckpointStorage::in_memory(), settings))
                .restart(strategy)
                .source("numbers", Generator::new(|number| number).count(1_000))
                .transform("passing", || failing(&[1, 2, 3]))
                .sink("visible", visible.clone())
                .run(&engine(1));
            let report = match outcome {
                Ok(report) => {
                    assert!(is_run_again);
                    assert_eq!(report.restarts, 1);
                    assert!((0..1_000).eq(visible.values()));
                    report
                }
                Err(RunError::Failed { report, .. }) => {
                    assert!(!is_run_again);
                    assert!(visible.values().is_empty());
                    *report
                }
                Err(error) => panic!("{error}"),
            };
            let cause = report.failures[0].cause.to_string();
            assert!(
                cause.ends_with("3 failed in a row, 2 are tolerated"),
                "{cause}"
            );
        }
    });
}

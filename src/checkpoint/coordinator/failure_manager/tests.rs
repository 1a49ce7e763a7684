//! Which failures count, how often, and until when: T155.

use super::*;
use crate::checkpoint::CheckpointFailureReason::*;
use core::time::Duration;

/// Every reason; the match below does not compile when one is missing from it.
const REASONS: [CheckpointFailureReason; 20] = [
    Subsumed,
    Expired,
    Declined,
    AsyncException,
    IoException,
    FinalizeFailure,
    NotAllRequiredTasksRunning,
    TaskNotReady,
    TriggerFailure,
    DeclinedOnCancellationBarrier,
    InputEndOfStream,
    JobFailover,
    CoordinatorSuspend,
    CoordinatorShutdown,
    Fenced,
    MinimumTimeBetweenCheckpoints,
    TooManyCheckpointRequests,
    PeriodicSchedulerShutdown,
    OperatorCoordinatorFailure,
    MasterHookFailure,
];

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).unwrap()
}

/// A manager, and how often it said that the job has to fail.
struct Watched {
    manager: CheckpointFailureManager,
    job_failures: usize,
}

impl Watched {
    fn new(tolerable: u32) -> Self {
        let settings = CheckpointSettings::new(Duration::from_secs(1));
        Self {
            manager: CheckpointFailureManager::new(&settings.tolerable_failures(tolerable)),
            job_failures: 0,
        }
    }

    fn fails(&mut self, number: u64, reason: CheckpointFailureReason) -> FailureVerdict {
        self.fails_with(CheckpointId::new(number), reason)
    }

    fn fails_with(
        &mut self,
        id: Option<CheckpointId>,
        reason: CheckpointFailureReason,
    ) -> FailureVerdict {
        let verdict = self
            .manager
            .on_failure(id, SnapshotType::Checkpoint, reason);
        self.job_failures += usize::from(matches!(verdict, FailureVerdict::Exceeded { .. }));
        verdict
    }
}

#[test]
fn t155_a_success_clears_the_count_and_what_is_older_counts_no_more() {
    let mut watched = Watched::new(2);
    assert_eq!(
        watched.fails(1, Expired),
        FailureVerdict::Tolerated { failures: 1 }
    );
    assert_eq!(
        watched.fails(2, Expired),
        FailureVerdict::Tolerated { failures: 2 }
    );
    watched.manager.on_success(id(2));
    assert_eq!(watched.manager.failures(), 0);
    assert_eq!(watched.fails(1, Expired), FailureVerdict::Ignored);
    assert_eq!(watched.fails(2, Expired), FailureVerdict::Ignored);
    let _ = watched.fails(3, Expired);
    let _ = watched.fails(4, Expired);
    assert_eq!(watched.job_failures, 0);
    assert_eq!(watched.manager.failures(), 2);
}

#[test]
fn t155_what_does_not_count_is_not_in_between() {
    let mut watched = Watched::new(2);
    let _ = watched.fails(1, Declined);
    let _ = watched.fails(2, Declined);
    assert_eq!(watched.fails(3, JobFailover), FailureVerdict::Ignored);
    assert_eq!(
        watched.fails(4, Declined),
        FailureVerdict::Exceeded {
            failures: 3,
            tolerable: 2
        }
    );
    assert_eq!(watched.job_failures, 1);
}

#[test]
fn t155_reasons_that_count_are_counted_together() {
    let mut watched = Watched::new(2);
    let _ = watched.fails(1, IoException);
    let _ = watched.fails(2, Declined);
    watched.manager.on_success(id(4));
    let _ = watched.fails(5, Expired);
    assert_eq!(watched.job_failures, 0);
    assert_eq!(watched.manager.failures(), 1);
}

#[test]
fn t155_each_checkpoint_counts_once() {
    let mut watched = Watched::new(2);
    let _ = watched.fails(1, Declined);
    let _ = watched.fails(2, Declined);
    assert_eq!(watched.fails(2, Declined), FailureVerdict::Ignored);
    assert_eq!(watched.fails(2, Expired), FailureVerdict::Ignored);
    assert_eq!(watched.job_failures, 0);
}

#[test]
fn t155_with_none_tolerated_exactly_five_reasons_fail_the_job() {
    let mut watched = Watched::new(0);
    for (number, reason) in (1..).zip(REASONS) {
        let _ = watched.fails(number, reason);
    }
    assert_eq!(watched.job_failures, 5);
    let mut watched = Watched::new(0);
    for reason in REASONS {
        let _ = watched.fails_with(None, reason);
    }
    assert_eq!(watched.job_failures, 5);
}

#[test]
fn k51_what_failed_before_it_had_a_number_counts_each_time() {
    let mut watched = Watched::new(2);
    watched.manager.on_success(id(9));
    for failures in 1..=2 {
        assert_eq!(
            watched.fails_with(None, IoException),
            FailureVerdict::Tolerated { failures }
        );
    }
    let _ = watched.fails_with(None, IoException);
    assert_eq!(watched.job_failures, 1);
}

#[test]
fn a_savepoint_that_fails_does_not_fail_the_job() {
    let mut watched = Watched::new(0);
    for (number, reason) in (1..).zip(REASONS) {
        let verdict = watched
            .manager
            .on_failure(Some(id(number)), SnapshotType::Savepoint, reason);
        assert_eq!(verdict, FailureVerdict::Ignored);
    }
    // Its number is as free to count as any.
    let _ = watched.fails(1, Expired);
    assert_eq!(watched.job_failures, 1);
}

#[test]
fn the_count_begins_anew_when_the_job_fails() {
    let mut watched = Watched::new(1);
    for number in 1..=6 {
        let _ = watched.fails(number, Expired);
    }
    assert_eq!(watched.job_failures, 3);
}

#[test]
fn t155_a_checkpoint_that_counted_never_counts_again() {
    let mut watched = Watched::new(1);
    let _ = watched.fails(2, Expired);
    let _ = watched.fails(3, Expired);
    assert_eq!(watched.job_failures, 1);
    assert_eq!(watched.fails(3, Declined), FailureVerdict::Ignored);
    watched.manager.on_success(id(1));
    assert_eq!(watched.fails(2, Declined), FailureVerdict::Ignored);
    watched.manager.on_success(id(3));
    assert!(watched.manager.counted.is_empty());
}

#[test]
fn a_success_of_an_older_one_clears_nothing() {
    let mut watched = Watched::new(2);
    watched.manager.on_success(id(5));
    let _ = watched.fails(6, Expired);
    watched.manager.on_success(id(5));
    watched.manager.on_success(id(4));
    assert_eq!(watched.manager.failures(), 1);
    assert_eq!(watched.fails(5, Expired), FailureVerdict::Ignored);
}

#[test]
fn t173_endless_failures_do_not_grow_what_is_remembered() {
    let mut watched = Watched::new(u32::MAX);
    for number in 1..=3 * COUNTED_MAX as u64 {
        let _ = watched.fails(number, Expired);
        assert_eq!(watched.fails(number, Expired), FailureVerdict::Ignored);
    }
    assert_eq!(watched.manager.counted.len(), COUNTED_MAX);
    assert_eq!(watched.manager.failures() as usize, 3 * COUNTED_MAX);
}

#[test]
fn every_reason_is_among_those_that_are_tried() {
    let place = |reason| match reason {
        Subsumed => 0,
        Expired => 1,
        Declined => 2,
        AsyncException => 3,
        IoException => 4,
        FinalizeFailure => 5,
        NotAllRequiredTasksRunning => 6,
        TaskNotReady => 7,
        TriggerFailure => 8,
        DeclinedOnCancellationBarrier => 9,
        InputEndOfStream => 10,
        JobFailover => 11,
        CoordinatorSuspend => 12,
        CoordinatorShutdown => 13,
        Fenced => 14,
        MinimumTimeBetweenCheckpoints => 15,
        TooManyCheckpointRequests => 16,
        PeriodicSchedulerShutdown => 17,
        OperatorCoordinatorFailure => 18,
        MasterHookFailure => 19,
    };
    let places: Vec<_> = REASONS.into_iter().map(place).collect();
    assert_eq!(places, (0..REASONS.len()).collect::<Vec<_>>());
}

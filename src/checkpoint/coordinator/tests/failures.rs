//! What fails at which moment, and what must hold all the same (T146, T152, T170, T173, T174, T182, T183,
//! T186, T187, B64).

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

#[test]
fn t146_who_has_not_heard_of_a_completion_does_with_the_next_abort() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge_all(1);
    rig.trigger();
    rig.take();
    rig.decline(2, SINK);
    assert_eq!(rig.told(SOURCE), [aborted(2, Some(1))]);
}

#[test]
fn t152_a_record_that_was_not_written_leaves_nothing() {
    let mut rig = Rig::new(CheckpointSettings::manual().tolerable_failures(1));
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    rig.committed(1, Err(CommitFailureKind::NotWritten));
    assert_eq!(rig.promises(), [(1, Err(Reason::FinalizeFailure))]);
    assert_eq!(rig.coordinator.pending_len(), 0);
    assert_eq!(rig.told(SINK), [aborted(1, None)]);
    assert_eq!(rig.discarded(), ["1:0/0", "1:1/0"]);
    assert!(rig.job_failures().is_empty(), "one is tolerated");
    rig.trigger();
    rig.acknowledge_all(2);
    rig.committed(2, Err(CommitFailureKind::NotWritten));
    assert_eq!(rig.job_failures(), [Reason::FinalizeFailure]);
}

#[test]
fn t152_a_record_that_may_be_written_keeps_its_files() {
    let mut rig = Rig::new(by_hand());
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    rig.committed(1, Err(CommitFailureKind::MaybeWritten));
    assert_eq!(rig.ends(), [(1, Some(Reason::FinalizeFailure))]);
    rig.acknowledge(1, SINK);
    assert!(rig.discarded().is_empty(), "not by a second answer either");
    assert!(!rig.effects.contains(&Effect::DiscardLocation(id(1))));
    assert!(rig.stored().is_empty());
}

#[test]
fn t152_a_record_that_was_written_after_all_is_found_by_the_restart() {
    let mut rig = Rig::new(by_hand());
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    let commits = rig.effects.iter();
    let mut commits = commits.filter_map(|effect| match effect {
        Effect::Commit(checkpoint) => Some(CompletedCheckpoint::clone(checkpoint)),
        _ => None,
    });
    let written = commits.next().expect("it was to be written");
    rig.committed(1, Err(CommitFailureKind::MaybeWritten));
    rig.input(|of, now_ns| {
        let restart = Restart {
            epoch: Epoch(2),
            recovered: vec![written],
            restored: Some(id(1)),
        };
        of.restarted(restart, now_ns).expect("a later run")
    });
    assert_eq!(rig.stored(), [1]);
    assert_eq!(rig.statistics().last_restored.map(|of| of.id), Some(id(1)));
}

/// What comes to pass of one checkpoint that the source has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happens {
    Answer,
    Decline,
    Timeout,
}

#[test]
fn t170_answer_decline_and_timeout_in_any_order_make_one_end() {
    use Happens::{Answer, Decline, Timeout};
    let orders = [
        ([Answer, Decline, Timeout], None),
        ([Answer, Timeout, Decline], None),
        ([Decline, Answer, Timeout], Some(Reason::Declined)),
        ([Decline, Timeout, Answer], Some(Reason::Declined)),
        ([Timeout, Answer, Decline], Some(Reason::Expired)),
        ([Timeout, Decline, Answer], Some(Reason::Expired)),
    ];
    for commits in [By::Rig, By::Test] {
        for (order, end) in orders {
            let mut rig = Rig::new(by_hand().timeout(ms(100)));
            rig.commits = commits;
            rig.trigger();
            rig.acknowledge(1, SOURCE);
            rig.now_ns = 100 * MS;
            for happens in order {
                match happens {
                    Answer => rig.acknowledge(1, SINK),
                    Decline => rig.decline(1, SINK),
                    Timeout => rig.input(CheckpointCoordinator::timer),
                }
            }
            if end.is_none() && commits == By::Test {
                assert!(rig.ends().is_empty(), "its record is being written");
                rig.committed(1, Ok(()));
            }
            assert_eq!(rig.ends(), [(1, end)], "{order:?}");
            assert_eq!(rig.promises(), [(1, end.map_or(Ok(1), Err))]);
            let discarded = if end.is_none() { 0 } else { 2 };
            assert_eq!(rig.discarded().len(), discarded, "{order:?}");
            assert_eq!(rig.coordinator.pending_len(), 0);
        }
    }
}

#[test]
fn t173_a_storm_of_aborts_leaves_nothing_behind() {
    let mut rig = Rig::new(by_hand());
    for number in 1..=1000 {
        rig.trigger();
        rig.acknowledge(number, SOURCE);
        rig.decline(number, SINK);
        rig.acknowledge(number, SINK);
    }
    assert_eq!(rig.discarded().len(), 2000);
    assert_eq!(rig.coordinator.pending_len(), 0);
    assert_eq!(rig.coordinator.queued_len(), 0);
    let statistics = rig.statistics();
    assert_eq!(statistics.history.len(), 10);
    assert_eq!(statistics.counts.failed.get(Reason::Declined), 1000);
}

#[test]
fn t174_a_time_before_the_beginning_expires_nothing() {
    let mut rig = Rig::new(by_hand().timeout(ms(100)));
    rig.now_ns = 3_600_000 * MS;
    rig.trigger();
    rig.now_ns = 0;
    rig.input(CheckpointCoordinator::timer);
    rig.acknowledge_all(1);
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    let completed = rig.statistics().last_completed.expect("it is complete");
    assert_eq!(completed.duration_ns, 0);
}

#[test]
fn t182_nobody_restarts_while_a_record_is_being_written() {
    let restart = || Restart {
        epoch: Epoch(2),
        recovered: Vec::new(),
        restored: None,
    };
    let mut rig = Rig::new(by_hand());
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    rig.input(|of, now_ns| of.task_failed(SINK, "it panicked", now_ns));
    assert!(rig.ends().is_empty(), "nobody knows whether it is complete");
    assert!(rig.coordinator.is_committing());
    let refused = rig.coordinator.restarted(restart(), rig.now_ns);
    assert_eq!(refused, Err(RestartError::Committing));
    rig.committed(1, Ok(()));
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    let latest = rig.coordinator.latest_completed().map(|latest| latest.id);
    assert_eq!(latest, Some(id(1)), "the restart is from there");
    assert_eq!(rig.told(SINK), [], "its tasks are gone");
    rig.input(|of, now_ns| of.restarted(restart(), now_ns).expect("a later run"));
    let stale = rig.coordinator.restarted(restart(), rig.now_ns);
    assert!(matches!(stale, Err(RestartError::EpochNotLater { .. })));
    assert_eq!(rig.coordinator.next_id(), Some(id(2)));
}

#[test]
fn t183_what_a_restore_reads_is_not_deleted() {
    let deleted = |rig: &Rig| {
        let effects = rig.effects.iter();
        let deleted = effects.filter_map(|effect| match effect {
            Effect::DiscardCheckpoint(checkpoint) => Some(checkpoint.id.get()),
            _ => None,
        });
        deleted.collect::<Vec<_>>()
    };
    for is_fenced in [false, true] {
        let mut rig = Rig::new(by_hand());
        rig.trigger();
        rig.acknowledge_all(1);
        let right = rig.coordinator.acquire(id(1)).expect("it is kept");
        rig.trigger();
        rig.acknowledge_all(2);
        assert_eq!(rig.stored(), [2]);
        assert!(rig.coordinator.acquire(id(1)).is_none());
        assert!(deleted(&rig).is_empty());
        if is_fenced {
            rig.input(|of, now_ns| of.fenced("", now_ns));
        }
        rig.input(|of, now_ns| of.release(right, now_ns));
        assert_eq!(deleted(&rig).len(), usize::from(!is_fenced));
    }
}

#[test]
fn t186_a_decline_and_the_finish_of_one_task_abort_once() {
    for is_declined_first in [true, false] {
        let mut rig = Rig::of(setup(by_hand(), &[2, 1])).running();
        rig.trigger();
        if is_declined_first {
            rig.decline(1, SOURCE);
        }
        rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
        if !is_declined_first {
            rig.decline(1, SOURCE);
        }
        assert_eq!(rig.ends().len(), 1);
        assert_eq!(rig.told(SINK), [aborted(1, None)]);
        rig.take();
        rig.trigger();
        assert!(rig.triggered().is_empty(), "the next does without it");
        rig.acknowledge(2, subtask(0, 1));
        rig.acknowledge(2, SINK);
        assert_eq!(rig.promises(), [(2, Ok(2))]);
    }
}

#[test]
fn t187_tasks_that_finish_after_their_answer_hold_nothing_up() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
    rig.acknowledge(1, SINK);
    rig.input(|of, now_ns| of.task_finished(SINK, now_ns));
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    rig.input(|of, now_ns| of.shutdown(JobEnd::Finished, now_ns));
    assert!(rig.coordinator.is_shut_down());
}

#[test]
fn t187_tasks_that_finish_without_an_answer_end_the_checkpoint() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
    rig.input(|of, now_ns| of.task_finished(SINK, now_ns));
    assert_eq!(rig.promises(), [(1, Err(Reason::TaskNotReady))]);
    rig.input(|of, now_ns| of.shutdown(JobEnd::Finished, now_ns));
    assert!(rig.coordinator.is_shut_down());
    assert_eq!(rig.coordinator.pending_len(), 0);
}

#[test]
fn b64_a_task_that_dies_takes_the_checkpoint_with_it_at_once() {
    let mut rig = Rig::of(CoordinatorSetup {
        first_id: id(6),
        ..setup(by_hand().timeout(ms(60_000)), &[1, 1, 1])
    })
    .running();
    let third = subtask(2, 0);
    rig.trigger();
    for subtask in [SOURCE, SINK, third] {
        rig.acknowledge(6, subtask);
    }
    rig.trigger();
    rig.take();
    rig.now_ns = MS;
    rig.input(|of, now_ns| of.task_failed(SINK, "index out of bounds", now_ns));
    assert_eq!(rig.ends(), [(7, Some(Reason::JobFailover))]);
    let last_failed = rig.statistics().last_failed.expect("it failed");
    let CheckpointStatus::Failed { detail, .. } = last_failed.status else {
        panic!("it failed");
    };
    assert_eq!(&*detail, "subtask vertex 1/0: index out of bounds");
    rig.input(|of, now_ns| {
        let restart = Restart {
            epoch: Epoch(2),
            recovered: Vec::new(),
            restored: Some(id(6)),
        };
        of.restarted(restart, now_ns).expect("a later run")
    });
    rig.input(CheckpointCoordinator::job_running);
    rig.now_ns = 500 * MS;
    rig.take();
    rig.acknowledge(7, SOURCE);
    rig.acknowledge(7, third);
    rig.acknowledge(99, SOURCE);
    rig.acknowledge(6, SOURCE);
    rig.trigger();
    rig.acknowledge(8, subtask(9, 9));
    for subtask in [SOURCE, SINK, third] {
        let of_epoch = |epoch| Acknowledge {
            epoch: Epoch(epoch),
            ..acknowledge(8, subtask)
        };
        rig.input(|of, now_ns| of.acknowledge(of_epoch(1), now_ns));
        rig.input(|of, now_ns| of.acknowledge(of_epoch(2), now_ns));
    }
    assert_eq!(rig.ends(), [(8, None)]);
    assert_eq!(rig.discarded(), ["7:0/0", "7:2/0", "99:0/0"]);
    assert_eq!(rig.statistics().counts.ignored.other_epoch, 8);
    assert!(
        rig.job_failures().is_empty(),
        "it fails the job no further time"
    );
}

//! What comes when it is not expected any more: answers to what has ended, failures of what nobody waits
//! for, times that were missed (T138, T150, T182, bugs K36, K49 and K51).

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

fn ended(rig: &mut Rig, subtask: SubtaskId) {
    rig.input(|of, now_ns| of.data_ended(subtask, now_ns));
}

fn restart(epoch: u64, recovered: Vec<CompletedCheckpoint>, restored: Option<u64>) -> Restart {
    Restart {
        epoch: Epoch(epoch),
        recovered,
        restored: restored.map(id),
    }
}

#[test]
fn k51_failures_are_counted_anew_after_each_that_is_complete() {
    let mut rig = Rig::new(by_hand().tolerable_failures(1));
    for number in [1, 3, 5] {
        rig.trigger();
        rig.decline(number, SINK);
        rig.trigger();
        rig.acknowledge_all(number + 1);
    }
    assert!(rig.job_failures().is_empty());
    rig.trigger();
    rig.decline(7, SINK);
    rig.trigger();
    rig.decline(8, SINK);
    assert_eq!(rig.job_failures(), [Reason::Declined]);
}

/// A record whose fate was not known when it failed is found written by the restart.
#[test]
fn k49_what_was_complete_after_all_has_failures_counted_anew() {
    let mut rig = Rig::new(by_hand().tolerable_failures(1));
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    let mut commits = rig.take().into_iter();
    let written = commits.find_map(|effect| match effect {
        Effect::Commit(checkpoint) => Some(CompletedCheckpoint::clone(&checkpoint)),
        _ => None,
    });
    rig.committed(1, Err(CommitFailureKind::MaybeWritten));
    rig.input(|of, now_ns| {
        let restart = restart(2, vec![written.expect("it was to be written")], Some(1));
        of.restarted(restart, now_ns).expect("a later run")
    });
    rig.input(CheckpointCoordinator::job_running);
    rig.trigger();
    rig.input(|of, now_ns| {
        let decline = Decline {
            epoch: Epoch(2),
            ..decline(2, SINK, Reason::Declined)
        };
        of.decline(decline, now_ns)
    });
    assert_eq!(rig.ends()[1..], [(2, Some(Reason::Declined))]);
    assert!(rig.job_failures().is_empty(), "it is the first in a row");
}

/// Who waits for the end of an attempt does not fail the next one, nor a job that is over.
#[test]
fn k51_a_record_that_fails_when_the_job_does_not_run_fails_no_job() {
    let ways: [fn(&mut Rig); 3] = [
        |rig| rig.input(|of, now_ns| of.task_failed(SINK, "it panicked", now_ns)),
        |rig| rig.input(CheckpointCoordinator::job_left_running),
        |rig| rig.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns)),
    ];
    for leave in ways {
        let mut rig = Rig::new(CheckpointSettings::manual());
        rig.commits = By::Test;
        rig.trigger();
        rig.acknowledge_all(1);
        leave(&mut rig);
        rig.committed(1, Err(CommitFailureKind::NotWritten));
        assert_eq!(rig.ends(), [(1, Some(Reason::FinalizeFailure))]);
        assert_eq!(rig.promises(), [(1, Err(Reason::FinalizeFailure))]);
        assert!(rig.job_failures().is_empty());
    }
}

#[test]
fn t182_nobody_of_an_attempt_that_is_over_is_told_of_a_record() {
    for result in [Ok(()), Err(CommitFailureKind::NotWritten)] {
        let mut rig = Rig::new(by_hand());
        rig.commits = By::Test;
        rig.trigger();
        rig.acknowledge_all(1);
        rig.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns));
        rig.take();
        rig.committed(1, result);
        let complete = |told: &ToSubtask| matches!(told, ToSubtask::NotifyComplete(_));
        assert!(!rig.told(SOURCE).iter().any(complete));
        assert!(!rig.told(SINK).iter().any(complete));
        assert_eq!(rig.promises().len(), 1);
    }
}

/// The savepoint is not in the list, and is kept all the same.
#[test]
fn t138_a_second_answer_leaves_the_state_of_a_savepoint_alone() {
    let mut rig = Rig::new(by_hand());
    rig.trigger_savepoint();
    rig.acknowledge_all(1);
    assert!(rig.stored().is_empty());
    rig.acknowledge(1, SINK);
    assert!(rig.discarded().is_empty());
    assert_eq!(rig.statistics().counts.ignored.late, 1);
}

#[test]
fn t138_a_second_answer_leaves_the_state_of_what_is_kept_alone_however_late_it_is() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge_all(1);
    // So many that nobody remembers how the first one ended.
    for number in 2..100 {
        rig.trigger();
        rig.decline(number, SINK);
    }
    rig.acknowledge(1, SINK);
    assert_eq!(rig.statistics().counts.ignored.unknown_checkpoint, 1);
    assert!(rig.discarded().is_empty());
    // Of one that came to nothing it is as it always is.
    rig.acknowledge(2, SINK);
    assert_eq!(rig.discarded(), ["2:1/0"]);
}

#[test]
fn t138_the_state_of_a_later_run_is_none_of_this_ones_business() {
    let mut rig = Rig::new(by_hand());
    for number in [1, 50] {
        let of_later_run = Acknowledge {
            epoch: Epoch(2),
            ..acknowledge(number, SINK)
        };
        rig.input(|of, now_ns| of.acknowledge(of_later_run, now_ns));
    }
    assert!(rig.discarded().is_empty());
    assert_eq!(rig.statistics().counts.ignored.other_epoch, 2);
}

#[test]
fn t138_a_decline_of_one_whose_record_is_being_written_is_counted_and_changes_nothing() {
    let mut rig = Rig::new(by_hand());
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    rig.decline(1, SINK);
    assert_eq!(rig.statistics().counts.ignored.duplicate, 1);
    rig.committed(1, Ok(()));
    assert_eq!(rig.promises(), [(1, Ok(1))]);
}

#[test]
fn t143_who_has_answered_needed_not_be_told() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.input(|of, now_ns| of.trigger_failed(id(1), SOURCE, "it has ended", now_ns));
    rig.input(|of, now_ns| of.trigger_failed(id(1), subtask(7, 7), "unknown", now_ns));
    assert!(rig.ends().is_empty());
    rig.acknowledge(1, SINK);
    assert_eq!(rig.promises(), [(1, Ok(1))]);
}

#[test]
fn t131_a_task_that_ended_with_the_checkpoints_is_said_to_have_finished() {
    let mut rig = Rig::new(by_hand().without_finished_tasks());
    rig.trigger();
    rig.acknowledge_all(1);
    rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
    rig.take();
    rig.trigger();
    let refused = rig.effects.iter().find_map(|effect| match effect {
        Effect::CompletePromise { result, .. } => Some(result.clone().unwrap_err()),
        _ => None,
    });
    let refused = refused.expect("it is answered").to_string();
    assert!(refused.contains("has finished"), "{refused}");
}

/// The timer was not called for a while, as where the thread had other things to do.
#[test]
fn t150_intervals_that_were_missed_are_not_made_up_for() {
    let mut rig = Rig::new(every(100));
    rig.now_ns = 1_030 * MS;
    rig.input(CheckpointCoordinator::timer);
    assert_eq!(rig.triggered(), [1]);
    rig.acknowledge_all(1);
    let next_ns = rig.coordinator.next_deadline_ns();
    assert_eq!(next_ns, Some(1_130 * MS));
    rig.run_until(1_130);
    assert_eq!(rig.triggered(), [1, 2]);
    assert_eq!(rig.statistics().counts.refused.total(), 0);
}

#[test]
fn none_is_begun_for_a_job_whose_tasks_have_all_finished() {
    let mut rig = Rig::new(every(100));
    for subtask in [SINK, SOURCE] {
        rig.input(|of, now_ns| of.task_finished(subtask, now_ns));
    }
    assert!(rig.effects.is_empty(), "{:?}", rig.effects);
}

#[test]
fn behind_the_final_checkpoint_none_is_begun_by_the_time() {
    let mut rig = Rig::new(every(100));
    rig.run_until(0);
    rig.acknowledge_all(1);
    ended(&mut rig, SOURCE);
    ended(&mut rig, SINK);
    rig.acknowledge_all(2);
    // Its tasks take their time to end.
    rig.run_until(10_000);
    for subtask in [SOURCE, SINK] {
        rig.input(|of, now_ns| of.task_finished(subtask, now_ns));
        rig.now_ns += 10_000 * MS;
        rig.input(CheckpointCoordinator::timer);
    }
    assert_eq!(rig.statistics().counts.triggered, 2);
}

#[test]
fn a_final_checkpoint_that_is_subsumed_by_another_is_not_tried_again() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    ended(&mut rig, SOURCE);
    rig.trigger();
    assert_eq!(rig.triggered(), [1, 2]);
    rig.acknowledge_all(2);
    assert_eq!(rig.ends(), [(2, None), (1, Some(Reason::Subsumed))]);
    assert_eq!(rig.coordinator.next_deadline_ns(), None);
    rig.now_ns = 10_000 * MS;
    rig.input(CheckpointCoordinator::timer);
    assert_eq!(rig.statistics().counts.triggered, 2);
}

/// Nobody is told that a savepoint is complete: tasks would wait for it in vain.
#[test]
fn a_savepoint_behind_the_end_of_all_sources_is_not_the_final_checkpoint() {
    let mut rig = Rig::new(by_hand());
    ended(&mut rig, SOURCE);
    rig.acknowledge_all(1);
    rig.trigger_savepoint();
    let told = rig.told(SOURCE).into_iter();
    let barriers = told.filter_map(|message| match message {
        ToSubtask::Trigger(barrier) => Some(barrier.options.is_final),
        _ => None,
    });
    assert_eq!(barriers.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn numbers_go_on_above_all_that_storage_has() {
    let recovered = |number| {
        let mut rig = Rig::of(CoordinatorSetup {
            first_id: id(number),
            ..setup(by_hand(), &[1, 1])
        });
        rig.input(CheckpointCoordinator::job_running);
        rig.trigger();
        rig.acknowledge_all(number);
        let latest = rig.coordinator.latest_completed();
        latest.cloned().expect("it is complete")
    };
    let mut rig = Rig::of(CoordinatorSetup {
        recovered: vec![recovered(9)],
        ..setup(by_hand(), &[1, 1])
    });
    assert_eq!(rig.coordinator.next_id(), Some(id(10)));
    rig.input(|of, now_ns| {
        let restart = restart(2, vec![recovered(20)], None);
        of.restarted(restart, now_ns).expect("a later run")
    });
    assert_eq!(rig.coordinator.next_id(), Some(id(21)));
}

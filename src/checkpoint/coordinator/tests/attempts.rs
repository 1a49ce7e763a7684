//! One checkpoint after the other: who answers, who says no, who is told (T131, T132, T134–T138, T142,
//! T143, T156).

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

#[test]
fn t131_no_checkpoint_of_a_job_that_does_not_run() {
    let mut rig = Rig::of(setup(by_hand(), &[1, 1]));
    rig.trigger();
    assert_eq!(
        rig.promises(),
        [(1, Err(Reason::NotAllRequiredTasksRunning))]
    );
    assert_eq!(rig.coordinator.pending_len(), 0);
    assert_eq!(rig.coordinator.next_id(), Some(id(1)), "no number was used");
    rig.take();
    rig.input(CheckpointCoordinator::job_running);
    rig.trigger();
    assert_eq!(rig.triggered(), [1]);
}

#[test]
fn t131_a_finished_subtask_refuses_where_checkpoints_end_with_it() {
    let mut rig = Rig::new(by_hand().without_finished_tasks());
    rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
    rig.trigger();
    assert_eq!(
        rig.promises(),
        [(1, Err(Reason::NotAllRequiredTasksRunning))]
    );
    let refused = &rig.statistics().counts.refused;
    assert_eq!(refused.get(Reason::NotAllRequiredTasksRunning), 1);
}

#[test]
fn t131_finished_subtasks_are_taken_to_have_answered() {
    let mut rig = Rig::of(setup(by_hand(), &[4, 1])).running();
    for index in 1..4 {
        rig.input(|of, now_ns| of.task_finished(subtask(0, index), now_ns));
    }
    rig.trigger();
    assert_eq!(rig.triggered(), [1]);
    assert!(rig.triggered_at(subtask(0, 1)).is_empty());
    rig.acknowledge_all(1);
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    let latest = rig.coordinator.latest_completed().expect("it is complete");
    let sources = &latest.vertices[0].subtasks;
    let is_finished = |part: &CompletedSubtask| part.is_finished && part.metrics.is_none();
    assert!(sources[1..].iter().all(is_finished));
    assert!(!sources[0].is_finished);
    assert!(!latest.vertices[1].subtasks[0].is_finished);
}

#[test]
fn t132_a_second_answer_changes_nothing() {
    let mut rig = Rig::new(by_hand());
    rig.now_ns = 7 * MS;
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.acknowledge(1, SOURCE);
    assert!(rig.promises().is_empty());
    rig.acknowledge(1, SINK);
    assert_eq!(rig.stored(), [1]);
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    assert_eq!(rig.told(SINK), [complete(1)]);
    let ToSubtask::Trigger(barrier) = rig.told(SOURCE)[0] else {
        panic!("the source was told to begin first");
    };
    assert_eq!(barrier.begun_ns, 7 * MS);
    assert_eq!(rig.told(SOURCE)[1..], [complete(1)]);
    assert!(rig.discarded().is_empty(), "the state is the checkpoint's");
    assert_eq!(rig.statistics().counts.ignored.duplicate, 1);
    let latest = rig.coordinator.latest_completed().expect("it is complete");
    assert_eq!(latest.begun_ms, 1_000_007);
    let states: Vec<_> = latest.vertices.iter().flat_map(|of| &of.subtasks).collect();
    assert_eq!(paths(&[states[0].state.clone()]), ["1:0/0"]);
    assert_eq!(paths(&[states[1].state.clone()]), ["1:1/0"]);
}

#[test]
fn t132_an_answer_after_completion_leaves_the_state_alone() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge_all(1);
    rig.acknowledge(1, SINK);
    assert!(rig.discarded().is_empty());
    assert_eq!(rig.statistics().counts.ignored.late, 1);
}

#[test]
fn t134_a_decline_aborts_at_once() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.decline(1, SINK);
    assert_eq!(rig.ends(), [(1, Some(Reason::Declined))]);
    assert_eq!(rig.promises(), [(1, Err(Reason::Declined))]);
    assert_eq!(rig.discarded(), ["1:0/0"]);
    assert_eq!(
        rig.coordinator.next_deadline_ns(),
        None,
        "no timeout is left"
    );
    rig.decline(1, SINK);
    rig.acknowledge(1, SINK);
    assert_eq!(rig.discarded(), ["1:0/0", "1:1/0"]);
    assert_eq!(rig.told(SINK), [aborted(1, None)]);
    assert_eq!(rig.told(SOURCE)[1..], [aborted(1, None)]);
    let counts = rig.statistics().counts;
    assert_eq!(counts.failed.total(), 1);
    assert_eq!(counts.ignored.late, 2);
}

#[test]
fn t134_what_declines_say_is_kept() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.input(|of, now_ns| {
        let decline = decline(1, SINK, Reason::AsyncException);
        of.receive(ToCoordinator::Decline(decline), now_ns)
    });
    let last_failed = rig.statistics().last_failed.expect("it failed");
    let CheckpointStatus::Failed { reason, detail } = last_failed.status else {
        panic!("it failed");
    };
    assert_eq!(reason, Reason::AsyncException);
    assert_eq!(&*detail, "subtask vertex 1/0: no room");
}

#[test]
fn t135_only_the_declined_of_two_is_aborted() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    rig.trigger();
    rig.trigger();
    rig.acknowledge(2, SOURCE);
    rig.decline(1, SOURCE);
    rig.decline(1, SOURCE);
    assert_eq!(rig.ends(), [(1, Some(Reason::Declined))]);
    rig.acknowledge(2, SINK);
    assert_eq!(rig.promises(), [(1, Err(Reason::Declined)), (2, Ok(2))]);
}

#[test]
fn t136_a_later_one_that_is_complete_takes_the_place_of_earlier_ones() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    rig.trigger();
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.take();
    rig.acknowledge_all(2);
    assert_eq!(rig.ends(), [(2, None), (1, Some(Reason::Subsumed))]);
    assert_eq!(rig.discarded(), ["1:0/0"]);
    rig.acknowledge(1, SINK);
    assert_eq!(rig.discarded(), ["1:0/0", "1:1/0"]);
    assert_eq!(rig.told(SINK), [aborted(1, Some(2)), complete(2)]);
    assert_eq!(rig.stored(), [2]);
}

#[test]
fn t137_what_takes_too_long_expires() {
    let mut rig = Rig::new(by_hand().timeout(ms(300)));
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.run_until(299);
    assert!(rig.ends().is_empty());
    assert_eq!(rig.coordinator.next_deadline_ns(), Some(300 * MS));
    rig.run_until(300);
    assert_eq!(rig.ends(), [(1, Some(Reason::Expired))]);
    assert_eq!(rig.discarded(), ["1:0/0"]);
    rig.acknowledge(1, SINK);
    assert_eq!(rig.discarded(), ["1:0/0", "1:1/0"]);
    assert_eq!(rig.statistics().counts.ignored.late, 1);
    let last_failed = rig.statistics().last_failed.expect("it failed");
    let CheckpointStatus::Failed { detail, .. } = last_failed.status else {
        panic!("it failed");
    };
    assert_eq!(&*detail, "1 of 2 subtasks did not answer: vertex 1/0");
    rig.trigger();
    assert_eq!(rig.triggered(), [1, 2]);
}

#[test]
fn t138_strange_messages_are_ignored_and_counted() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.take();
    rig.acknowledge(99, SOURCE);
    rig.acknowledge(1, subtask(7, 3));
    rig.decline(99, SOURCE);
    rig.decline(1, subtask(7, 3));
    let of_epoch = |epoch| Acknowledge {
        epoch: Epoch(epoch),
        state: state_at("elsewhere"),
        ..acknowledge(1, SOURCE)
    };
    rig.input(|of, now_ns| of.acknowledge(of_epoch(0), now_ns));
    rig.input(|of, now_ns| of.acknowledge(of_epoch(2), now_ns));
    rig.input(|of, now_ns| {
        let decline = Decline {
            epoch: Epoch(0),
            ..decline(1, SOURCE, Reason::Declined)
        };
        of.decline(decline, now_ns)
    });
    assert_eq!(rig.discarded(), ["99:0/0", "1:7/3"]);
    let ignored = rig.statistics().counts.ignored;
    let expected = IgnoredMessages {
        other_epoch: 3,
        unknown_checkpoint: 2,
        unknown_subtask: 2,
        ..IgnoredMessages::default()
    };
    assert_eq!(ignored, expected);
    assert_eq!(rig.coordinator.pending_len(), 1, "it goes on");
    rig.acknowledge_all(1);
    assert_eq!(rig.stored(), [1]);
}

#[test]
fn t138_after_the_shutdown_nothing_is_heeded() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge(1, SOURCE);
    rig.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns));
    rig.take();
    rig.acknowledge(1, SINK);
    rig.decline(1, SOURCE);
    assert_eq!(rig.discarded(), ["1:1/0"]);
    assert_eq!(rig.statistics().counts.ignored.after_shutdown, 2);
    rig.trigger();
    assert_eq!(rig.promises(), [(2, Err(Reason::CoordinatorShutdown))]);
}

#[test]
fn t142_a_task_that_finishes_before_it_is_told_takes_the_checkpoint_with_it() {
    let mut rig = Rig::of(setup(by_hand(), &[2, 1])).running();
    rig.stages = By::Test;
    rig.trigger();
    rig.input(|of, now_ns| of.task_finished(SOURCE, now_ns));
    assert_eq!(rig.ends(), [(1, Some(Reason::TaskNotReady))]);
    assert_eq!(rig.told(SINK), [aborted(1, None)]);
    assert!(rig.told(SOURCE).is_empty(), "it is gone");
    rig.stages = By::Rig;
    rig.trigger();
    assert_eq!(rig.triggered_at(subtask(0, 1)), [2]);
}

#[test]
fn t143_a_source_that_cannot_be_told_takes_the_checkpoint_with_it() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.input(|of, now_ns| of.trigger_failed(id(1), SOURCE, "its mailbox is closed", now_ns));
    rig.input(|of, now_ns| of.trigger_failed(id(1), SOURCE, "its mailbox is closed", now_ns));
    assert_eq!(rig.ends(), [(1, Some(Reason::TriggerFailure))]);
    rig.trigger();
    rig.acknowledge_all(2);
    assert_eq!(rig.stored(), [2]);
}

#[test]
fn t156_the_promise_is_not_kept_before_the_record_is_written() {
    let mut rig = Rig::new(by_hand());
    rig.commits = By::Test;
    rig.trigger();
    rig.acknowledge_all(1);
    assert!(matches!(rig.effects.last(), Some(Effect::Commit(_))));
    assert!(rig.promises().is_empty());
    assert!(rig.stored().is_empty());
    rig.committed(1, Ok(()));
    assert_eq!(rig.promises(), [(1, Ok(1))]);
    assert_eq!(rig.stored(), [1]);
}

#[test]
fn t156_answers_without_state_are_answers() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    for subtask in [SOURCE, SINK] {
        let stateless = Acknowledge {
            state: SubtaskState::default(),
            is_finished: subtask == SINK,
            ..acknowledge(1, subtask)
        };
        rig.input(|of, now_ns| of.acknowledge(stateless, now_ns));
    }
    let latest = rig.coordinator.latest_completed().expect("it is complete");
    assert_eq!(latest.state_bytes(), 0);
    assert!(!latest.vertices[0].subtasks[0].is_finished);
    assert!(latest.vertices[1].subtasks[0].is_finished);
    rig.trigger();
    rig.input(|of, now_ns| {
        let stateless = Acknowledge {
            state: SubtaskState::default(),
            ..acknowledge(2, SINK)
        };
        of.acknowledge(stateless, now_ns)
    });
    rig.decline(2, SOURCE);
    assert!(rig.discarded().is_empty(), "nothing was stored");
}

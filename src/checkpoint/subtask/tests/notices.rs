//! What a subtask is told of checkpoints: T110, T111, T114, T119, T120, T173, bug K18.

use super::super::aborted::AbortedCheckpoints;
use super::fakes::{FailsAt, Rig};
use super::id;
use crate::stream::{CheckpointId, CheckpointNotice};

#[test]
fn t110_what_was_aborted_before_it_came_is_not_taken_and_is_passed_on() {
    let mut rig = Rig::source();
    rig.abort(1, 0);
    rig.trigger(1).unwrap();
    assert_eq!(rig.take(), ["aborted 1", "cancel 1"]);
    assert_eq!(rig.coordinator.remembered(), 0);
    rig.trigger(2).unwrap();
    assert_eq!(rig.take()[..2], ["prepare 2", "barrier 2"]);
}

#[test]
fn t110_t173_many_aborts_are_remembered_within_bounds() {
    let mut rig = Rig::source();
    for number in 1..=1_000 {
        rig.abort(number, 0);
        assert!(rig.coordinator.remembered() <= AbortedCheckpoints::MAX);
    }
    rig.take();
    // The oldest were let go, and are taken for aborted.
    for number in [1, 5, 872, 873, 999, 1_000] {
        rig.trigger(number).unwrap();
        assert_eq!(rig.take(), [format!("cancel {number}")], "{number}");
    }
    rig.trigger(1_001).unwrap();
    assert_eq!(rig.take()[1], "barrier 1001");
    assert_eq!(rig.coordinator.remembered(), 0);
    // What was taken is aborted without a trace.
    for number in 1..=1_000 {
        let number = 1_001 + number;
        rig.trigger(number).unwrap();
        rig.abort(number, 0);
        rig.environment.run_jobs();
        assert_eq!(rig.coordinator.remembered(), 0);
        assert_eq!(rig.coordinator.parts(), 0);
    }
}

#[test]
fn aborted_ones_that_were_not_met_are_between_those_that_were() {
    let mut aborted = AbortedCheckpoints::default();
    for number in [3, 5, 9] {
        aborted.add(id(number));
    }
    assert!(!aborted.take(id(4)));
    assert!(aborted.take(id(5)));
    assert!(!aborted.take(id(5)));
    aborted.forget_to(id(8));
    assert_eq!(aborted.len(), 1);
    assert!(aborted.take(id(9)));
}

#[test]
fn t111_an_abort_while_state_is_stored_stores_none_and_acknowledges_nothing() {
    let mut rig = Rig::source();
    rig.trigger(1).unwrap();
    rig.take();
    rig.abort(1, 0);
    assert_eq!(rig.coordinator.parts(), 0);
    rig.environment.run_jobs();
    // Of what was aborted nothing is stored at all where it had not begun.
    assert_eq!(rig.take(), ["aborted 1", "wake"]);
    assert_eq!(rig.coordinator.remembered(), 0);
}

#[test]
fn t111_an_abort_after_that_is_remembered_by_nobody() {
    let mut rig = Rig::source();
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    rig.take();
    rig.abort(1, 0);
    assert_eq!(rig.take(), ["aborted 1"]);
    assert_eq!(rig.coordinator.remembered(), 0);
    assert_eq!(rig.coordinator.parts(), 0);
    // Nor where the task keeps nothing of its part any more.
    rig.trigger(2).unwrap();
    rig.environment.run_jobs();
    rig.trigger(3).unwrap();
    rig.take();
    rig.abort(2, 0);
    assert_eq!(rig.take(), ["aborted 2"]);
    assert_eq!(rig.coordinator.remembered(), 0);
    assert_eq!(rig.coordinator.parts(), 1);
}

#[test]
fn an_abort_of_one_leaves_the_parts_of_others_running() {
    let mut rig = Rig::source();
    for number in 1..=3 {
        rig.trigger(number).unwrap();
    }
    rig.take();
    rig.abort(2, 0);
    rig.environment.run_jobs();
    let log = rig.take();
    let expected = [
        "aborted 2",
        "store 1",
        "ack 1",
        "wake",
        "wake",
        "store 3",
        "ack 3",
        "wake",
    ];
    assert_eq!(log, expected);
}

#[test]
fn t114_what_is_subsumed_is_passed_on() {
    let mut rig = Rig::source();
    rig.notify(CheckpointNotice::Subsumed(id(4))).unwrap();
    assert_eq!(rig.take(), ["subsumed 4"]);
}

#[test]
fn t120_each_completion_is_told_once_and_in_order() {
    let mut rig = Rig::source();
    rig.complete(3);
    rig.abort(5, 3);
    rig.abort(10, 8);
    rig.complete(8);
    let told = ["complete 3", "aborted 5", "complete 8", "aborted 10"];
    assert_eq!(rig.take(), told);

    let mut rig = Rig::new(|_| {}, |options| options.restored = CheckpointId::new(3));
    rig.complete(2);
    rig.abort(4, 3);
    rig.complete(5);
    rig.abort(7, 6);
    let told = ["aborted 4", "complete 5", "complete 6", "aborted 7"];
    assert_eq!(rig.take(), told);
}

#[test]
fn t119_an_operator_that_fails_at_a_notice_fails_the_task() {
    let mut rig = Rig::source();
    rig.task.fails_at = FailsAt::Notify;
    let notices = [
        CheckpointNotice::Complete(id(1)),
        CheckpointNotice::Aborted {
            id: id(2),
            latest_completed: None,
        },
        CheckpointNotice::Subsumed(id(1)),
    ];
    for notice in notices {
        assert!(rig.notify(notice).is_err());
    }
}

//! Subtasks that had finished: T130 and T159.

use super::*;
use crate::checkpoint::NonRestoredState::Refused;
use crate::checkpoint::{RestoreError, SubtaskId};
use DistributionPattern::{AllToAll, Pointwise};

#[test]
fn t130_a_subtask_that_had_finished_begins_finished() {
    let running = subtask(&[("source", keyed(b"place"))]);
    let mut last_words = subtask(&[("source", keyed(b"end"))]);
    last_words.is_finished = true;
    let checkpoint = checkpoint(&[vertex("source", &[finished(), running, last_words])]);
    let target = target(&[("source", 3, &["source"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    let subtasks = assignment.vertices[0].iter();
    let flags: Vec<_> = subtasks.map(|subtask| subtask.is_finished).collect();
    assert_eq!(flags, [true, false, true]);
    // One that had nothing to say has a place for each operator all the same.
    let first = &assignment.vertices[0][0].parts[0];
    assert_eq!(first.operators, [("source".into(), stateless())]);
    let last = &assignment.vertices[0][2].parts[0];
    assert_eq!(last.operators, [("source".into(), keyed(b"end"))]);
}

#[test]
fn t130_a_vertex_all_of_which_had_finished_begins_finished_at_any_parallelism() {
    let checkpoint = checkpoint(&[vertex("source", &[finished(), finished()])]);
    for now in [1, 2, 3] {
        let target = target(&[("source", now, &["source"])]);
        let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
        assert_eq!(assignment.vertices[0].len(), now as usize);
        assert!(
            assignment.vertices[0]
                .iter()
                .all(|subtask| subtask.is_finished)
        );
    }
}

#[test]
fn t159_a_vertex_some_of_which_had_finished_keeps_its_parallelism() {
    let checkpoint = checkpoint(&[vertex("v", &[finished(), subtask(&[("op", stateless())])])]);
    let target = target(&[("v", 3, &["op"])]);
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let expected = RestoreError::Parallelism {
        vertex: "v".into(),
        before: 2,
        now: 3,
    };
    assert_eq!(error, expected);
}

#[test]
fn t159_a_finished_vertex_behind_a_new_one_is_refused() {
    let checkpoint = checkpoint(&[vertex("sink", &[finished()])]);
    let target = joined(
        target(&[("new", 1, &["source"]), ("sink", 1, &["sink"])]),
        AllToAll,
    );
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let expected = RestoreError::FinishedBehindRunning {
        vertex: "sink".into(),
        subtask: SubtaskId {
            vertex: 1,
            index: 0,
        },
        upstream: "new".into(),
        running: SubtaskId {
            vertex: 0,
            index: 0,
        },
    };
    assert_eq!(error, expected);
}

#[test]
fn t159_finished_sources_before_running_consumers_are_fine() {
    let running = || subtask(&[("sum", keyed(b"x"))]);
    let checkpoint = checkpoint(&[
        vertex("source", &[finished(), finished()]),
        vertex("sum", &[running(), running()]),
    ]);
    for pattern in [AllToAll, Pointwise] {
        let target = target(&[("source", 2, &["source"]), ("sum", 2, &["sum"])]);
        let target = joined(target, pattern);
        assert!(StateAssignment::new(&checkpoint, &target, Refused).is_ok());
    }
}

#[test]
fn t159_a_partly_finished_vertex_is_fine_pointwise_behind_its_own_finished_producers_alone() {
    let running = |name: &str| subtask(&[(name, stateless())]);
    let checkpoint = checkpoint(&[
        vertex("source", &[finished(), running("source")]),
        vertex("map", &[finished(), running("map")]),
    ]);
    let target = target(&[("source", 2, &["source"]), ("map", 2, &["map"])]);
    let pointwise = joined(target.clone(), Pointwise);
    assert!(StateAssignment::new(&checkpoint, &pointwise, Refused).is_ok());
    let all_to_all = joined(target, AllToAll);
    let error = StateAssignment::new(&checkpoint, &all_to_all, Refused).unwrap_err();
    let RestoreError::FinishedBehindRunning { running, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(running.index, 1);
}

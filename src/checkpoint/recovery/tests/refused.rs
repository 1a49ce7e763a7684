//! Which jobs are refused, and in which words: T160.

use super::*;
use crate::checkpoint::NonRestoredState::{Allowed, Refused};
use crate::checkpoint::{NonRestored, RestoreError, SubtaskAssignment};

#[test]
fn t160_another_number_of_operators_of_one_name_is_refused_since_it_is_not_known_whose_state_it_is()
{
    let before = subtask(&[("sum", keyed(b"x"))]);
    let checkpoint = checkpoint(&[vertex("v", &[before])]);
    let target = target(&[("v", 1, &["sum", "sum"])]);
    for non_restored in [Refused, Allowed] {
        let error = StateAssignment::new(&checkpoint, &target, non_restored).unwrap_err();
        let expected = RestoreError::AmbiguousOperators {
            vertex: "v".into(),
            operator: "sum".into(),
            before: 1,
            now: 2,
        };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("there have to be 1"), "{error}");
    }
}

#[test]
fn t160_another_order_of_operators_with_state_is_refused() {
    let before = subtask(&[
        ("map", stateless()),
        ("window", keyed(b"w")),
        ("sum", keyed(b"s")),
    ]);
    let checkpoint = checkpoint(&[vertex("v", &[before])]);
    let reordered = target(&[("v", 1, &["sum", "window", "map"])]);
    let error = StateAssignment::new(&checkpoint, &reordered, Allowed).unwrap_err();
    let expected = RestoreError::OperatorsReordered {
        vertex: "v".into(),
        before: names(&["map", "window", "sum"]),
        now: names(&["sum", "window", "map"]),
    };
    assert_eq!(error, expected);
    // The stateless one may stand anywhere.
    let moved = target(&[("v", 1, &["window", "sum", "map"])]);
    assert!(StateAssignment::new(&checkpoint, &moved, Refused).is_ok());
}

#[test]
fn t160_a_removed_operator_with_state_is_refused_unless_that_is_allowed() {
    let subtasks = [
        subtask(&[("source", keyed(b"1")), ("sum", keyed(b"12345"))]),
        subtask(&[("source", keyed(b"2")), ("sum", keyed(b"123"))]),
    ];
    let checkpoint = checkpoint(&[vertex("v", &subtasks)]);
    let target = target(&[("v", 2, &["source", "total"])]);
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let dropped = vec![NonRestored::Operator {
        vertex: "v".into(),
        operator: "sum".into(),
        state_bytes: 8,
        chain: names(&["source", "total"]),
    }];
    let said = error.to_string();
    assert_eq!(
        error,
        RestoreError::NonRestoredState {
            dropped: dropped.clone()
        }
    );
    for part in [
        "8 bytes",
        "operator sum",
        "vertex v",
        "source, total",
        "allow",
    ] {
        assert!(said.contains(part), "{said} does not say {part}");
    }
    let assignment = StateAssignment::new(&checkpoint, &target, Allowed).unwrap();
    assert_eq!(assignment.dropped, dropped);
    assert_eq!(begins_with(&assignment), [Some(b"1".to_vec()), None]);
}

#[test]
fn t160_a_removed_vertex_with_state_is_refused_unless_that_is_allowed() {
    let checkpoint = checkpoint(&[
        vertex("kept", &[subtask(&[("op", keyed(b"x"))])]),
        vertex("gone", &[subtask(&[("op", keyed(b"1234"))])]),
        vertex("stateless", &[subtask(&[("op", stateless())])]),
    ]);
    let target = target(&[("kept", 1, &["op"])]);
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let dropped = vec![NonRestored::Vertex {
        vertex: "gone".into(),
        state_bytes: 4,
    }];
    assert_eq!(
        error,
        RestoreError::NonRestoredState {
            dropped: dropped.clone()
        }
    );
    let assignment = StateAssignment::new(&checkpoint, &target, Allowed).unwrap();
    assert_eq!(assignment.dropped, dropped);
    assert_eq!(begins_with(&assignment), [Some(b"x".to_vec())]);
}

#[test]
fn state_of_no_bytes_is_state() {
    let checkpoint = checkpoint(&[vertex("gone", &[subtask(&[("op", keyed(b""))])])]);
    let target = target(&[("kept", 1, &["op"])]);
    assert!(StateAssignment::new(&checkpoint, &target, Refused).is_err());
}

#[test]
fn t160_state_of_coordinators_and_hooks_without_a_place_is_refused_unless_that_is_allowed() {
    let mut checkpoint = checkpoint(&[vertex("v", &[subtask(&[("source", stateless())])])]);
    checkpoint.coordinator_states = vec![("source".into(), vec![1]), ("gone".into(), vec![2])];
    checkpoint.master_states = vec![("hook".into(), vec![3]), ("lost".into(), vec![4])];
    let mut target = target(&[("v", 1, &["source"])]);
    target.master_hooks = names(&["hook"]);
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let dropped = vec![
        NonRestored::OperatorCoordinator {
            operator: "gone".into(),
        },
        NonRestored::MasterHook {
            hook: "lost".into(),
        },
    ];
    assert_eq!(
        error,
        RestoreError::NonRestoredState {
            dropped: dropped.clone()
        }
    );
    let assignment = StateAssignment::new(&checkpoint, &target, Allowed).unwrap();
    assert_eq!(assignment.dropped, dropped);
}

#[test]
fn t160_another_maximum_parallelism_is_refused() {
    let checkpoint = checkpoint(&[]);
    let mut target = target(&[]);
    target.max_parallelism = 256;
    let error = StateAssignment::new(&checkpoint, &target, Allowed).unwrap_err();
    let expected = RestoreError::MaxParallelism {
        before: 128,
        now: 256,
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("has to stay 128"), "{error}");
}

#[test]
fn t160_another_parallelism_is_refused_where_there_is_state() {
    let of = |bytes| subtask(&[("sum", keyed(bytes))]);
    let checkpoint = checkpoint(&[vertex("v", &[of(b"a"), of(b"b")])]);
    for now in [1, 3] {
        let target = target(&[("v", now, &["sum"])]);
        let error = StateAssignment::new(&checkpoint, &target, Allowed).unwrap_err();
        let expected = RestoreError::Parallelism {
            vertex: "v".into(),
            before: 2,
            now,
        };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("has to stay 2"), "{error}");
    }
}

#[test]
fn another_parallelism_is_fine_where_there_is_nothing_to_restore() {
    let of = || subtask(&[("map", stateless())]);
    let checkpoint = checkpoint(&[vertex("v", &[of(), of()])]);
    for now in [1, 3] {
        let target = target(&[("v", now, &["map"])]);
        let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
        let expected = vec![SubtaskAssignment::default(); now as usize];
        assert_eq!(assignment.vertices, [expected]);
    }
}

#[test]
fn subtasks_with_different_operators_are_damage_and_are_said_to_be() {
    let checkpoint = checkpoint(&[vertex(
        "v",
        &[
            finished(),
            subtask(&[("a", keyed(b"1"))]),
            subtask(&[("b", keyed(b"2"))]),
        ],
    )]);
    let target = target(&[("v", 3, &["a", "b"])]);
    let error = StateAssignment::new(&checkpoint, &target, Refused).unwrap_err();
    let expected = RestoreError::DifferentChains {
        vertex: "v".into(),
        index: 2,
    };
    assert_eq!(error, expected);
}

/// They have no state; but which of them had finished, and does nothing more, is not known.
#[test]
fn vertices_of_one_name_that_had_finished_are_refused_where_there_are_not_as_many_any_more() {
    let checkpoint = checkpoint(&[
        vertex("source", &[finished()]),
        vertex("source", &[finished()]),
    ]);
    let fewer = target(&[("source", 1, &["source"])]);
    let error = StateAssignment::new(&checkpoint, &fewer, Allowed).unwrap_err();
    let expected = RestoreError::AmbiguousVertices {
        vertex: "source".into(),
        before: 2,
        now: 1,
    };
    assert_eq!(error, expected);
}

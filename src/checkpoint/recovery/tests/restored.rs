//! Who begins with what.

use super::*;
use crate::checkpoint::NonRestoredState::{Allowed, Refused};
use crate::checkpoint::{RestoreError, SubtaskAssignment};

#[test]
fn each_subtask_of_the_same_job_begins_with_its_own_state() {
    let subtasks = [
        subtask(&[("source", stateless()), ("sum", keyed(b"first"))]),
        subtask(&[("source", stateless()), ("sum", keyed(b"second"))]),
    ];
    let checkpoint = checkpoint(&[vertex("keyed", &subtasks)]);
    let target = target(&[("keyed", 2, &["source", "sum"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    assert_eq!(assignment.checkpoint, checkpoint.id);
    assert_eq!(assignment.dropped, []);
    for (subtask, before) in assignment.vertices[0].iter().zip(&subtasks) {
        assert_eq!(subtask.parts, std::slice::from_ref(&before.state));
        assert!(!subtask.is_finished);
    }
}

#[test]
fn all_four_kinds_of_state_are_assigned() {
    let handle = |byte| Some(StateHandle::Inline(vec![byte]));
    let all = OperatorSubtaskState {
        managed_keyed: handle(1),
        raw_keyed: handle(2),
        managed_operator: handle(3),
        raw_operator: handle(4),
    };
    let checkpoint = checkpoint(&[vertex("v", &[subtask(&[("op", all.clone())])])]);
    let target = target(&[("v", 1, &["op"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    assert_eq!(assignment.vertices[0][0].parts[0].operators[0].1, all);
}

#[test]
fn vertices_are_followed_by_their_names() {
    let checkpoint = checkpoint(&[
        vertex("a", &[subtask(&[("op", keyed(b"of a"))])]),
        vertex("b", &[subtask(&[("op", keyed(b"of b"))])]),
    ]);
    let target = target(&[("b", 1, &["op"]), ("new", 2, &["op"]), ("a", 1, &["op"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    let parts = |vertex: usize, index: usize| &assignment.vertices[vertex][index].parts[..];
    assert_eq!(parts(0, 0)[0].operators[0].1, keyed(b"of b"));
    assert_eq!(parts(2, 0)[0].operators[0].1, keyed(b"of a"));
    assert_eq!(
        assignment.vertices[1],
        [SubtaskAssignment::default(), SubtaskAssignment::default()]
    );
}

#[test]
fn new_operators_begin_without_state_and_those_without_state_may_go() {
    let before = subtask(&[
        ("source", keyed(b"place")),
        ("filter", stateless()),
        ("sum", keyed(b"sums")),
    ]);
    let checkpoint = checkpoint(&[vertex("v", &[before])]);
    let target = target(&[("v", 1, &["map", "source", "map", "sum", "print"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    let (place, sums) = (Some(b"place".to_vec()), Some(b"sums".to_vec()));
    assert_eq!(begins_with(&assignment), [None, place, None, sums, None]);
    let operators = &assignment.vertices[0][0].parts[0].operators;
    let names: Vec<_> = operators.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["map", "source", "map", "sum", "print"], "A2");
}

#[test]
fn operators_of_one_name_are_told_apart_by_their_order() {
    let before = subtask(&[("sum", keyed(b"first")), ("sum", keyed(b"second"))]);
    let checkpoint = checkpoint(&[vertex("v", &[before])]);
    let target = target(&[("v", 1, &["sum", "map", "sum"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    let expected = [Some(b"first".to_vec()), None, Some(b"second".to_vec())];
    assert_eq!(begins_with(&assignment), expected);
}

#[test]
fn another_number_of_stateless_operators_of_one_name_is_fine() {
    let before = subtask(&[("map", stateless()), ("sum", keyed(b"x"))]);
    let checkpoint = checkpoint(&[vertex("v", &[before])]);
    let target = target(&[("v", 1, &["map", "map", "sum"])]);
    let assignment = StateAssignment::new(&checkpoint, &target, Refused).unwrap();
    assert_eq!(begins_with(&assignment), [None, None, Some(b"x".to_vec())]);
}

#[test]
fn vertices_of_one_name_are_told_apart_by_their_order_while_there_are_as_many() {
    let of = |bytes| vertex("keyed", &[subtask(&[("sum", keyed(bytes))])]);
    let checkpoint = checkpoint(&[of(b"first"), of(b"second")]);
    let same = target(&[("keyed", 1, &["sum"]), ("keyed", 1, &["sum"])]);
    let assignment = StateAssignment::new(&checkpoint, &same, Refused).unwrap();
    for (vertex, bytes) in assignment.vertices.iter().zip([&b"first"[..], b"second"]) {
        assert_eq!(vertex[0].parts[0].operators[0].1, keyed(bytes));
    }
    let fewer = target(&[("keyed", 1, &["sum"])]);
    let error = StateAssignment::new(&checkpoint, &fewer, Allowed).unwrap_err();
    let expected = RestoreError::AmbiguousVertices {
        vertex: "keyed".into(),
        before: 2,
        now: 1,
    };
    assert_eq!(error, expected);
}

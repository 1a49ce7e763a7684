//! Sources that place checkpoints themselves: the task's side of T140, X1 to X3.

use super::fakes::Rig;
use crate::stream::Participant as _;

fn taken(number: u64) -> Vec<String> {
    let steps = ["prepare", "barrier", "snapshot"];
    let mut taken: Vec<_> = steps
        .iter()
        .map(|step| format!("{step} {number}"))
        .collect();
    taken.push("submit".to_owned());
    taken
}

#[test]
fn x1_t140_a_checkpoint_begins_when_request_and_place_have_come_in_either_order() {
    let mut rig = Rig::induced();
    rig.trigger(1).unwrap();
    assert!(rig.take().is_empty());
    assert!(!rig.coordinator.is_source_blocked());
    rig.placed(1);
    assert_eq!(rig.take(), taken(1));
    rig.placed(2);
    assert!(rig.take().is_empty());
    // X2.
    assert!(rig.coordinator.is_source_blocked());
    rig.trigger(2).unwrap();
    assert_eq!(rig.take(), taken(2));
    assert!(!rig.coordinator.is_source_blocked());
}

#[test]
fn x3_a_request_whose_place_was_passed_is_declined_and_passed_on() {
    let mut rig = Rig::induced();
    rig.trigger(1).unwrap();
    rig.trigger(2).unwrap();
    rig.placed(2);
    let log = rig.take();
    assert_eq!(log[..2], ["decline 1: Declined", "cancel 1"]);
    assert_eq!(log[2..], taken(2));
    // One that comes too late altogether has been passed on by a newer barrier.
    rig.trigger(1).unwrap();
    assert_eq!(rig.take(), ["decline 1: Declined"]);
}

#[test]
fn a_place_that_waits_for_a_checkpoint_that_is_aborted_sets_the_source_free() {
    let mut rig = Rig::induced();
    rig.placed(1);
    rig.abort(1, 0);
    assert!(!rig.coordinator.is_source_blocked());
    rig.take();
    // The request may come all the same: others wait for a barrier, or that there is none.
    rig.trigger(1).unwrap();
    assert_eq!(rig.take(), ["decline 1: Declined", "cancel 1"]);
}

#[test]
fn k13_a_request_that_is_aborted_before_its_place_is_passed_on() {
    let mut rig = Rig::induced();
    rig.trigger(1).unwrap();
    rig.abort(1, 0);
    assert_eq!(rig.take(), ["cancel 1", "aborted 1"]);
    assert_eq!(rig.coordinator.remembered(), 0);
    rig.placed(1);
    assert!(!rig.coordinator.is_source_blocked());
    assert!(rig.take().is_empty());
    rig.trigger(2).unwrap();
    rig.placed(2);
    assert_eq!(rig.take(), taken(2));
}

#[test]
fn what_goes_with_an_aborted_one_is_declined() {
    let mut rig = Rig::induced();
    rig.trigger(1).unwrap();
    rig.trigger(2).unwrap();
    rig.abort(2, 0);
    let told = ["decline 1: Declined", "cancel 1", "cancel 2", "aborted 2"];
    assert_eq!(rig.take(), told);
}

#[test]
fn requests_whose_place_has_not_come_are_taken_at_the_end_of_the_data() {
    let mut rig = Rig::induced();
    rig.trigger(1).unwrap();
    rig.trigger(2).unwrap();
    rig.end_data(true);
    let log = rig.take();
    assert_eq!(log[0], "data ended");
    assert_eq!(log[1..5], taken(1));
    assert_eq!(log[5..], taken(2));
    rig.environment.run_jobs();
    rig.complete(1);
    assert!(rig.may_leave());
    // From then on there are no places.
    rig.trigger(3).unwrap();
    assert_eq!(rig.coordinator.parts(), 1);
}

#[test]
fn a_source_that_is_stopped_waits_at_no_place() {
    let mut rig = Rig::induced();
    rig.placed(1);
    rig.coordinator.stop();
    assert!(!rig.coordinator.is_source_blocked());
    // It may come to others on its way to its end, and waits there neither.
    rig.placed(2);
    assert!(!rig.coordinator.is_source_blocked());
    rig.trigger(1).unwrap();
    rig.trigger(2).unwrap();
    rig.end_data(true);
    let log = rig.take();
    // Both were passed, and are declined.
    let declined = [
        "decline 1: Declined",
        "cancel 1",
        "decline 2: Declined",
        "cancel 2",
        "data ended",
    ];
    assert_eq!(log, declined);
}

#[test]
fn places_of_a_source_that_says_nothing_of_them_are_passed_by() {
    let mut rig = Rig::source();
    rig.placed(1);
    assert!(!rig.coordinator.is_source_blocked());
    assert!(rig.take().is_empty());
}

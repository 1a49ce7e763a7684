//! When a task whose data has ended may end: T125, T126, T129.

use super::barrier;
use super::fakes::{Rig, Storage};
use crate::checkpoint::ToCoordinator;
use crate::stream::{Alignment, Event, Participant as _};

#[test]
fn t125_it_waits_for_the_first_checkpoint_after_its_data_to_be_complete() {
    let mut rig = Rig::source();
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    rig.take();
    assert!(!rig.may_leave());
    rig.end_data(true);
    assert_eq!(rig.take(), ["data ended"]);
    // One from before does not do.
    rig.complete(1);
    assert!(!rig.may_leave());
    rig.trigger(2).unwrap();
    rig.environment.run_jobs();
    assert!(!rig.may_leave());
    rig.complete(2);
    assert!(rig.may_leave());
}

/// A checkpoint that began before would be followed by one without this task's state.
#[test]
fn t122_one_that_goes_on_later_waits_for_the_checkpoint_behind_the_end_of_all_sources() {
    let mut rig = Rig::source();
    rig.end_data(false);
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    rig.complete(1);
    assert!(!rig.may_leave());
    rig.trigger_final(2).unwrap();
    rig.environment.run_jobs();
    rig.abort(2, 1);
    assert!(!rig.may_leave());
    rig.trigger_final(3).unwrap();
    rig.environment.run_jobs();
    rig.complete(3);
    assert!(rig.may_leave());
}

/// Whether it says of the checkpoint that it stores now that its operators had finished.
fn is_finished(rig: &Rig) -> bool {
    rig.environment.run_jobs();
    match rig.environment.take_told().as_slice() {
        [ToCoordinator::Acknowledge(ack)] => ack.is_finished,
        told => panic!("{told:?}"),
    }
}

/// The end may have been met ahead of a barrier that it came behind: those before the task are not
/// finished in that checkpoint, and the next one needs its state.
#[test]
fn at_least_once_a_task_waits_for_a_checkpoint_that_all_before_it_have_finished_in() {
    let barrier = |number, is_final| {
        let mut barrier = barrier(number);
        barrier.options.alignment = Alignment::AtLeastOnce;
        barrier.options.is_final = is_final;
        barrier
    };
    for is_final in [true, false] {
        let mut rig = Rig::with_channels(1);
        rig.end_data(true);
        rig.event(Event::Barrier(barrier(1, false)), 0).unwrap();
        assert!(!is_finished(&rig));
        rig.complete(1);
        assert!(!rig.may_leave());
        if is_final {
            rig.event(Event::Barrier(barrier(2, true)), 0).unwrap();
        } else {
            rig.event(Event::EndOfPartition, 0).unwrap();
            let begun_here = barrier(2, false);
            rig.coordinator.trigger(begun_here, &mut rig.task).unwrap();
        }
        assert!(is_finished(&rig), "final: {is_final}");
        rig.complete(2);
        assert!(rig.may_leave(), "final: {is_final}");
    }
}

#[test]
fn t125_where_that_one_is_aborted_a_later_one_does() {
    let mut rig = Rig::source();
    rig.end_data(true);
    rig.trigger(1).unwrap();
    rig.abort(1, 0);
    assert!(!rig.may_leave());
    rig.trigger(2).unwrap();
    rig.trigger(3).unwrap();
    rig.environment.run_jobs();
    // The second was subsumed: nobody tells of it.
    rig.complete(3);
    assert!(rig.may_leave());
}

#[test]
fn t125_it_is_told_of_the_completion_by_an_abort_as_well() {
    let mut rig = Rig::source();
    rig.end_data(true);
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    rig.abort(2, 1);
    assert!(rig.may_leave());
}

#[test]
fn t126_it_waits_for_none_where_checkpoints_end_with_tasks() {
    let mut rig = Rig::new(|_| {}, |options| options.waits_for_final = false);
    rig.end_data(true);
    assert!(rig.may_leave());
}

#[test]
fn t129_it_waits_for_parts_that_are_being_stored() {
    for storage in [Storage::Works, Storage::Fails] {
        let mut rig = Rig::new(|_| {}, |options| options.waits_for_final = false);
        rig.environment.set_storage(storage);
        rig.trigger(1).unwrap();
        rig.trigger(2).unwrap();
        rig.end_data(true);
        assert!(!rig.may_leave());
        rig.environment.take_job(1).unwrap()();
        assert!(!rig.may_leave());
        rig.take();
        rig.environment.run_jobs();
        // The task is called when there is nothing to wait for any more.
        assert_eq!(rig.take().last().map(String::as_str), Some("wake"));
        assert!(rig.may_leave());
    }
}

#[test]
fn t129_a_part_that_nobody_runs_is_not_waited_for() {
    let mut rig = Rig::new(|_| {}, |options| options.waits_for_final = false);
    rig.trigger(1).unwrap();
    rig.end_data(true);
    drop(rig.environment.take_job(0));
    assert!(rig.may_leave());
}

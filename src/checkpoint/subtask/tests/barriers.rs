//! What a task with channels makes of their events: bugs K7, K13 and K19, T48, T49, T128, T188.

use super::fakes::{FailsAt, Rig, Storage};
use super::id;
use crate::stream::{CheckpointNotice, Event};

const TAKEN: [&str; 4] = ["prepare 1", "barrier 1", "snapshot 1", "submit"];

#[test]
fn a_checkpoint_is_taken_at_its_last_barrier_and_then_channels_go_on() {
    let mut rig = Rig::with_channels(2);
    rig.barrier(1, 1);
    assert!(rig.take().is_empty());
    rig.barrier(1, 0);
    let log = rig.take();
    assert_eq!(log[..4], TAKEN);
    assert_eq!(log[4..], ["resume 0", "resume 1"]);
}

#[test]
fn what_is_aborted_by_a_channel_is_declined_and_passed_on() {
    let mut rig = Rig::with_channels(2);
    rig.barrier(1, 0);
    rig.cancel(1, 1);
    let told = [
        "decline 1: DeclinedOnCancellationBarrier",
        "cancel 1",
        "resume 0",
    ];
    assert_eq!(rig.take(), told);
    // K7: a late barrier brings it to life no more.
    rig.barrier(1, 1);
    assert_eq!(rig.take(), ["resume 1"]);
    // The coordinator tells all tasks of it: this one has nothing to remember.
    rig.abort(1, 0);
    assert_eq!(rig.take(), ["aborted 1"]);
    assert_eq!(rig.coordinator.remembered(), 0);
    rig.barrier(2, 0);
    rig.cancel(3, 1);
    let told = [
        "decline 2: Subsumed",
        "cancel 2",
        "resume 0",
        "decline 3: DeclinedOnCancellationBarrier",
        "cancel 3",
    ];
    assert_eq!(rig.take(), told);
}

#[test]
fn k13_what_the_coordinator_aborts_while_barriers_are_awaited_is_passed_on() {
    let mut rig = Rig::with_channels(3);
    rig.barrier(1, 0);
    rig.barrier(1, 2);
    rig.abort(1, 0);
    // The coordinator is not told what it said itself.
    let told = ["cancel 1", "resume 0", "resume 2", "aborted 1"];
    assert_eq!(rig.take(), told);
    // K7.
    rig.barrier(1, 1);
    assert_eq!(rig.take(), ["resume 1"]);
}

#[test]
fn k13_what_the_coordinator_aborts_before_any_barrier_is_passed_on_when_they_came() {
    let mut rig = Rig::with_channels(2);
    rig.abort(1, 0);
    assert_eq!(rig.take(), ["aborted 1"]);
    rig.barrier(1, 0);
    assert!(rig.take().is_empty());
    rig.barrier(1, 1);
    assert_eq!(rig.take(), ["cancel 1", "resume 0", "resume 1"]);
    // Whatever comes by either way, it is remembered no more.
    rig.abort(2, 0);
    rig.cancel(2, 0);
    let told = [
        "aborted 2",
        "decline 2: DeclinedOnCancellationBarrier",
        "cancel 2",
    ];
    assert_eq!(rig.take(), told);
    assert_eq!(rig.coordinator.remembered(), 0);
}

#[test]
fn t188_an_abort_of_another_checkpoint_does_not_touch_the_one_that_is_pending() {
    let mut rig = Rig::with_channels(2);
    rig.barrier(2, 0);
    for other in [1, 3] {
        rig.abort(other, 0);
        assert_eq!(rig.take(), [format!("aborted {other}")]);
    }
    rig.barrier(2, 1);
    let log = rig.take();
    assert_eq!(log[..2], ["prepare 2", "barrier 2"]);
    // And the one that was aborted ahead is met when it comes.
    rig.barrier(3, 1);
    rig.barrier(3, 0);
    assert_eq!(rig.take(), ["cancel 3", "resume 0", "resume 1"]);
}

#[test]
fn k19_a_channel_that_ends_counts_as_its_barrier() {
    let mut rig = Rig::with_channels(2);
    rig.barrier(1, 0);
    rig.end(1);
    let log = rig.take();
    assert_eq!(log[..4], TAKEN);
    assert_eq!(log[4..], ["resume 0"]);
    rig.barrier(2, 0);
    assert_eq!(rig.take()[1], "barrier 2");
}

#[test]
fn t49_t128_what_the_coordinator_triggers_is_taken_once_and_resumes_nothing() {
    for open in 0..3 {
        let mut rig = Rig::with_channels(2);
        for channel in open..2 {
            rig.end(channel);
        }
        rig.end_data(true);
        rig.take();
        rig.trigger(1).unwrap();
        assert_eq!(rig.take(), TAKEN);
        rig.trigger(1).unwrap();
        assert!(rig.take().is_empty());
    }
}

#[test]
fn the_end_of_a_channels_data_is_no_news() {
    let mut rig = Rig::with_channels(1);
    let end = Event::EndOfData(crate::stream::StopMode::Drain);
    rig.event(end, 0).unwrap();
    rig.notify(CheckpointNotice::Subsumed(id(1))).unwrap();
    assert_eq!(rig.take(), ["subsumed 1"]);
}

#[test]
fn t48_a_checkpoint_that_nobody_stores_is_declined_and_channels_go_on() {
    let mut rig = Rig::with_channels(2);
    rig.environment.set_storage(Storage::Refuses);
    rig.barrier(1, 0);
    rig.barrier(1, 1);
    let log = rig.take();
    assert_eq!(log[..3], TAKEN[..3]);
    let declined = ["wake", "decline 1: AsyncException", "resume 0", "resume 1"];
    assert_eq!(log[3..], declined);
    rig.environment.set_storage(Storage::Works);
    rig.barrier(2, 1);
    rig.barrier(2, 0);
    assert_eq!(rig.take()[3..], ["submit", "resume 0", "resume 1"]);
}

#[test]
fn t48_what_else_a_trigger_fails_by_fails_the_task() {
    for fails_at in [FailsAt::Prepare, FailsAt::Broadcast, FailsAt::Snapshot] {
        let mut rig = Rig::with_channels(2);
        rig.task.fails_at = fails_at;
        rig.barrier(1, 1);
        let last = Event::Barrier(super::barrier(1));
        assert!(rig.event(last, 0).is_err());
        // Nothing behind a barrier is read any more, and nobody is told.
        let log = rig.take();
        assert!(TAKEN.starts_with(&log.iter().map(|what| &**what).collect::<Vec<_>>()[..]));
    }
}

#[test]
fn what_is_aborted_at_least_once_takes_older_ones_with_it() {
    let mut rig = Rig::tracking(2);
    for number in 1..=3 {
        rig.barrier(number, 0);
    }
    assert_eq!(rig.take(), ["resume 0"; 3]);
    rig.abort(2, 0);
    // The coordinator was not the one to abort the first.
    let told = ["decline 1: Subsumed", "cancel 1", "cancel 2", "aborted 2"];
    assert_eq!(rig.take(), told);
    rig.barrier(2, 1);
    rig.barrier(3, 1);
    let log = rig.take();
    assert_eq!(log[..4], ["resume 1", "resume 1", "prepare 3", "barrier 3"]);
}

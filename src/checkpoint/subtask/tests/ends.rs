//! Inputs and tasks that end around checkpoints: case B60, T30, T109, T116, T119, T121, T125, T128 to T130,
//! T177, and what is left in the channels of a task when all before it have ended.

use super::fakes::Log;
use super::stand::{SetUp, Stand, barrier_of, record};
use crate::processor::{Ended, Step};
use crate::stream::{CheckpointNotice, Element, Event, StopMode};
use crate::sync::PlainArc;
use core::time::Duration;

const DONE: Step = Step::Ended(Ended::AllDone);

fn two_channels() -> Stand {
    let set_up = SetUp::new().look(7);
    let chain = set_up.plan("sums").alone();
    set_up.channels(2, chain)
}

/// Takes what happened, without how the checkpoint was taken.
fn records_and_barriers(log: &Log) -> Vec<String> {
    let log = log.take().into_iter();
    log.filter(|what| !what.contains(": ") && what != "submit")
        .collect()
}

#[test]
fn b60a_a_channel_that_ends_without_its_barrier_counts_as_if_it_had_come() {
    let mut stand = two_channels();
    stand.send(0, barrier_of(1));
    for value in 11..=15 {
        stand.send(0, record(value));
    }
    stand.run();
    assert!(records_and_barriers(&stand.log).is_empty());
    stand.send(1, record(1));
    stand.end(1);
    stand.run();
    let expected: Vec<_> = ["record 1".to_owned(), "barrier 1".to_owned()]
        .into_iter()
        .chain((11..=15).map(|value| format!("record {value}")))
        .collect();
    assert_eq!(records_and_barriers(&stand.log), expected);
    stand.environment.run_jobs();
    let (_, state) = stand.stored(0);
    assert_eq!(postcard::from_bytes::<[u64; 2]>(&state).unwrap(), [1, 0]);
}

#[test]
fn b60b_the_barrier_of_the_only_channel_that_is_left_is_enough() {
    let mut stand = two_channels();
    stand.end(1);
    stand.run();
    stand.send(0, barrier_of(1));
    stand.run();
    assert_eq!(records_and_barriers(&stand.log), ["barrier 1"]);
}

#[test]
fn b60c_a_channel_whose_barrier_has_come_may_end() {
    let mut stand = two_channels();
    stand.send(1, barrier_of(1));
    stand.end(1);
    stand.run();
    assert!(records_and_barriers(&stand.log).is_empty());
    stand.send(0, record(3));
    stand.send(0, barrier_of(1));
    stand.run();
    assert_eq!(records_and_barriers(&stand.log), ["record 3", "barrier 1"]);
}

#[test]
fn b60d_t125_what_is_asked_for_when_both_have_ended_is_taken_and_lets_the_task_end() {
    let mut stand = two_channels();
    stand.end(0);
    stand.end(1);
    assert_eq!(stand.run_to(), Step::Idle);
    let log = stand.take();
    let end = [
        "Watermark(MAX)",
        "sums: finish",
        "end of data: Drain",
        "data ended",
    ];
    assert_eq!(log, end);
    stand.trigger(1);
    stand.run();
    stand.notify(CheckpointNotice::Aborted {
        id: super::id(1),
        latest_completed: None,
    });
    assert_eq!(stand.run_to(), Step::Idle);
    stand.trigger(2);
    assert_eq!(stand.run_to(), Step::Idle);
    stand.environment.run_jobs();
    assert_eq!(stand.run_to(), Step::Idle);
    stand.take();
    stand.notify(CheckpointNotice::Complete(super::id(2)));
    assert_eq!(stand.run_to(), DONE);
    let end = ["sums: complete 2", "sums: close", "end of partition"];
    assert_eq!(stand.take(), end);
}

#[test]
fn t128_checkpoints_between_the_end_of_the_data_and_of_the_channels() {
    let mut stand = two_channels();
    let end_of_data = Element::Event(Event::EndOfData(StopMode::Drain));
    stand.send(0, end_of_data);
    stand.send(1, end_of_data);
    stand.run();
    for number in 1..=3 {
        stand.trigger(number);
        stand.run();
    }
    for channel in [0, 1] {
        stand.send(channel, Element::Event(Event::EndOfPartition));
    }
    stand.run();
    let log = stand.take();
    let count = |what: &str| log.iter().filter(|logged| logged.starts_with(what)).count();
    assert_eq!((count("barrier"), count("end of data")), (3, 1));
    stand.environment.run_jobs();
    stand.notify(CheckpointNotice::Complete(super::id(3)));
    assert_eq!(stand.run_to(), DONE);
}

#[test]
fn what_tasks_that_have_ended_left_in_the_channels_belongs_to_the_checkpoint() {
    for ends_first in [false, true] {
        let mut stand = two_channels();
        for value in 1..=20 {
            stand.send(0, record(value));
        }
        if ends_first {
            stand.end(0);
            stand.end(1);
        }
        stand.trigger(1);
        // The letter comes before any record.
        stand.step();
        if !ends_first {
            stand.run();
            stand.end(1);
            stand.end(0);
        }
        stand.run();
        let log = stand.take();
        let barriers = log.iter().position(|what| what == "barrier 1").unwrap();
        let last = log.iter().position(|what| what == "record 20").unwrap();
        let finish = log.iter().position(|what| what == "sums: finish").unwrap();
        assert!(last < finish && finish < barriers, "{log:?}");
        stand.environment.run_jobs();
        let (_, state) = stand.stored(0);
        assert_eq!(postcard::from_bytes::<[u64; 2]>(&state).unwrap(), [210, 0]);
        // It was taken after the end of the data, and is the last one that is needed.
        stand.notify(CheckpointNotice::Complete(super::id(1)));
        assert_eq!(stand.run_to(), DONE);
    }
}

#[test]
fn t177_all_data_ends_while_barriers_are_awaited() {
    let mut stand = two_channels();
    let end_of_data = Element::Event(Event::EndOfData(StopMode::Drain));
    stand.send(0, end_of_data);
    stand.send(0, barrier_of(1));
    stand.send(0, Element::Event(Event::EndOfPartition));
    stand.send(1, record(5));
    stand.send(1, end_of_data);
    stand.run();
    let log = stand.take();
    assert!(log.contains(&"sums: finish".to_owned()));
    assert!(!log.contains(&"barrier 1".to_owned()));
    stand.send(1, barrier_of(1));
    stand.run();
    let taken = ["sums: pre", "barrier 1", "sums: snapshot", "submit"];
    assert_eq!(stand.take(), taken);
    stand.send(1, Element::Event(Event::EndOfPartition));
    stand.environment.run_jobs();
    stand.notify(CheckpointNotice::Complete(super::id(1)));
    assert_eq!(stand.run_to(), DONE);
}

#[test]
fn t129_a_task_ends_when_its_parts_have() {
    let set_up = SetUp::new().waiting_for_none();
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.channels(1, chain);
    stand.send(0, barrier_of(1));
    stand.end(0);
    assert_eq!(stand.run_to(), Step::Idle);
    stand.environment.run_jobs();
    assert_eq!(stand.run_to(), DONE);
    let log = stand.take();
    assert_eq!(log.last().map(String::as_str), Some("end of partition"));
}

#[test]
fn t130_a_task_that_is_restored_as_finished_passes_on_its_end_and_does_nothing() {
    let sums = postcard::to_stdvec(&[7_u64, 0]).unwrap();
    let set_up = SetUp::new().restored(vec![sums], true);
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.channels(1, chain);
    stand.send(0, Element::Watermark(crate::stream::Watermark::MAX));
    stand.end(0);
    assert_eq!(stand.run_to(), Step::Idle);
    let end = ["Watermark(MAX)", "end of data: Drain", "data ended"];
    assert_eq!(stand.take(), end);
    stand.trigger(2);
    stand.run();
    assert_eq!(stand.take(), ["barrier 2", "submit"]);
    stand.environment.run_jobs();
    stand.notify(CheckpointNotice::Complete(super::id(2)));
    assert_eq!(stand.run_to(), DONE);
}

#[test]
fn t130_an_operator_that_is_restored_as_finished_is_called_by_no_timer() {
    for is_finished in [false, true] {
        let sums = postcard::to_stdvec(&[7_u64, 0]).unwrap();
        let set_up = SetUp::new().restored(vec![sums], is_finished);
        let mut plan = set_up.plan("sums");
        plan.arms_at_open = true;
        let mut stand = set_up.channels(1, plan.alone());
        stand.run();
        let has_fired = stand.take().contains(&"sums: timer".to_owned());
        assert_eq!(has_fired, !is_finished);
    }
}

/// A timer that is pending when the data ends is in the last checkpoint as it is, and fires no more.
#[test]
fn t30_no_timer_fires_between_the_end_of_the_data_and_the_last_checkpoint() {
    for mode in [StopMode::Drain, StopMode::NoDrain] {
        let set_up = SetUp::new();
        let mut plan = set_up.plan("sums");
        plan.timer_after_ms = Some(5);
        let mut stand = set_up.channels(1, plan.alone());
        stand.send(0, barrier_of(1));
        stand.run();
        stand.send(0, Element::Event(Event::EndOfData(mode)));
        stand.run();
        stand.clock.advance(Duration::from_millis(5));
        stand.run();
        let log = stand.take();
        assert!(log.contains(&"data ended".to_owned()), "{log:?}");
        assert!(!log.contains(&"sums: timer".to_owned()), "{log:?}");
    }
}

#[test]
fn t116_what_is_stored_when_a_task_fails_is_told_to_nobody() {
    let set_up = SetUp::new();
    let mut plan = set_up.plan("sums");
    plan.fails_at = "subsumed";
    let mut stand = set_up.channels(1, plan.alone());
    stand.send(0, barrier_of(1));
    stand.run();
    stand.notify(CheckpointNotice::Subsumed(super::id(1)));
    assert!(stand.try_run().is_err());
    let environment = PlainArc::clone(&stand.environment);
    drop(stand);
    environment.run_jobs();
    assert!(environment.take_told().is_empty());
}

/// Its end of partition is on its way, and counts as a barrier for those behind it.
#[test]
fn t109_t119_t121_a_task_whose_operators_are_closed_takes_none_and_is_told_nothing() {
    let set_up = SetUp::new().waiting_for_none();
    let plan = set_up.plan("sums");
    let room = plan.room.clone();
    room.fill_at_end();
    let mut stand = set_up.channels(1, plan.alone());
    stand.send(0, barrier_of(1));
    stand.run();
    stand.environment.run_jobs();
    stand.end(0);
    assert_eq!(stand.run_to(), Step::Idle);
    let end = ["sums: close", "end of partition"];
    assert!(stand.take().ends_with(&end.map(str::to_owned)));
    stand.trigger(2);
    for notice in [
        CheckpointNotice::Complete(super::id(1)),
        CheckpointNotice::Aborted {
            id: super::id(2),
            latest_completed: Some(super::id(1)),
        },
        CheckpointNotice::Subsumed(super::id(1)),
    ] {
        stand.notify(notice);
    }
    assert_eq!(stand.run_to(), Step::Idle);
    assert_eq!(stand.take(), ["decline 2: TaskNotReady"]);
    room.empty();
    assert_eq!(stand.run_to(), DONE);
    assert_eq!(stand.take(), ["moved"]);
}

#[test]
fn a_barrier_that_has_found_no_room_moves_on_though_the_task_only_waits_to_end() {
    let set_up = SetUp::new();
    let plan = set_up.plan("sums");
    let room = plan.room.clone();
    let mut stand = set_up.channels(1, plan.alone());
    stand.end(0);
    assert_eq!(stand.run_to(), Step::Idle);
    room.fill();
    stand.trigger(1);
    assert_eq!(stand.run_to(), Step::Idle);
    assert_eq!(stand.take().last().map(String::as_str), Some("submit"));
    room.empty();
    assert_eq!(stand.run_to(), Step::Idle);
    assert_eq!(stand.take(), ["moved"]);
}

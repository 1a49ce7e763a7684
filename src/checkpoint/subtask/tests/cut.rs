//! Where a checkpoint cuts the stream of a whole task: case B62, T11, T106, T107, T123, T124, T178, T179.

use super::chain::APART;
use super::stand::{SetUp, Stand, barrier_of, record};
use crate::processor::{Ended, Step};
use crate::stream::{CheckpointNotice, Element, Event, StopMode, StreamTask};
use crate::sync::PlainArc;
use proptest::prelude::*;
use std::collections::VecDeque;

/// What a channel gives: the numbers of `before`, the barrier, those after it, and its end.
fn channel(channel: u64, before: u64, from: u64) -> VecDeque<Element<u64>> {
    let numbers = |numbers: core::ops::RangeInclusive<u64>| {
        numbers.map(move |number| record(channel * APART + number))
    };
    let mut elements: VecDeque<_> = numbers(from..=before).collect();
    if from <= before {
        elements.push_back(barrier_of(1));
    }
    elements.extend(numbers(before + 1..=2 * before));
    elements.push_back(Element::Event(Event::EndOfData(StopMode::Drain)));
    elements.push_back(Element::Event(Event::EndOfPartition));
    elements
}

/// Feeds a task by `schedule`, which says how many elements each channel gives before the task goes on,
/// and with how many urgent letters in between; where it is over, it begins again.
fn feed(stand: &mut Stand, channels: [VecDeque<Element<u64>>; 2], schedule: &[(u8, u8, u8)]) {
    let mut channels = channels;
    for &(left, right, letters) in schedule.iter().cycle() {
        for (index, count) in [left, right].into_iter().enumerate() {
            for _ in 0..count {
                match channels[index].front() {
                    Some(&element) if stand.try_send(index, element) => {
                        channels[index].pop_front();
                    }
                    _ => break,
                }
            }
        }
        for _ in 0..letters {
            let _full = stand.letter("letter", true);
            stand.step();
        }
        if channels.iter().all(VecDeque::is_empty) {
            break;
        }
        stand.step();
    }
    stand.run();
}

fn sums(bytes: &[u8]) -> [u64; 2] {
    postcard::from_bytes(bytes).unwrap()
}

/// Completes the final checkpoint, and gives the sums in it.
fn last_sums(stand: &mut Stand) -> [u64; 2] {
    stand.trigger(9);
    stand.run();
    stand.environment.run_jobs();
    let (id, state) = stand.stored(0);
    assert_eq!(id.get(), 9);
    stand.notify(CheckpointNotice::Complete(id));
    assert_eq!(stand.run_to(), Step::Ended(Ended::AllDone));
    sums(&state)
}

/// Case B62 by a schedule; `numbers` before the barrier and as many after it.
fn b62(look: usize, numbers: u64, schedule: &[(u8, u8, u8)]) {
    let half = numbers * (numbers + 1) / 2;
    let whole = numbers * (2 * numbers + 1);
    let set_up = SetUp::new().look(look);
    let sums_up = set_up.plan("sums").alone();
    let mut stand = set_up.channels(2, sums_up);
    let both = [channel(0, numbers, 1), channel(1, numbers, 1)];
    feed(&mut stand, both, schedule);
    stand.environment.run_jobs();
    let (id, state) = stand.stored(0);
    assert_eq!(id.get(), 1);
    assert_eq!(sums(&state), [half, half]);
    // What went out before the barrier is just what belongs to the checkpoint.
    let log = stand.take();
    let cut = log.iter().position(|what| what == "barrier 1").unwrap();
    let (before, after) = log.split_at(cut);
    let of = |log: &[String], from: u64, to: u64| {
        let numbers = log.iter().filter_map(|what| what.strip_prefix("record "));
        let mut numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
        numbers.sort_unstable();
        (from..=to).chain(APART + from..=APART + to).eq(numbers)
    };
    assert!(of(before, 1, numbers));
    assert!(of(after, numbers + 1, 2 * numbers));
    let taken = ["sums: snapshot", "submit"];
    assert_eq!(after[1..3], taken);
    assert_eq!(last_sums(&mut stand), [whole, whole]);

    let set_up = SetUp::new().look(look).restored(vec![state], false);
    let sums_up = set_up.plan("sums").alone();
    let mut stand = set_up.channels(2, sums_up);
    let rest = [0, 1].map(|number| channel(number, numbers, numbers + 1));
    feed(&mut stand, rest, schedule);
    assert_eq!(last_sums(&mut stand), [whole, whole]);
}

#[test]
fn b62_the_cut_is_where_the_barriers_are() {
    for look in [1, 7, 256] {
        // At one speed, at different speeds, and one at a time: the other pauses at its barrier.
        b62(look, 1_000, &[(50, 50, 0)]);
        b62(look, 1_000, &[(64, 3, 1), (0, 5, 0), (9, 0, 2)]);
        let mut one_at_a_time = vec![(64, 0, 0); 200];
        one_at_a_time.extend([(0, 64, 1); 200]);
        b62(look, 1_000, &one_at_a_time);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn b62_by_any_schedule(
        look in prop::sample::select(vec![1_usize, 7, 256]),
        numbers in 1..120_u64,
        schedule in prop::collection::vec((0..70_u8, 0..70_u8, 0..3_u8), 1..20),
    ) {
        let gives = |side: fn(&(u8, u8, u8)) -> u8| schedule.iter().any(|turn| side(turn) > 0);
        prop_assume!(gives(|turn| turn.0) && gives(|turn| turn.1));
        b62(look, numbers, &schedule);
    }
}

#[test]
fn t11_no_record_behind_a_barrier_comes_before_its_checkpoint() {
    for look in [1, 256] {
        let set_up = SetUp::new().look(look);
        let chain = set_up.plan("sums").alone();
        let mut stand = set_up.channels(1, chain);
        stand.send(0, record(1));
        stand.send(0, barrier_of(1));
        stand.send(0, record(2));
        stand.run();
        let expected = [
            "record 1",
            "sums: pre",
            "barrier 1",
            "sums: snapshot",
            "submit",
            "record 2",
        ];
        assert_eq!(stand.take(), expected);
    }
}

#[test]
fn t11_letters_that_wait_at_a_barrier_come_before_the_record_behind_it() {
    let set_up = SetUp::new().look(256);
    let log = set_up.log.clone();
    let executor = PlainArc::clone(&set_up.executor);
    let mut plan = set_up.plan("sums");
    plan.on_record = Some(PlainArc::new(move |value| {
        if value == 1 {
            let log = log.clone();
            let letter = move |_: &mut StreamTask| log.add("letter");
            executor.get().unwrap().execute(letter).unwrap();
        }
    }));
    let mut stand = set_up.channels(1, plan.alone());
    stand.send(0, record(1));
    stand.send(0, barrier_of(1));
    stand.send(0, record(2));
    stand.run();
    let log = stand.take();
    let place = |what: &str| log.iter().position(|logged| logged == what).unwrap();
    assert!(place("submit") < place("record 2"));
    assert!(place("letter") < place("record 2"));
}

#[test]
fn t106_t107_operators_give_first_to_last_and_are_stored_last_to_first() {
    let set_up = SetUp::new();
    let mut plans = ["first", "second"].map(|name| set_up.plan(name));
    plans[0].holds = true;
    let [first, second] = plans;
    let mut stand = set_up.channels(1, first.before(second.alone()));
    for value in [1, 2] {
        stand.send(0, record(value));
    }
    stand.run();
    assert!(stand.take().is_empty());
    stand.send(0, barrier_of(1));
    stand.send(0, record(3));
    stand.run();
    let expected = [
        "first: pre",
        "record 1",
        "record 2",
        "second: pre",
        "barrier 1",
        "second: snapshot",
        "first: snapshot",
        "submit",
    ];
    assert_eq!(stand.take(), expected);
    stand.environment.run_jobs();
    // From the head on, and with what went by the second operator before the barrier.
    let stored = stand.environment.take_stored();
    let names: Vec<_> = stored[0].1.iter().map(|operator| &*operator.name).collect();
    assert_eq!(names, ["first", "second"]);
    for operator in &stored[0].1 {
        assert_eq!(sums(operator.managed_operator.as_ref().unwrap()), [3, 0]);
    }
}

#[test]
fn a_barrier_is_shown_to_others_before_the_state_is_taken() {
    let set_up = SetUp::new().waiting_for_none();
    let mut plan = set_up.plan("sums");
    plan.tells_flushes = true;
    let mut stand = set_up.channels(2, plan.alone());
    for event in [
        Event::Barrier(super::barrier(1)),
        Event::CancelBarrier(super::id(2)),
    ] {
        for channel in [0, 1] {
            stand.send(channel, Element::Event(event));
        }
    }
    stand.run();
    let log = stand.take();
    let place = |what: &str| log.iter().position(|logged| logged == what).unwrap();
    let barrier = place("barrier 1");
    assert_eq!(log[barrier + 1..][..2], ["flush", "sums: snapshot"]);
    assert_eq!(log[place("cancel 2") + 1], "flush");
    // So are its ends.
    stand.environment.run_jobs();
    for channel in [0, 1] {
        stand.end(channel);
    }
    stand.run();
    let log = stand.take();
    for event in ["end of data: Drain", "end of partition"] {
        let event = log.iter().position(|logged| logged == event).unwrap();
        assert_eq!(log[event + 1], "flush");
    }
}

#[test]
fn t119_k18_all_operators_are_told_last_to_first_whoever_fails() {
    // Where both fail it is by the first error.
    for (fail, by) in [("second", "second"), ("first", "first"), ("both", "second")] {
        let set_up = SetUp::new();
        let plans = ["first", "second"].map(|name| {
            let mut plan = set_up.plan(name);
            let fails = fail == "both" || fail == name;
            plan.fails_at = if fails { "complete" } else { "" };
            plan
        });
        let [first, second] = plans;
        let mut stand = set_up.channels(1, first.before(second.alone()));
        stand.run();
        stand.notify(CheckpointNotice::Complete(super::id(4)));
        let error = stand.try_run().unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(&format!("{by} fails at complete")),
            "{error}"
        );
        let log = stand.take();
        assert_eq!(log[..2], ["second: complete 4", "first: complete 4"]);
    }
}

#[test]
fn t123_a_timer_that_is_due_within_a_checkpoint_comes_after_it() {
    let set_up = SetUp::new();
    let mut plan = set_up.plan("sums");
    plan.timer_after_ms = Some(0);
    let mut stand = set_up.channels(1, plan.alone());
    stand.send(0, barrier_of(1));
    stand.run();
    let expected = [
        "sums: pre",
        "barrier 1",
        "sums: snapshot",
        "submit",
        "sums: timer",
    ];
    assert_eq!(stand.take(), expected);
}

#[test]
fn t178_an_operator_that_fails_before_the_barrier_fails_the_task_and_none_goes_out() {
    for fails_at in ["pre", "snapshot"] {
        let set_up = SetUp::new();
        let mut plans = ["first", "second"].map(|name| set_up.plan(name));
        plans[1].fails_at = fails_at;
        let [first, second] = plans;
        let mut stand = set_up.channels(1, first.before(second.alone()));
        stand.send(0, barrier_of(1));
        stand.send(0, record(1));
        let error = stand.try_run().unwrap_err();
        assert!(error.to_string().contains("second fails at"), "{error}");
        let log = stand.take();
        let has = |what: &str| log.iter().any(|logged| logged == what);
        assert_eq!(has("barrier 1"), fails_at == "snapshot");
        // K4: nothing is stored of a chain whose state was taken in part.
        assert!(!has("submit") && !has("first: snapshot") && !has("record 1"));
        assert!(!has("end of partition"));
    }
}

//! How far a task goes, and what it waits for: T11, T15, T24, T28.

use super::rig::{Beside, Probe, Rig, Seen, Stage};
use super::{END_OF_PARTITION, Sender, barrier, bytes, cancel, end_of_data, local, record};
use crate::processor::Step;
use crate::ring::spsc;
use crate::stream::body::Body;
use crate::stream::partition::ResultPartition;
use crate::stream::{
    Broadcast, Element, InputChannel, InputGate, InputSelection, Link as _, MultipleInputProcessor,
    OneInput, Output as _, Record, StopMode, Subtask, TwoInputs,
};
use crate::sync::PlainArc;

fn one<C: InputChannel<u64>>(stage: &Stage, channel: C) -> impl Body + use<C> {
    OneInput::new(InputGate::new(vec![channel]), Probe(stage.clone()))
}

/// Both channels are of one type; see `Beside` for what becomes of their values.
pub(super) fn two<C: InputChannel<u64>>(stage: &Stage, left: C, right: C) -> impl Body + use<C> {
    let [left, right] = [left, right].map(|channel| InputGate::new(vec![channel]));
    let (operator, end) = (Beside(stage.clone()), Probe(stage.clone()));
    let inputs = TwoInputs::new(left, right, "beside", operator, end);
    MultipleInputProcessor::new(inputs).expect("two are not too many")
}

fn records(values: impl IntoIterator<Item = u64>) -> Vec<Seen> {
    values.into_iter().map(Seen::Record).collect()
}

#[test]
fn t11_letters_come_between_a_barrier_and_what_is_behind_it() {
    for is_one in [true, false] {
        let stage = Stage::new();
        let (mut sender, channel) = bytes();
        let at_barrier = stage.clone();
        let channel = channel.on_resume(move || at_barrier.post_letter());
        let (_other, idle) = bytes();
        let mut rig = match is_one {
            true => Rig::with_look(&stage, one(&stage, channel), 64),
            false => Rig::with_look(&stage, two(&stage, channel, idle), 64),
        };
        for element in [record(1), barrier(1), record(2)] {
            sender.send(&element);
        }
        assert_eq!(rig.run().unwrap(), Step::Idle);
        let expected = [Seen::Record(1), Seen::Letter, Seen::Record(2)];
        assert_eq!(stage.take(), expected, "one input: {is_one}");
    }
}

#[test]
fn t11_a_turn_ends_at_a_barrier_where_there_is_no_letter_either() {
    for is_one in [true, false] {
        let stage = Stage::new();
        let ((mut sender, channel), (_other, idle)) = (local(), local());
        let mut rig = match is_one {
            true => Rig::with_look(&stage, one(&stage, channel), 64),
            false => Rig::with_look(&stage, two(&stage, channel, idle), 64),
        };
        for element in [record(1), barrier(1), record(2), record(3)] {
            sender.send(element);
        }
        assert_eq!(rig.step().unwrap(), Step::More);
        assert_eq!(stage.take(), records([1]), "one input: {is_one}");
        assert_eq!(rig.step().unwrap(), Step::More);
        assert_eq!(stage.take(), records([2, 3]));
    }
}

#[test]
fn t15_a_turn_goes_on_to_a_letter_or_the_end_of_room() {
    for is_one in [true, false] {
        let rig = |look| {
            let stage = Stage::new();
            let ((mut sender, channel), (other, idle)) = (local(), local());
            let rig = match is_one {
                true => Rig::with_look(&stage, one(&stage, channel), look),
                false => Rig::with_look(&stage, two(&stage, channel, idle), look),
            };
            (0..20).for_each(|value| sender.send(record(value)));
            (stage, rig, sender, other)
        };
        let (stage, mut rig_of_64, ..) = rig(64);
        assert_eq!(rig_of_64.step().unwrap(), Step::More);
        assert_eq!(stage.take(), records(0..20));

        let (stage, mut rig_of_1, ..) = rig(1);
        let at_5 = stage.clone();
        stage.on_record(move |value| {
            if value == 5 {
                at_5.post_letter();
            }
            Ok(())
        });
        assert_eq!(rig_of_1.step().unwrap(), Step::More);
        assert_eq!(stage.take(), records(0..6));
        assert_eq!(rig_of_1.run().unwrap(), Step::Idle);
        let rest: Vec<_> = [Seen::Letter].into_iter().chain(records(6..20)).collect();
        assert_eq!(stage.take(), rest);

        let (stage, mut rig_of_64, ..) = rig(64);
        stage.leave_room_for(7);
        assert_eq!(rig_of_64.run().unwrap(), Step::Idle);
        assert_eq!(stage.take(), records(0..7));
        stage.leave_room_for(99);
        assert_eq!(rig_of_64.run().unwrap(), Step::Idle);
        assert_eq!(stage.take(), records(7..20));
    }
}

fn t24<S: Sender + 'static, C: InputChannel<u64> + 'static>(make: fn() -> (S, C), is_one: bool) {
    let stage = Stage::new();
    let ((mut sender, channel), (_other, idle)) = (make(), make());
    let mut rig = match is_one {
        true => Rig::new(&stage, one(&stage, channel)),
        false => Rig::new(&stage, two(&stage, channel, idle)),
    };
    // Input and no room.
    stage.leave_room_for(0);
    sender.send(record(1));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    sender.send(record(2));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), []);
    stage.leave_room_for(9);
    assert!(!rig.is_idle(), "room wakes it");
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), records([1, 2]));
    // Room and no input.
    assert!(rig.is_idle());
    sender.send(record(3));
    assert!(!rig.is_idle(), "input wakes it");
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), records([3]));
}

#[test]
fn t24_a_task_is_suspended_until_what_it_lacks_is_there() {
    for is_one in [true, false] {
        t24(local, is_one);
        t24(bytes, is_one);
    }
}

#[test]
fn t24_input_that_comes_before_the_suspension_is_not_missed() {
    fn race<S: Sender + 'static, C: InputChannel<u64> + 'static>(
        make: fn() -> (S, C),
        is_one: bool,
    ) {
        let stage = Stage::new();
        let ((mut sender, channel), (_other, idle)) = (make(), make());
        let mut rig = match is_one {
            true => Rig::new(&stage, one(&stage, channel)),
            false => Rig::new(&stage, two(&stage, channel, idle)),
        };
        // The flush is between the look that finds nothing and the arrangement to be woken.
        let from_flush = stage.clone();
        stage.on_flush(move || {
            from_flush.note(Seen::Letter);
            sender.send(record(4));
        });
        assert_eq!(rig.run().unwrap(), Step::Idle);
        assert_eq!(stage.take(), [Seen::Letter, Seen::Record(4)]);
    }
    for is_one in [true, false] {
        race(local, is_one);
        race(bytes, is_one);
    }
}

#[test]
fn t24_an_input_that_is_not_selected_wakes_nobody() {
    let stage = Stage::new();
    let ((mut left, left_end), (mut right, right_end)) = (local(), local());
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    stage.select(InputSelection::LEFT);
    assert_eq!(rig.run().unwrap(), Step::Idle);
    right.send(record(1));
    assert!(rig.is_idle());
    left.send(record(2));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), records([2]));
    // The next record of the left one has it select both.
    let from_record = stage.clone();
    stage.on_record(move |_| {
        from_record.select(InputSelection::ALL);
        Ok(())
    });
    left.send(record(3));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), records([3, 101]));
}

#[test]
fn a_selection_is_asked_for_again_after_each_record() {
    let stage = Stage::new();
    let ((mut left, left_end), (mut right, right_end)) = (local(), local());
    let mut rig = Rig::with_look(&stage, two(&stage, left_end, right_end), 64);
    (0..3).for_each(|value| left.send(record(value)));
    (0..3).for_each(|value| right.send(record(value)));
    stage.select(InputSelection::RIGHT);
    let by_record = stage.clone();
    stage.on_record(move |value| {
        by_record.select(match value {
            100.. => InputSelection::LEFT,
            _ => InputSelection::RIGHT,
        });
        Ok(())
    });
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), records([100, 0, 101, 1, 102, 2]));
}

#[test]
fn t28_an_event_comes_behind_all_that_is_staged_and_to_each_channel() {
    let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..2)
        .map(|_| spsc::bounded::<Element<PlainArc<u64>>>(8).unwrap())
        .unzip();
    let subtask = Subtask::alone("job", "vertex");
    let mut partition = ResultPartition::new(producers, Broadcast, &subtask, 128);
    let value = PlainArc::new(1);
    partition
        .record(Record::new(PlainArc::clone(&value)))
        .unwrap();
    assert!(consumers.iter().all(|consumer| !consumer.has_letters()));
    let events = [
        barrier(1),
        end_of_data(StopMode::Drain),
        cancel(2),
        END_OF_PARTITION,
    ];
    let events = events.map(|element| match element {
        Element::Event(event) => event,
        _ => unreachable!("it is an event"),
    });
    for event in events {
        partition.event(event).unwrap();
    }
    partition.flush();
    assert_eq!(PlainArc::strong_count(&value), 3);
    for consumer in &mut consumers {
        let taken: Vec<_> = core::iter::from_fn(|| consumer.try_take().ok()).collect();
        let value = Element::Record(Record::new(PlainArc::clone(&value)));
        let expected = core::iter::once(value).chain(events.map(Element::Event));
        assert!(expected.eq(taken));
    }
    assert_eq!(PlainArc::strong_count(&value), 1);
}

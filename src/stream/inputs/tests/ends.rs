//! How inputs end, and what a task makes of it: T16 to T19, T31, T32, case B60.

use super::flow::two;
use super::rig::{Probe, Rig, Seen, Stage};
use super::{END_OF_PARTITION, Sender, barrier, bytes, end_of_data, local, record};
use crate::letter::{BoxError, Outcome};
use crate::processor::{Ended, Step};
use crate::ring::{TryTakeError, spsc};
use crate::stream::partition::ResultPartition;
use crate::stream::{
    Element, Forward, InputGate, InputSelection, MultipleInputProcessor, OneInput, Output,
    Progress, Readiness, Record, StopMode, Subtask, TwoInputOperator, TwoInputs, Watermark,
    WatermarkStatus,
};
use StopMode::{Drain, NoDrain};
use core::cell::Cell;
use std::rc::Rc;

/// What is seen at the end of a task's data, and then of the task.
fn ends_with(mode: StopMode) -> Vec<Seen> {
    let mut expected = match mode {
        Drain => vec![Seen::Watermark(i64::MAX)],
        NoDrain => vec![],
    };
    if mode == Drain {
        expected.extend([Seen::Finish, Seen::END_DRAINED]);
    } else {
        expected.push(Seen::END_NOT_DRAINED);
    }
    expected.extend([Seen::Close, Seen::END_OF_PARTITION]);
    expected
}

fn and(one: StopMode, other: StopMode) -> StopMode {
    if (one, other) == (Drain, Drain) {
        Drain
    } else {
        NoDrain
    }
}

const MODES: [(StopMode, StopMode); 4] = [
    (Drain, Drain),
    (Drain, NoDrain),
    (NoDrain, Drain),
    (NoDrain, NoDrain),
];

const DONE: Step = Step::Ended(Ended::AllDone);

#[test]
fn t16_an_input_is_drained_if_each_of_its_channels_is() {
    for (first, second) in MODES {
        let stage = Stage::new();
        let ((mut a, a_end), (mut b, b_end)) = (local(), local());
        let body = OneInput::new(InputGate::new(vec![a_end, b_end]), Probe(stage.clone()));
        let mut rig = Rig::new(&stage, body);
        a.send(end_of_data(first));
        assert_eq!(rig.run().unwrap(), Step::Idle);
        assert_eq!(stage.take(), []);
        b.send(end_of_data(second));
        assert_eq!(rig.run().unwrap(), Step::Idle);
        a.send(END_OF_PARTITION);
        assert_eq!(rig.run().unwrap(), Step::Idle);
        b.send(END_OF_PARTITION);
        assert_eq!(rig.run().unwrap(), DONE);
        assert_eq!(stage.take(), ends_with(and(first, second)));
    }
}

#[test]
fn t17_inputs_are_drained_if_each_is_and_that_is_decided_at_the_last() {
    for (first, second) in MODES {
        let stage = Stage::new();
        let ((mut left, left_end), (mut right, right_end)) = (local(), local());
        let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
        right.send(end_of_data(first));
        assert_eq!(rig.run().unwrap(), Step::Idle);
        let ended = |input, mode| (mode == Drain).then_some(Seen::EndInput(input));
        let expected: Vec<_> = ended(1, first).into_iter().collect();
        assert_eq!(stage.take(), expected);
        right.send(END_OF_PARTITION);
        left.send(record(1));
        left.send(end_of_data(second));
        assert_eq!(rig.run().unwrap(), Step::Idle);
        left.send(END_OF_PARTITION);
        assert_eq!(rig.run().unwrap(), DONE);
        let mut expected = ends_with(and(first, second));
        let place = usize::from(expected[0] == Seen::Watermark(i64::MAX));
        if let Some(seen) = ended(0, second) {
            expected.insert(place, seen);
        }
        expected.insert(0, Seen::Record(1));
        assert_eq!(stage.take(), expected, "{first:?} and {second:?}");
    }
}

#[test]
fn t18_barriers_are_read_from_an_input_that_has_ended_and_is_not_selected() {
    let stage = Stage::new();
    let resumed = Rc::new(Cell::new(0));
    let counted = Rc::clone(&resumed);
    let ((mut left, left_end), (mut right, right_end)) = (bytes(), bytes());
    let left_end = left_end.on_resume(move || counted.set(counted.get() + 1));
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    left.send(&end_of_data(Drain));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), [Seen::EndInput(0)]);
    stage.select(InputSelection::RIGHT);
    left.send(&barrier(1));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(resumed.get(), 1);
    right.send(&record(1));
    left.send(&barrier(2));
    left.send(&END_OF_PARTITION);
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!((resumed.get(), stage.take()), (2, vec![Seen::Record(101)]));
    right.send(&end_of_data(Drain));
    right.send(&END_OF_PARTITION);
    assert_eq!(rig.run().unwrap(), DONE);
}

#[test]
fn t19_a_task_that_would_never_go_on_fails() {
    let stage = Stage::new();
    let ((mut left, left_end), (_right, right_end)) = (local(), local());
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    stage.select(InputSelection::LEFT);
    left.send(end_of_data(Drain));
    let failure = rig.run().unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("the selected inputs ({0}) have ended"),
        "{failure}"
    );
    assert_eq!(stage.take(), [Seen::EndInput(0)]);
    drop(rig);
    assert_eq!(stage.take(), [Seen::Close]);
}

#[test]
fn t31_a_task_that_fails_ends_no_partition() {
    let stage = Stage::new();
    stage.on_record(|value| match value {
        2 => Err("two".into()),
        _ => Ok(()),
    });
    let (mut sender, channel) = local();
    let gate = InputGate::new(vec![channel]);
    let mut rig = Rig::new(&stage, OneInput::new(gate, Probe(stage.clone())));
    for element in [
        record(1),
        record(2),
        record(3),
        end_of_data(Drain),
        END_OF_PARTITION,
    ] {
        sender.send(element);
    }
    assert!(rig.run().is_err());
    drop(rig);
    assert_eq!(
        stage.take(),
        [Seen::Record(1), Seen::Record(2), Seen::Close]
    );
}

#[test]
fn t32_a_record_after_the_end_of_its_data_fails_the_task() {
    let stage = Stage::new();
    let ((mut left, left_end), (_right, right_end)) = (local(), local());
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    left.send(end_of_data(Drain));
    left.send(record(1));
    let failure = rig.run().unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("a record came by channel 0 after the end of its data"),
        "{failure}"
    );
    assert_eq!(stage.take(), [Seen::EndInput(0)]);
}

#[test]
fn t31_who_takes_from_a_task_that_fails_sees_no_end_and_waits() {
    let (producer, mut consumer) = spsc::bounded::<Element<u64>>(8).unwrap();
    let subtask = Subtask::alone("job", "vertex");
    let end = ResultPartition::new(vec![producer], Forward::default(), &subtask, 128);
    let (mut sender, channel) = local();
    let mut rig = Rig::new(
        &Stage::new(),
        OneInput::new(InputGate::new(vec![channel]), end),
    );
    for element in [record(1), end_of_data(Drain), record(2)] {
        sender.send(element);
    }
    assert!(rig.run().is_err());
    drop(rig);
    assert_eq!(consumer.try_take(), Ok(record(1)));
    assert_eq!(consumer.try_take(), Ok(Element::Watermark(Watermark::MAX)));
    assert_eq!(consumer.try_take(), Ok(end_of_data(Drain)));
    assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
}

/// What comes by channels A and B in a variant of case B60.
type Variant = [Vec<Element<u64>>; 2];

#[test]
fn b60_an_input_that_ends_beside_barriers_loses_and_holds_up_nothing() {
    let end = [end_of_data(Drain), END_OF_PARTITION];
    let with = |ids: &[u64], records: core::ops::Range<u64>| {
        let barriers = ids.iter().map(|&id| barrier(id));
        barriers
            .chain(records.map(record))
            .chain(end)
            .collect::<Vec<_>>()
    };
    let variants: [Variant; 4] = [
        [with(&[1], 11..16), with(&[], 1..4)],
        [with(&[1], 11..16), with(&[], 0..0)],
        [with(&[1], 11..16), with(&[1], 0..0)],
        [with(&[1, 2], 11..16), with(&[1, 2], 1..4)],
    ];
    for [of_a, of_b] in variants {
        for (first_is_a, is_one) in [(true, true), (true, false), (false, true), (false, false)] {
            let stage = Stage::new();
            let ((mut a, a_end), (mut b, b_end)) = (bytes(), bytes());
            let mut rig = match is_one {
                true => {
                    let gate = InputGate::new(vec![a_end, b_end]);
                    Rig::new(&stage, OneInput::new(gate, Probe(stage.clone())))
                }
                false => Rig::new(&stage, two(&stage, a_end, b_end)),
            };
            let mut give = |is_a: bool| {
                let (sender, elements) = match is_a {
                    true => (&mut a, &of_a),
                    false => (&mut b, &of_b),
                };
                for element in elements {
                    sender.send(element);
                    let _ = rig.run().unwrap();
                }
            };
            give(first_is_a);
            give(!first_is_a);
            assert_eq!(rig.run().unwrap(), DONE);
            let mut records: Vec<_> = stage.take_records();
            records.iter_mut().for_each(|value| *value %= 100);
            records.sort_unstable();
            let mut expected: Vec<_> = of_a.iter().chain(&of_b).filter_map(value).collect();
            expected.sort_unstable();
            assert_eq!(records, expected);
        }
    }
}

fn value(element: &Element<u64>) -> Option<u64> {
    match element {
        Element::Record(record) => Some(record.value),
        _ => None,
    }
}

#[test]
fn an_input_that_ends_without_drain_holds_event_time_where_it_is() {
    let stage = Stage::new();
    let ((mut left, left_end), (mut right, right_end)) = (local(), local());
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    left.send(Element::Watermark(Watermark(20)));
    right.send(Element::Watermark(Watermark(30)));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), [Seen::Watermark(20)]);
    // It goes on from there where the job does.
    left.send(end_of_data(NoDrain));
    right.send(Element::Watermark(Watermark(40)));
    right.send(end_of_data(NoDrain));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    assert_eq!(stage.take(), [Seen::END_NOT_DRAINED]);
}

/// Has its work at the end of event time done when it is advanced.
struct Slow {
    stage: Stage,
    left: Option<Watermark>,
}

impl TwoInputOperator<u64, u64> for Slow {
    type Out = u64;

    fn process_left(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn process_right(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        _out: &mut impl Output<u64>,
    ) -> Result<Progress, BoxError> {
        self.left = Some(watermark);
        Ok(Progress::Unfinished)
    }

    fn advance(&mut self, out: &mut impl Output<u64>) -> Result<Progress, BoxError> {
        if let Some(watermark) = self.left.take() {
            out.emit(7)?;
            out.watermark(watermark)?;
        }
        Ok(Progress::Done)
    }

    fn end_input(&mut self, input: usize, _out: &mut impl Output<u64>) -> Outcome {
        self.stage.note(Seen::EndInput(input));
        Ok(())
    }

    fn readiness(&self) -> Readiness {
        match self.left {
            Some(_) => Readiness::Unfinished,
            None => Readiness::Ready,
        }
    }
}

#[test]
fn an_end_is_told_when_what_its_event_time_has_set_off_is_done() {
    let stage = Stage::new();
    let ((mut left, left_end), (mut right, right_end)) = (local(), local());
    let [left_end, right_end] = [left_end, right_end].map(|end| InputGate::new(vec![end]));
    let operator = Slow {
        stage: stage.clone(),
        left: None,
    };
    let inputs = TwoInputs::new(left_end, right_end, "slow", operator, Probe(stage.clone()));
    let mut rig = Rig::new(&stage, MultipleInputProcessor::new(inputs).unwrap());
    left.send(end_of_data(Drain));
    right.send(end_of_data(Drain));
    assert_eq!(rig.run().unwrap(), Step::Idle);
    let expected = [
        Seen::EndInput(0),
        Seen::Record(7),
        Seen::Watermark(i64::MAX),
        Seen::EndInput(1),
        Seen::Finish,
        Seen::END_DRAINED,
    ];
    assert_eq!(stage.take(), expected);
}

#[test]
fn event_time_of_two_inputs_is_the_lesser_without_the_idle_and_the_ended() {
    let stage = Stage::new();
    let ((mut left, left_end), (mut right, right_end)) = (local(), local());
    let mut rig = Rig::new(&stage, two(&stage, left_end, right_end));
    let mut seen = |sender: &mut dyn Sender, element| {
        sender.send(element);
        assert_eq!(rig.run().unwrap(), Step::Idle);
        stage.take()
    };
    let watermark = |ms| Element::Watermark(Watermark(ms));
    let status = Element::Status;
    assert_eq!(seen(&mut left, watermark(10)), []);
    assert_eq!(seen(&mut right, watermark(7)), [Seen::Watermark(7)]);
    assert_eq!(
        seen(&mut right, status(WatermarkStatus::Idle)),
        [Seen::Watermark(10)]
    );
    assert_eq!(
        seen(&mut left, status(WatermarkStatus::Idle)),
        [Seen::Status(WatermarkStatus::Idle)]
    );
    let active = Seen::Status(WatermarkStatus::Active);
    assert_eq!(seen(&mut right, status(WatermarkStatus::Active)), [active]);
    assert_eq!(seen(&mut right, watermark(12)), [Seen::Watermark(12)]);
    assert_eq!(seen(&mut left, end_of_data(Drain)), [Seen::EndInput(0)]);
    assert_eq!(seen(&mut right, watermark(30)), [Seen::Watermark(30)]);
    assert_eq!(
        seen(&mut right, end_of_data(Drain)),
        [
            Seen::Watermark(i64::MAX),
            Seen::EndInput(1),
            Seen::Finish,
            Seen::END_DRAINED
        ]
    );
}

#[test]
fn t130_operators_that_are_restored_as_finished_are_told_nothing_of_their_inputs() {
    let one = |input| InputSelection::of([input]).unwrap();
    for selection in [InputSelection::ALL, one(0), one(1)] {
        let stage = Stage::new();
        // As it was when the first input had not ended: nobody tells it that this one has.
        stage.select(selection);
        let ((mut left, left_end), (mut right, right_end)) = (local(), local());
        let mut rig = Rig::restored_finished(&stage, two(&stage, left_end, right_end));
        // K34: event time ends with that of the last input, and not before.
        let ended = vec![Seen::Watermark(i64::MAX), Seen::END_DRAINED];
        for (sender, then) in [(&mut right, Vec::new()), (&mut left, ended)] {
            sender.send(Element::Watermark(Watermark::MAX));
            sender.send(end_of_data(Drain));
            assert_eq!(rig.run().unwrap(), Step::Idle);
            assert_eq!(stage.take(), then);
        }
        left.send(END_OF_PARTITION);
        right.send(END_OF_PARTITION);
        assert_eq!(rig.run().unwrap(), DONE);
        assert_eq!(stage.take(), [Seen::Close, Seen::END_OF_PARTITION]);
    }
}

//! How far event time has come is part of a checkpoint, and goes on from it.

use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, CheckpointId, Element, Operator, OperatorHarness,
    Progress, Record, RestoredOperator, StateError, Subtask, Watermark, WatermarkGenerator,
};
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::time::Duration;

fn at(timestamp_ms: i64) -> Element<i64> {
    Element::Watermark(Watermark(timestamp_ms))
}

fn event(timestamp_ms: i64) -> Element<i64> {
    Element::Record(Record::at(timestamp_ms, timestamp_ms))
}

fn id() -> CheckpointId {
    CheckpointId::new(1).expect("it is not 0")
}

/// The time of an event is its value; a watermark goes out after every 4 records, by no clock.
fn by_records<G: WatermarkGenerator<i64>>(generator: G) -> impl Operator<i64, Out = i64> {
    AssignWatermarks::new(generator, |event: &i64| *event)
        .watermark_interval(Duration::ZERO)
        .watermark_records_max(NonZeroU32::new(4).expect("it is not 0"))
}

fn restored<Op: Operator<i64>>(
    operator: Op,
    from: RestoredOperator,
) -> Result<OperatorHarness<Op, i64>, BoxError> {
    OperatorHarness::restored(operator, Subtask::alone("test", "assign"), from)
}

/// What a subtask has stored to which events up to `greatest_ms` have come, and that has put out the
/// watermark before that.
fn stored(greatest_ms: i64) -> Result<RestoredOperator, BoxError> {
    let assign = AssignWatermarks::new(BoundedOutOfOrderness::millis(0), |event: &i64| *event);
    let mut harness = OperatorHarness::new(assign)?;
    harness.process(Record::new(greatest_ms))?;
    assert_eq!(harness.move_time_to(200)?, Progress::Done);
    harness.snapshot(id())
}

#[test]
fn the_watermark_that_had_gone_out_goes_out_before_the_first_record() -> Outcome {
    let bound = BoundedOutOfOrderness::millis(0);
    let mut harness = restored(by_records(bound), stored(100)?)?;
    harness.process(Record::new(50))?;
    assert_eq!(harness.take_output(), [at(99), event(50)]);
    for _ in 0..9 {
        harness.process(Record::new(60))?;
    }
    assert_eq!(
        harness.take_output(),
        vec![event(60); 9],
        "nothing less goes out"
    );
    Ok(())
}

#[test]
fn it_goes_out_where_no_record_comes() -> Outcome {
    let bound = BoundedOutOfOrderness::millis(0);
    let mut harness = restored(by_records(bound), stored(100)?)?;
    assert_eq!(harness.move_time_to(0)?, Progress::Done);
    assert_eq!(harness.take_output(), [at(99)]);
    Ok(())
}

#[test]
fn a_generator_that_forgets_takes_nothing_back() -> Outcome {
    /// Says the time of each event, and knows of no other.
    struct Each;

    impl WatermarkGenerator<i64> for Each {
        fn on_event(&mut self, _event: &i64, timestamp_ms: i64) -> Option<Watermark> {
            Some(Watermark(timestamp_ms))
        }

        fn on_periodic_emit(&mut self) -> Watermark {
            Watermark::MIN
        }
    }

    let mut harness = restored(by_records(Each), stored(100)?)?;
    for timestamp_ms in [70, 80, 130] {
        harness.process(Record::new(timestamp_ms))?;
    }
    let output = [at(99), event(70), event(80), event(130), at(130)];
    assert_eq!(harness.take_output(), output);
    Ok(())
}

#[test]
fn of_several_subtasks_the_one_that_is_behind_counts() -> Outcome {
    let mut both = stored(100)?;
    both.managed_operator.extend(stored(40)?.managed_operator);
    let mut harness = restored(by_records(BoundedOutOfOrderness::millis(0)), both)?;
    harness.process(Record::new(7))?;
    assert_eq!(harness.take_output(), [at(39), event(7)]);
    Ok(())
}

#[test]
fn a_generator_with_idleness_remembers_too() -> Outcome {
    let generator = BoundedOutOfOrderness::millis(0).idle_after(Duration::from_secs(5));
    let mut harness = restored(by_records(generator), stored(100)?)?;
    for _ in 0..4 {
        harness.process(Record::new(60))?;
    }
    let again = harness.snapshot(id())?;
    let mut harness = restored(by_records(BoundedOutOfOrderness::millis(0)), again)?;
    harness.process(Record::new(0))?;
    assert_eq!(harness.take_output(), [at(99), event(0)]);
    Ok(())
}

#[test]
fn what_is_no_watermark_is_refused() -> Outcome {
    let whole = stored(100)?;
    let bytes = whole.managed_operator[0].to_vec();
    for damaged in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
        let from = RestoredOperator {
            managed_operator: vec![damaged.to_vec().into()],
            ..RestoredOperator::default()
        };
        let operator = by_records(BoundedOutOfOrderness::millis(0));
        let error = restored(operator, from).err().ok_or("it was taken")?;
        let error = error.downcast_ref::<StateError>();
        assert!(
            matches!(error, Some(StateError::Damaged { .. })),
            "{error:?}"
        );
    }
    Ok(())
}

proptest! {
    /// As without a failure, but for the watermark that goes out again.
    #[test]
    fn the_same_watermarks_stand_behind_the_same_records(
        events in proptest::collection::vec(0..1_000_i64, 0..60),
        failures in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        bound in 0..50_u64,
    ) {
        let operator = || by_records(BoundedOutOfOrderness::millis(bound));
        let mut undisturbed = OperatorHarness::new(operator()).expect("it opens");
        let mut failing = OperatorHarness::new(operator()).expect("it opens");
        let mut output: Vec<Element<i64>> = Vec::new();
        let mut last = None;
        for (place, &event) in events.iter().enumerate() {
            if failures.iter().any(|failure| failure.index(events.len()) == place) {
                let from = failing.snapshot(id()).expect("it has state");
                failing = restored(operator(), from).expect("it was stored so");
            }
            undisturbed.process(Record::new(event)).expect("it passes");
            failing.process(Record::new(event)).expect("it passes");
            for element in failing.take_output() {
                let is_repeated = matches!(element, Element::Watermark(_)) && last == Some(element);
                if let Element::Watermark(_) = element {
                    last = Some(element);
                }
                if !is_repeated {
                    output.push(element);
                }
            }
        }
        prop_assert_eq!(output, undisturbed.take_output());
    }
}

//! The operator that assigns timestamps and watermarks, on a clock in the test's hand: B54, B58.

use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, Element, MonotonousTimestamps, Operator,
    OperatorHarness, Progress, Record, Watermark, WatermarkGenerator, WatermarkStatus,
};
use std::num::NonZeroU32;
use std::time::Duration;

const ACTIVE: Element<i64> = Element::Status(WatermarkStatus::Active);
const IDLE: Element<i64> = Element::Status(WatermarkStatus::Idle);
const MAX: Element<i64> = Element::Watermark(Watermark::MAX);

fn at(timestamp_ms: i64) -> Element<i64> {
    Element::Watermark(Watermark(timestamp_ms))
}

/// The record of an event whose value is its time.
fn event(timestamp_ms: i64) -> Element<i64> {
    Element::Record(Record::at(timestamp_ms, timestamp_ms))
}

/// Opened at time 0; the time of an event is its value.
fn assign<G: WatermarkGenerator<i64>>(
    generator: G,
) -> Result<OperatorHarness<impl Operator<i64, Out = i64>, i64>, BoxError> {
    OperatorHarness::new(AssignWatermarks::new(generator, |event: &i64| *event))
}

fn idle_after(timeout_ms: u64) -> impl WatermarkGenerator<i64> {
    MonotonousTimestamps::new().idle_after(Duration::from_millis(timeout_ms))
}

/// Moves time and asserts that it is done.
fn move_time<Op: Operator<i64>>(harness: &mut OperatorHarness<Op, i64>, now_ms: i64) -> Outcome {
    assert_eq!(harness.move_time_to(now_ms)?, Progress::Done);
    Ok(())
}

#[test]
fn each_record_is_given_its_time() -> Outcome {
    let mut assign = assign(BoundedOutOfOrderness::millis(100))?;
    assign.process(Record::new(30))?;
    assign.process(Record::at(10, 99))?;
    assert_eq!(assign.take_output(), [event(30), event(10)]);
    Ok(())
}

#[test]
fn a_record_may_be_without_a_time() -> Outcome {
    let mut assign = assign(MonotonousTimestamps::new())?;
    assign.process(Record::at(i64::MIN, 5))?;
    move_time(&mut assign, 1_000)?;
    assert_eq!(
        assign.take_output(),
        [Element::Record(Record::new(i64::MIN))]
    );
    Ok(())
}

#[test]
fn a_watermark_goes_out_every_200_ms_if_it_is_greater() -> Outcome {
    let mut assign = assign(BoundedOutOfOrderness::millis(100))?;
    assign.process(Record::new(1_000))?;
    move_time(&mut assign, 199)?;
    assert_eq!(assign.take_output(), [event(1_000)]);
    move_time(&mut assign, 200)?;
    assert_eq!(assign.take_output(), [at(899)]);
    assign.process(Record::new(500))?;
    move_time(&mut assign, 1_399)?;
    assert_eq!(assign.take_output(), [event(500)]);
    assign.process(Record::new(1_001))?;
    move_time(&mut assign, 1_400)?;
    assert_eq!(assign.take_output(), [event(1_001), at(900)]);
    Ok(())
}

#[test]
fn a_watermark_goes_out_behind_every_128th_record_whatever_the_clock() -> Outcome {
    let mut assign = assign(BoundedOutOfOrderness::millis(10))?;
    for number in 1..=300 {
        assign.process(Record::new(number))?;
        if number == 200 {
            // The clock's watermark does not shift those that are counted out.
            move_time(&mut assign, 200)?;
        }
    }
    let output = assign.take_output();
    let watermarks = output.iter().enumerate().filter_map(|(place, element)| {
        matches!(element, Element::Watermark(_)).then_some((place, *element))
    });
    let expected = [(128, at(117)), (201, at(189)), (258, at(245))];
    assert_eq!(watermarks.collect::<Vec<_>>(), expected);
    Ok(())
}

#[test]
fn both_the_interval_and_the_number_of_records_can_be_set() -> Outcome {
    let assign = AssignWatermarks::new(MonotonousTimestamps::new(), |event: &i64| *event)
        .watermark_interval(Duration::from_millis(50))
        .watermark_records_max(NonZeroU32::new(2).expect("is not 0"));
    let mut assign = OperatorHarness::new(assign)?;
    for time in [11, 21, 31] {
        assign.process(Record::new(time))?;
    }
    assert_eq!(
        assign.take_output(),
        [event(11), event(21), at(20), event(31)]
    );
    move_time(&mut assign, 50)?;
    assert_eq!(assign.take_output(), [at(30)]);
    Ok(())
}

#[test]
fn without_an_interval_the_clock_brings_no_watermark() -> Outcome {
    let assign = AssignWatermarks::new(MonotonousTimestamps::new(), |event: &i64| *event)
        .watermark_interval(Duration::ZERO);
    let mut assign = OperatorHarness::new(assign)?;
    assign.process(Record::new(11))?;
    move_time(&mut assign, 10_000)?;
    assert_eq!(assign.take_output(), [event(11)]);
    Ok(())
}

#[test]
fn b54_a_look_before_the_first_record_brings_nothing() -> Outcome {
    let mut assign = assign(BoundedOutOfOrderness::minutes(1))?;
    move_time(&mut assign, 10_000)?;
    assign.finish()?;
    assert_eq!(assign.take_output(), []);
    Ok(())
}

#[test]
fn only_the_end_of_event_time_is_passed_on_from_upstream() -> Outcome {
    let mut assign = assign(MonotonousTimestamps::new())?;
    assign.process(Record::new(11))?;
    assert_eq!(assign.watermark(500)?, Progress::Done);
    assign.status(WatermarkStatus::Idle)?;
    assert_eq!(assign.watermark(i64::MAX)?, Progress::Done);
    assert_eq!(assign.watermark(i64::MAX)?, Progress::Done);
    assign.process(Record::new(13))?;
    move_time(&mut assign, 10_000)?;
    assign.finish()?;
    assert_eq!(assign.take_output(), [event(11), MAX, event(13)]);
    Ok(())
}

#[test]
fn what_is_known_at_the_finish_goes_out() -> Outcome {
    let mut assign = assign(MonotonousTimestamps::new())?;
    assign.process(Record::new(11))?;
    assign.finish()?;
    assert_eq!(assign.take_output(), [event(11), at(10)]);
    Ok(())
}

/// A negative event is the end of what is before it.
struct Punctuated;

impl WatermarkGenerator<i64> for Punctuated {
    fn on_event(&mut self, event: &i64, _timestamp_ms: i64) -> Option<Watermark> {
        (*event < 0).then_some(Watermark(-event))
    }

    fn on_periodic_emit(&mut self) -> Watermark {
        Watermark::MIN
    }
}

#[test]
fn a_generator_may_give_a_watermark_with_a_record() -> Outcome {
    let mut assign = assign(Punctuated)?;
    for value in [3, -8, 5, -8, -7, -9] {
        assign.process(Record::new(value))?;
    }
    move_time(&mut assign, 1_000)?;
    let expected = [
        event(3),
        event(-8),
        at(8),
        event(5),
        event(-8),
        event(-7),
        event(-9),
        at(9),
    ];
    assert_eq!(assign.take_output(), expected);
    Ok(())
}

#[test]
fn b58_a_steady_stream_is_never_idle_and_a_silent_one_once() -> Outcome {
    // Where the records lie between the looks must not matter.
    for shift in 0..20 {
        let mut assign = assign(idle_after(200))?;
        let mut last = 0;
        for number in 0..150 {
            last = shift + 20 * number;
            move_time(&mut assign, last)?;
            assign.process(Record::new(last))?;
        }
        let output = assign.take_output();
        let is_status = |element: &Element<i64>| matches!(element, Element::Status(_));
        assert!(!output.iter().any(is_status), "{output:?}");

        move_time(&mut assign, last + 199)?;
        assert!(!assign.take_output().iter().any(is_status), "too soon");
        move_time(&mut assign, last + 300)?;
        let output = assign.take_output();
        assert_eq!(output.last(), Some(&IDLE), "shifted by {shift}");
        assert_eq!(
            output.iter().filter(|element| is_status(element)).count(),
            1
        );
        move_time(&mut assign, last + 1_000)?;
        assert_eq!(assign.take_output(), []);

        let next = last + 1_000;
        assign.process(Record::new(next))?;
        assert_eq!(assign.take_output(), [ACTIVE, event(next), at(next - 1)]);
    }
    Ok(())
}

/// Exactly as many records from one look to the next as bring the count back to where it was.
#[test]
fn b58_as_many_records_as_are_counted_out_are_no_silence() -> Outcome {
    let mut assign = assign(idle_after(200))?;
    for look in 0..20 {
        for _ in 0..128 {
            assign.process(Record::new(look))?;
        }
        move_time(&mut assign, 100 * (look + 1))?;
    }
    let output = assign.take_output();
    assert!(!output.contains(&IDLE));
    Ok(())
}

#[test]
fn what_is_known_goes_out_before_idle() -> Outcome {
    let assign = AssignWatermarks::new(idle_after(200), |event: &i64| *event)
        .watermark_interval(Duration::from_secs(60));
    let mut assign = OperatorHarness::new(assign)?;
    assign.process(Record::new(11))?;
    move_time(&mut assign, 300)?;
    assert_eq!(assign.take_output(), [event(11), at(10), IDLE]);
    Ok(())
}

#[test]
fn a_stream_that_never_began_is_idle_after_the_timeout_and_then_as_another() -> Outcome {
    let mut assign = assign(idle_after(200))?;
    move_time(&mut assign, 199)?;
    assert_eq!(assign.take_output(), []);
    move_time(&mut assign, 200)?;
    assert_eq!(assign.take_output(), [IDLE]);
    move_time(&mut assign, 5_000)?;
    assign.process(Record::new(11))?;
    assert_eq!(assign.take_output(), [ACTIVE, event(11), at(10)]);
    // The timeout begins anew, and so does the interval.
    assign.process(Record::new(12))?;
    move_time(&mut assign, 5_199)?;
    assert_eq!(assign.take_output(), [event(12)]);
    move_time(&mut assign, 5_300)?;
    assert_eq!(assign.take_output(), [at(11), IDLE]);
    Ok(())
}

/// The last look is where the timeout ends, though the looks before do not divide it.
#[test]
fn an_odd_timeout_ends_when_it_says() -> Outcome {
    let mut assign = assign(idle_after(201))?;
    move_time(&mut assign, 200)?;
    assert_eq!(assign.take_output(), []);
    move_time(&mut assign, 201)?;
    assert_eq!(assign.take_output(), [IDLE]);
    Ok(())
}

#[test]
fn event_time_ends_for_an_idle_stream_too() -> Outcome {
    let mut assign = assign(idle_after(200))?;
    move_time(&mut assign, 200)?;
    assert_eq!(assign.watermark(i64::MAX)?, Progress::Done);
    move_time(&mut assign, 5_000)?;
    assert_eq!(assign.take_output(), [IDLE, ACTIVE, MAX]);
    Ok(())
}

/// Records that cannot be taken for want of room are no silence of the stream.
#[test]
fn time_without_room_for_output_is_no_silence() -> Outcome {
    let mut assign = assign(idle_after(200))?;
    assign.leave_room_for(1);
    assign.process(Record::new(11))?;
    move_time(&mut assign, 10_000)?;
    assert_eq!(assign.take_output(), [event(11), at(10)]);
    assign.leave_room_for(10);
    move_time(&mut assign, 10_199)?;
    assert_eq!(assign.take_output(), []);
    move_time(&mut assign, 10_200)?;
    assert_eq!(assign.take_output(), [IDLE]);
    Ok(())
}

#[test]
fn the_shortest_and_the_longest_timeout_neither_fail_nor_spin() -> Outcome {
    let mut shortest = assign(idle_after(0))?;
    move_time(&mut shortest, 1)?;
    assert_eq!(shortest.take_output(), []);
    move_time(&mut shortest, 2)?;
    assert_eq!(shortest.take_output(), [IDLE]);

    let longest = MonotonousTimestamps::new().idle_after(Duration::MAX);
    let longest =
        AssignWatermarks::new(longest, |event: &i64| *event).watermark_interval(Duration::MAX);
    let mut longest = OperatorHarness::new(longest)?;
    longest.process(Record::new(11))?;
    move_time(&mut longest, 1_000_000_000)?;
    assert_eq!(longest.take_output(), [event(11)]);
    Ok(())
}

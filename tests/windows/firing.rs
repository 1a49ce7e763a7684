//! When windows fire, and how the firing of many gives way.

use mailring::stream::{
    CountAndSum, Counted, Element, Fold, NoTimestamp, Operator, OperatorHarness, Progress,
    Readiness, Record, Sum, TimeWindow, Tumbling, Watermark, WindowOperator, WindowOutput,
    Windowed,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A key and a number.
type Number = (u8, i64);

fn result<V>(key: u8, start_ms: i64, value: V) -> Element<WindowOutput<u8, V, Number>> {
    let window = TimeWindow {
        start_ms,
        end_ms: start_ms + 10,
    };
    let windowed = Windowed { key, window, value };
    Element::Record(Record::at(WindowOutput::Fired(windowed), start_ms + 9))
}

#[test]
fn a_window_fires_once_at_its_last_moment_and_stamps_its_result_with_it() {
    let operator = WindowOperator::new(
        |&(key, _): &Number| key,
        Tumbling::millis(10),
        CountAndSum::of(|&(_, number): &Number| number),
    );
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    for (key, number, at_ms) in [(1, 5, 0), (2, 7, 9), (1, 6, 9), (1, 100, 10), (1, -2, 3)] {
        harness
            .process(Record::at((key, number), at_ms))
            .expect("it adds");
    }
    assert!(
        harness.take_output().is_empty(),
        "nothing comes before its time"
    );
    let _ = harness.watermark(8).expect("none is complete");
    assert_eq!(harness.take_output(), [Element::Watermark(Watermark(8))]);
    let _ = harness.watermark(9).expect("two are complete");
    let mut output = harness.take_output();
    assert_eq!(output.pop(), Some(Element::Watermark(Watermark(9))));
    output.sort_by_key(|element| match element {
        Element::Record(record) => match record.value {
            WindowOutput::Fired(windowed) => windowed.key,
            WindowOutput::Late(late) => late.0,
        },
        _ => 0,
    });
    let expected = [
        result(1, 0, Counted { count: 3, sum: 9 }),
        result(2, 0, Counted { count: 1, sum: 7 }),
    ];
    assert_eq!(output, expected);
    let _ = harness.watermark(1_000).expect("one is complete");
    let output = harness.take_output();
    assert_eq!(output[0], result(1, 10, Counted { count: 1, sum: 100 }));
    assert_eq!(output.len(), 2);
    assert_eq!(harness.operator().late_records(), 0);
}

#[test]
fn the_last_watermark_fires_every_window() {
    let operator = WindowOperator::new(
        |&(key, _): &Number| key,
        Tumbling::millis(10),
        Sum::of(|&(_, number): &Number| number),
    );
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    for at_ms in [5, 1_000_005, i64::MAX] {
        harness
            .process(Record::at((1, at_ms), at_ms))
            .expect("it adds");
    }
    let _ = harness.watermark(i64::MAX).expect("all are complete");
    assert_eq!(harness.take_records().len(), 3);
}

#[test]
fn many_windows_give_way_between_two_and_no_record_comes_in_between() {
    let operator = WindowOperator::new(
        |&(key, _): &Number| key,
        Tumbling::millis(10),
        Sum::of(|&(_, number): &Number| number),
    )
    .with_intermediate_watermarks();
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    for at_ms in [5, 15, 25, 35] {
        harness
            .process(Record::at((1, at_ms), at_ms))
            .expect("it adds");
    }
    harness.interrupt_after(1);
    assert_eq!(
        harness.watermark(50).expect("it gives way"),
        Progress::Unfinished
    );
    assert_eq!(harness.operator().readiness(), Readiness::Unfinished);
    let expected = [
        result(1, 0, 5),
        result(1, 10, 15),
        Element::Watermark(Watermark(28)),
    ];
    assert_eq!(harness.take_output(), expected);
    assert_eq!(
        harness.watermark(30).expect("it is none"),
        Progress::Unfinished
    );
    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    let expected = [
        result(1, 20, 25),
        result(1, 30, 35),
        Element::Watermark(Watermark(50)),
    ];
    assert_eq!(harness.take_output(), expected);
    assert_eq!(harness.operator().readiness(), Readiness::Ready);
}

#[test]
fn a_finish_fires_what_was_left_over() {
    let operator = WindowOperator::new(
        |&(key, _): &Number| key,
        Tumbling::millis(10),
        Sum::of(|&(_, number): &Number| number),
    );
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    for at_ms in [5, 15, 25] {
        harness
            .process(Record::at((1, at_ms), at_ms))
            .expect("it adds");
    }
    harness.leave_room_for(1);
    assert_eq!(
        harness.watermark(i64::MAX).expect("it waits"),
        Progress::Unfinished
    );
    harness.finish().expect("it finishes");
    let output = harness.take_output();
    assert_eq!(output.len(), 4);
    assert_eq!(output[3], Element::Watermark(Watermark::MAX));
}

#[test]
fn a_record_without_a_timestamp_is_refused() {
    let sum = Sum::of(|&(_, number): &Number| number);
    let operator = WindowOperator::new(|&(key, _): &Number| key, Tumbling::millis(10), sum);
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    let error = harness
        .process(Record::new((1, 1)))
        .expect_err("it is in no window");
    assert!(error.is::<NoTimestamp>(), "{error}");
}

#[test]
fn what_was_kept_of_a_window_is_dropped_when_it_is_gone() {
    /// Counts its copies.
    #[derive(Clone, Serialize, Deserialize)]
    struct Kept {
        #[serde(skip)]
        copies: Arc<()>,
    }

    let kept = Arc::new(());
    let copies = Arc::clone(&kept);
    let fold = Fold::new(Kept { copies }, |kept: &mut Kept, _: &Number| {
        assert!(Arc::strong_count(&kept.copies) > 1);
    });
    let operator = WindowOperator::new(|&(key, _): &Number| key, Tumbling::millis(10), fold)
        .allowed_lateness(core::time::Duration::from_millis(5));
    let mut harness = OperatorHarness::new(operator).expect("it opens");
    let none = Arc::strong_count(&kept);
    for at_ms in 0..100 {
        harness
            .process(Record::at((at_ms as u8 % 7, 0), at_ms))
            .expect("it adds");
    }
    assert_eq!(Arc::strong_count(&kept), none + 70);
    // The windows that end at 90 are complete, and go at 94; so does all before.
    for (watermark, windows) in [(93, 14), (94, 7), (99, 7), (103, 7), (104, 0)] {
        let _ = harness.watermark(watermark).expect("they fire");
        harness.take_output();
        assert_eq!(Arc::strong_count(&kept), none + windows, "at {watermark}");
    }
}

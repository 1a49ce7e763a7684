//! Records that come after the watermark.

use core::time::Duration;
use mailring::stream::{
    Count, Element, OperatorHarness, Record, Sliding, TimeWindow, Tumbling, WindowAssigner,
    WindowOperator, WindowOutput, Windowed,
};

#[expect(clippy::type_complexity, reason = "a closure in it has no name")]
fn counts<W: WindowAssigner>(
    assigner: W,
    lateness_ms: u64,
) -> OperatorHarness<WindowOperator<i64, u8, impl Fn(&i64) -> u8, W, Count>, i64> {
    let operator = WindowOperator::new(|_: &i64| 0, assigner, Count)
        .allowed_lateness(Duration::from_millis(lateness_ms));
    OperatorHarness::new(operator).expect("it opens")
}

/// What is put out for a record at `at_ms`: the starts of the windows that fire and their counts,
/// and whether the record is late.
fn outcome<W: WindowAssigner>(
    harness: &mut OperatorHarness<WindowOperator<i64, u8, impl Fn(&i64) -> u8, W, Count>, i64>,
    at_ms: i64,
) -> (Vec<(i64, u64)>, bool) {
    harness
        .process(Record::at(at_ms, at_ms))
        .expect("it is taken");
    let (mut fired, mut late) = (Vec::new(), false);
    for element in harness.take_output() {
        let Element::Record(record) = element else {
            panic!("no watermark came");
        };
        match record.value {
            WindowOutput::Fired(Windowed { window, value, .. }) => {
                assert_eq!(record.timestamp_ms(), Some(window.max_timestamp_ms()));
                fired.push((window.start_ms, value));
            }
            WindowOutput::Late(value) => {
                assert_eq!((record.timestamp_ms(), value), (Some(at_ms), at_ms));
                assert!(!late, "once");
                late = true;
            }
        }
    }
    (fired, late)
}

#[test]
fn without_lateness_a_record_behind_its_window_is_given_out_as_it_was() {
    let mut harness = counts(Tumbling::millis(10), 0);
    assert_eq!(outcome(&mut harness, 5), (vec![], false));
    let _ = harness.watermark(9).expect("it fires");
    assert_eq!(harness.take_records().len(), 1);
    assert_eq!(outcome(&mut harness, 9), (vec![], true));
    assert_eq!(outcome(&mut harness, 0), (vec![], true));
    assert_eq!(outcome(&mut harness, 10), (vec![], false));
    assert_eq!(harness.operator().late_records(), 2);
    let _ = harness.watermark(30).expect("it fires");
    assert_eq!(
        harness.take_records().len(),
        1,
        "a late record leaves nothing"
    );
}

#[test]
fn an_allowed_late_record_has_its_window_fire_again_with_all_it_holds() {
    let mut harness = counts(Tumbling::millis(10), 5);
    assert_eq!(outcome(&mut harness, 5), (vec![], false));
    let _ = harness.watermark(9).expect("it fires");
    let window = TimeWindow {
        start_ms: 0,
        end_ms: 10,
    };
    let first = Windowed {
        key: 0,
        window,
        value: 1,
    };
    let expected = Record::at(WindowOutput::Fired(first), 9);
    assert_eq!(harness.take_records(), [expected]);

    assert_eq!(outcome(&mut harness, 6), (vec![(0, 2)], false));
    let _ = harness.watermark(13).expect("nothing fires");
    assert!(harness.take_records().is_empty(), "an update comes once");
    assert_eq!(outcome(&mut harness, 7), (vec![(0, 3)], false));
    let _ = harness.watermark(14).expect("nothing fires");
    assert!(
        harness.take_records().is_empty(),
        "a window goes without a word"
    );
    assert_eq!(outcome(&mut harness, 8), (vec![], true));
    assert_eq!(harness.operator().late_records(), 1);
}

#[test]
fn a_window_may_begin_with_a_late_record() {
    let mut harness = counts(Tumbling::millis(10), 5);
    let _ = harness.watermark(12).expect("nothing fires");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 1), (vec![(0, 1)], false));
    assert_eq!(outcome(&mut harness, 2), (vec![(0, 2)], false));
    let _ = harness.watermark(100).expect("it goes");
    assert!(harness.take_records().is_empty());
    assert_eq!(outcome(&mut harness, 3), (vec![], true));
}

#[test]
fn a_record_is_late_only_if_all_of_its_windows_are_gone() {
    let mut harness = counts(Sliding::millis(10, 5), 0);
    let _ = harness.watermark(14).expect("nothing fires");
    harness.take_output();
    assert_eq!(
        outcome(&mut harness, 12),
        (vec![], false),
        "5..15 is gone, 10..20 is not"
    );
    let _ = harness.watermark(19).expect("it fires");
    assert_eq!(harness.take_records().len(), 1);
    assert_eq!(outcome(&mut harness, 12), (vec![], true));
}

#[test]
fn a_record_in_a_gap_is_late_by_its_own_time() {
    let mut harness = counts(Sliding::millis(2, 10), 3);
    assert_eq!(
        outcome(&mut harness, 5),
        (vec![], false),
        "there is no window for it"
    );
    let _ = harness.watermark(7).expect("nothing fires");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 5), (vec![], false), "it is allowed");
    let _ = harness.watermark(8).expect("nothing fires");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 5), (vec![], true));
    assert_eq!(harness.operator().late_records(), 1);
}

#[test]
fn lateness_is_rounded_up_and_may_be_endless() {
    let operator = |lateness| {
        let operator = WindowOperator::new(|_: &i64| 0_u8, Tumbling::millis(10), Count);
        OperatorHarness::new(operator.allowed_lateness(lateness)).expect("it opens")
    };
    let mut harness = operator(Duration::from_micros(1));
    let _ = harness.watermark(9).expect("nothing fires");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 3), (vec![(0, 1)], false));

    let mut harness = operator(Duration::MAX);
    let _ = harness.watermark(i64::MAX - 1).expect("nothing fires");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 3), (vec![(0, 1)], false));
    let _ = harness.watermark(i64::MAX).expect("it goes");
    harness.take_output();
    assert_eq!(outcome(&mut harness, 3), (vec![], true));
}

//! Which windows a moment is in.

use mailring::letter::BoxError;
use mailring::stream::{
    Count, OperatorHarness, Sliding, TimeWindow, Tumbling, WindowAssigner, WindowError,
    WindowOperator,
};
use proptest::prelude::*;

fn window(start_ms: i64, end_ms: i64) -> TimeWindow {
    TimeWindow { start_ms, end_ms }
}

fn assigned(assigner: &impl WindowAssigner, timestamp_ms: i64) -> Vec<TimeWindow> {
    assigner.assign(timestamp_ms).collect()
}

#[test]
fn tumbling_windows_lie_side_by_side() {
    let hour = 3_600_000;
    for (assigner, size_ms) in [
        (Tumbling::millis(7), 7),
        (Tumbling::seconds(2), 2_000),
        (Tumbling::minutes(3), 180_000),
        (Tumbling::hours(1), hour),
        (Tumbling::days(1), 24 * hour),
    ] {
        assert_eq!(assigned(&assigner, 0), [window(0, size_ms)]);
        assert_eq!(assigned(&assigner, size_ms - 1), [window(0, size_ms)]);
        assert_eq!(assigned(&assigner, size_ms), [window(size_ms, 2 * size_ms)]);
        assert_eq!(assigned(&assigner, -1), [window(-size_ms, 0)]);
    }
    let shifted = Tumbling::hours(24).offset_ms(-8 * hour);
    assert_eq!(assigned(&shifted, 0), [window(-8 * hour, 16 * hour)]);
    assert_eq!(window(3, 10).max_timestamp_ms(), 9);
}

#[test]
fn sliding_windows_overlap_or_leave_gaps() {
    let overlapping = Sliding::minutes(10, 5);
    let minute = 60_000;
    let expected = [(10, 20), (5, 15)].map(|(from, to)| window(from * minute, to * minute));
    assert_eq!(assigned(&overlapping, 12 * minute), expected);
    assert_eq!(Sliding::seconds(600, 300), overlapping);
    assert_eq!(Sliding::millis(600_000, 300_000), overlapping);
    assert_eq!(Sliding::hours(48, 24), Sliding::days(2, 1));

    let with_gaps = Sliding::millis(2, 10).offset_ms(3);
    assert_eq!(assigned(&with_gaps, 13), [window(13, 15)]);
    assert_eq!(assigned(&with_gaps, 14), [window(13, 15)]);
    assert_eq!(assigned(&with_gaps, 15), []);
}

proptest! {
    #[test]
    fn sliding_windows_are_all_that_hold_the_moment(
        size in 1..40_i64,
        slide in 1..40_i64,
        offset in -100..100_i64,
        timestamp_ms in -200..200_i64,
    ) {
        let sliding = Sliding::millis(size as u64, slide as u64).offset_ms(offset);
        let mut expected: Vec<_> = (-1_000..1_000)
            .map(|step| offset + step * slide)
            .filter(|&start| start <= timestamp_ms && timestamp_ms < start + size)
            .map(|start| window(start, start + size))
            .collect();
        expected.reverse();
        prop_assert_eq!(assigned(&sliding, timestamp_ms), expected);
    }

    #[test]
    fn no_moment_is_outside_of_time(
        size in prop_oneof![0..5_u64, any::<u64>()],
        slide in prop_oneof![Just(u64::MAX / 2), any::<u64>()],
        offset in any::<i64>(),
        timestamp_ms in prop_oneof![Just(i64::MAX), Just(i64::MIN + 1), any::<i64>()],
    ) {
        let tumbling = Tumbling::millis(size).offset_ms(offset);
        for window in assigned(&tumbling, timestamp_ms) {
            prop_assert!(window.start_ms <= timestamp_ms);
            prop_assert!(window.end_ms >= timestamp_ms);
        }
        let sliding = Sliding::millis(size, slide.max(size / 8)).offset_ms(offset);
        for window in sliding.assign(timestamp_ms).take(20) {
            prop_assert!(window.start_ms <= timestamp_ms && timestamp_ms < window.end_ms);
        }
    }
}

#[test]
fn windows_that_cannot_be_are_refused_when_the_operator_is_opened() {
    fn refused<W: WindowAssigner>(assigner: W) -> Option<WindowError> {
        let operator = WindowOperator::new(|&key: &u8| key, assigner, Count);
        let error: BoxError = OperatorHarness::new(operator).err()?;
        let error = error.downcast_ref().expect("it is about the windows");
        Some(*error)
    }
    assert_eq!(refused(Tumbling::hours(0)), Some(WindowError::NoSize));
    assert_eq!(refused(Sliding::hours(0, 1)), Some(WindowError::NoSize));
    assert_eq!(refused(Sliding::hours(1, 0)), Some(WindowError::NoSlide));
    assert_eq!(refused(Tumbling::millis(1)), None);
    assert_eq!(refused(Tumbling::days(u64::MAX)), None);
    assert!(
        WindowError::NoSize
            .to_string()
            .contains("at least one millisecond")
    );
}

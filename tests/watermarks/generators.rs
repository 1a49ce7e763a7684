//! What the generators say, at the ends of time too.

use mailring::stream::{
    BoundedOutOfOrderness, MonotonousTimestamps, Watermark, WatermarkGenerator, WithIdleness,
};
use std::time::Duration;

/// What it says behind these timestamps.
fn behind(mut generator: impl WatermarkGenerator<()>, timestamps: &[i64]) -> Watermark {
    for &timestamp_ms in timestamps {
        assert_eq!(generator.on_event(&(), timestamp_ms), None);
    }
    generator.on_periodic_emit()
}

#[test]
fn the_bound_is_taken_from_the_greatest_timestamp_and_one_more() {
    let bound = BoundedOutOfOrderness::millis(100);
    assert_eq!(behind(bound, &[5_000, 4_000, 4_999]), Watermark(4_899));
    assert_eq!(behind(bound, &[-5_000]), Watermark(-5_101));
    assert_eq!(behind(MonotonousTimestamps::new(), &[7, 7]), Watermark(6));
}

#[test]
fn bounds_in_any_unit_are_the_same() {
    let hours = BoundedOutOfOrderness::hours(2);
    assert_eq!(hours, BoundedOutOfOrderness::minutes(120));
    assert_eq!(hours, BoundedOutOfOrderness::seconds(7_200));
    assert_eq!(hours, BoundedOutOfOrderness::millis(7_200_000));
    assert_eq!(
        hours,
        BoundedOutOfOrderness::of(Duration::from_secs(60 * 120))
    );
}

/// A bound that is rounded down would not be kept by records that keep it.
#[test]
fn a_bound_is_rounded_up_to_milliseconds() {
    let micros = |micros| BoundedOutOfOrderness::of(Duration::from_micros(micros));
    assert_eq!(micros(0), BoundedOutOfOrderness::millis(0));
    assert_eq!(micros(1), BoundedOutOfOrderness::millis(1));
    assert_eq!(micros(1_000), BoundedOutOfOrderness::millis(1));
    assert_eq!(micros(1_001), BoundedOutOfOrderness::millis(2));
}

#[test]
fn b54_nothing_is_known_before_the_first_record() {
    assert_eq!(
        behind(BoundedOutOfOrderness::minutes(1), &[]),
        Watermark::MIN
    );
    assert_eq!(behind(MonotonousTimestamps::default(), &[]), Watermark::MIN);
    assert_eq!(
        behind(
            BoundedOutOfOrderness::hours(1).idle_after(Duration::from_secs(1)),
            &[]
        ),
        Watermark::MIN
    );
}

#[test]
fn watermarks_stay_within_time() {
    let longest = [
        BoundedOutOfOrderness::hours(u64::MAX),
        BoundedOutOfOrderness::millis(u64::MAX),
        BoundedOutOfOrderness::of(Duration::MAX),
    ];
    for bound in longest {
        assert_eq!(behind(bound, &[-1]), Watermark::MIN);
        assert_eq!(behind(bound, &[i64::MAX]), Watermark(-1));
    }
    let shortest = BoundedOutOfOrderness::millis(0);
    assert_eq!(behind(shortest, &[i64::MIN]), Watermark::MIN);
    assert_eq!(behind(shortest, &[i64::MIN + 1]), Watermark::MIN);
    assert_eq!(behind(shortest, &[i64::MAX]), Watermark(i64::MAX - 1));
}

#[test]
fn a_timeout_comes_with_idleness_alone() {
    let timeout = Duration::from_millis(300);
    let of = |generator: &dyn WatermarkGenerator<()>| generator.idle_timeout();
    let bound = BoundedOutOfOrderness::minutes(1);
    assert_eq!(of(&bound), None);
    assert_eq!(of(&MonotonousTimestamps::new()), None);
    assert_eq!(of(&bound.idle_after(timeout)), Some(timeout));
    let ascending = MonotonousTimestamps::new();
    assert_eq!(of(&ascending.idle_after(timeout)), Some(timeout));
    assert_eq!(of(&WithIdleness::new(ascending, timeout)), Some(timeout));
    assert_eq!(behind(bound.idle_after(timeout), &[60_001]), Watermark(0));
}

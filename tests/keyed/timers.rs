//! Timers that fire without giving way.

use super::timed::{Ask, EVENT, PROCESSING, Told, ask, fired, harness};
use mailring::stream::{Element, Progress, Watermark};

#[test]
fn timers_fire_in_order_up_to_the_watermark_and_then_it_goes_out() {
    let mut harness = harness();
    for (key, at_ms) in [(1, 30), (2, 10), (3, 20), (1, 11)] {
        assert_eq!(
            ask(&mut harness, key, Ask::Set(EVENT, at_ms)),
            Told::Answer(true)
        );
    }
    assert_eq!(harness.watermark(9).expect("it fires"), Progress::Done);
    assert_eq!(harness.take_output(), [Element::Watermark(Watermark(9))]);
    assert_eq!(harness.watermark(20).expect("it fires"), Progress::Done);
    let output = harness.take_output();
    assert_eq!(output.last(), Some(&Element::Watermark(Watermark(20))));
    let told = output.iter().filter_map(|element| match element {
        Element::Record(record) => Some(record.value),
        _ => None,
    });
    let expected = [(10, 2), (11, 1), (20, 3)].map(|(at_ms, key)| Told::Fired(at_ms, key));
    assert!(told.eq(expected));
    assert_eq!(output.len(), 4);
}

#[test]
fn a_timer_like_another_is_the_same_and_a_deleted_one_does_not_fire() {
    for domain in [EVENT, PROCESSING] {
        let mut harness = harness();
        assert_eq!(
            ask(&mut harness, 1, Ask::Set(domain, 10)),
            Told::Answer(true)
        );
        assert_eq!(
            ask(&mut harness, 1, Ask::Set(domain, 10)),
            Told::Answer(false)
        );
        assert_eq!(
            ask(&mut harness, 2, Ask::Set(domain, 10)),
            Told::Answer(true)
        );
        assert_eq!(
            ask(&mut harness, 2, Ask::Set(domain, 12)),
            Told::Answer(true)
        );
        assert_eq!(
            ask(&mut harness, 2, Ask::Delete(domain, 10)),
            Told::Answer(true)
        );
        assert_eq!(
            ask(&mut harness, 2, Ask::Delete(domain, 10)),
            Told::Answer(false)
        );
        let _ = harness.watermark(50).expect("it fires");
        let _ = harness.move_time_to(50).expect("it fires");
        assert_eq!(fired(&mut harness), [(10, 1), (12, 2)], "{domain:?}");
    }
}

#[test]
fn a_timer_set_by_a_timer_fires_by_the_same_watermark_if_it_is_due() {
    let mut harness = harness();
    ask(&mut harness, 1, Ask::SetTwice(EVENT, 10, 5));
    ask(&mut harness, 2, Ask::SetTwice(EVENT, 12, 50));
    let _ = harness.watermark(20).expect("it fires");
    assert_eq!(fired(&mut harness), [(10, 1), (12, 2), (15, 1)]);
    let _ = harness.watermark(100).expect("it fires");
    assert_eq!(fired(&mut harness), [(62, 2)]);
}

#[test]
fn timers_fire_when_processing_time_comes_to_them() {
    let mut harness = harness();
    for (key, at_ms) in [(1, 300), (2, 100), (3, 200)] {
        ask(&mut harness, key, Ask::Set(PROCESSING, at_ms));
    }
    let _ = harness.move_time_to(99).expect("none fires");
    assert!(fired(&mut harness).is_empty());
    let _ = harness.move_time_to(200).expect("two fire");
    assert_eq!(fired(&mut harness), [(100, 2), (200, 3)]);
    // A timer that is due already fires as soon as it can.
    ask(&mut harness, 4, Ask::Set(PROCESSING, 150));
    let _ = harness.move_time_to(200).expect("it fires");
    assert_eq!(fired(&mut harness), [(150, 4)]);
    // A sooner one, set later, is not missed; the deleted one neither fires nor hides another.
    ask(&mut harness, 5, Ask::Set(PROCESSING, 250));
    ask(&mut harness, 5, Ask::Delete(PROCESSING, 250));
    ask(&mut harness, 6, Ask::Set(PROCESSING, 260));
    let _ = harness.move_time_to(1_000).expect("two fire");
    assert_eq!(fired(&mut harness), [(260, 6), (300, 1)]);
    ask(&mut harness, 7, Ask::SetTwice(PROCESSING, 1_100, 100));
    let _ = harness.move_time_to(1_150).expect("it fires");
    assert_eq!(fired(&mut harness), [(1_100, 7)]);
    let _ = harness.move_time_to(1_200).expect("the second fires");
    assert_eq!(fired(&mut harness), [(1_200, 7)]);
}

#[test]
fn a_function_sees_the_watermark_and_the_time() {
    let mut harness = harness();
    assert_eq!(
        ask(&mut harness, 1, Ask::Tell),
        Told::Time(Watermark::MIN, 0)
    );
    let _ = harness.watermark(70).expect("nothing fires");
    let _ = harness.move_time_to(8).expect("nothing fires");
    harness.take_output();
    assert_eq!(
        ask(&mut harness, 1, Ask::Tell),
        Told::Time(Watermark(70), 8)
    );
}

#[test]
fn a_watermark_that_is_no_news_does_not_go_out() {
    let mut harness = harness();
    let _ = harness.watermark(70).expect("nothing fires");
    harness.take_output();
    for watermark in [70, 69, i64::MIN] {
        assert_eq!(
            harness.watermark(watermark).expect("it is none"),
            Progress::Done
        );
        assert!(harness.take_output().is_empty());
    }
}

#[test]
fn the_last_watermark_fires_all_and_after_the_finish_none_is_left() {
    let mut harness = harness();
    ask(&mut harness, 1, Ask::Set(EVENT, i64::MAX));
    ask(&mut harness, 2, Ask::Set(PROCESSING, 10));
    let _ = harness.watermark(i64::MAX).expect("it fires");
    assert_eq!(fired(&mut harness), [(i64::MAX, 1)]);
    harness.finish().expect("it finishes");
    let _ = harness.move_time_to(1_000).expect("none fires");
    assert!(fired(&mut harness).is_empty());
}

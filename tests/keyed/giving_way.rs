//! Firing many timers gives way to letters, and to want of room.

use super::timed::{Ask, EVENT, Harness, PROCESSING, Told, ask, fired, harness, timed};
use mailring::stream::{Element, Operator, OperatorHarness, Progress, Readiness, Watermark};

fn with_timers(harness: &mut Harness, count: i64) {
    for at_ms in 1..=count {
        for domain in [EVENT, PROCESSING] {
            let answer = ask(harness, (at_ms % 7) as u8, Ask::Set(domain, at_ms));
            assert_eq!(answer, Told::Answer(true));
        }
    }
}

fn watermarks(harness: &mut Harness) -> Vec<i64> {
    let output = harness.take_output().into_iter();
    output
        .filter_map(|element| match element {
            Element::Watermark(Watermark(ms)) => Some(ms),
            _ => None,
        })
        .collect()
}

#[test]
fn scenario_147_firing_stops_for_a_letter_and_is_gone_on_with() {
    let mut harness = harness();
    with_timers(&mut harness, 10);
    harness.interrupt_after(2);
    assert_eq!(
        harness.watermark(10).expect("it gives way"),
        Progress::Unfinished
    );
    let output = harness.take_output();
    assert_eq!(output.len(), 3, "no watermark yet: {output:?}");
    assert_eq!(harness.operator().readiness(), Readiness::Unfinished);

    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    let output = harness.take_output();
    assert_eq!(output.len(), 8);
    assert_eq!(output[7], Element::Watermark(Watermark(10)));
    assert_eq!(harness.operator().readiness(), Readiness::Ready);
}

#[test]
fn scenario_148_a_second_watermark_meanwhile_raises_the_first() {
    let mut harness = harness();
    with_timers(&mut harness, 10);
    harness.interrupt_after(0);
    assert_eq!(
        harness.watermark(4).expect("it gives way"),
        Progress::Unfinished
    );
    assert_eq!(fired(&mut harness).len(), 1);
    // Neither a larger nor a smaller one fires anything by itself.
    assert_eq!(
        harness.watermark(8).expect("it is kept"),
        Progress::Unfinished
    );
    assert_eq!(
        harness.watermark(5).expect("it is none"),
        Progress::Unfinished
    );
    assert!(harness.take_output().is_empty());

    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    let output = harness.take_output();
    assert_eq!(output.len(), 8, "seven timers and one watermark");
    assert_eq!(output[7], Element::Watermark(Watermark(8)));
    assert_eq!(harness.advance().expect("nothing is left"), Progress::Done);
    assert!(harness.take_output().is_empty());
}

#[test]
fn scenario_149_watermarks_meanwhile_rise_and_end_as_it_came() {
    let timed = timed().with_intermediate_watermarks();
    let mut harness = OperatorHarness::new(timed).expect("it opens");
    with_timers(&mut harness, 10);
    // Several at one time: the watermark does not rise until the last of them.
    for key in 0..7 {
        ask(&mut harness, key, Ask::Set(EVENT, 5));
    }
    harness.interrupt_after(0);
    let mut passed = Vec::new();
    let mut progress = harness.watermark(10).expect("it gives way");
    let mut looks = 1;
    passed.extend(watermarks(&mut harness));
    while progress == Progress::Unfinished {
        progress = harness.advance().expect("it goes on");
        looks += 1;
        passed.extend(watermarks(&mut harness));
    }
    assert_eq!(looks, 16, "one timer a look");
    assert_eq!(passed, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn scenario_90_firing_can_be_left_after_the_tenth_of_a_hundred() {
    let mut harness = harness();
    with_timers(&mut harness, 100);
    harness.interrupt_after(9);
    let progress = harness.watermark(1_000).expect("it gives way");
    assert_eq!(progress, Progress::Unfinished);
    assert_eq!(fired(&mut harness).len(), 10);
    harness.operator().close().expect("it closes");
    assert!(harness.take_output().is_empty());
}

#[test]
fn scenario_90_in_processing_time_too() {
    let mut harness = harness();
    for key in 0..100 {
        ask(&mut harness, key, Ask::Set(PROCESSING, 50));
    }
    harness.interrupt_after(9);
    assert_eq!(
        harness.move_time_to(50).expect("it gives way"),
        Progress::Unfinished
    );
    assert_eq!(fired(&mut harness).len(), 10);
    assert_eq!(harness.operator().readiness(), Readiness::Unfinished);

    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    assert_eq!(fired(&mut harness).len(), 90);
    assert_eq!(harness.operator().readiness(), Readiness::Ready);
}

#[test]
fn no_other_wake_is_asked_for_while_timers_are_left_over() {
    let mut harness = harness();
    for key in 0..3 {
        ask(&mut harness, key, Ask::SetTwice(PROCESSING, 50, 5));
    }
    harness.interrupt_after(0);
    let progress = harness.move_time_to(50).expect("it gives way");
    assert_eq!(progress, Progress::Unfinished);
    // Asked to wake at once, the operator would be called here again.
    let progress = harness.move_time_to(50).expect("nothing fires");
    assert_eq!(progress, Progress::Done);
    assert_eq!(fired(&mut harness).len(), 1);
    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    assert_eq!(fired(&mut harness).len(), 2);
    let _ = harness.move_time_to(55).expect("the others fire");
    assert_eq!(fired(&mut harness).len(), 3);
}

#[test]
fn firing_waits_for_room() {
    let mut harness = harness();
    with_timers(&mut harness, 10);
    harness.leave_room_for(0);
    assert_eq!(
        harness.watermark(10).expect("it waits"),
        Progress::Unfinished
    );
    assert!(harness.take_output().is_empty());
    harness.leave_room_for(4);
    assert_eq!(
        harness.advance().expect("it waits again"),
        Progress::Unfinished
    );
    assert_eq!(fired(&mut harness).len(), 4);
    harness.leave_room_for(6);
    assert_eq!(harness.advance().expect("it is done"), Progress::Done);
    assert_eq!(harness.take_output().len(), 7, "a watermark needs no room");
    // Without timers that are due, a watermark passes.
    assert_eq!(harness.watermark(11).expect("it passes"), Progress::Done);
}

#[test]
fn event_time_comes_before_processing_time_where_both_are_left() {
    let mut harness = harness();
    for key in 0..3 {
        ask(&mut harness, key, Ask::Set(EVENT, 5));
        ask(&mut harness, key, Ask::Set(PROCESSING, 6));
    }
    harness.interrupt_after(0);
    assert_eq!(
        harness.move_time_to(6).expect("it gives way"),
        Progress::Unfinished
    );
    assert_eq!(
        harness.watermark(5).expect("it is kept"),
        Progress::Unfinished
    );
    harness.interrupt_never();
    assert_eq!(harness.advance().expect("it goes on"), Progress::Done);
    let times: Vec<i64> = fired(&mut harness)
        .iter()
        .map(|&(at_ms, _)| at_ms)
        .collect();
    assert_eq!(times, [6, 5, 5, 5, 6, 6]);
}

#[test]
fn a_finish_fires_what_a_watermark_left_over() {
    let mut harness = harness();
    with_timers(&mut harness, 10);
    harness.interrupt_after(0);
    assert_eq!(
        harness.watermark(i64::MAX).expect("it gives way"),
        Progress::Unfinished
    );
    harness.finish().expect("it finishes");
    let output = harness.take_output();
    assert_eq!(output.len(), 11);
    assert_eq!(output[10], Element::Watermark(Watermark::MAX));
    assert_eq!(harness.operator().readiness(), Readiness::Ready);
    let _ = harness.move_time_to(1_000).expect("none fires");
    assert!(harness.take_output().is_empty(), "no timer fires after it");
}

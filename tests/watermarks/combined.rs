//! The second level: an operator's inputs.

use crate::{ACTIVE, IDLE, MAX, ORDERS, at, gives};
use mailring::stream::{
    CombinedWatermarkStatus, StopMode, Watermark, WatermarkEffect, WatermarkStatus,
};

struct Combined(CombinedWatermarkStatus);

impl Combined {
    fn new(inputs: usize) -> Self {
        Self(CombinedWatermarkStatus::new(inputs))
    }

    #[track_caller]
    fn watermark(&mut self, input: usize, watermark: i64, expected: &[WatermarkEffect]) {
        gives(self.0.watermark(input, Watermark(watermark)), expected);
    }

    #[track_caller]
    fn idle(&mut self, input: usize, expected: &[WatermarkEffect]) {
        gives(self.0.status(input, WatermarkStatus::Idle), expected);
    }

    #[track_caller]
    fn active(&mut self, input: usize, expected: &[WatermarkEffect]) {
        gives(self.0.status(input, WatermarkStatus::Active), expected);
    }

    #[track_caller]
    fn end(&mut self, input: usize, mode: StopMode, expected: &[WatermarkEffect]) {
        gives(self.0.end(input, mode), expected);
    }
}

#[test]
fn the_least_of_two_inputs_goes_out_and_never_falls() {
    let mut combined = Combined::new(2);
    combined.watermark(0, 10, &[]);
    combined.watermark(1, 7, &[at(7)]);
    combined.watermark(1, 5, &[]);
    combined.watermark(0, 8, &[]);
    combined.watermark(1, 12, &[at(10)]);
}

/// K33.
#[test]
fn k33_an_idle_input_does_not_stop_the_time_of_the_other() {
    let mut combined = Combined::new(2);
    combined.watermark(0, 10, &[]);
    combined.idle(1, &[at(10)]);
    combined.watermark(0, 20, &[at(20)]);
    combined.watermark(0, 30, &[at(30)]);
}

#[test]
fn a_watermark_makes_an_idle_input_active() {
    let mut combined = Combined::new(2);
    combined.watermark(0, 10, &[]);
    combined.idle(1, &[at(10)]);
    combined.watermark(1, 12, &[]);
    combined.watermark(0, 20, &[at(12)]);
}

#[test]
fn an_input_that_is_back_holds_time_where_it_is() {
    let mut combined = Combined::new(2);
    combined.watermark(1, 5, &[]);
    combined.watermark(0, 10, &[at(5)]);
    combined.idle(1, &[at(10)]);
    combined.active(1, &[]);
    combined.watermark(0, 20, &[]);
    combined.watermark(1, 15, &[at(15)]);
}

#[test]
fn a_status_goes_out_only_when_all_inputs_are_idle() {
    let mut combined = Combined::new(3);
    combined.idle(0, &[]);
    combined.idle(2, &[]);
    combined.idle(1, &[IDLE]);
    combined.idle(1, &[]);
    assert_eq!(combined.0.output_status(), WatermarkStatus::Idle);
    combined.active(0, &[ACTIVE]);
    combined.active(1, &[]);
    combined.active(0, &[]);
}

#[test]
fn the_watermark_goes_out_before_idle_and_behind_active() {
    let mut combined = Combined::new(2);
    combined.watermark(0, 10, &[]);
    combined.watermark(1, 20, &[at(10)]);
    combined.idle(1, &[]);
    combined.idle(0, &[at(20), IDLE]);
    combined.watermark(1, 30, &[ACTIVE, at(30)]);
}

#[test]
fn in_which_order_inputs_turn_idle_does_not_matter() {
    for order in ORDERS {
        let mut combined = CombinedWatermarkStatus::new(3);
        for (input, watermark) in [10, 20, 7].into_iter().enumerate() {
            let _ = combined.watermark(input, Watermark(watermark));
        }
        let mut effects = Vec::new();
        for input in order {
            effects.extend(combined.status(input, WatermarkStatus::Idle));
        }
        assert_eq!(effects[effects.len() - 1], IDLE, "{order:?}");
        assert_eq!(combined.output_watermark(), Watermark(20), "{order:?}");
    }
}

#[test]
fn b54_inputs_that_do_not_exist_give_no_watermark() {
    let combined = CombinedWatermarkStatus::new(0);
    assert_eq!(combined.output_watermark(), Watermark::MIN);
    assert_eq!(combined.output_status(), WatermarkStatus::Active);
}

#[test]
fn b57_an_input_that_is_over_is_left_out() {
    let mut combined = Combined::new(3);
    combined.watermark(0, 10, &[]);
    combined.watermark(1, 50, &[]);
    combined.watermark(2, 40, &[at(10)]);
    combined.watermark(0, i64::MAX, &[at(40)]);
    combined.idle(1, &[]);
    combined.idle(2, &[at(50), IDLE]);
    combined.end(0, StopMode::Drain, &[]);
    combined.watermark(0, 99, &[]);
    combined.active(0, &[]);
    combined.active(1, &[ACTIVE]);
    combined.end(1, StopMode::Drain, &[IDLE]);
    combined.end(2, StopMode::Drain, &[ACTIVE, MAX]);
    combined.end(2, StopMode::Drain, &[]);
}

#[test]
fn event_time_does_not_end_where_an_input_was_not_drained() {
    let mut combined = Combined::new(2);
    combined.watermark(0, 10, &[]);
    combined.watermark(1, 5, &[at(5)]);
    combined.end(1, StopMode::NoDrain, &[]);
    combined.watermark(0, 20, &[]);
    combined.watermark(0, i64::MAX, &[]);
    assert_eq!(combined.0.output_watermark(), Watermark(5));
}

//! The valve: T1 to T9, B54, B56 and B57.

use crate::{ACTIVE, IDLE, MAX, ORDERS, at, gives};
use mailring::stream::{
    StatusWatermarkValve, StopMode, Watermark, WatermarkEffect, WatermarkStatus,
};

/// A valve, and what a test says to it.
struct Valve(StatusWatermarkValve);

impl Valve {
    fn new(channels: u32) -> Self {
        Self(StatusWatermarkValve::new(channels))
    }

    /// One whose channels have given these watermarks.
    fn at(watermarks: &[i64]) -> Self {
        let mut valve = Self::new(watermarks.len() as u32);
        for (channel, &watermark) in watermarks.iter().enumerate() {
            let _ = valve.0.watermark(channel, Watermark(watermark));
        }
        let least = watermarks.iter().min().copied();
        assert_eq!(valve.0.output_watermark(), Watermark(least.unwrap()));
        valve
    }

    #[track_caller]
    fn watermark(&mut self, channel: usize, watermark: i64, expected: &[WatermarkEffect]) {
        gives(self.0.watermark(channel, Watermark(watermark)), expected);
    }

    #[track_caller]
    fn idle(&mut self, channel: usize, expected: &[WatermarkEffect]) {
        gives(self.0.status(channel, WatermarkStatus::Idle), expected);
    }

    #[track_caller]
    fn active(&mut self, channel: usize, expected: &[WatermarkEffect]) {
        gives(self.0.status(channel, WatermarkStatus::Active), expected);
    }

    #[track_caller]
    fn end(&mut self, channel: usize, expected: &[WatermarkEffect]) {
        gives(self.0.end(channel, StopMode::Drain), expected);
    }

    #[track_caller]
    fn end_undrained(&mut self, channel: usize, expected: &[WatermarkEffect]) {
        gives(self.0.end(channel, StopMode::NoDrain), expected);
    }
}

#[test]
fn t1_each_watermark_of_one_channel_goes_out_once() {
    let mut valve = Valve::new(1);
    valve.watermark(0, 0, &[at(0)]);
    valve.watermark(0, 0, &[]);
    valve.watermark(0, 25, &[at(25)]);
    valve.watermark(0, 25, &[]);
}

#[test]
fn t2_a_watermark_that_falls_is_not_heeded() {
    let mut valve = Valve::new(1);
    valve.watermark(0, 25, &[at(25)]);
    valve.watermark(0, 18, &[]);
    valve.watermark(0, 42, &[at(42)]);
}

#[test]
fn t3_a_status_goes_out_when_it_changes() {
    let mut valve = Valve::new(1);
    assert_eq!(valve.0.output_status(), WatermarkStatus::Active);
    valve.active(0, &[]);
    valve.idle(0, &[IDLE]);
    valve.idle(0, &[]);
    assert_eq!(valve.0.output_status(), WatermarkStatus::Idle);
    valve.active(0, &[ACTIVE]);
    valve.active(0, &[]);
}

#[test]
fn t4_a_watermark_of_an_idle_channel_is_not_even_kept() {
    let mut valve = Valve::new(1);
    valve.watermark(0, 25, &[at(25)]);
    valve.idle(0, &[IDLE]);
    valve.watermark(0, 50, &[]);
    assert_eq!(valve.0.output_watermark(), Watermark(25));
    valve.active(0, &[ACTIVE]);
    valve.watermark(0, 50, &[at(50)]);
}

#[test]
fn t5_the_least_of_three_channels_goes_out() {
    let mut valve = Valve::new(3);
    valve.watermark(0, 0, &[]);
    valve.watermark(1, 0, &[]);
    valve.watermark(2, 0, &[at(0)]);
    valve.watermark(0, 12, &[]);
    valve.watermark(2, 8, &[]);
    valve.watermark(2, 10, &[]);
    valve.watermark(1, 15, &[at(10)]);
    valve.watermark(2, 17, &[at(12)]);
    valve.watermark(0, 20, &[at(15)]);
}

#[test]
fn t6_lower_watermarks_and_repeated_statuses_change_nothing() {
    let mut valve = Valve::new(3);
    valve.watermark(0, 25, &[]);
    valve.watermark(1, 10, &[]);
    valve.watermark(2, 17, &[at(10)]);
    valve.watermark(0, 12, &[]);
    valve.watermark(1, 8, &[]);
    valve.watermark(2, 15, &[]);

    let mut valve = Valve::new(2);
    valve.idle(1, &[]);
    valve.idle(0, &[IDLE]);
    valve.idle(0, &[]);
    valve.idle(1, &[]);
    valve.active(1, &[ACTIVE]);
    valve.active(0, &[]);
    valve.active(1, &[]);
}

#[test]
fn t7_an_idle_channel_holds_nothing_back() {
    let mut valve = Valve::new(3);
    valve.watermark(0, 15, &[]);
    valve.watermark(1, 10, &[]);
    valve.idle(2, &[at(10)]);
    valve.watermark(1, 18, &[at(15)]);
    valve.watermark(0, 20, &[at(18)]);

    let mut valve = Valve::at(&[25, 10, 17]);
    valve.idle(1, &[at(17)]);
    valve.idle(2, &[at(25)]);
}

#[test]
fn t8_the_greatest_watermark_goes_out_before_all_are_idle() {
    let mut valve = Valve::at(&[10, 5, 3]);
    valve.idle(0, &[]);
    valve.idle(1, &[]);
    valve.idle(2, &[at(10), IDLE]);
}

#[test]
fn t9_a_channel_behind_the_others_is_left_out_until_it_has_caught_up() {
    let mut valve = Valve::at(&[10, 7, 3]);
    valve.idle(2, &[at(7)]);
    valve.active(2, &[]);
    valve.watermark(2, 5, &[]);
    valve.watermark(2, 9, &[]);
    valve.watermark(1, 12, &[at(9)]);
}

#[test]
fn t9_where_all_active_channels_lag_nothing_goes_out() {
    let mut valve = Valve::new(3);
    valve.watermark(0, 10, &[]);
    valve.watermark(1, 7, &[]);
    valve.idle(2, &[at(7)]);
    valve.active(2, &[]);
    valve.idle(0, &[]);
    valve.idle(1, &[]);
    assert_eq!(valve.0.output_status(), WatermarkStatus::Active);
    valve.watermark(2, 6, &[]);
    valve.watermark(2, 8, &[at(8)]);
}

#[test]
fn t9_a_channel_that_lags_and_turns_idle_brings_nothing() {
    let mut valve = Valve::at(&[7, 10]);
    valve.idle(0, &[at(10)]);
    valve.active(0, &[]);
    valve.watermark(0, 9, &[]);
    valve.idle(0, &[]);
}

#[test]
fn b54_the_least_of_nothing_is_no_watermark() {
    let mut valve = Valve::new(2);
    valve.watermark(0, 10, &[]);
    valve.watermark(1, 20, &[at(10)]);
    valve.idle(1, &[]);
    valve.watermark(0, 30, &[at(30)]);
    valve.active(1, &[]);
    valve.idle(0, &[]);
    valve.watermark(1, 25, &[]);
    valve.watermark(1, 31, &[at(31)]);
}

#[test]
fn b54_a_valve_without_channels_says_nothing() {
    let valve = Valve::new(0).0;
    assert_eq!(valve.output_watermark(), Watermark::MIN);
    assert_eq!(valve.output_status(), WatermarkStatus::Active);
}

/// 10, 20 and a channel that is at 7 and lags.
fn b56() -> Valve {
    let mut valve = Valve::at(&[10, 20, 5]);
    valve.idle(2, &[at(10)]);
    valve.active(2, &[]);
    valve.watermark(2, 7, &[]);
    valve
}

#[test]
fn b56_a_in_which_order_channels_turn_idle_does_not_matter() {
    for order in ORDERS {
        let mut valve = b56();
        let mut effects = Vec::new();
        for channel in order {
            effects.extend(valve.0.status(channel, WatermarkStatus::Idle));
        }
        assert_eq!(effects, [at(20), IDLE], "{order:?}");
    }
}

#[test]
fn b56_b_a_channel_that_is_back_drives_without_a_new_watermark() {
    let mut valve = b56();
    valve.idle(1, &[]);
    valve.idle(0, &[]);
    valve.active(1, &[at(20)]);
}

#[test]
fn b57_an_ended_channel_is_left_out_and_the_maximum_goes_out_once() {
    let mut valve = Valve::at(&[10, 50, 40]);
    valve.end(0, &[at(40)]);
    valve.idle(1, &[]);
    valve.idle(2, &[at(50), IDLE]);
    valve.active(1, &[ACTIVE]);
    valve.watermark(1, 60, &[at(60)]);
    valve.end(1, &[IDLE]);
    valve.end(2, &[ACTIVE, MAX]);
    valve.end(2, &[]);
    valve.watermark(2, i64::MAX, &[]);
}

#[test]
fn b57_the_watermark_maximum_ends_a_channel_as_its_end_does() {
    let mut valve = Valve::at(&[10, 50, 40]);
    valve.watermark(0, i64::MAX, &[at(40)]);
    valve.idle(1, &[]);
    valve.idle(2, &[at(50), IDLE]);
    valve.end(0, &[]);
    valve.active(2, &[ACTIVE]);
    valve.watermark(2, i64::MAX, &[IDLE]);
    valve.watermark(1, i64::MAX, &[ACTIVE, MAX]);
    valve.end(1, &[]);
    valve.end(2, &[]);
}

#[test]
fn b57_nothing_of_an_ended_channel_is_heeded() {
    let mut valve = Valve::at(&[10, 20]);
    valve.end(0, &[at(20)]);
    valve.watermark(0, 70, &[]);
    valve.idle(0, &[]);
    valve.active(0, &[]);
    valve.watermark(1, 30, &[at(30)]);
    valve.idle(1, &[IDLE]);
}

#[test]
fn event_time_does_not_end_where_a_channel_was_not_drained() {
    for order in ORDERS {
        let mut valve = Valve::at(&[10, 50, 40]);
        for channel in order {
            let mode = [StopMode::Drain, StopMode::NoDrain, StopMode::Drain][channel];
            assert!(valve.0.end(channel, mode).all(|effect| effect != MAX));
        }
        valve.watermark(0, i64::MAX, &[]);
    }
    let mut valve = Valve::at(&[10]);
    valve.end_undrained(0, &[]);
    assert_eq!(valve.0.output_watermark(), Watermark(10));
}

/// What it would give goes on where the job does: it would be late for all that fires now.
#[test]
fn a_channel_that_was_not_drained_holds_event_time_where_it_is() {
    let mut valve = Valve::at(&[10, 50, 40]);
    valve.end_undrained(0, &[]);
    valve.watermark(1, 60, &[]);
    valve.end(2, &[]);
    valve.end_undrained(1, &[]);
    assert_eq!(valve.0.output_watermark(), Watermark(10));

    // One that is idle does not, as before.
    let mut valve = Valve::at(&[10, 50]);
    valve.idle(0, &[at(50)]);
    valve.end_undrained(0, &[]);
    valve.watermark(1, 60, &[at(60)]);
}

#[test]
fn an_idle_channel_may_end_and_a_lagging_one_too() {
    let mut valve = Valve::at(&[10, 20, 30]);
    valve.idle(0, &[at(20)]);
    valve.active(0, &[]);
    valve.end(0, &[]);
    valve.idle(1, &[at(30)]);
    valve.end(1, &[]);
    valve.watermark(2, 40, &[at(40)]);
    valve.end(2, &[MAX]);
}

#[test]
fn thousands_of_channels_are_aligned() {
    const CHANNELS: usize = 5_000;
    let mut valve = Valve::new(CHANNELS as u32);
    // 1,237 shares no divisor with the number of channels: each comes once, in no order.
    for round in 0..3 {
        for number in 0..CHANNELS {
            let channel = number * 1_237 % CHANNELS;
            let last = number + 1 == CHANNELS;
            let watermark = 10_000 * round + channel as i64;
            let effects = valve.0.watermark(channel, Watermark(watermark));
            if last {
                assert_eq!(valve.0.output_watermark(), Watermark(10_000 * round));
            } else if round == 0 {
                gives(effects, &[]);
            }
        }
    }
    for channel in 0..CHANNELS - 1 {
        valve.idle(channel, &[at(20_000 + channel as i64 + 1)]);
    }
    valve.idle(CHANNELS - 1, &[IDLE]);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn there_is_no_channel_past_the_last() {
    let _ = Valve::new(2).0.watermark(2, Watermark(1));
}

//! An axis of values, with the ticks that readers expect.
//!
//! A1. `low < high`, and both are finite: any value has its place.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

/// From where to where, and what is marked there.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Values with a label.
    pub(super) ticks: Vec<f64>,
    /// Values with a line alone.
    pub(super) lines: Vec<f64>,
}

/// Values further apart are shown on a log axis.
const LINEAR_FACTOR_MAX: f64 = 20.0;

/// How near a tick is to be, in parts of a step, for a linear axis to reach it.
const NEAR: f64 = 0.3;

/// No value on an axis is larger, nor, on a log axis, smaller than its inverse.
const VALUE_MAX: f64 = 1e300;

impl Axis {
    /// One for all values: linear from zero on where they are near to each other, else log.
    pub(super) fn fitting(values: &[f64], ticks_max: usize) -> Self {
        if is_log(values) {
            Self::log(values, ticks_max)
        } else {
            Self::linear(values, ticks_max)
        }
    }

    /// A linear one from zero on.
    pub(super) fn linear(values: &[f64], ticks_max: usize) -> Self {
        let high = sane(values).fold(0.0, f64::max);
        let high = if high > 0.0 { high } else { 1.0 };
        let step = nice_at_least(high / ticks_max as f64);
        // Up to the next tick where that is near.
        let next = (high / step).ceil() * step;
        let high = if next - high <= NEAR * step {
            next
        } else {
            high
        };
        let ticks = (0..).map(|count| f64::from(count) * step);
        Self {
            scale: Scale::Linear,
            low: 0.0,
            high,
            ticks: ticks.take_while(|&tick| tick <= high).collect(),
            lines: Vec::new(),
        }
    }

    /// A log one for all values above zero, from tick to tick.
    pub(super) fn log(values: &[f64], ticks_max: usize) -> Self {
        let least = sane(values)
            .filter(|&value| value > 0.0)
            .fold(VALUE_MAX, f64::min);
        let most = sane(values).fold(0.0, f64::max);
        let (least, most) = if most > 0.0 {
            (least, most)
        } else {
            (1.0, 1.0)
        };
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        let fine = steps(first, last, &[1.0, 2.0, 5.0]);
        let below = fine
            .iter()
            .copied()
            .filter(|&step| step <= least)
            .fold(0.0, f64::max);
        let low = if below > 0.0 { below } else { least };
        let above = fine
            .iter()
            .copied()
            .filter(|&step| step >= most)
            .fold(f64::INFINITY, f64::min);
        let high = if above.is_finite() { above } else { most };
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low / 2.0, high * 2.0)
        };

        let within = |steps: Vec<f64>| -> Vec<f64> {
            steps
                .into_iter()
                .filter(|step| (low..=high).contains(step))
                .collect()
        };
        let decades = within(steps(first - 1, last + 1, &[1.0]));
        let fine = within(steps(first - 1, last + 1, &[1.0, 2.0, 5.0]));
        let (ticks, lines) = if fine.len() <= ticks_max {
            (fine, Vec::new())
        } else if decades.len() <= ticks_max {
            (decades, within(steps(first - 1, last + 1, &[2.0, 5.0])))
        } else {
            let each = decades.len().div_ceil(ticks_max);
            (decades.iter().copied().step_by(each).collect(), decades)
        };
        Self {
            scale: Scale::Log,
            low,
            high,
            ticks,
            lines,
        }
    }

    /// How far along the axis a value is, from 0 to 1; one beyond an end is at that end.
    pub(super) fn share(&self, value: f64) -> f64 {
        let value = if value.is_nan() {
            self.low
        } else {
            value.clamp(self.low, self.high)
        };
        let place = match self.scale {
            Scale::Linear => |value: f64| value,
            Scale::Log => f64::log10,
        };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (f64::from(last - first) * self.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            self.lines.clone()
        } else {
            self.ticks.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

/// Ticks are told as each chart tells its values.
impl ValueFormatter<f64> for Axis {}

/// Whether values are so far apart that they need a log axis.
pub(super) fn is_log(values: &[f64]) -> bool {
    let least = sane(values)
        .filter(|&value| value > 0.0)
        .fold(VALUE_MAX, f64::min);
    let most = sane(values).fold(0.0, f64::max);
    most / LINEAR_FACTOR_MAX > least
}

/// The values that an axis can show, none below zero.
fn sane(values: &[f64]) -> impl Iterator<Item = f64> {
    values
        .iter()
        .filter(|value| !value.is_nan())
        .map(|value| value.clamp(0.0, VALUE_MAX))
        .map(|value| if value < 1.0 / VALUE_MAX { 0.0 } else { value })
}

/// Multiples of the powers of ten, in order.
fn steps(first: i32, last: i32, multiples: &[f64]) -> Vec<f64> {
    let decades = (first..=last).map(|exponent| {
        // Parsed, as no computed power of ten is as exact.
        format!("1e{exponent}")
            .parse::<f64>()
            .unwrap_or(f64::INFINITY)
    });
    decades
        .flat_map(|decade| multiples.iter().map(move |multiple| multiple * decade))
        .collect()
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least as large.
fn nice_at_least(step: f64) -> f64 {
    let exponent = step.log10().floor() as i32;
    steps(exponent, exponent + 1, &[1.0, 2.0, 2.5, 5.0])
        .into_iter()
        .find(|&nice| nice >= step)
        .unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_values_have_a_linear_axis_from_zero() {
        let axis = Axis::fitting(&[10.0, 42.0], 5);
        assert_eq!(
            (axis.scale, axis.low, axis.high),
            (Scale::Linear, 0.0, 42.0)
        );
        assert_eq!(axis.ticks, [0.0, 10.0, 20.0, 30.0, 40.0]);
        let axis = Axis::fitting(&[10.0, 48.0], 5);
        assert_eq!(axis.ticks.last(), Some(&50.0));
    }

    #[test]
    fn values_far_apart_have_a_log_axis_from_tick_to_tick() {
        let axis = Axis::fitting(&[300.0, 7_000.0], 8);
        assert_eq!(
            (axis.scale, axis.low, axis.high),
            (Scale::Log, 200.0, 10_000.0)
        );
        assert_eq!(
            axis.ticks,
            [200.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0]
        );
        let coarse = Axis::fitting(&[300.0, 7_000_000.0], 8);
        assert_eq!(coarse.ticks, [1e3, 1e4, 1e5, 1e6, 1e7]);
        assert!(coarse.lines.contains(&500.0));
    }

    #[test]
    fn no_values_break_an_axis() {
        let odd: [&[f64]; 9] = [
            &[],
            &[0.0],
            &[0.0, 0.0, 5.0],
            &[-1.0, f64::NAN],
            &[f64::INFINITY, 1.0],
            &[f64::MAX, f64::MIN_POSITIVE],
            &[100.0],
            &[1e-5, 1e12],
            &[5e-324],
        ];
        for values in odd {
            for axis in [Axis::fitting(values, 6), Axis::log(values, 6)] {
                assert!(axis.low < axis.high, "{values:?}: {axis:?}");
                assert!(axis.ticks.len() <= 7, "{values:?}: {axis:?}");
                for &value in values {
                    assert!(
                        (0.0..=1.0).contains(&axis.share(value)),
                        "{values:?}: {axis:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_decade_of_a_log_axis_is_as_long() {
        let axis = Axis::log(&[1.0, 1e4], 12);
        assert_eq!(
            axis.ticks
                .iter()
                .map(|&tick| axis.map(&tick, (100, 500)))
                .collect::<Vec<_>>(),
            [100, 200, 300, 400, 500]
        );
        assert_eq!(axis.map(&0.0, (100, 500)), 100);
        assert_eq!(axis.map(&f64::INFINITY, (100, 500)), 500);
    }
}

//! A series as a curve: how long the times are that so many do not exceed.
//!
//! Q1. A curve ends where fewer than ten samples are left above it: from there on it would tell of
//!     chance.
//! Q2. Places grow along a curve, and none is below zero.

use crate::recorder::{Recorder, SAMPLES_ABOVE_MIN};
use crate::report::Series;

/// How far up among all times: the number of nines, 1 for 90 %, 2 for 99 %.
pub(super) type Nines = f64;

/// A point of a curve, with its time in nanoseconds.
pub(super) type Point = (Nines, f64);

/// Points from any value to the one half as far from the end.
const POINTS_PER_HALF: u32 = 6;

/// The nines of a share below 1.
pub(super) fn nines(share: f64) -> Nines {
    -(1.0 - share).log10()
}

/// The curve of a series; if its times are not at hand, through the percentiles told. Empty if
/// there are too few.
pub(super) fn of(series: &Series) -> Vec<Point> {
    match &series.recorder {
        Some(recorder) => of_recorder(recorder),
        None => of_percentiles(series),
    }
}

fn of_recorder(recorder: &Recorder) -> Vec<Point> {
    let count = recorder.count() as f64;
    if count <= SAMPLES_ABOVE_MIN {
        return Vec::new();
    }
    let histogram = recorder.histogram();
    // By Q1.
    let last = 1.0 - SAMPLES_ABOVE_MIN / count;
    let time = |ns: u64| ns.min(recorder.max()) as f64;
    let mut points: Vec<_> = histogram
        .iter_quantiles(POINTS_PER_HALF)
        .map(|step| (step.quantile_iterated_to(), step.value_iterated_to()))
        .take_while(|&(share, _)| share < last)
        .map(|(share, ns)| (nines(share), time(ns)))
        .collect();
    points.push((nines(last), time(histogram.value_at_quantile(last))));
    points
}

fn of_percentiles(series: &Series) -> Vec<Point> {
    let told = series.percentiles.iter().flatten();
    let mut points: Vec<_> = told
        .filter_map(|(percent, &ns)| {
            let share = percent.parse::<f64>().ok()? / 100.0;
            (0.0..1.0)
                .contains(&share)
                .then_some((nines(share), ns? as f64))
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// Where a curve is at a place on it, between its points; nothing beside it.
pub(super) fn at(points: &[Point], place: Nines) -> Option<f64> {
    let next = points.partition_point(|point| point.0 < place);
    let &(right, above) = points.get(next)?;
    if right == place {
        return Some(above);
    }
    let &(left, below) = points.get(next.checked_sub(1)?)?;
    let share = (place - left) / (right - left);
    // Straight on a log axis, where no time is below one nanosecond.
    let (below, above) = (below.max(1.0).ln(), above.max(1.0).ln());
    Some((below + (above - below) * share).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::report::sample;
    use std::collections::BTreeMap;

    fn series() -> Series {
        sample::series(&Case::plain(Workload::Rtt, Mode::AsShipped), "a", &[1.0])
    }

    #[test]
    fn a_curve_ends_where_ten_samples_are_left() {
        let mut recorder = Recorder::new(1_000_000);
        (1..=10_000).for_each(|ns| recorder.record(ns));
        let points = of(&Series {
            recorder: Some(recorder),
            ..series()
        });
        let &(end, ns) = points.last().unwrap();
        assert!((end - 3.0).abs() < 1e-9, "{end}");
        assert!((ns - 9_990.0).abs() < 10.0, "{ns}");
        assert!(points.is_sorted_by(|one, other| one.0 < other.0 && one.1 <= other.1));
        assert!(points[0].0 < 0.1);
    }

    #[test]
    fn ten_samples_are_too_few() {
        let mut recorder = Recorder::new(1_000_000);
        (1..=10).for_each(|ns| recorder.record(ns));
        let few = Series {
            recorder: Some(recorder),
            ..series()
        };
        assert!(of(&few).is_empty());
        assert!(of(&series()).is_empty());
    }

    #[test]
    fn a_series_that_was_read_has_the_percentiles_told() {
        let told = [
            ("50", Some(5)),
            ("99", Some(9)),
            ("99.9", None),
            ("max", Some(20)),
        ];
        let told = told.map(|(percent, ns)| (percent.to_owned(), ns));
        let points = of(&Series {
            percentiles: Some(BTreeMap::from(told)),
            ..series()
        });
        assert_eq!(points.len(), 2);
        assert!((points[1].0 - 2.0).abs() < 1e-9);
        assert_eq!(points[1].1, 9.0);
    }

    #[test]
    fn a_place_between_two_points_is_on_the_line() {
        let points = [(1.0, 100.0), (2.0, 10_000.0)];
        assert_eq!(at(&points, 1.0), Some(100.0));
        assert!((at(&points, 1.5).unwrap() - 1_000.0).abs() < 1e-6);
        assert_eq!(at(&points, 0.5), None);
        assert_eq!(at(&points, 2.5), None);
    }
}

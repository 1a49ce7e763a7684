//! Percentile curves: how long the slow ones take.

use super::super::numbers;
use super::super::palette::{Ink, Look, Palette, Rank};
use super::axis::{Axis, Scale};
use super::canvas::{Area, Drawn, TEXT, image, line, px, text};
use super::marks;
use super::quantiles::{self, Nines, Point};
use crate::report::Series;
use crate::report::notes::label;
use maud::Markup;
use plotters::prelude::{ChartBuilder, DashedLineSeries, LineSeries};

/// Sizes in pixels.
const SIZE: (f64, f64) = (480.0, 360.0);
const LEFT: f64 = 54.0;
const BELOW: f64 = 36.0;
const MARGIN: f64 = 10.0;
/// So that half a percentage has room beyond the curves' end.
const RIGHT: f64 = 22.0;
/// Between two percentages on the axis, at least.
const LABEL: f64 = 44.0;

const TICKS_MAX: usize = 11;

/// Percentages on the axis, and the nines they have.
const TICKS: [(f64, &str); 8] = [
    (0.0, "0"),
    (0.5, "50"),
    (0.9, "90"),
    (0.99, "99"),
    (0.999, "99.9"),
    (0.9999, "99.99"),
    (0.99999, "99.999"),
    (0.999999, "99.9999"),
];

/// The curves of a chart.
pub(in super::super) struct Curves {
    curves: Vec<(Look, Vec<Point>)>,
    is_whole: bool,
}

impl Curves {
    /// Those of the given series that have enough times.
    pub(in super::super) fn of(series: &[&Series], palette: &Palette) -> Self {
        let curves = series.iter().filter_map(|series| {
            let points = quantiles::of(series);
            (!points.is_empty()).then(|| (palette.look(&label(series)), points))
        });
        Self {
            curves: curves.collect(),
            is_whole: series.iter().all(|series| series.recorder.is_some()),
        }
    }

    /// Whether all times are at hand for each.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether there are none.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.curves.is_empty()
    }
}

/// The axes that charts beside each other share.
pub(in super::super) struct Axes {
    nines_max: Nines,
    time: Axis,
}

impl Axes {
    /// Axes on which all curves of some charts have their place; of the machine's, what is not
    /// below all others.
    pub(in super::super) fn of(charts: &[&Curves]) -> Self {
        let points = |floor: bool| -> Vec<Point> {
            let curves = charts.iter().flat_map(|chart| &chart.curves);
            curves
                .filter(|(look, _)| (look.rank == Rank::Floor) == floor)
                .flat_map(|(_, points)| points.iter().copied())
                .collect()
        };
        let (floor, others) = (points(true), points(false));
        let least = others.iter().map(|point| point.1).reduce(f64::min);
        let shown = floor
            .iter()
            .filter(|point| least.is_none_or(|least| point.1 >= least));
        // No time is below one nanosecond on a log axis.
        let times = others.iter().chain(shown).map(|point| point.1.max(1.0));
        Self {
            nines_max: floor
                .iter()
                .chain(&others)
                .map(|point| point.0)
                .fold(1.0, f64::max),
            time: Axis::log(&times.collect::<Vec<_>>(), TICKS_MAX),
        }
    }
}

/// Draws curves; ours are drawn last, above all others.
pub(in super::super) fn draw(curves: &Curves, axes: &Axes, title: &str) -> Markup {
    image(SIZE, Some(title), |area| lines(area, curves, axes))
}

fn lines(area: &Area<'_>, curves: &Curves, axes: &Axes) -> Drawn {
    let Axes { nines_max, time } = axes;
    let per_nine = (SIZE.0 - LEFT - RIGHT) / nines_max;
    let (labelled, others): (Vec<_>, Vec<_>) = TICKS
        .iter()
        .map(|&(share, label)| (quantiles::nines(share), label))
        .filter(|(place, _)| place <= nines_max)
        .partition(|&(place, label)| label != "50" || place * per_nine >= LABEL);
    let places = |ticks: &[(Nines, _)]| ticks.iter().map(|tick| tick.0).collect::<Vec<_>>();
    let percentage = |&place: &Nines| {
        let found = labelled.iter().find(|tick| tick.0 == place);
        found.map_or_else(String::new, |(_, label)| format!("{label} %"))
    };

    let nines = Axis {
        scale: Scale::Linear,
        low: 0.0,
        high: *nines_max,
        ticks: places(&labelled),
        lines: places(&others),
    };
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(MARGIN))
        .margin_right(px(RIGHT))
        .x_label_area_size(px(BELOW))
        .y_label_area_size(px(LEFT))
        .build_cartesian_2d(nines, time.clone())?;
    chart
        .configure_mesh()
        .set_all_tick_mark_size(px(3.0))
        .axis_style(line(Ink::Muted, 1.0))
        .bold_line_style(line(Ink::Grid, 1.0))
        .light_line_style(line(Ink::Grid, 0.5))
        .label_style(text(Ink::Muted, TEXT - 1.0))
        .axis_desc_style(text(Ink::Muted, TEXT - 1.0))
        .x_label_formatter(&percentage)
        .y_label_formatter(&|&ns| numbers::tick(ns, "ns"))
        .x_desc("percentile")
        .draw()?;

    let mut ordered: Vec<_> = curves.curves.iter().enumerate().collect();
    ordered.sort_by_key(|(_, (look, _))| match look.rank {
        Rank::Floor => 0,
        Rank::Peer => 1,
        Rank::Ours => 2,
    });
    for (index, (look, points)) in ordered {
        let style = line(look.ink(), marks::thickness(*look));
        if look.rank == Rank::Floor {
            let (dash, gap) = marks::DASH;
            // From the last point on that is not above the axis' start.
            let below = points.partition_point(|point| point.1 <= time.low);
            let shown = points[below.saturating_sub(1)..].to_vec();
            chart.draw_series(DashedLineSeries::new(shown, px(dash), px(gap), style))?;
        } else {
            chart.draw_series(LineSeries::new(points.clone(), style))?;
        }
        // One mark to a nine, each curve's at places of its own, so that none covers another.
        let first = (index as f64 + 0.5) / curves.curves.len() as f64;
        let mut place = first;
        while place <= *nines_max {
            if let Some(ns) = quantiles::at(points, place) {
                let at = chart.backend_coord(&(place, ns));
                marks::draw(area, *look, at)?;
            }
            place += 1.0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::report::notes::MACHINE;
    use crate::report::sample;

    fn axes(machine_ns: &[u64]) -> Axes {
        let case = Case::plain(Workload::Latency, Mode::AsShipped);
        let of =
            |subject, times: Vec<u64>| sample::series(&case, subject, &[1.0]).with_times(times);
        let series = [
            of("kanal", (1_000..2_000).collect()),
            of(MACHINE, machine_ns.repeat(500)),
        ];
        let report = sample::report(series.to_vec());
        let all: Vec<_> = report.results.iter().collect();
        let curves = Curves::of(&all, &Palette::of(&report));
        let axes = Axes::of(&[&curves]);
        // It is drawn whatever is left of it.
        let drawn = draw(&curves, &axes, "latency").into_string();
        assert!(drawn.contains("polyline"));
        axes
    }

    #[test]
    fn what_of_the_machine_is_below_all_else_takes_no_room() {
        let Axes { time, .. } = axes(&[3, 5_000]);
        assert_eq!((time.low, time.high), (1_000.0, 5_000.0));
        let Axes { time, .. } = axes(&[3]);
        assert_eq!((time.low, time.high), (1_000.0, 2_000.0));
    }
}

//! A round over time: its throughput, and its checkpoints.

use super::super::numbers;
use super::super::palette::{Ink, Look, Mark, Rank};
use super::axis::Axis;
use super::canvas::{Area, TEXT, fill, image, line, px, text};
use super::marks;
use crate::report::{Checkpointed, Course};
use maud::Markup;
use plotters::prelude::{ChartBuilder, LineSeries, Rectangle};

/// Sizes in pixels.
const SIZE: (f64, f64) = (480.0, 280.0);
const LEFT: f64 = 64.0;
const BELOW: f64 = 36.0;
const MARGIN: f64 = 10.0;
const RIGHT: f64 = 18.0;

const SECONDS_MAX: usize = 8;
const TICKS_MAX: usize = 7;

/// Marks on a line, at most: more than these would cover it.
const MARKS_MAX: usize = 40;

/// Some rounds of one case, each with its subject's look.
pub(in super::super) type Courses<'a> = [(Look, &'a Course)];

/// What is told of a checkpoint: what it is, what it looks like, and how long it took in milliseconds.
pub(in super::super) struct Told {
    pub(in super::super) name: &'static str,
    pub(in super::super) style: (Rank, Mark),
    of: fn(&Checkpointed) -> f64,
}

/// The longest first.
pub(in super::super) const TOLD: [Told; 3] = [
    Told {
        name: "all of it",
        style: (Rank::Ours, Mark::Disc),
        of: |checkpoint| checkpoint.duration_ms,
    },
    Told {
        name: "async part of a task",
        style: (Rank::Peer, Mark::Ring),
        of: |checkpoint| checkpoint.async_ms,
    },
    Told {
        name: "sync part of a task",
        style: (Rank::Peer, Mark::Triangle),
        of: |checkpoint| checkpoint.sync_ms,
    },
];

const NS_TO_A_MS: f64 = 1e6;

/// Records a second over time, and behind them when a checkpoint was on its way.
pub(in super::super) fn throughput(courses: &Courses<'_>, title: &str) -> Markup {
    image(SIZE, Some(title), |area| {
        let stretches = courses.iter().flat_map(|(_, course)| &course.records);
        let rates: Vec<_> = stretches.map(|stretch| stretch.per_s()).collect();
        let rate = Axis::linear(&rates, TICKS_MAX);
        let top = rate.high;
        let format = |&per_s: &f64| numbers::tick(per_s / 1e6, "records");
        let mut chart = builder(area).build_cartesian_2d(seconds(courses), rate)?;
        // Behind the grid.
        for checkpoint in courses.iter().flat_map(|(_, course)| &course.checkpoints) {
            let from = checkpoint.begun_ms / 1e3;
            let to = from + checkpoint.duration_ms / 1e3;
            let band = Rectangle::new([(from, 0.0), (to, top)], fill(Ink::Grid, 0.6));
            chart.draw_series([band])?;
        }
        chart
            .configure_mesh()
            .set_all_tick_mark_size(px(3.0))
            .axis_style(line(Ink::Muted, 1.0))
            .bold_line_style(line(Ink::Grid, 1.0))
            .light_line_style(line(Ink::Grid, 0.5))
            .label_style(text(Ink::Muted, TEXT - 1.0))
            .axis_desc_style(text(Ink::Muted, TEXT - 1.0))
            .x_label_formatter(&in_seconds)
            .y_label_formatter(&format)
            .x_desc("since the round began")
            .y_desc("million records a second")
            .draw()?;
        for (look, course) in courses {
            let steps = course.records.iter().flat_map(|stretch| {
                let per_s = stretch.per_s();
                [stretch.from_ms, stretch.to_ms].map(|ms| (ms / 1e3, per_s))
            });
            let style = line(look.ink(), 1.8);
            chart.draw_series(LineSeries::new(steps, style))?;
            let middles = course.records.iter().map(|stretch| {
                let middle_ms = f64::midpoint(stretch.from_ms, stretch.to_ms);
                (middle_ms / 1e3, stretch.per_s())
            });
            let few = course.records.len().div_ceil(MARKS_MAX / 4).max(1);
            for place in middles.step_by(few) {
                marks::draw(area, *look, chart.backend_coord(&place))?;
            }
        }
        Ok(())
    })
}

/// How long each checkpoint took and its parts, over when it began.
pub(in super::super) fn checkpoints(courses: &Courses<'_>, title: &str) -> Markup {
    image(SIZE, Some(title), |area| {
        let all = || courses.iter().flat_map(|(_, course)| &course.checkpoints);
        let times = TOLD.iter().flat_map(|told| all().map(told.of));
        let times: Vec<_> = times.map(|ms| ms * NS_TO_A_MS).collect();
        let time = Axis::fitting(&times, TICKS_MAX);
        let format = |&ns: &f64| numbers::tick(ns, "ns");
        let mut chart = builder(area).build_cartesian_2d(seconds(courses), time)?;
        chart
            .configure_mesh()
            .set_all_tick_mark_size(px(3.0))
            .axis_style(line(Ink::Muted, 1.0))
            .bold_line_style(line(Ink::Grid, 1.0))
            .light_line_style(line(Ink::Grid, 0.5))
            .label_style(text(Ink::Muted, TEXT - 1.0))
            .axis_desc_style(text(Ink::Muted, TEXT - 1.0))
            .x_label_formatter(&in_seconds)
            .y_label_formatter(&format)
            .x_desc("when it began, since the round did")
            .draw()?;
        for (look, course) in courses {
            for told in &TOLD {
                let look = look.styled(told.style);
                let points = course.checkpoints.iter().map(|checkpoint| {
                    (
                        checkpoint.begun_ms / 1e3,
                        (told.of)(checkpoint) * NS_TO_A_MS,
                    )
                });
                let points: Vec<_> = points.collect();
                let drawn = LineSeries::new(
                    points.iter().copied(),
                    line(look.ink(), marks::thickness(look)),
                );
                chart.draw_series(drawn)?;
                let few = points.len().div_ceil(MARKS_MAX).max(1);
                for place in points.iter().step_by(few) {
                    marks::draw(area, look, chart.backend_coord(place))?;
                }
            }
        }
        Ok(())
    })
}

fn builder<'a, 'b>(area: &'a Area<'b>) -> ChartBuilder<'a, 'b, plotters::prelude::SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_top(px(MARGIN))
        .margin_right(px(RIGHT))
        .x_label_area_size(px(BELOW))
        .y_label_area_size(px(LEFT));
    builder
}

/// The axis of time, from the beginning of a round to the end of the longest.
fn seconds(courses: &Courses<'_>) -> Axis {
    let ends = courses.iter().flat_map(|(_, course)| {
        let stretches = course.records.iter().map(|stretch| stretch.to_ms);
        let begun = course
            .checkpoints
            .iter()
            .map(|checkpoint| checkpoint.begun_ms);
        stretches.chain(begun)
    });
    let ends: Vec<_> = ends.map(|ms| ms / 1e3).collect();
    Axis::linear(&ends, SECONDS_MAX)
}

fn in_seconds(seconds: &f64) -> String {
    format!("{} s", numbers::tick(*seconds, "seconds"))
}

#[cfg(test)]
mod tests {
    use super::super::super::palette::Palette;
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::report::{Stretch, sample};

    fn course(times_ms: &[f64]) -> Course {
        let stretch = |index: u64| Stretch {
            from_ms: index as f64 * 100.0,
            to_ms: (index + 1) as f64 * 100.0,
            records: 1_000_000 + index,
        };
        let checkpoint = |(index, &duration_ms): (usize, &f64)| Checkpointed {
            begun_ms: index as f64 * 50.0,
            duration_ms,
            sync_ms: 0.1,
            async_ms: duration_ms / 2.0,
            state_bytes: 1,
        };
        Course {
            records: (0..5).map(stretch).collect(),
            checkpoints: times_ms.iter().enumerate().map(checkpoint).collect(),
        }
    }

    /// How many lines of the first subject there are.
    fn lines(drawn: &str) -> usize {
        assert!(!drawn.contains("could not be drawn"));
        let polylines = drawn.split("<polyline").skip(1);
        let of_subject = |line: &&str| {
            let tag = line.split("/>").next().unwrap_or_default();
            tag.contains("var(--s0)") && !tag.contains("points=\"\"")
        };
        polylines.filter(of_subject).count()
    }

    #[test]
    fn a_round_over_time_is_drawn_whatever_is_in_it() {
        let case = Case::plain(Workload::Checkpoint, Mode::AsShipped);
        let one = sample::series(&case, "mailring-checkpoints", &[1.0]);
        let report = sample::report(vec![one]);
        let look = Palette::of(&report).look("mailring-checkpoints");
        for course in [course(&[]), course(&[30.0; 9]), Course::default()] {
            let courses = [(look, &course)];
            let drawn = throughput(&courses, "rate").into_string();
            assert_eq!(lines(&drawn), usize::from(!course.records.is_empty()));
            let drawn = checkpoints(&courses, "times").into_string();
            let has_some = !course.checkpoints.is_empty();
            assert_eq!(lines(&drawn), if has_some { TOLD.len() } else { 0 });
        }
    }
}

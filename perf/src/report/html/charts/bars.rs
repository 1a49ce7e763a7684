//! Medians as bars, with what lies between the smallest and the largest round.

use super::super::numbers;
use super::super::palette::{Ink, Palette, Rank};
use super::axis::{Axis, Scale, is_log};
use super::canvas::{Area, Drawn, TEXT, bold, fill, image, line, px, text};
use crate::report::Series;
use crate::report::notes::label;
use maud::Markup;
use plotters::prelude::{ChartBuilder, Circle, PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Sizes in pixels.
const WIDTH: f64 = 480.0;
const ROW: f64 = 23.0;
const BELOW: f64 = 36.0;
const ABOVE: f64 = 4.0;
const RIGHT: f64 = 66.0;
const GAP: f64 = 8.0;
/// The width of a letter of bold text, at most, on average.
const LETTER: f64 = 7.1;

/// Longer names are cut.
const NAME_LETTERS_MAX: usize = 24;

const TICKS_MAX: usize = 6;

/// Values that charts beside each other share an axis for; nothing where one of them would become
/// hard to read.
pub(in super::super) fn shared(charts: &[Vec<&Series>]) -> Option<Vec<f64>> {
    let each: Vec<_> = charts.iter().map(|series| values(series)).collect();
    let all: Vec<_> = each.concat();
    let same = each.iter().all(|values| is_log(values) == is_log(&all));
    same.then_some(all)
}

fn values(series: &[&Series]) -> Vec<f64> {
    let values = series
        .iter()
        .flat_map(|series| [series.min, series.median, series.max]);
    values.collect()
}

/// A bar for each series, from above down, on an axis for these values too.
pub(in super::super) fn draw(
    series: &[&Series],
    also: &[f64],
    title: &str,
    palette: &Palette,
) -> Markup {
    let values = [&values(series), also].concat();
    let axis = Axis::fitting(&values, TICKS_MAX);
    let height = ABOVE + ROW * series.len() as f64 + BELOW;
    image((WIDTH, height), Some(title), |area| {
        rows(area, series, &axis, palette)
    })
}

fn rows(area: &Area<'_>, all: &[&Series], axis: &Axis, palette: &Palette) -> Drawn {
    let names: Vec<_> = all.iter().map(|series| cut(&label(series))).collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let left = longest.unwrap_or_default() as f64 * LETTER + 2.0 * GAP;
    let unit = all.first().map_or("", |series| &*series.unit);
    let scale = match axis.scale {
        Scale::Linear => "",
        Scale::Log => ", log axis",
    };

    let mut chart = ChartBuilder::on(area)
        .margin_top(px(ABOVE))
        .margin_right(px(RIGHT))
        .x_label_area_size(px(BELOW))
        .y_label_area_size(px(left))
        .build_cartesian_2d(axis.clone(), all.len() as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .set_all_tick_mark_size(px(3.0))
        .axis_style(line(Ink::Grid, 1.0))
        .bold_line_style(line(Ink::Grid, 1.0))
        .light_line_style(line(Ink::Grid, 0.5))
        .label_style(text(Ink::Muted, TEXT - 1.0))
        .axis_desc_style(text(Ink::Muted, TEXT - 1.0))
        .x_label_formatter(&|&value| numbers::tick(value, unit))
        .x_desc(format!("{}{scale}", numbers::axis_title(unit)))
        .draw()?;

    for (row, (series, name)) in all.iter().zip(&names).enumerate() {
        let look = palette.look(&label(series));
        let ours = look.rank == Rank::Ours;
        let middle = row as f64 + 0.5;
        let Series {
            min, median, max, ..
        } = **series;

        if axis.scale == Scale::Linear {
            let corners = [(axis.low, middle - 0.36), (median, middle + 0.36)];
            let opacity = if ours { 1.0 } else { 0.55 };
            chart.draw_series([Rectangle::new(corners, fill(look.ink(), opacity))])?;
        } else {
            let guide = vec![(axis.low, middle), (median, middle)];
            chart.draw_series([PathElement::new(guide, line(Ink::Grid, 1.0))])?;
        }
        let is_log = axis.scale == Scale::Log;
        let whisker = line(if is_log { Ink::Muted } else { Ink::Text }, 1.4);
        let end = |value| {
            PathElement::new(
                vec![(value, middle - 0.16), (value, middle + 0.16)],
                whisker,
            )
        };
        let span = PathElement::new(vec![(min, middle), (max, middle)], whisker);
        chart.draw_series([span, end(min), end(max)])?;
        // No length on a log axis says anything; a place does.
        if is_log {
            let radius = px(if ours { 5.0 } else { 4.0 });
            chart.draw_series([Circle::new((median, middle), radius, fill(look.ink(), 1.0))])?;
        }

        let (right, y) = chart.backend_coord(&(max.max(median), middle));
        let (axis_x, _) = chart.backend_coord(&(axis.low, middle));
        let style = |size| {
            if ours {
                bold(Ink::Text, size)
            } else {
                text(Ink::Text, size)
            }
        };
        let before = style(TEXT).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw_text(name, &before, (axis_x - px(GAP), y))?;
        let after = style(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
        let figure = numbers::figure(median, &series.unit);
        area.draw_text(&figure, &after, (right + px(GAP), y))?;
    }
    Ok(())
}

/// A name that fits beside a bar.
fn cut(name: &str) -> String {
    if name.chars().count() <= NAME_LETTERS_MAX {
        return name.to_owned();
    }
    let start: String = name.chars().take(NAME_LETTERS_MAX - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_letters() {
        assert_eq!(cut("kanal"), "kanal");
        let cut = cut(&"ä".repeat(100));
        assert_eq!(cut.chars().count(), NAME_LETTERS_MAX);
        assert!(cut.ends_with('…'));
    }
}

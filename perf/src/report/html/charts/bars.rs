//! Medians as bars, with what lies between the smallest and the largest round.

use super::super::numbers;
use super::super::palette::{Ink, Look, Palette, Rank};
use super::axis::{Axis, Scale, is_log};
use super::canvas::{Area, Drawn, TEXT, bold, fill, image, line, px, text};
use crate::report::Series;
use crate::report::notes::label;
use maud::Markup;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, Circle, PathElement, Rectangle, SVGBackend,
};
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

/// The width of a letter beside the axis, and the least distance of two labels there.
const TICK_LETTER: f64 = 6.4;
const TICK_GAP: f64 = 6.0;

const TICKS_MAX: usize = 7;

/// How much of what is behind a bar of another's is seen.
const PEER_OPACITY: f64 = 0.6;

type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, RangedCoordf64>>;

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
    let longest = series
        .iter()
        .map(|series| cut(&label(series)).chars().count());
    let left = longest.max().unwrap_or_default() as f64 * LETTER + 2.0 * GAP;
    let unit = series.first().map_or("", |series| &*series.unit);
    let values = [&values(series), also].concat();
    let axis = labelled(&values, unit, WIDTH - left - RIGHT);
    let height = ABOVE + ROW * series.len() as f64 + BELOW;
    image((WIDTH, height), Some(title), |area| {
        let mut plot = ChartBuilder::on(area)
            .margin_top(px(ABOVE))
            .margin_right(px(RIGHT))
            .x_label_area_size(px(BELOW))
            .y_label_area_size(px(left))
            .build_cartesian_2d(axis.clone(), series.len() as f64..0.0)?;
        mesh(&mut plot, &axis, unit)?;
        for (row, series) in series.iter().enumerate() {
            let middle = row as f64 + 0.5;
            let look = palette.look(&label(series));
            match axis.scale {
                Scale::Linear => bar(&mut plot, series, middle, look)?,
                Scale::Log => dot(&mut plot, series, middle, look)?,
            }
            texts(area, &plot, series, middle, look.rank == Rank::Ours)?;
        }
        Ok(())
    })
}

/// The axis with the most ticks whose labels have room on so many pixels.
fn labelled(values: &[f64], unit: &str, width: f64) -> Axis {
    let fits = |axis: &Axis| {
        axis.ticks.windows(2).all(|pair| {
            let letters = pair
                .iter()
                .map(|&tick| numbers::tick(tick, unit).chars().count());
            let half = letters.sum::<usize>() as f64 * TICK_LETTER / 2.0;
            (axis.share(pair[1]) - axis.share(pair[0])) * width >= half + TICK_GAP
        })
    };
    let mut axes = (1..=TICKS_MAX).rev().map(|max| Axis::fitting(values, max));
    let fitting = axes.find(fits);
    fitting.unwrap_or_else(|| Axis::fitting(values, 1))
}

fn mesh(plot: &mut Plot<'_, '_>, axis: &Axis, unit: &str) -> Drawn {
    let scale = match axis.scale {
        Scale::Linear => "",
        Scale::Log => ", log axis",
    };
    plot.configure_mesh()
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
        .draw()
}

fn bar(plot: &mut Plot<'_, '_>, series: &Series, middle: f64, look: Look) -> Drawn {
    let corners = [(0.0, middle - 0.36), (series.median, middle + 0.36)];
    let opacity = match look.rank {
        Rank::Ours => 1.0,
        Rank::Peer | Rank::Floor => PEER_OPACITY,
    };
    // The page's colour first, so that no line of the grid is seen through it.
    plot.draw_series([
        Rectangle::new(corners, fill(Ink::Page, 1.0)),
        Rectangle::new(corners, fill(look.ink(), opacity)),
    ])?;
    whisker(plot, series, middle, Ink::Text)
}

/// In place of a bar on a log axis, where no length says anything.
fn dot(plot: &mut Plot<'_, '_>, series: &Series, middle: f64, look: Look) -> Drawn {
    let guide = vec![(0.0, middle), (series.median, middle)];
    plot.draw_series([PathElement::new(guide, line(Ink::Grid, 1.0))])?;
    whisker(plot, series, middle, Ink::Muted)?;
    let radius = px(match look.rank {
        Rank::Ours => 5.0,
        Rank::Peer | Rank::Floor => 4.0,
    });
    let dot = Circle::new((series.median, middle), radius, fill(look.ink(), 1.0));
    plot.draw_series([dot]).map(|_| ())
}

/// From the smallest round to the largest.
fn whisker(plot: &mut Plot<'_, '_>, series: &Series, middle: f64, ink: Ink) -> Drawn {
    let Series { min, max, .. } = *series;
    let end = |value| vec![(value, middle - 0.16), (value, middle + 0.16)];
    let lines = [vec![(min, middle), (max, middle)], end(min), end(max)];
    // The page's colour around it, for it may be on a bar of its own colour.
    for style in [line(Ink::Page, 3.4), line(ink, 1.4)] {
        let lines = lines.iter().cloned();
        plot.draw_series(lines.map(|points| PathElement::new(points, style)))?;
    }
    Ok(())
}

/// The name before a bar, and the median after it.
fn texts(
    area: &Area<'_>,
    plot: &Plot<'_, '_>,
    series: &Series,
    middle: f64,
    is_ours: bool,
) -> Drawn {
    let style = if is_ours { bold } else { text };
    let at = |side| style(Ink::Text, TEXT).pos(Pos::new(side, VPos::Center));
    let (start, y) = plot.backend_coord(&(0.0, middle));
    let (end, _) = plot.backend_coord(&(series.max.max(series.median), middle));
    area.draw_text(&cut(&label(series)), &at(HPos::Right), (start - px(GAP), y))?;
    let figure = numbers::figure(series.median, &series.unit);
    area.draw_text(&figure, &at(HPos::Left), (end + px(GAP), y))
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
    fn labels_of_an_axis_have_room() {
        let wide = labelled(&[2.0, 110.0], "ns/letter", 400.0);
        assert_eq!(wide.ticks, [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        let narrow = labelled(&[2.0, 110.0], "ns/letter", 200.0);
        assert_eq!(narrow.ticks, [10.0, 100.0]);
    }

    #[test]
    fn a_long_name_is_cut_between_letters() {
        assert_eq!(cut("kanal"), "kanal");
        let cut = cut(&"ä".repeat(100));
        assert_eq!(cut.chars().count(), NAME_LETTERS_MAX);
        assert!(cut.ends_with('…'));
    }
}

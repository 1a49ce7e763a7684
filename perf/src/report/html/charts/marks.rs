//! The marks and lines by which curves are told apart.

use super::super::palette::{Look, Mark, Rank};
use super::canvas::{Area, Drawn, fill, image, line, px};
use maud::Markup;
use plotters::prelude::{Circle, DashedLineSeries, PathElement, Polygon};

/// Half of a mark's width, in pixels.
const HALF: f64 = 3.6;

/// A dash and the gap after it, in pixels.
pub(super) const DASH: (f64, f64) = (6.0, 4.0);

/// How thick a subject's curve is, in pixels.
pub(super) fn thickness(look: Look) -> f64 {
    match look.rank {
        Rank::Ours => 2.6,
        Rank::Peer => 1.4,
        Rank::Floor => 1.8,
    }
}

/// Draws a subject's mark around a point of the area.
pub(super) fn draw(area: &Area<'_>, look: Look, (x, y): (i32, i32)) -> Drawn {
    let size = match look.rank {
        Rank::Ours => HALF * 1.25,
        Rank::Peer | Rank::Floor => HALF,
    };
    let half = px(size);
    let radius = half as u32;
    let stroke = line(look.ink(), 1.4);
    let full = fill(look.ink(), 1.0);
    let corners = |places: &[(i32, i32)]| -> Vec<(i32, i32)> {
        places
            .iter()
            .map(|(right, down)| (x + right, y + down))
            .collect()
    };
    let square = [
        (-half, -half),
        (half, -half),
        (half, half),
        (-half, half),
        (-half, -half),
    ];
    match look.mark {
        Mark::Disc => area.draw(&Circle::new((x, y), radius, full)),
        Mark::Ring => area.draw(&Circle::new((x, y), radius, stroke)),
        Mark::Square => area.draw(&Polygon::new(corners(&square[..4]), full)),
        Mark::Frame => area.draw(&PathElement::new(corners(&square), stroke)),
        Mark::Diamond => {
            let far = half * 5 / 4;
            let diamond = [(0, -far), (far, 0), (0, far), (-far, 0)];
            area.draw(&Polygon::new(corners(&diamond), full))
        }
        Mark::Triangle => {
            let triangle = [
                (0, -half * 5 / 4),
                (half * 5 / 4, half),
                (-half * 5 / 4, half),
            ];
            area.draw(&Polygon::new(corners(&triangle), full))
        }
        Mark::Cross => {
            let strokes = [[square[0], square[2]], [square[1], square[3]]];
            strokes
                .iter()
                .try_for_each(|ends| area.draw(&PathElement::new(corners(ends), stroke)))
        }
        Mark::None => Ok(()),
    }
}

/// A piece of a subject's curve, for a legend.
pub(in super::super) fn swatch(look: Look) -> Markup {
    const SIZE: (f64, f64) = (30.0, 14.0);
    image(SIZE, None, |area| {
        let (middle, end) = (px(SIZE.1 / 2.0), px(SIZE.0));
        let style = line(look.ink(), thickness(look));
        let ends = [(0, middle), (end, middle)];
        if look.rank == Rank::Floor {
            for dashed in DashedLineSeries::new(ends, px(DASH.0), px(DASH.1), style) {
                area.draw(&dashed)?;
            }
        } else {
            area.draw(&PathElement::new(ends.to_vec(), style))?;
        }
        draw(area, look, (end / 2, middle))
    })
}

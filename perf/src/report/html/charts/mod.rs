//! Charts, each an SVG image in the stand-in colours of the palette made CSS variables.

mod axis;
pub(super) mod bars;
mod canvas;
pub(super) mod course;
pub(super) mod curves;
mod marks;
mod quantiles;

pub(super) use marks::swatch;

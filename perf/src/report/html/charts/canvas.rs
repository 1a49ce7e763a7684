//! An SVG image to draw on, with text and lines in the page's own measure.

use super::super::palette::Ink;
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::{
    Color, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, IntoFont, RGBColor, SVGBackend,
    ShapeStyle, TextStyle,
};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Steps to a pixel: the library draws at whole numbers.
const FINE: f64 = 4.0;

/// The library divides the sizes of text by it.
const FONT_SCALE: f64 = 1.24;

/// Size of a chart's text, in pixels.
pub(super) const TEXT: f64 = 12.0;

/// A length in pixels, in the drawing's steps.
pub(super) fn px(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

/// An image of so many pixels, with a title for those who do not see it; one without is passed
/// over by them.
pub(super) fn image(
    (width, height): (f64, f64),
    title: Option<&str>,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Markup {
    let mut svg = String::new();
    let size = (px(width) as u32, px(height) as u32);
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present());
    drop(area);
    if drawn.is_err() {
        return html! { p { "This chart could not be drawn." } };
    }
    // In place of the library's element, which has a fixed size.
    let content = svg
        .split_once(">\n")
        .and_then(|(_, rest)| rest.trim_end().strip_suffix("</svg>"))
        .unwrap_or_default();
    let view = format!("0 0 {} {}", size.0, size.1);
    let content = PreEscaped(with_variables(content));
    html! {
        @if let Some(title) = title {
            svg.chart viewBox=(view) role="img" aria-label=(title) { (content) }
        } @else {
            svg viewBox=(view) width=(width) height=(height) aria-hidden="true" { (content) }
        }
    }
}

/// With the palette's variables in place of its stand-in colours. Only attributes have `="#`: in
/// text, quotes are escaped.
fn with_variables(svg: &str) -> String {
    const BEFORE: &str = "=\"#";
    const DIGITS: usize = 6;
    let mut parts = svg.split(BEFORE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let variable = part.get(..DIGITS).and_then(Ink::variable_of);
        match variable {
            Some(variable) => {
                text.push_str("=\"var(");
                text.push_str(&variable);
                text.push(')');
                text.push_str(&part[DIGITS..]);
            }
            None => {
                text.push_str(BEFORE);
                text.push_str(part);
            }
        }
    }
    text
}

/// A line.
pub(super) fn line(ink: Ink, pixels: f64) -> ShapeStyle {
    ShapeStyle::from(ink.stand_in()).stroke_width(px(pixels) as u32)
}

/// A filled shape, which lets through what is behind it unless `opacity` is 1.
pub(super) fn fill(ink: Ink, opacity: f64) -> ShapeStyle {
    ink.stand_in().mix(opacity).filled()
}

/// Text of the given size.
pub(super) fn text(ink: Ink, pixels: f64) -> TextStyle<'static> {
    let size = pixels * FINE * FONT_SCALE;
    let color: RGBColor = ink.stand_in();
    ("sans-serif", size).into_font().color(&color)
}

/// Bold text of the given size.
pub(super) fn bold(ink: Ink, pixels: f64) -> TextStyle<'static> {
    let style = text(ink, pixels);
    TextStyle {
        font: style.font.style(plotters::style::FontStyle::Bold),
        ..style
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_become_variables_and_all_else_stays() {
        let drawn = r##"<a fill="#5A0002" stroke="#A50001"/><b fill="#123456">=&quot;#5A0002</b>"##;
        let expected =
            r##"<a fill="var(--s2)" stroke="var(--text)"/><b fill="#123456">=&quot;#5A0002</b>"##;
        assert_eq!(with_variables(drawn), expected);
    }

    #[test]
    fn an_image_grows_with_its_page() {
        let image = image((10.0, 20.0), Some("a \"b\""), |_| Ok(())).into_string();
        let expected =
            r#"<svg class="chart" viewBox="0 0 40 80" role="img" aria-label="a &quot;b&quot;">"#;
        assert!(image.starts_with(expected), "{image}");
        assert!(image.ends_with("</svg>"));
    }
}

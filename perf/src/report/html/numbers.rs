//! Figures with their units, for cells and for axes.

use crate::report::number;

pub(super) use number::UNKNOWN;

/// A figure of the given unit.
pub(super) fn figure(value: f64, unit: &str) -> String {
    if is_time(unit) {
        time(value)
    } else if is_share(unit) {
        format!("{} %", number::figure(value))
    } else {
        number::figure(value)
    }
}

/// A figure of the given unit beside an axis: without zeros that say nothing.
pub(super) fn tick(value: f64, unit: &str) -> String {
    let figure = figure(value, unit);
    let (digits, rest) = figure.split_at(figure.find(' ').unwrap_or(figure.len()));
    let digits = match digits.contains('.') && !digits.contains('e') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{digits}{rest}")
}

/// What a unit's figures are, for the title of an axis: `time per letter`.
pub(super) fn axis_title(unit: &str) -> String {
    match unit.strip_prefix("ns/") {
        Some(each) => format!("time per {each}"),
        None if is_time(unit) => "time".to_owned(),
        None => unit.to_owned(),
    }
}

fn is_time(unit: &str) -> bool {
    unit == "ns" || unit.starts_with("ns/")
}

fn is_share(unit: &str) -> bool {
    unit.starts_with('%')
}

/// A time, which may be no whole number of nanoseconds.
fn time(ns: f64) -> String {
    if ns.fract() != 0.0 && ns.abs() < 999.5 {
        format!("{} ns", number::figure(ns))
    } else {
        number::time(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_unit_that_suits_it() {
        let times = [0.0, 2.811, 50.0, 999.6, 1_234.0, 1e9].map(|ns| figure(ns, "ns/letter"));
        let texts = ["0 ns", "2.81 ns", "50 ns", "1.00 µs", "1.23 µs", "1.00 s"];
        assert_eq!(times, texts);
        assert_eq!(figure(0.1234, "% of a CPU"), "0.123 %");
        assert_eq!(figure(0.1234, "letters"), "0.123");
    }

    #[test]
    fn an_axis_has_short_figures() {
        let ticks = [0.0, 2.5, 1_000.0, 20_000.0, 2e12].map(|ns| tick(ns, "ns/letter"));
        assert_eq!(ticks, ["0 ns", "2.5 ns", "1 µs", "20 µs", "2,000 s"]);
        assert_eq!(tick(50.0, "% of a CPU"), "50 %");
        assert_eq!(tick(1e-9, "% of a CPU"), "1.00e-9 %");
        assert_eq!(axis_title("ns/round trip"), "time per round trip");
        assert_eq!(axis_title("% of a CPU"), "% of a CPU");
    }
}

//! Numbers as people read them: three significant digits, and a unit that suits them.

use super::title::thousands;

/// Where there is nothing to be told.
pub(crate) const NOTHING: &str = "–";

/// A percentile of which too little is known.
pub(crate) const UNKNOWN: &str = "·";

/// A number of three significant digits: `0.0123`, `1.23`, `123`, `1,234,567`, `1.23e9`.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size.is_nan() => "?".to_owned(),
        _ if size.is_infinite() => "∞".to_owned(),
        0.0 => "0".to_owned(),
        _ if !(0.000_999_5..9_999_999.5).contains(&size) => format!("{value:.2e}"),
        _ if size < 0.009_995 => format!("{value:.5}"),
        _ if size < 0.099_95 => format!("{value:.4}"),
        _ if size < 0.999_5 => format!("{value:.3}"),
        _ if size < 9.995 => format!("{value:.2}"),
        _ if size < 99.95 => format!("{value:.1}"),
        _ if value < 0.0 => format!("-{}", thousands(size.round() as u64)),
        _ => thousands(size.round() as u64),
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(ns: f64) -> String {
    let (number, unit) = time_parts(ns);
    format!("{number} {unit}")
}

/// From one time to another.
pub(crate) fn times(from_ns: f64, to_ns: f64) -> String {
    let (from, from_unit) = time_parts(from_ns);
    let (to, to_unit) = time_parts(to_ns);
    if (&from, from_unit) == (&to, to_unit) {
        format!("{to} {to_unit}")
    } else if from_unit == to_unit {
        format!("{from}–{to} {to_unit}")
    } else {
        format!("{from} {from_unit}–{to} {to_unit}")
    }
}

fn time_parts(ns: f64) -> (String, &'static str) {
    match ns.abs() {
        size if size < 999.5 => (format!("{ns:.0}"), "ns"),
        size if size < 999_500.0 => (figure(ns / 1e3), "µs"),
        size if size < 999_500_000.0 => (figure(ns / 1e6), "ms"),
        _ => (figure(ns / 1e9), "s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        let numbers = [
            0.0,
            0.000_12,
            0.002_7,
            0.012_34,
            0.099_96,
            0.5,
            0.999_6,
            9.994,
            9.996,
            99.96,
            123.4,
            1_234.5,
            9_999_999.0,
            1e9,
        ];
        let texts = [
            "0",
            "1.20e-4",
            "0.00270",
            "0.0123",
            "0.100",
            "0.500",
            "1.00",
            "9.99",
            "10.0",
            "100",
            "123",
            "1,235",
            "9,999,999",
            "1.00e9",
        ];
        assert_eq!(numbers.map(figure), texts);
    }

    #[test]
    fn what_is_no_number_is_no_fault() {
        assert_eq!([f64::NAN, f64::INFINITY].map(figure), ["?", "∞"]);
        assert_eq!(figure(-1_234.0), "-1,234");
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let times = [
            7.0,
            999.4,
            999.6,
            12_345.0,
            999_600.0,
            1e9,
            123e9,
            u64::MAX as f64,
        ];
        let texts = [
            "7 ns",
            "999 ns",
            "1.00 µs",
            "12.3 µs",
            "1.00 ms",
            "1.00 s",
            "123 s",
            "1.84e10 s",
        ];
        assert_eq!(times.map(time), texts);
    }

    #[test]
    fn two_times_share_their_unit() {
        assert_eq!(times(1_200.0, 1_500.0), "1.20–1.50 µs");
        assert_eq!(times(900.0, 1_500.0), "900 ns–1.50 µs");
        assert_eq!(times(1_500.0, 1_501.0), "1.50 µs");
    }
}

//! The round trips between each two CPUs as a table of colours.

use super::group::Chart;
use crate::report::Series;
use crate::report::number::{figure, time};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The strongest colour, in percent; text must stay readable on it.
const HEAT_MAX: f64 = 75.0;

/// A table with a row for the CPU that asks and a column for the one that answers.
pub(super) fn table(chart: &Chart<'_>) -> Markup {
    let pairs: BTreeMap<[usize; 2], &Series> = chart
        .series
        .iter()
        .filter_map(|series| Some((series.case.cpu_pair?, *series)))
        .collect();
    let rows: BTreeSet<_> = pairs.keys().map(|pair| pair[0]).collect();
    let columns: BTreeSet<_> = pairs.keys().map(|pair| pair[1]).collect();
    let medians: Vec<_> = pairs.values().map(|series| series.median).collect();
    html! {
        div.wide tabindex="0" role="region" aria-label=(chart.title) {
            table.heat {
                caption { "Round trip of a cache line, in nanoseconds: median round" }
                thead {
                    tr {
                        th scope="col" { "CPU" }
                        @for column in &columns { th scope="col" { (column) } }
                    }
                }
                tbody {
                    @for &row in &rows {
                        tr {
                            th scope="row" { (row) }
                            @for &column in &columns {
                                (cell(pairs.get(&[row, column]).copied(), &medians))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(series: Option<&Series>, all: &[f64]) -> Markup {
    let Some(series) = series else {
        return html! { td {} };
    };
    let heat = heat(series.median, all) * HEAT_MAX;
    let spread = [series.min, series.max].map(time);
    html! {
        td style={ "--heat:" (format!("{heat:.0}%")) } title={ (spread[0]) " to " (spread[1]) } {
            (figure(series.median))
        }
    }
}

/// How long a time is among all, from 0 to 1, by its logarithm.
fn heat(ns: f64, all: &[f64]) -> f64 {
    let log = |ns: f64| ns.max(1.0).ln();
    let least = all.iter().copied().map(log).fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().map(log).fold(0.0, f64::max);
    // A span below a tenth is noise, and is not to look like heat.
    let span = (most - least).max(0.1);
    ((log(ns) - least) / span).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_goes_from_the_shortest_to_the_longest() {
        let all = [50.0, 100.0, 200.0];
        assert_eq!(heat(50.0, &all), 0.0);
        assert!((heat(100.0, &all) - 0.5).abs() < 1e-9);
        assert_eq!(heat(200.0, &all), 1.0);
    }

    #[test]
    fn noise_is_no_heat() {
        assert!(heat(101.0, &[100.0, 101.0]) < 0.2);
        assert_eq!(heat(0.0, &[0.0]), 0.0);
        assert!(heat(f64::NAN, &[f64::NAN]).is_finite());
    }
}

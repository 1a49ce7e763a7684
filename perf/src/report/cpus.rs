//! What is known of CPUs: how far each two are apart, and how they pause.

use super::Series;
use super::layout::{Look, Styles};
use super::model::spread;
use super::notes::label;
use super::number::{NOTHING, figure, time};
use super::table::percentile;
use crate::place;

/// CPUs whose matrix fits a terminal.
const MATRIX_MAX: usize = 10;

/// How many of the fastest and of the slowest pairs are told where not all can be.
const TOLD: usize = 5;

/// Round trips between each two CPUs: a matrix, or what stands out where there are too many.
pub(crate) fn pairs(series: &[Series], styles: Styles) -> String {
    let mut cpus: Vec<_> = series
        .iter()
        .filter_map(|series| series.case.cpu_pair)
        .flatten()
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.len() <= MATRIX_MAX {
        matrix(series, &cpus, styles)
    } else {
        summary(series, &cpus, styles)
    }
}

fn matrix(series: &[Series], cpus: &[usize], styles: Styles) -> String {
    let of = |pair: [usize; 2]| {
        series
            .iter()
            .find(|series| series.case.cpu_pair == Some(pair))
            .map(|series| series.median)
    };
    let names: Vec<_> = cpus.iter().map(usize::to_string).collect();
    let header: Vec<_> = std::iter::once("CPU")
        .chain(names.iter().map(String::as_str))
        .collect();
    let rows: Vec<_> = cpus
        .iter()
        .map(|&row| {
            // A pair is measured one way round or both.
            let cells = cpus.iter().map(|&column| {
                let median = of([row, column]).or_else(|| of([column, row]));
                median
                    .filter(|_| row != column)
                    .map_or_else(|| NOTHING.to_owned(), short)
            });
            (
                Look::Plain,
                std::iter::once(row.to_string()).chain(cells).collect(),
            )
        })
        .collect();
    styles.table(&header, &rows)
}

/// A figure of at most five letters, of which ten fit a line.
fn short(ns: f64) -> String {
    match ns {
        _ if ns < 9_999.5 => figure(ns),
        _ if ns < 99_999.5 => format!("{ns:.0}"),
        _ => format!("{ns:.0e}"),
    }
}

fn summary(series: &[Series], cpus: &[usize], styles: Styles) -> String {
    let medians: Vec<_> = series.iter().map(|series| series.median).collect();
    let (min, median, max) = spread(&medians);
    let mut text = styles.text(
        &format!(
            "{} CPUs ({}), {} pairs: min {}, median {}, max {}",
            cpus.len(),
            place::list(cpus),
            series.len(),
            figure(min),
            figure(median),
            figure(max),
        ),
        Look::Plain,
    );
    let mut sorted: Vec<_> = series.iter().collect();
    sorted.sort_by(|one, other| one.median.total_cmp(&other.median));
    let told = |series: &&Series| vec![label(series), figure(series.median)];
    let fastest = sorted.iter().take(TOLD).map(told);
    let slowest = sorted.iter().rev().take(TOLD).map(told);
    let rows: Vec<_> = fastest
        .zip(slowest)
        .map(|(fast, slow)| (Look::Plain, [fast, slow].concat()))
        .collect();
    text += &styles.table(
        &["fastest pairs", "median", "slowest pairs", "median"],
        &rows,
    );
    text
}

/// How late a thread is on each CPU.
pub(crate) fn pauses(series: &[Series], styles: Styles) -> String {
    let mut sorted: Vec<_> = series.iter().collect();
    sorted.sort_by_key(|series| series.case.cpu_pair);
    let rows: Vec<_> = sorted
        .into_iter()
        .map(|series| {
            let names = ["50", "99", "99.9", "max"];
            let cells = names.map(|name| percentile(series, name, time));
            (
                Look::Plain,
                std::iter::once(label(series)).chain(cells).collect(),
            )
        })
        .collect();
    styles.table(&["CPU", "p50", "p99", "p99.9", "max"], &rows)
}

//! One case's series as a table for a terminal.

use super::layout::Look;
use super::notes::{MACHINE, label, notes, ratio_head, sorted};
use super::number::{NOTHING, UNKNOWN, figure, time};
use super::{Report, Series, cpus, title};
use crate::case::{Case, Time, Workload};

pub use super::layout::{Styles, WIDTH};

/// The series of one case as a table of at most [`WIDTH`] columns, with a title above and what a
/// reader must know below. A latency's two times make one table, and so do all CPUs.
#[must_use]
pub fn table(series: &[Series], left_out: &[String], styles: Styles) -> String {
    let body = match series.first() {
        None => String::new(),
        Some(first) => {
            let heading = styles.text(&heading(&first.case), Look::Strong);
            heading
                + &match first.case.workload {
                    _ if first.case.is_open_loop() => latencies(series, styles),
                    _ if first.case.tells_tail() => tails(series, styles),
                    _ if first.case.times_each() => round_trips(series, styles),
                    Workload::Cores => cpus::pairs(series, styles),
                    Workload::Hiccup => cpus::pauses(series, styles),
                    _ => figures(series, styles),
                }
        }
    };
    let notes = notes(&body, series, left_out, styles);
    body + &notes
}

/// What is left to be said when all is measured: the machine sheet, and what makes figures
/// doubtful.
#[must_use]
pub fn ending(report: &Report, styles: Styles) -> String {
    let mut text = String::new();
    for (heading, line) in report.machine.lines() {
        text += &styles.text(&format!("{heading}: {line}"), Look::Faint);
    }
    for warning in report.machine.warnings() {
        text += &styles.text(&format!("warning: {warning}"), Look::Warning);
    }
    for note in &report.notes {
        text += &styles.text(&format!("note: {note}"), Look::Warning);
    }
    if report.partial {
        text += &styles.text(
            "ended early: what is above is all that was measured",
            Look::Warning,
        );
    }
    text
}

impl Styles {
    /// With colour if the standard output is a terminal that has it and the user does not mind.
    #[must_use]
    pub fn for_stdout() -> Self {
        let choice = anstream::AutoStream::choice(&std::io::stdout());
        Self {
            colour: choice != anstream::ColorChoice::Never,
        }
    }
}

/// A case in words, with the unit.
pub(crate) fn heading(case: &Case) -> String {
    let unit = match case.workload {
        // Each figure has its own.
        _ if case.is_open_loop() => "response time",
        _ if case.tells_tail() => "time between two records",
        _ if case.times_each() => case.each(),
        Workload::Hiccup => return title::of(case),
        _ => case.unit(),
    };
    format!("{} [{unit}]", title::of(case))
}

/// Throughput, idling and most of what is of owners and tasks: all that is known are the rounds.
fn figures(series: &[Series], styles: Styles) -> String {
    let head = ratio_head(series);
    let is_told = |series: &Series| series.per_s >= Some(PER_S_MIN);
    let rate = series.iter().any(is_told).then_some("M/s");
    let mut header = vec!["subject", "median", "min", "max"];
    header.extend(rate);
    header.extend([&*head, "min–max"]);
    let rows: Vec<_> = sorted(series)
        .into_iter()
        .map(|series| {
            let mut cells = vec![label(series)];
            cells.extend([series.median, series.min, series.max].map(figure));
            cells.extend(rate.map(|_| millions(series.per_s)));
            cells.extend(ratio_and_range(series));
            (look(series), cells)
        })
        .collect();
    styles.table(&header, &rows)
}

/// Letters a second below which millions of them say nothing, and figures are so long that there is
/// no room for them.
const PER_S_MIN: f64 = 1e4;

/// Millions a second.
fn millions(per_s: Option<f64>) -> String {
    match per_s {
        Some(per_s) if per_s < PER_S_MIN => "<0.01".to_owned(),
        Some(per_s) => figure(per_s / 1e6),
        None => NOTHING.to_owned(),
    }
}

/// Round trips, whose tails are known as well.
fn round_trips(series: &[Series], styles: Styles) -> String {
    let head = ratio_head(series);
    let header = ["subject", "median", "p99", "p99.9", &head, "min–max"];
    let rows: Vec<_> = sorted(series)
        .into_iter()
        .map(|series| {
            let mut cells = vec![label(series), time(series.median)];
            cells.extend(["99", "99.9"].map(|name| percentile(series, name, time)));
            cells.extend(ratio_and_range(series));
            (look(series), cells)
        })
        .collect();
    styles.table(&header, &rows)
}

/// Latencies: response times, and of the service times the one that tells most.
fn latencies(series: &[Series], styles: Styles) -> String {
    let head = ratio_head(series);
    let header = [
        "subject",
        "p50",
        "p99",
        "p99.9",
        "max",
        "service\np99",
        &head,
    ];
    let is_service = |series: &&Series| series.case.time == Some(Time::Service);
    let rows: Vec<_> = sorted(series)
        .into_iter()
        .filter(|series| !is_service(series))
        .map(|row| {
            let service = series
                .iter()
                .filter(is_service)
                .find(|series| series.subject == row.subject);
            let mut cells = vec![label(row)];
            cells.push(percentile(row, "50", time));
            cells.push(middle_p99(row));
            cells.extend(["99.9", "max"].map(|name| percentile(row, name, time)));
            cells.push(service.map_or_else(|| NOTHING.to_owned(), middle_p99));
            cells.push(ratio(row));
            (look(row), cells)
        })
        .collect();
    styles.table(&header, &rows)
}

/// Times between records.
fn tails(series: &[Series], styles: Styles) -> String {
    let head = ratio_head(series);
    let header = ["subject", "p50", "p99", "p99.9", "p99.99", "max", &head];
    let rows: Vec<_> = sorted(series)
        .into_iter()
        .map(|row| {
            let told = |name| middle(row, name);
            let mut cells = vec![label(row)];
            cells.extend(["50", "99", "99.9", "99.99", "max"].map(told));
            cells.push(ratio(row));
            (look(row), cells)
        })
        .collect();
    styles.table(&header, &rows)
}

/// The median of the rounds' percentiles, by which rows are sorted and compared: a bad round
/// of one subject is not its tail. Where the rounds have none, that of all of them together.
fn middle(series: &Series, name: &str) -> String {
    percentile(series, name, |all| {
        time(match series.round_figure().strip_prefix('p') {
            Some(figure) if figure == name => series.median,
            _ => all,
        })
    })
}

fn middle_p99(series: &Series) -> String {
    middle(series, "99")
}

fn look(series: &Series) -> Look {
    match series.subject.as_str() {
        MACHINE => Look::Faint,
        name if name.starts_with("mailring-") => Look::Strong,
        _ => Look::Plain,
    }
}

/// A percentile of all rounds together, by its name.
pub(crate) fn percentile(series: &Series, name: &str, text: impl Fn(f64) -> String) -> String {
    let told = series
        .percentiles
        .as_ref()
        .and_then(|named| named.get(name));
    match told {
        Some(&Some(ns)) => text(ns as f64),
        Some(None) if name != "max" => UNKNOWN.to_owned(),
        Some(None) | None => NOTHING.to_owned(),
    }
}

fn ratio(series: &Series) -> String {
    let ratio = series.ratio.as_ref();
    ratio.map_or_else(|| NOTHING.to_owned(), |ratio| figure(ratio.median))
}

fn ratio_and_range(series: &Series) -> [String; 2] {
    let range = match &series.ratio {
        Some(ratio) => format!("{}–{}", figure(ratio.min), figure(ratio.max)),
        None => NOTHING.to_owned(),
    };
    [ratio(series), range]
}

#[cfg(test)]
mod tests;

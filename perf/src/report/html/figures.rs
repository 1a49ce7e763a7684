//! The figures of a chart as a table, for those who want them all or do not see the chart.

use super::flags;
use super::group::Chart;
use super::numbers::{self, UNKNOWN};
use super::palette::{Palette, Rank};
use crate::case::{Part, Workload};
use crate::report::notes::label;
use crate::report::number::{NOTHING, figure, time};
use crate::report::{Series, title};
use maud::{Markup, html};

/// A table that opens on request.
pub(super) fn details(chart: &Chart<'_>, palette: &Palette) -> Markup {
    let series = chart.sorted();
    html! {
        details {
            summary { "Figures: " (chart.special) }
            (reading(&series))
            div.wide tabindex="0" role="region" aria-label=(chart.title) { (table(chart, &series, palette)) }
        }
    }
}

fn table(chart: &Chart<'_>, series: &[&Series], palette: &Palette) -> Markup {
    let references = references(series);
    let has_ratio = !references.is_empty();
    let has_samples = series.iter().any(|series| series.samples.is_some());
    let has_flags = series.iter().any(|series| flags::doubtful(series));
    let percentiles = percentile_names(series);
    html! {
        table {
            caption { (chart.title) }
            thead {
                tr {
                    th scope="col" { (subject_word(series)) }
                    th scope="col" { "smallest" br; "round" }
                    th scope="col" { "median" br; "round" }
                    th scope="col" { "largest" br; "round" }
                    @if has_ratio { th scope="col" { "ratio" } }
                    @for name in &percentiles {
                        th scope="col" { (percentile_title(name)) }
                    }
                    @if has_samples { th scope="col" { "samples" } }
                    @if has_flags { th.words scope="col" { "to know" } }
                }
            }
            tbody {
                @for series in series {
                    @let name = label(series);
                    @let ours = palette.look(&name).rank == Rank::Ours;
                    tr class=[ours.then_some("ours")] {
                        th scope="row" { (name) }
                        @for value in [series.min, series.median, series.max] {
                            td { (numbers::figure(value, &series.unit)) }
                        }
                        @if has_ratio { td { (ratio(series, &references)) } }
                        @for name in &percentiles {
                            td { (percentile(series, name)) }
                        }
                        @if has_samples {
                            td { (series.samples.map_or_else(|| NOTHING.to_owned(), title::thousands)) }
                        }
                        @if has_flags { td.words { (flags::cell(series)) } }
                    }
                }
            }
        }
    }
}

/// How to read the table.
fn reading(series: &[&Series]) -> Markup {
    let round = series
        .first()
        .map_or_else(String::new, |series| round_figure(series));
    let has_percentiles = series.iter().any(|series| series.percentiles.is_some());
    let references = references(series);
    let of = references.join(" or ");
    html! {
        p.small {
            "Smallest, median and largest of all rounds; a round's figure is " (round) "."
            @if has_percentiles {
                " Percentiles are over all rounds; " (UNKNOWN) " where fewer than ten samples are above."
            }
            @if !references.is_empty() {
                " Ratio: " (of) " divided by the subject, round by round: median (smallest to largest). \
                Below 1, " (of) " takes less."
            }
        }
    }
}

fn round_figure(series: &Series) -> String {
    let words = match series.case.workload {
        _ if series.case.tells_tail() => return percentile_of(series),
        Workload::Throughput => "its time divided by its letters",
        _ if series.case.part == Some(Part::SpawnStop) => "the median of its tasks' lives",
        Workload::Checkpoint => match series.case.part {
            Some(Part::Sync) => "the median of its snapshots' sync parts",
            Some(Part::Empty) => "the median of its checkpoints",
            Some(Part::Restart) => "the time of its start",
            Some(Part::Restore) => "its median restore divided by the bytes restored",
            _ => "its time divided by its records",
        },
        _ if series.case.times_each() => "the median of its round trips",
        Workload::Rtt | Workload::Cores => "the median of its round trips",
        Workload::Latency | Workload::Hiccup => return percentile_of(series),
        Workload::Idle => "the thread's CPU time divided by the time that passed",
        Workload::Mail => "its time divided by its mails or posts",
        Workload::Loop => "its time divided by its turns or calls",
        Workload::Wake => return percentile_of(series),
        Workload::Tasks if series.case.part == Some(Part::Memory) => {
            "what all allocated divided by the tasks"
        }
        Workload::Tasks => "the median of stretches of 256 round trips, divided by these",
        Workload::Pipeline => "its time divided by its records",
    };
    words.to_owned()
}

fn percentile_of(series: &Series) -> String {
    match series.round_figure() {
        "p99.9" => "the 99.9th percentile of its times".to_owned(),
        lower if series.case.part == Some(Part::Pause) => {
            format!("{lower} of its times, which are too few for a p99.9")
        }
        "p99" => "the 99th percentile of its times".to_owned(),
        _ if series.case.part == Some(Part::Parked) => "the median of its times".to_owned(),
        lower => format!("{lower} of its times, which are too few for a p99"),
    }
}

fn subject_word(series: &[&Series]) -> &'static str {
    match series.first().map(|series| series.case.cpu_pair) {
        Some(Some(_)) => "CPU",
        _ => "subject",
    }
}

/// Whom the ratios compare to.
fn references<'a>(series: &[&'a Series]) -> Vec<&'a str> {
    let mut names: Vec<_> = series
        .iter()
        .filter_map(|series| Some(series.ratio.as_ref()?.of.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn ratio(series: &Series, references: &[&str]) -> String {
    let Some(ratio) = &series.ratio else {
        let is_reference = references.contains(&series.subject.as_str());
        return if is_reference { "reference" } else { NOTHING }.to_owned();
    };
    let [min, median, max] = [ratio.min, ratio.median, ratio.max].map(figure);
    let of = match references {
        [_] => String::new(),
        _ => format!("{}: ", ratio.of),
    };
    format!("{of}{median} ({min} to {max})")
}

/// The names of all percentiles told, the lowest first and the longest time last.
fn percentile_names(series: &[&Series]) -> Vec<String> {
    let mut names: Vec<_> = series
        .iter()
        .filter_map(|series| series.percentiles.as_ref())
        .flat_map(|percentiles| percentiles.keys().cloned())
        .collect();
    let percent = |name: &String| name.parse::<f64>().unwrap_or(f64::INFINITY);
    names.sort_by(|one, other| percent(one).total_cmp(&percent(other)).then(one.cmp(other)));
    names.dedup();
    names
}

fn percentile_title(name: &str) -> String {
    match name.parse::<f64>() {
        Ok(_) => format!("{name} %"),
        Err(_) => name.to_owned(),
    }
}

fn percentile(series: &Series, name: &str) -> String {
    let told = series.percentiles.as_ref().and_then(|told| told.get(name));
    match told {
        Some(Some(ns)) => time(*ns as f64),
        _ => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode};
    use crate::report::sample;
    use std::collections::BTreeMap;

    fn chart(series: &Series) -> Chart<'_> {
        Chart {
            special: "rtt".to_owned(),
            title: "rtt: all".to_owned(),
            mode: Mode::AsShipped,
            time: None,
            series: vec![series],
        }
    }

    fn told(series: &Series) -> String {
        details(&chart(series), &Palette::default()).into_string()
    }

    fn rtt() -> Series {
        let case = Case::plain(Workload::Rtt, Mode::AsShipped);
        sample::series(&case, "a", &[100.0, 250.0, 400.0])
    }

    #[test]
    fn a_ratio_is_told_with_its_spread_and_its_meaning() {
        let told = told(&rtt().with_ratio("b", &[0.5, 0.6, 0.75]));
        assert!(told.contains("<td>0.600 (0.500 to 0.750)</td>"), "{told}");
        assert!(told.contains("Below 1, b takes less"), "{told}");
    }

    #[test]
    fn where_there_are_two_references_each_ratio_names_its_own() {
        let [one, other] = ["b", "c"].map(|of| rtt().with_ratio(of, &[0.5]));
        let references = references(&[&one, &other]);
        assert_eq!(references, ["b", "c"]);
        assert_eq!(ratio(&other, &references), "c: 0.500 (0.500 to 0.500)");
        let reference = Series {
            subject: "c".to_owned(),
            ..rtt()
        };
        assert_eq!(ratio(&reference, &references), "reference");
        assert_eq!(ratio(&rtt(), &references), NOTHING);
    }

    #[test]
    fn percentiles_come_in_order_and_those_that_say_little_are_dots() {
        let percentiles = [
            ("99.9", None),
            ("max", Some(5_000)),
            ("50", Some(250)),
            ("99", Some(900)),
        ];
        let percentiles = percentiles.map(|(name, ns)| (name.to_owned(), ns));
        let series = Series {
            percentiles: Some(BTreeMap::from(percentiles)),
            ..rtt()
        };
        let names = percentile_names(&[&series]);
        assert_eq!(names, ["50", "99", "99.9", "max"]);
        let told = told(&series);
        let cells = "<td>250 ns</td><td>900 ns</td><td>·</td><td>5.00 µs</td>";
        assert!(told.contains(cells), "{told}");
    }
}

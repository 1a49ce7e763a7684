//! The page as a whole.

use super::group::groups;
use super::palette::Palette;
use super::sections::{ORDER, anchor, heading, section};
use crate::report::Report;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

/// A report as one page for a browser: charts, and the figures behind them as tables. It loads
/// nothing from elsewhere and runs no script.
#[must_use]
pub fn page(report: &Report) -> String {
    let palette = Palette::of(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Queues between threads: what was measured" }
                style { (PreEscaped(style(&palette))) }
            }
            body {
                header {
                    h1 { "Queues between threads: what was measured" }
                    p.command { code { (report.command) } }
                    @if let Some(began) = &report.machine.began { p.small { "began " (began) } }
                    (partial(report))
                    (remarks(report))
                    (machine(report))
                    (contents(report))
                }
                main {
                    @if report.results.is_empty() {
                        p { "Nothing was measured." }
                    }
                    @for workload in ORDER { (section(report, workload, &palette)) }
                }
            }
        }
    };
    page.into_string()
}

fn style(palette: &Palette) -> String {
    let (light, dark) = palette.css();
    let mut style = STYLE.to_owned();
    style.push_str(&format!(":root{{{light}}}\n"));
    style.push_str(&format!(
        "@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    ));
    for place in palette.places() {
        let own = format!(":is([stroke=\"var(--s{place})\"],[fill=\"var(--s{place})\"])");
        let all = ":is([stroke^=\"var(--s\"],[fill^=\"var(--s\"])";
        style.push_str(&format!(
            ".case:has([data-place=\"{place}\"] input:not(:checked)) .curves .chart {own}{{display:none}}\n\
             .case:has([data-place=\"{place}\"]:hover) .curves .chart {all}:not({own}){{opacity:.12}}\n"
        ));
    }
    style
}

fn partial(report: &Report) -> Markup {
    html! {
        @if report.partial {
            p.banner role="alert" {
                b { "PARTIAL. " }
                "The run was ended before all was measured: cases are missing or have fewer rounds."
            }
        }
    }
}

fn remarks(report: &Report) -> Markup {
    let warnings = report.machine.warnings();
    html! {
        @if !warnings.is_empty() || !report.notes.is_empty() {
            h2 { "To know" }
            ul.flags { @for warning in &warnings { li { (warning) } } }
            ul { @for note in &report.notes { li { (note) } } }
        }
    }
}

fn machine(report: &Report) -> Markup {
    let lines = report.machine.lines();
    html! {
        @if !lines.is_empty() {
            h2 { "Machine" }
            table.sheet {
                tbody {
                    @for (heading, text) in &lines {
                        tr { th scope="row" { (heading) } td { (text) } }
                    }
                }
            }
        }
    }
}

fn contents(report: &Report) -> Markup {
    let sections = ORDER.map(|workload| (workload, groups(&report.results, workload)));
    html! {
        @if !report.results.is_empty() {
            nav aria-label="contents" {
                h2 { "Contents" }
                ul {
                    @for (workload, groups) in sections.iter().filter(|(_, groups)| !groups.is_empty()) {
                        li {
                            a href={ "#" (workload) } { (heading(*workload)) }
                            @if groups.len() > 1 {
                                ul {
                                    @for (index, group) in groups.iter().enumerate() {
                                        li { a href={ "#" (anchor(*workload, index)) } { (group.common) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

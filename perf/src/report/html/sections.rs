//! One section for each workload: its charts, what makes them doubtful, and their figures.

use super::charts::curves::{Axes, Curves};
use super::charts::{bars, course, curves, swatch};
use super::figures;
use super::flags;
use super::group::{Chart, Group, groups};
use super::heat;
use super::palette::{Look, Palette};
use crate::case::Workload;
use crate::report::course::of_median_round;
use crate::report::notes::label;
use crate::report::{Course, Report};
use maud::{Markup, html};

/// The workloads in the order in which a page has them.
pub(super) const ORDER: [Workload; 12] = [
    Workload::Throughput,
    Workload::Rtt,
    Workload::Latency,
    Workload::Mail,
    Workload::Loop,
    Workload::Wake,
    Workload::Tasks,
    Workload::Pipeline,
    Workload::Checkpoint,
    Workload::Idle,
    Workload::Hiccup,
    Workload::Cores,
];

/// A workload's heading.
pub(super) fn heading(workload: Workload) -> &'static str {
    match workload {
        Workload::Throughput => "Throughput",
        Workload::Rtt => "Round trips",
        Workload::Latency => "Latency",
        Workload::Idle => "Idle",
        Workload::Hiccup => "Hiccups",
        Workload::Cores => "Cores",
        Workload::Mail => "Mail",
        Workload::Loop => "Loop",
        Workload::Wake => "Wake-ups",
        Workload::Tasks => "Tasks",
        Workload::Pipeline => "Pipelines",
        Workload::Checkpoint => "Checkpoints",
    }
}

/// What a workload's charts show, and how to read them.
fn reading(workload: Workload) -> &'static str {
    match workload {
        Workload::Throughput => {
            "Time per letter from core to core while the queue is kept busy. Shorter is better. A bar, \
             or a dot on a log axis, is the median round; its whisker goes from the smallest round to \
             the largest."
        }
        Workload::Rtt => {
            "Time of a letter to another thread and of one back. Shorter is better. A bar, or \
             a dot on a log axis, is the median round; its whisker goes from the smallest round to \
             the largest. The curves are over all rounds: how long so many percent take at most."
        }
        Workload::Latency => {
            "Letters are posted at a given rate, whatever the queue does. Response time counts from \
             the moment at which a letter was due, service time from that at which its post began. \
             A curve tells how long so many percent of all letters take at most; lower is better. \
             The dashed line is the machine: how late a thread is that only looks at the clock, as \
             far as that is not below all curves."
        }
        Workload::Idle => "CPU time of a consumer that waits and gets nothing. Less is better.",
        Workload::Hiccup => {
            "How late a thread is that does nothing but look at the clock: no queue on this machine \
             can be better than that."
        }
        Workload::Cores => {
            "Round trips of a cache line from the CPU of the row to that of the column and back."
        }
        Workload::Mail => {
            "What it costs to hand a small piece of work to an owner: closures or an enum. Shorter is \
             better. A bar, or a dot on a log axis, is the median round; its whisker goes from the \
             smallest round to the largest. Where mails come at a given rate, a curve tells how long \
             so many percent of all mails take at most from when they were due, or from when their \
             post began, until they are run."
        }
        Workload::Loop => {
            "What a turn of an owner's loop costs that finds no mail, or what a mail or its default \
             action pays to ask for one. Shorter is better. A bar, or a dot on a log axis, is the \
             median round; its whisker goes from the smallest round to the largest."
        }
        Workload::Wake => {
            "How soon a mail runs that is posted to a task whose thread sleeps. Lower is better. A \
             curve tells how long so many percent of all mails take at most from when they were due, \
             or from when their post began, until they are run."
        }
        Workload::Tasks => {
            "What tasks cost that share a thread or are on two: mails to each other and back, \
             questions, a life from spawn to stop, memory. Less is better. A bar, or a dot on a log \
             axis, is the median round; its whisker goes from the smallest round to the largest. The \
             curves are over all rounds: how long so many percent take at most."
        }
        Workload::Pipeline => {
            "What a record costs that flows from a source through operators into a sum: chained, from \
             task to task, by key, in windows of event time. Shorter is better. A bar, or a dot on a \
             log axis, is the median round; its whisker goes from the smallest round to the largest."
        }
        Workload::Checkpoint => {
            "What a record costs a job while checkpoints are taken, beside the same job without; how long \
             checkpoints, their sync parts and restores take. Shorter is better. A bar, or a dot on a log \
             axis, is the median round; its whisker goes from the smallest round to the largest. Over \
             time it is the median round alone. A curve tells how long so many percent take at most; of \
             pauses, the dashed line is the machine: how late a thread is that only looks at the clock, as \
             far as that is not below all curves."
        }
    }
}

/// Where a group is in the page.
pub(super) fn anchor(workload: Workload, index: usize) -> String {
    format!("{workload}-{}", index + 1)
}

/// A workload's section; nothing if it was not measured.
pub(super) fn section(report: &Report, workload: Workload, palette: &Palette) -> Markup {
    let groups = groups(&report.results, workload);
    html! {
        @if !groups.is_empty() {
            section {
                h2 id=(workload) { (heading(workload)) }
                p { (reading(workload)) }
                @for (index, group) in groups.iter().enumerate() {
                    div.case id=(anchor(workload, index)) {
                        @if groups.len() > 1 || has_cases(workload) { h3 { (group.common) } }
                        (charts(group, workload, palette))
                        @for chart in &group.charts { (figures::details(chart, palette)) }
                    }
                }
            }
        }
    }
}

/// Whether a workload has cases that differ in more than who waits.
fn has_cases(workload: Workload) -> bool {
    !matches!(
        workload,
        Workload::Idle | Workload::Hiccup | Workload::Cores
    )
}

fn charts(group: &Group<'_>, workload: Workload, palette: &Palette) -> Markup {
    let all = &group.charts;
    let first = all.first().and_then(|chart| chart.series.first());
    match workload {
        _ if first.is_some_and(|series| series.case.tells_tail()) => all_curves(all, true, palette),
        _ if first.is_some_and(|series| series.case.times_each()) => html! {
            (all_bars(all, false, palette))
            (all_curves(all, true, palette))
        },
        Workload::Latency | Workload::Hiccup => all_curves(all, true, palette),
        Workload::Cores => html! {
            @for chart in all { (heat::table(chart)) (flags::list(&chart.series)) }
        },
        _ if all.iter().any(Chart::has_courses) => html! {
            (all_bars(all, true, palette))
            @for chart in all { (over_time(chart, palette)) }
        },
        _ => all_bars(all, true, palette),
    }
}

/// The median round of each over time.
fn over_time(chart: &Chart<'_>, palette: &Palette) -> Markup {
    let courses: Vec<_> = chart
        .series
        .iter()
        .filter_map(|series| {
            let course = of_median_round(&series.courses, &series.rounds)?;
            Some((label(series), (palette.look(&label(series)), course)))
        })
        .collect();
    let looks: Vec<_> = courses.iter().map(|(_, course)| *course).collect();
    let is_taken = |(_, course): &&(Look, &Course)| !course.checkpoints.is_empty();
    let taken: Vec<_> = looks.iter().filter(is_taken).copied().collect();
    html! {
        div.charts {
            figure {
                figcaption { "throughput over time" }
                (keys(courses.iter().map(|(name, (look, _))| (name.as_str(), *look))))
                (course::throughput(&looks, &format!("throughput over time, {}", chart.title)))
                p.small { "Grey: a checkpoint is on its way. Each step is about 100 ms." }
            }
            @if !taken.is_empty() {
                figure {
                    figcaption { "checkpoints over time" }
                    (keys(course::TOLD.iter().map(|told| (told.name, taken[0].0.styled(told.style)))))
                    (course::checkpoints(&taken, &format!("checkpoints over time, {}", chart.title)))
                    p.small { "Of tasks, the one for which it was longest." }
                }
            }
        }
    }
}

/// What looks how in a chart.
fn keys<'a>(keys: impl Iterator<Item = (&'a str, Look)>) -> Markup {
    html! {
        p.legend {
            @for (name, look) in keys { span { (swatch(look)) " " (name) } }
        }
    }
}

/// A bar chart for each; those whose curves follow leave the doubts to these.
fn all_bars(all: &[Chart<'_>], with_flags: bool, palette: &Palette) -> Markup {
    let sorted: Vec<_> = all.iter().map(Chart::sorted).collect();
    let shared = bars::shared(&sorted).unwrap_or_default();
    html! {
        div.charts {
            @for (chart, series) in all.iter().zip(&sorted) {
                figure {
                    figcaption { (chart.special) }
                    (bars::draw(series, &shared, &chart.title, palette))
                    @if with_flags { (flags::list(series)) }
                }
            }
        }
    }
}

fn all_curves(all: &[Chart<'_>], with_flags: bool, palette: &Palette) -> Markup {
    let curves: Vec<_> = all
        .iter()
        .map(|chart| Curves::of(&chart.series, palette))
        .collect();
    // Response and service time compare; blocking and spinning are too far apart for one axis.
    let axes_of = |mode| {
        let same = all
            .iter()
            .zip(&curves)
            .filter(|(chart, _)| chart.mode == mode);
        Axes::of(&same.map(|(_, curves)| curves).collect::<Vec<_>>())
    };
    html! {
        (legend(all, palette))
        div.charts {
            @for (chart, curves) in all.iter().zip(&curves) {
                figure.curves {
                    figcaption { (chart.special) }
                    @if curves.is_empty() {
                        p.small { "Too few samples for a curve." }
                    } @else {
                        (curves::draw(curves, &axes_of(chart.mode), &chart.title))
                        @if !curves.is_whole() {
                            p.small { "All times are not at hand: straight between the percentiles told." }
                        }
                    }
                    @if with_flags { (flags::list(&chart.sorted())) }
                }
            }
        }
    }
}

/// Whose curve looks how; with boxes that show and hide the curves of the case.
fn legend(all: &[Chart<'_>], palette: &Palette) -> Markup {
    let mut names: Vec<String> = Vec::new();
    for series in all.iter().flat_map(|chart| &chart.series) {
        let name = label(series);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    html! {
        fieldset.legend {
            legend { "curves" }
            @for name in &names {
                @let look = palette.look(name);
                label data-place=(look.place) {
                    input type="checkbox" checked;
                    (swatch(look))
                    span { (name) }
                }
            }
        }
    }
}

//! What a reader must know to judge a table, below it; each only where it applies.

use super::course;
use super::layout::{Look, Styles, TOGETHER};
use super::number::{UNKNOWN, figure, time, times};
use super::title::thousands;
use super::{Checkpointed, Course, Series};
use crate::case::{Case, Part, Time, Workload};

/// The pseudo subject that is no queue: the machine alone.
pub(crate) const MACHINE: &str = "machine";

/// The notes on one case's series, as `table` tells them.
pub(crate) fn notes(table: &str, series: &[Series], left_out: &[String], styles: Styles) -> String {
    let explained = [
        few(series),
        ratio(series).or_else(|| no_ratio(series)),
        spread(series),
        unknown(table),
        machine(series),
        checkpoints(series),
        restored(series),
        joined(left_out.iter().cloned()).map(|list| format!("left out: {list}")),
    ];
    let warned = [
        no_checkpoint(series),
        moved(series),
        too_slow(series),
        over_range(series),
        negative(series),
        crowded(series),
    ];
    let explained = explained
        .into_iter()
        .flatten()
        .map(|note| (note, Look::Faint));
    let warned = warned
        .into_iter()
        .flatten()
        .map(|note| (note, Look::Warning));
    let notes = explained.chain(warned);
    notes.map(|(note, look)| styles.text(&note, look)).collect()
}

/// The head of the column of ratios: what is divided by what.
pub(crate) fn ratio_head(series: &[Series]) -> String {
    let is_with_and_without = |series: &Series| series.case.workload == Workload::Checkpoint;
    match &references(series)[..] {
        // Ours are both.
        ["mailring-job"] if series.iter().all(is_with_and_without) => "job/it".to_owned(),
        all if all.iter().all(|name| name.starts_with("mailring-")) => "ours/it".to_owned(),
        [one] => format!("{}/it", super::layout::shortened(one, 12)),
        _ => "ref/it".to_owned(),
    }
}

/// Who a series is of.
pub(crate) fn label(series: &Series) -> String {
    match series.case.cpu_pair {
        Some([first, second]) if first == second => format!("CPU {first}"),
        Some([first, second]) => format!("CPUs {first} and {second}"),
        None => series.subject.clone(),
    }
}

/// The names of those that others are compared to.
fn references(series: &[Series]) -> Vec<&str> {
    let mut names: Vec<_> = series
        .iter()
        .filter_map(|series| Some(series.ratio.as_ref()?.of.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn ratio(series: &[Series]) -> Option<String> {
    let names = references(series);
    if names.is_empty() {
        return None;
    }
    let rounds = match series[0].case.tells_tail() {
        true => format!("{} of each round", series[0].round_figure()),
        false => "round by round".to_owned(),
    };
    let head = ratio_head(series);
    let who = head
        .strip_suffix("/it")
        .filter(|&who| who == "ours")
        .unwrap_or("the reference");
    let names = names.join(" or ");
    Some(format!(
        "{head}: {names} by subject, {rounds}; below 1, {who} takes less"
    ))
}

/// That nobody is there to compare with, where there are several to compare.
fn no_ratio(series: &[Series]) -> Option<String> {
    let mut queues = series.iter().filter(|series| series.subject != MACHINE);
    let first = queues.next()?;
    let has_two = queues.any(|other| other.subject != first.subject);
    let has_ours = series
        .iter()
        .any(|series| series.subject.starts_with("mailring-"));
    (has_two && !has_ours).then(|| {
        "no reference among the subjects: choose one of them by --reference NAME".to_owned()
    })
}

/// The fastest first, and the machine alone at the end.
pub(crate) fn sorted<'a>(series: impl IntoIterator<Item = &'a Series>) -> Vec<&'a Series> {
    let mut sorted: Vec<_> = series.into_iter().collect();
    sorted.sort_by(|one, other| {
        let is_last = |series: &Series| series.subject == MACHINE;
        let machine_last = is_last(one).cmp(&is_last(other));
        machine_last.then(one.median.total_cmp(&other.median))
    });
    sorted
}

/// How far the rounds' percentiles of a latency are apart, for which the table has no room.
fn spread(series: &[Series]) -> Option<String> {
    let of = sorted(series).into_iter().filter(|series| {
        series.case.tells_tail()
            && series.case.time != Some(Time::Service)
            && series.rounds.len() > 1
    });
    let list = joined(of.map(|series| {
        let range = times(series.min, series.max).replace(' ', TOGETHER);
        format!("{} {range}", label(series))
    }))?;
    Some(match series.first()?.round_figure() {
        figure @ ("p99" | "p99.9") => {
            format!("{figure} is the median of the rounds, which had: {list}")
        }
        lower => format!("the rounds had {lower} of: {list}"),
    })
}

/// That there is no 99th percentile to compare.
fn few(series: &[Series]) -> Option<String> {
    let first = series.first()?;
    let figure = first.round_figure();
    let by_median = first.case.part == Some(Part::Parked);
    let best = best_figure(&first.case);
    let is_few = first.case.tells_tail() && !by_median && figure != best;
    is_few.then(|| {
        format!("too few samples a round for a {best}: rows are sorted and compared by {figure}")
    })
}

/// The figure of a round with samples enough, where it is a percentile.
pub(crate) fn best_figure(case: &Case) -> &'static str {
    match case.part {
        Some(Part::Pause) => "p99.9",
        _ => "p99",
    }
}

fn unknown(table: &str) -> Option<String> {
    let is_unknown = table.contains(UNKNOWN);
    is_unknown.then(|| format!("{UNKNOWN}: fewer than 10 samples above it"))
}

fn machine(series: &[Series]) -> Option<String> {
    let is_floor = |series: &Series| series.subject == MACHINE && series.case.tells_tail();
    series.iter().any(is_floor).then(|| {
        format!(
            "{MACHINE}: how late a thread is that only looks at the clock; no queue can do better"
        )
    })
}

/// How many checkpoints there were in a round, how long they took and how large they were.
fn checkpoints(series: &[Series]) -> Option<String> {
    let told = series.iter().filter_map(|series| {
        let courses = &series.courses;
        let spread = |of: fn(&Checkpointed) -> f64| course::of_checkpoints(courses, of);
        let (least, middle, most) = spread(|checkpoint| checkpoint.duration_ms * 1e6)?;
        let (_, sync, _) = spread(|checkpoint| checkpoint.sync_ms * 1e6)?;
        let (_, bytes, _) = spread(|checkpoint| checkpoint.state_bytes as f64)?;
        let all: usize = courses.iter().map(|course| course.checkpoints.len()).sum();
        let text = format!(
            "{} in {}, each in {} (median {}), {} of it sync, {} MB",
            thousands(all as u64),
            rounds(courses.len()),
            times(least, most),
            time(middle),
            time(sync),
            figure(bytes / 1e6),
        );
        Some(text)
    });
    joined(told).map(|list| format!("checkpoints: {list}"))
}

fn rounds(count: usize) -> String {
    match count {
        1 => "1 round".to_owned(),
        count => format!("{count} rounds"),
    }
}

/// That there was no checkpoint of which to tell what it costs, where some were to be taken.
fn no_checkpoint(series: &[Series]) -> Option<String> {
    let is_compared = |series: &&Series| {
        series
            .case
            .part
            .is_some_and(|part| part.is_with_and_without())
    };
    let with = series
        .iter()
        .find(|of| is_compared(of) && of.subject != "mailring-job")?;
    let has_some = |course: &Course| !course.checkpoints.is_empty();
    let is_missed = !with.courses.iter().any(has_some);
    is_missed.then(|| {
        format!(
            "no checkpoint was completed in {}: too short",
            rounds(with.rounds.len())
        )
    })
}

/// How long it took to restore all state.
fn restored(series: &[Series]) -> Option<String> {
    let is_restore = |series: &&Series| series.case.part == Some(Part::Restore);
    let told = series.iter().filter(is_restore).filter_map(|series| {
        let recorder = series.recorder.as_ref()?;
        let (median, count) = (recorder.median() as f64, thousands(recorder.count()));
        Some(format!("{} (median of {count})", time(median)))
    });
    let list = joined(told)?;
    Some(format!(
        "M/s is MB/s of stored state; all of it, from bytes to an opened operator, took {list}"
    ))
}

fn moved(series: &[Series]) -> Option<String> {
    // A latency's two times are of the same rounds.
    let counted = series
        .iter()
        .filter(|series| series.case.time != Some(Time::Service));
    let facts: Vec<_> = counted.flat_map(|series| &series.round_facts).collect();
    let moved: Vec<_> = facts.iter().filter(|facts| facts.moved).collect();
    let ends = moved
        .iter()
        .filter_map(|facts| facts.ping_pong_ns)
        .flatten();
    let (least, most) = ends.fold((f64::INFINITY, 0.0_f64), |(least, most), ns| {
        (least.min(ns), most.max(ns))
    });
    let range = match least <= most {
        true => format!(" ({} to {} ns)", figure(least), figure(most)),
        false => String::new(),
    };
    let who = joined(per_label(series, |series| series.moved() as u64))?;
    Some(format!(
        "moved: in {} of {} rounds the cache line's round trip changed{range}: compare these \
         with care: {who}",
        moved.len(),
        facts.len(),
    ))
}

fn too_slow(series: &[Series]) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for series in series.iter().filter(|series| !series.kept_up()) {
        let achieved = thousands(series.achieved_per_s.unwrap_or(0.0) as u64);
        let mut text = format!("{} {achieved}/s", series.subject);
        let unsent = series.unsent.unwrap_or(0);
        if unsent > 0 {
            text += &format!(", {} unsent", thousands(unsent));
        }
        // A latency's two times are of the same letters.
        if !told.contains(&text) {
            told.push(text);
        }
    }
    let rate = thousands(series.first()?.case.rate_per_s?);
    joined(told).map(|list| format!("could not keep up with {rate}/s: {list}"))
}

fn over_range(series: &[Series]) -> Option<String> {
    let list = joined(per_label(series, |series| series.over_range.unwrap_or(0)))?;
    let recorder = series.iter().find_map(|series| series.recorder.as_ref());
    let range = match recorder {
        Some(recorder) => format!("than {}", time(recorder.highest() as f64)),
        None => "than was recorded".to_owned(),
    };
    Some(format!(
        "over range: times longer {range}, in percentiles as long as that: {list}"
    ))
}

fn negative(series: &[Series]) -> Option<String> {
    let list = joined(per_label(series, |series| series.negative.unwrap_or(0)))?;
    Some(format!(
        "below zero, by the clocks of two CPUs, and counted as zero: {list}"
    ))
}

fn crowded(series: &[Series]) -> Option<String> {
    series.iter().any(|series| series.crowded).then(|| {
        "more threads than CPUs: threads also wait for a CPU, which says more about the system \
         than about the queue"
            .to_owned()
    })
}

/// Who has how many of something, with the larger number where one has two series.
fn per_label(series: &[Series], count: impl Fn(&Series) -> u64) -> Vec<String> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for series in series {
        let (label, count) = (label(series), count(series));
        match counts.iter_mut().find(|(other, _)| *other == label) {
            Some((_, most)) => *most = count.max(*most),
            None => counts.push((label, count)),
        }
    }
    let counts = counts.into_iter().filter(|&(_, count)| count > 0);
    counts
        .map(|(label, count)| format!("{label} {}", thousands(count)))
        .collect()
}

/// A list in words; nothing for an empty one.
fn joined(parts: impl IntoIterator<Item = String>) -> Option<String> {
    let parts: Vec<_> = parts.into_iter().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

//! What makes a figure doubtful.

use crate::report::notes::label;
use crate::report::{Series, title};
use maud::{Markup, html};

/// One reason to doubt a series.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flag {
    kind: Kind,
    /// How much, in words; empty if there is nothing more to say.
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    TooSlow,
    Crowded,
    Moved,
    OverRange,
    BelowZero,
}

const KINDS: [Kind; 5] = [
    Kind::TooSlow,
    Kind::Crowded,
    Kind::Moved,
    Kind::OverRange,
    Kind::BelowZero,
];

impl Kind {
    fn short(self) -> &'static str {
        match self {
            Self::TooSlow => "could not keep up",
            Self::Crowded => "crowded",
            Self::Moved => "moved",
            Self::OverRange => "over range",
            Self::BelowZero => "below zero",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::TooSlow => "the times tell of a queue that grows",
            Self::Crowded => "more threads than CPUs, so that the scheduler is measured too",
            Self::Moved => "rounds in which the cache line's round trip changed; they say little",
            Self::OverRange => "times longer than could be recorded",
            Self::BelowZero => "times that came out below zero and count as zero",
        }
    }
}

/// All reasons to doubt a series.
fn of(series: &Series) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut add = |kind, detail| flags.push(Flag { kind, detail });
    if let Some(detail) = too_slow(series) {
        add(Kind::TooSlow, detail);
    }
    if series.crowded {
        add(Kind::Crowded, String::new());
    }
    if series.moved() > 0 {
        let rounds = series.round_facts.len();
        add(
            Kind::Moved,
            format!("{} of {rounds} rounds", series.moved()),
        );
    }
    for (kind, count) in [
        (Kind::OverRange, series.over_range),
        (Kind::BelowZero, series.negative),
    ] {
        if let Some(count) = count.filter(|&count| count > 0) {
            add(kind, title::thousands(count));
        }
    }
    flags
}

fn too_slow(series: &Series) -> Option<String> {
    if series.kept_up() {
        return None;
    }
    let mut details = Vec::new();
    if let (Some(achieved), Some(rate)) = (series.achieved_per_s, series.case.rate_per_s) {
        let [achieved, rate] = [achieved as u64, rate].map(title::thousands);
        details.push(format!("{achieved} of {rate}/s"));
    }
    if let Some(unsent) = series.unsent.filter(|&unsent| unsent > 0) {
        details.push(format!("{} unsent", title::thousands(unsent)));
    }
    Some(details.join(", "))
}

/// Whether there is a reason to doubt a series.
pub(super) fn doubtful(series: &Series) -> bool {
    !of(series).is_empty()
}

/// A cell with all reasons to doubt a series.
pub(super) fn cell(series: &Series) -> Markup {
    html! {
        @for (index, flag) in of(series).iter().enumerate() {
            @if index > 0 { "; " }
            span title=(flag.kind.meaning()) { (flag.kind.short()) }
            @if !flag.detail.is_empty() { ": " (flag.detail) }
        }
    }
}

/// All reasons to doubt the series of a chart, each with those it is about; nothing if there are
/// none.
pub(super) fn list(all: &[&Series]) -> Markup {
    let flags: Vec<_> = all
        .iter()
        .map(|series| (label(series), of(series)))
        .collect();
    html! {
        @if flags.iter().any(|(_, flags)| !flags.is_empty()) {
            ul.flags {
                @for kind in KINDS {
                    @let about = about(kind, &flags);
                    @if !about.is_empty() {
                        li {
                            b { (kind.short()) }
                            " (" (kind.meaning()) "): " (about)
                        }
                    }
                }
            }
        }
    }
}

/// Those a reason is about, in words.
fn about(kind: Kind, all: &[(String, Vec<Flag>)]) -> String {
    let about: Vec<_> = all
        .iter()
        .filter_map(|(who, flags)| {
            let flag = flags.iter().find(|flag| flag.kind == kind)?;
            Some((who, &flag.detail))
        })
        .collect();
    let same = about.iter().all(|(_, detail)| *detail == about[0].1);
    if same && about.len() == all.len() && all.len() > 1 {
        return match &**about[0].1 {
            "" => "all".to_owned(),
            detail => format!("all ({detail})"),
        };
    }
    let named: Vec<_> = about
        .iter()
        .map(|(who, detail)| match &***detail {
            "" => (*who).clone(),
            detail => format!("{who} ({detail})"),
        })
        .collect();
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::report::sample;

    fn latency() -> Series {
        let case = Case {
            rate_per_s: Some(100_000),
            ..Case::plain(Workload::Latency, Mode::AsShipped)
        };
        sample::series(&case, "a", &[1.0, 2.0])
    }

    fn told(series: &Series) -> String {
        cell(series).into_string()
    }

    #[test]
    fn one_that_kept_up_is_not_doubted() {
        let series = Series {
            achieved_per_s: Some(99_500.0),
            unsent: Some(0),
            over_range: Some(0),
            negative: Some(0),
            ..latency()
        };
        assert_eq!(told(&series), "");
        assert_eq!(list(&[&series]).into_string(), "");
    }

    #[test]
    fn one_that_could_not_keep_up_is_said_to() {
        let slow = Series {
            achieved_per_s: Some(90_000.0),
            ..latency()
        };
        let unsent = Series {
            achieved_per_s: Some(100_000.0),
            unsent: Some(1_234),
            ..latency()
        };
        assert!(told(&slow).contains("could not keep up</span>: 90,000 of 100,000/s"));
        assert!(
            told(&unsent).contains("could not keep up</span>: 100,000 of 100,000/s, 1,234 unsent")
        );
    }

    #[test]
    fn what_is_about_all_names_none() {
        let one = Series {
            crowded: true,
            ..latency()
        };
        let other = Series {
            subject: "b".to_owned(),
            ..one.clone()
        };
        let other = other.with_moved(1, [90.0, 400.0]);
        let list = list(&[&one, &other]).into_string();
        assert!(list.contains("<b>crowded</b> (more threads than CPUs, so that the scheduler is measured too): all<"), "{list}");
        assert!(
            list.contains("they say little): b (1 of 2 rounds)<"),
            "{list}"
        );
    }
}

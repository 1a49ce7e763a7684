//! Two runs compared: what takes longer in the second one, what less, and what only seems to.

use super::layout::{Look, Styles};
use super::notes::{MACHINE, label};
use super::number::{NOTHING, figure, time};
use super::{Report, Series, Settings, title};
use crate::case::{Case, Workload};
use crate::machine::Machine;
use crate::place;

/// Medians that differ by no more than this factor are the same.
const SAME_MAX: f64 = 1.05;

/// Rounds below which their range says little.
const ROUNDS_MIN: usize = 3;

/// Rows of a table above which those without a difference are left out.
const ROWS_MAX: usize = 20;

/// How the second of two series is to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes longer: no round of it took less than any of the first, and the medians differ by
    /// more than 5 %.
    Slower,
    /// It takes less, by the same measure.
    Faster,
    /// There is no telling.
    Same,
}

/// A series that both runs have.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// In the first run.
    pub before: &'a Series,
    /// In the second run.
    pub after: &'a Series,
    /// The second's median by the first's; infinite if it was zero and is no longer.
    pub ratio: f64,
    /// What is to be made of it.
    pub verdict: Verdict,
}

/// What became of one run's series in another.
#[derive(Clone, Debug, Default)]
pub struct Difference<'a> {
    /// The series both have, in the order of the first.
    pub changes: Vec<Change<'a>>,
    /// How many the first has alone.
    pub only_before: usize,
    /// How many the second has alone.
    pub only_after: usize,
    /// In what the machines differ, a line each.
    pub machines: Vec<String>,
    /// In what else the runs differ: what was measured, and how.
    pub runs: Vec<String>,
}

/// Compares what two runs found, case by case and subject by subject.
#[must_use]
pub fn compare<'a>(before: &'a Report, after: &'a Report) -> Difference<'a> {
    let mut rest: Vec<_> = after.results.iter().collect();
    let mut changes = Vec::new();
    for old in &before.results {
        // A percentile is not compared to another one.
        let same = |new: &&Series| {
            new.subject == old.subject
                && new.case == old.case
                && new.round_figure() == old.round_figure()
        };
        if let Some(index) = rest.iter().position(same) {
            changes.push(Change::of(old, rest.remove(index)));
        }
    }
    Difference {
        only_before: before.results.len() - changes.len(),
        only_after: rest.len(),
        runs: runs(before, after, &changes),
        changes,
        machines: machines(&before.machine, &after.machine),
    }
}

impl<'a> Change<'a> {
    fn of(before: &'a Series, after: &'a Series) -> Self {
        let ratio = match (before.median, after.median) {
            (old, new) if old == new => 1.0,
            (old, new) => new / old,
        };
        let verdict = if after.min > before.max && ratio > SAME_MAX {
            Verdict::Slower
        } else if after.max < before.min && ratio < 1.0 / SAME_MAX {
            Verdict::Faster
        } else {
            Verdict::Same
        };
        Self {
            before,
            after,
            ratio,
            verdict,
        }
    }

    fn row(&self) -> (Look, Vec<String>) {
        let figure_of = |series: &Series| match series.case.workload {
            Workload::Rtt | Workload::Latency | Workload::Hiccup => time(series.median),
            _ => figure(series.median),
        };
        let ratio = match self.ratio.is_nan() {
            true => NOTHING.to_owned(),
            false => figure(self.ratio),
        };
        let (look, verdict) = match self.verdict {
            Verdict::Slower => (Look::Warning, "slower"),
            Verdict::Faster => (Look::Strong, "faster"),
            Verdict::Same => (Look::Plain, "same"),
        };
        let cells = vec![
            label(self.before),
            figure_of(self.before),
            figure_of(self.after),
            ratio,
            verdict.to_owned(),
        ];
        (look, cells)
    }
}

impl Difference<'_> {
    /// How many series have a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes
            .iter()
            .filter(|change| change.verdict == verdict)
            .count()
    }

    /// How many series are slower, and by more than this factor. Those of the machine alone do not
    /// count: no queue is to blame for them.
    #[must_use]
    pub fn slower_than(&self, ratio: f64) -> usize {
        let slower = self
            .changes
            .iter()
            .filter(|change| change.verdict == Verdict::Slower)
            .filter(|change| change.before.subject != MACHINE);
        slower.filter(|change| change.ratio > ratio).count()
    }

    /// All of it as text of at most 80 columns.
    #[must_use]
    pub fn text(&self, styles: Styles) -> String {
        let mut text = String::new();
        for line in &self.machines {
            text += &styles.text(&format!("not the same machine: {line}"), Look::Warning);
        }
        for line in &self.runs {
            text += &styles.text(&format!("not the same run: {line}"), Look::Warning);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for group in self.groups() {
            text += &table(&group, styles);
            text.push('\n');
        }
        text + &self.summary(styles)
    }

    /// The changes of each case, in the order in which the cases come first.
    fn groups(&self) -> Vec<Vec<&Change<'_>>> {
        let mut groups: Vec<Vec<&Change<'_>>> = Vec::new();
        for change in &self.changes {
            let group = groups
                .iter_mut()
                .find(|group| any_cpus(&group[0].before.case) == any_cpus(&change.before.case));
            match group {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
        groups
    }

    fn summary(&self, styles: Styles) -> String {
        let [slower, faster, same] =
            [Verdict::Slower, Verdict::Faster, Verdict::Same].map(|verdict| self.count(verdict));
        let mut text = styles.text(
            &format!(
                "{slower} slower, {faster} faster, {same} the same; only in A: {}, only in B: {}",
                self.only_before, self.only_after
            ),
            Look::Strong,
        );
        text += &styles.text(
            "slower, faster: the ranges of the rounds do not meet, and the medians differ by more \
             than 5 %",
            Look::Faint,
        );
        let few = |series: &Series| series.rounds.len() < ROUNDS_MIN;
        let few = self
            .changes
            .iter()
            .filter(|change| few(change.before) || few(change.after));
        let few = few.count();
        if few > 0 {
            let note = format!(
                "{few} of them have fewer than {ROUNDS_MIN} rounds: their range says little"
            );
            text += &styles.text(&note, Look::Warning);
        }
        let moved = |of: fn(&Change<'_>) -> usize| self.changes.iter().map(of).sum::<usize>();
        let [old, new] = [
            moved(|change| change.before.moved()),
            moved(|change| change.after.moved()),
        ];
        if old + new > 0 {
            let note = format!(
                "moved: in {old} rounds of A and {new} of B the cache line's round trip changed: \
                 compare these with care"
            );
            text += &styles.text(&note, Look::Warning);
        }
        text
    }
}

/// A case without the CPUs, of which each is a row.
fn any_cpus(case: &Case) -> Case {
    Case {
        cpu_pair: None,
        ..case.clone()
    }
}

fn table(group: &[&Change<'_>], styles: Styles) -> String {
    let case = &group[0].before.case;
    let figure = group[0].before.round_figure();
    let unit = match (case.workload, case.time) {
        (Workload::Latency, Some(time)) => format!("{figure}, {}", title::time(time)),
        (Workload::Latency | Workload::Hiccup, _) => figure.to_owned(),
        (Workload::Rtt, _) => "round trip".to_owned(),
        _ => case.unit().to_owned(),
    };
    let mut text = styles.text(&format!("{} [{unit}]", title::of(case)), Look::Strong);
    let is_long = group.len() > ROWS_MAX;
    let shown = group
        .iter()
        .filter(|change| !is_long || change.verdict != Verdict::Same);
    let rows: Vec<_> = shown.map(|change| change.row()).collect();
    if !rows.is_empty() {
        text += &styles.table(&["subject", "A", "B", "B/A", "verdict"], &rows);
    }
    let same = group.len() - rows.len();
    if same > 0 {
        text += &styles.text(&format!("{same} others are the same"), Look::Faint);
    }
    text
}

/// In what two machines differ that decides what figures are worth.
fn machines(before: &Machine, after: &Machine) -> Vec<String> {
    let cpus =
        |machine: &Machine| Some(place::list(&machine.cpus_used)).filter(|list| !list.is_empty());
    let sides = [
        ("CPU", before.cpu.clone(), after.cpu.clone()),
        ("kernel", before.kernel.clone(), after.kernel.clone()),
        ("rustc", before.rustc.clone(), after.rustc.clone()),
        ("profile", before.profile.clone(), after.profile.clone()),
        ("CPUs used", cpus(before), cpus(after)),
    ];
    let sides = sides.map(|(what, before, after)| (what.to_owned(), before, after));
    differing(sides)
}

/// In what two runs differ besides: revision, versions and settings.
fn runs(before: &Report, after: &Report, changes: &[Change<'_>]) -> Vec<String> {
    let [old, new] = [&before.machine, &after.machine];
    let mut sides = vec![(
        "mailring's revision".to_owned(),
        old.revision.clone(),
        new.revision.clone(),
    )];
    let both = |package: &&String| new.versions.contains_key(*package);
    sides.extend(old.versions.keys().filter(both).map(|package| {
        let of = |machine: &Machine| machine.versions.get(package).cloned();
        (package.clone(), of(old), of(new))
    }));
    let of_settings = |told: fn(Settings) -> String| {
        let [old, new] = [before.settings, after.settings];
        (old.map(told), new.map(told))
    };
    let (old, new) = of_settings(|settings| match settings.pause_hints {
        Some(hints) => hints.to_string(),
        None => "default".to_owned(),
    });
    sides.push(("--pause".to_owned(), old, new));
    let (old, new) = of_settings(|settings| settings.seed.to_string());
    sides.push(("--seed".to_owned(), old, new));
    let is_other = |change: &&Change<'_>| change.before.round_time_ms != change.after.round_time_ms;
    if let Some(change) = changes.iter().find(is_other) {
        let of = |series: &Series| Some(time(series.round_time_ms? * 1e6));
        let what = format!("round of {}", change.before.case.workload);
        sides.push((what, of(change.before), of(change.after)));
    }
    differing(sides)
}

/// Lines on what is not the same on both sides.
fn differing(
    sides: impl IntoIterator<Item = (String, Option<String>, Option<String>)>,
) -> Vec<String> {
    let told = |side: Option<String>| side.unwrap_or_else(|| "unknown".to_owned());
    let differing = sides
        .into_iter()
        .filter(|(_, before, after)| before != after);
    differing
        .map(|(what, before, after)| format!("{what}: {} in A, {} in B", told(before), told(after)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Arrivals, Mode, Time};
    use crate::report::sample::{report, series};
    use unicode_width::UnicodeWidthStr;

    fn throughput() -> Case {
        Case::plain(Workload::Throughput, Mode::AsShipped)
    }

    fn verdict(before: &[f64], after: &[f64]) -> (Verdict, f64) {
        let before = report(vec![series(&throughput(), "kanal", before)]);
        let after = report(vec![series(&throughput(), "kanal", after)]);
        let difference = compare(&before, &after);
        (difference.changes[0].verdict, difference.changes[0].ratio)
    }

    #[test]
    fn a_difference_needs_ranges_apart_and_medians_apart() {
        let first = [10.0, 11.0, 12.0];
        assert_eq!(verdict(&first, &[20.0, 22.0, 24.0]), (Verdict::Slower, 2.0));
        assert_eq!(verdict(&[20.0, 22.0, 24.0], &first), (Verdict::Faster, 0.5));
        assert_eq!(verdict(&first, &[12.0, 22.0, 24.0]), (Verdict::Same, 2.0));
        assert_eq!(
            verdict(&[20.0, 22.0, 24.0], &[10.0, 11.0, 20.0]),
            (Verdict::Same, 0.5)
        );
        assert_eq!(
            verdict(&[10.0, 10.1, 10.2], &[10.3, 10.4, 10.5]).0,
            Verdict::Same
        );
        assert_eq!(
            verdict(&[10.3, 10.4, 10.5], &[10.0, 10.1, 10.2]).0,
            Verdict::Same
        );
    }

    #[test]
    fn what_was_nothing_and_is_something_is_slower() {
        assert_eq!(verdict(&[0.0, 0.0], &[0.0, 0.0]), (Verdict::Same, 1.0));
        assert_eq!(
            verdict(&[0.0, 0.0], &[90.0, 99.0]),
            (Verdict::Slower, f64::INFINITY)
        );
        assert_eq!(verdict(&[90.0, 99.0], &[0.0, 0.0]), (Verdict::Faster, 0.0));
    }

    #[test]
    fn only_what_is_slower_beyond_the_factor_counts() {
        let of = |slow: f64| {
            report(vec![
                series(&throughput(), "kanal", &[10.0 * slow, 11.0 * slow]),
                series(&throughput(), "flume", &[10.0, 100.0 * slow]),
            ])
        };
        let (before, after) = (of(1.0), of(1.5));
        let difference = compare(&before, &after);
        assert_eq!(
            (difference.slower_than(1.4), difference.slower_than(1.6)),
            (1, 0)
        );
        assert_eq!(compare(&after, &before).slower_than(0.1), 0);
    }

    #[test]
    fn no_queue_is_to_blame_for_the_machine() {
        let of = |ns| report(vec![series(&throughput(), MACHINE, &[ns; 3])]);
        let (before, after) = (of(10.0), of(30.0));
        let difference = compare(&before, &after);
        assert_eq!(difference.count(Verdict::Slower), 1);
        assert_eq!(difference.slower_than(1.1), 0);
    }

    #[test]
    fn what_was_measured_otherwise_is_said() {
        let of = |revision: &str, version: &str, pause_hints, round_time_ms| {
            let mut report = report(vec![Series {
                round_time_ms,
                ..series(&throughput(), "kanal", &[10.0])
            }]);
            report.machine.revision = Some(revision.to_owned());
            let versions = [("kanal".to_owned(), version.to_owned())];
            report.machine.versions = versions.into();
            report.settings = Some(Settings {
                pause_hints,
                seed: 1,
            });
            report
        };
        let before = of("abc", "0.1.0", None, Some(30.0));
        let after = of("abc-dirty", "0.1.1", Some(4), Some(0.5));
        assert_eq!(compare(&before, &before).runs, Vec::<String>::new());
        assert_eq!(
            compare(&before, &after).runs,
            [
                "mailring's revision: abc in A, abc-dirty in B",
                "kanal: 0.1.0 in A, 0.1.1 in B",
                "--pause: default in A, 4 in B",
                "round of throughput: 30.0 ms in A, 500 µs in B",
            ]
        );
        let text = compare(&before, &after).text(Styles::default());
        assert!(text.starts_with("not the same run: mailring's"), "{text}");
    }

    #[test]
    fn a_series_is_compared_to_the_same_case_and_subject_alone() {
        let latency = |time| Case {
            rate_per_s: Some(100_000),
            arrivals: Some(Arrivals::Poisson),
            time: Some(time),
            ..Case::plain(Workload::Latency, Mode::AsShipped)
        };
        let two = Case {
            producers: 2,
            ..throughput()
        };
        let before = report(vec![
            series(&throughput(), "kanal", &[10.0; 3]),
            series(&two, "kanal", &[30.0; 3]),
            series(&latency(Time::Response), "kanal", &[1_000.0; 3]),
            series(&throughput(), "gone", &[10.0; 3]),
        ]);
        let after = report(vec![
            series(&latency(Time::Service), "kanal", &[1_000.0; 3]),
            series(&latency(Time::Response), "kanal", &[2_000.0; 3]),
            series(&two, "kanal", &[30.0; 3]),
            series(&throughput(), "kanal", &[10.0; 3]),
            series(&throughput(), "new", &[10.0; 3]),
        ]);
        let difference = compare(&before, &after);
        let ratios: Vec<_> = difference
            .changes
            .iter()
            .map(|change| change.ratio)
            .collect();
        assert_eq!(ratios, [1.0, 1.0, 2.0]);
        assert_eq!((difference.only_before, difference.only_after), (1, 2));
        assert_eq!(
            difference.text(Styles::default()),
            "throughput, as shipped: 1 producer, unbatched, capacity 1024, 8 bytes\n  \
               [ns/letter]\n\
             subject     A     B   B/A  verdict\n\
             ──────────────────────────────────\n\
             kanal    10.0  10.0  1.00     same\n\
             \n\
             throughput, as shipped: 2 producers, unbatched, capacity 1024, 8 bytes\n  \
               [ns/letter]\n\
             subject     A     B   B/A  verdict\n\
             ──────────────────────────────────\n\
             kanal    30.0  30.0  1.00     same\n\
             \n\
             latency, all blocking: 100,000/s poisson, 1 producer, capacity 1024, 8 bytes\n  \
               [p99, response time]\n\
             subject        A        B   B/A  verdict\n\
             ────────────────────────────────────────\n\
             kanal    1.00 µs  2.00 µs  2.00   slower\n\
             \n\
             1 slower, 0 faster, 2 the same; only in A: 1, only in B: 2\n\
             slower, faster: the ranges of the rounds do not meet, and the medians differ by\n  \
               more than 5 %\n"
        );
    }

    #[test]
    fn what_makes_figures_worth_less_is_said() {
        let mut before = report(vec![series(&throughput(), "kanal", &[10.0])]);
        let mut after = report(vec![
            series(&throughput(), "kanal", &[30.0, 31.0]).with_moved(1, [90.0, 400.0]),
        ]);
        let told = |before: &Report, after: &Report| compare(before, after).text(Styles::default());
        assert!(!told(&before, &after).contains("machine"));
        before.machine.cpu = Some("One CPU".to_owned());
        after.machine.cpu = Some("Another CPU".to_owned());
        after.machine.kernel = Some("6.1".to_owned());
        before.machine.cpus_used = vec![0, 1, 2];
        after.machine.cpus_used = vec![0, 1, 2];
        let text = told(&before, &after);
        assert!(
            text.contains("not the same machine: CPU: One CPU in A, Another CPU in B\n"),
            "{text}"
        );
        assert!(
            text.contains("not the same machine: kernel: unknown in A, 6.1 in B\n"),
            "{text}"
        );
        assert!(!text.contains("CPUs used"), "{text}");
        assert!(
            text.contains("1 of them have fewer than 3 rounds"),
            "{text}"
        );
        assert!(
            text.contains("moved: in 0 rounds of A and 1 of B"),
            "{text}"
        );
    }

    #[test]
    fn many_pairs_of_cpus_are_one_table_of_those_that_changed() {
        let of = |slow: f64| {
            let pairs = (0..8).flat_map(|first| (first + 1..8).map(move |second| [first, second]));
            let results = pairs.map(|pair| {
                let case = Case {
                    cpu_pair: Some(pair),
                    ..Case::plain(Workload::Cores, Mode::SameWaiting)
                };
                let factor = if pair == [2, 5] { slow } else { 1.0 };
                series(
                    &case,
                    "machine",
                    &[80.0 * factor, 90.0 * factor, 100.0 * factor],
                )
            });
            report(results.collect())
        };
        let (before, after) = (of(1.0), of(1e9));
        let text = compare(&before, &after).text(Styles { colour: false });
        assert!(
            text.contains("CPUs 2 and 5  90.0  9.00e10  1.00e9   slower\n"),
            "{text}"
        );
        assert!(text.contains("27 others are the same\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    }
}

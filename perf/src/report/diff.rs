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
            Workload::Hiccup => time(series.median),
            _ if series.case.tells_tail() => time(series.median),
            _ if series.case.times_each() => time(series.median),
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
        (_, Some(time)) if case.is_open_loop() => format!("{figure}, {}", title::time(time)),
        (Workload::Latency | Workload::Hiccup, _) => figure.to_owned(),
        _ if case.tells_tail() => figure.to_owned(),
        _ if case.times_each() => case.each().to_owned(),
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
mod tests;

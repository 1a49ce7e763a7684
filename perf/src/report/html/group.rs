//! Which series belong together: in a chart, beside each other, under one heading.

use crate::case::{Case, Mode, Time, Workload};
use crate::report::notes::sorted;
use crate::report::{Series, title};

/// The series of cases that differ only in who waits and from when a latency counts.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// What its cases have in common, in words: `2 producers, capacity 1024`.
    pub(super) common: String,
    pub(super) charts: Vec<Chart<'a>>,
}

/// The series of one case.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    /// What is special to it, in words: `throughput, as shipped`.
    pub(super) special: String,
    /// Both, as one title.
    pub(super) title: String,
    pub(super) mode: Mode,
    pub(super) time: Option<Time>,
    pub(super) series: Vec<&'a Series>,
}

/// A workload's series, grouped, each in the order of their first.
pub(super) fn groups(results: &[Series], workload: Workload) -> Vec<Group<'_>> {
    let mut groups: Vec<(Case, Group<'_>)> = Vec::new();
    for series in results
        .iter()
        .filter(|series| series.case.workload == workload)
    {
        let key = Case {
            mode: Mode::AsShipped,
            time: None,
            cpu_pair: None,
            ..series.case.clone()
        };
        let found = groups.iter().position(|(case, _)| *case == key);
        let index = found.unwrap_or_else(|| {
            let common = split(&series.case).1;
            groups.push((
                key,
                Group {
                    common,
                    charts: Vec::new(),
                },
            ));
            groups.len() - 1
        });
        groups[index].1.add(series);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl<'a> Group<'a> {
    fn add(&mut self, series: &'a Series) {
        let Case { mode, time, .. } = series.case;
        let found = self
            .charts
            .iter()
            .position(|chart| (chart.mode, chart.time) == (mode, time));
        match found {
            Some(index) => self.charts[index].series.push(series),
            None => {
                self.charts.push(Chart::new(series));
                self.charts.sort_by_key(|chart| (chart.mode, chart.time));
            }
        }
    }
}

impl<'a> Chart<'a> {
    fn new(first: &'a Series) -> Self {
        let (special, common) = split(&first.case);
        let special = match first.case.time {
            Some(time) => format!("{special}, {}", title::time(time)),
            None => special,
        };
        Self {
            title: format!("{special}: {common}"),
            special,
            mode: first.case.mode,
            time: first.case.time,
            series: vec![first],
        }
    }

    /// Whether it is known how some round of it went.
    pub(super) fn has_courses(&self) -> bool {
        self.series.iter().any(|series| !series.courses.is_empty())
    }

    /// Its series, those that take less first, and the machine alone at the end.
    pub(super) fn sorted(&self) -> Vec<&'a Series> {
        sorted(self.series.iter().copied())
    }
}

/// A case's title before and after its colon.
fn split(case: &Case) -> (String, String) {
    let title = title::of(case);
    match title.split_once(": ") {
        Some((special, common)) => (special.to_owned(), common.to_owned()),
        None => (title, "all".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::whole;
    use super::*;

    #[test]
    fn both_modes_and_both_times_of_a_case_are_one_group() {
        let groups = groups(&whole().results, Workload::Latency);
        let specials: Vec<_> = groups[0]
            .charts
            .iter()
            .map(|chart| &*chart.special)
            .collect();
        assert_eq!(
            specials,
            [
                "latency, all blocking, response time",
                "latency, all blocking, service time",
                "latency, all spinning, response time",
                "latency, all spinning, service time",
            ]
        );
        assert!(groups[0].common.starts_with("100,000/s"));
    }

    #[test]
    fn those_that_take_less_come_first() {
        for group in groups(&whole().results, Workload::Throughput) {
            for chart in group.charts {
                let sorted = chart.sorted();
                assert_eq!(sorted.len(), chart.series.len());
                assert!(sorted.is_sorted_by(|one, other| one.median <= other.median));
            }
        }
    }
}

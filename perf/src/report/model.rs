//! The result file: what a run found, in the form in which it is written and read again.

use crate::case::{Arrivals, Case};
use crate::machine::Machine;
use crate::recorder::Recorder;
use crate::report::Course;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run's results, with all that is needed to judge them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Where it was measured.
    pub machine: Machine,
    /// What was asked for, as a command line.
    pub command: String,
    /// How it was measured. Files of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Whether the user ended it before all was measured.
    pub partial: bool,
    /// What a reader should know besides: subjects left out, machines too small.
    pub notes: Vec<String>,
    /// One series for each case and subject, in the order in which they were measured.
    pub results: Vec<Series>,
}

/// What of the command line decides figures and is in no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Spin hints after each look that found nothing; null if they were not chosen.
    pub pause_hints: Option<u32>,
    /// The seed of random arrivals.
    pub seed: u64,
}

/// The rounds of one subject in one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// Of what.
    pub subject: String,
    /// Whether there were more threads than CPUs.
    pub crowded: bool,
    /// The unit of `rounds`, `min`, `median` and `max`.
    pub unit: String,
    /// How long a round was to last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_time_ms: Option<f64>,
    /// Which percentile of a round's times its figure is, where it is one: `p99`, of pauses `p99.9`, or
    /// a lower one where a round had too few samples for that. It is the same for all subjects of a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Each round's figure, in order.
    pub rounds: Vec<f64>,
    /// The smallest of them.
    pub min: f64,
    /// The median of them.
    pub median: f64,
    /// The largest of them.
    pub max: f64,
    /// Letters or records a second of all producers together, by the median; for throughputs and
    /// pipelines alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    /// The reference divided by this subject, round by round; nothing for the reference itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Beside each round, what the machine did.
    pub round_facts: Vec<RoundFacts>,
    /// Over all rounds, in nanoseconds, by name: `"50"`, `"99"`, `"99.9"` and so on, and `"max"`.
    /// One with fewer than ten samples above it is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<BTreeMap<String, Option<u64>>>,
    /// How many times were recorded over all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// How many of them were longer than a recorder takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_range: Option<u64>,
    /// How many of them came out below zero and count as zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative: Option<u64>,
    /// Letters a second that came through, the least of all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_per_s: Option<f64>,
    /// Letters that were to be posted and were not, for it had taken too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<u64>,
    /// How each round went, in order, where that is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub courses: Vec<Course>,
    /// All times, over all rounds.
    #[serde(skip)]
    pub recorder: Option<Recorder>,
}

impl Series {
    /// In how many rounds the machine changed so much that they say little.
    #[must_use]
    pub fn moved(&self) -> usize {
        self.round_facts.iter().filter(|facts| facts.moved).count()
    }

    /// Makes the sums of its rounds' figures what they are.
    pub(crate) fn sum_up(&mut self) {
        (self.min, self.median, self.max) = spread(&self.rounds);
        let is_stream = self.case.is_stream() && self.median > 0.0;
        self.per_s = is_stream.then(|| 1e9 / self.median);
    }

    /// Which percentile its rounds are told by. Files of earlier versions do not say: there it is
    /// the 99th.
    pub(crate) fn round_figure(&self) -> &str {
        self.figure.as_deref().unwrap_or("p99")
    }

    /// Whether its letters came through at the rate at which they were to be posted; what chance
    /// alone takes from a round of so few letters does not count.
    #[must_use]
    pub fn kept_up(&self) -> bool {
        let (Some(achieved), Some(rate)) = (self.achieved_per_s, self.case.rate_per_s) else {
            return true;
        };
        let all = self.samples.unwrap_or(0) as f64;
        let letters = (all / self.rounds.len().max(1) as f64).max(1.0);
        let by_chance = match self.case.arrivals {
            _ if all == 0.0 => 0.0,
            Some(Arrivals::Constant) => 1.0 / letters,
            Some(Arrivals::Burst) => BURST_LETTERS / letters,
            Some(Arrivals::Poisson) | None => 4.0 / letters.sqrt(),
        };
        let missing = 1.0 - achieved / rate as f64;
        self.unsent.unwrap_or(0) == 0 && missing <= by_chance.max(MISSING_MAX)
    }
}

/// What part of a rate may be missing.
const MISSING_MAX: f64 = 0.01;

/// Letters of a burst, a whole one of which may fall out of a round.
const BURST_LETTERS: f64 = 32.0;

/// How the reference compares to a subject: below one, the reference takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The reference's name.
    pub of: String,
    /// Round by round.
    pub rounds: Vec<f64>,
    /// The smallest of them.
    pub min: f64,
    /// The median of them.
    pub median: f64,
    /// The largest of them.
    pub max: f64,
}

/// What the machine did around a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundFacts {
    /// The round trip of a cache line just before and just after, in nanoseconds; null where there
    /// is one CPU alone.
    pub ping_pong_ns: Option<[f64; 2]>,
    /// Whether these differ so much that the round says little.
    pub moved: bool,
}

/// The percentiles told of times, in percent.
pub(crate) const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// Percentiles that can be the figure of a round, the best first. The last one needs no number of
/// samples.
const FIGURES: [f64; 4] = [99.9, 99.0, 90.0, 50.0];

/// What can be the figure of a round of these times: the value of each of the percentiles that
/// has enough samples above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures([Option<u64>; FIGURES.len()]);

impl Figures {
    pub(crate) fn of(recorder: &Recorder) -> Self {
        Self(FIGURES.map(|percent| match percent {
            50.0 => Some(recorder.median()),
            _ => recorder.percentile(percent),
        }))
    }

    /// The best that all of these rounds have, none above `most`: its name and, given a round, its
    /// value.
    pub(crate) fn best<'a>(
        rounds: impl Iterator<Item = &'a Self> + Clone,
        most: f64,
    ) -> (String, impl Fn(&Self) -> f64) {
        let has_all = |index: &usize| rounds.clone().all(|round| round.0[*index].is_some());
        let from = FIGURES.partition_point(|&percent| percent > most);
        let index = (from..FIGURES.len()).find(has_all);
        let index = index.unwrap_or(FIGURES.len() - 1);
        let value = move |round: &Self| round.0[index].unwrap_or(0) as f64;
        (format!("p{}", FIGURES[index]), value)
    }
}

/// The smallest, the median and the largest; zeros for none.
#[must_use]
pub(crate) fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.first(), sorted.last()) {
        (Some(&min), Some(&max)) if sorted.len().is_multiple_of(2) => {
            (min, f64::midpoint(sorted[middle - 1], sorted[middle]), max)
        }
        (Some(&min), Some(&max)) => (min, sorted[middle], max),
        _ => (0.0, 0.0, 0.0),
    }
}

/// A recorder's percentiles by name.
#[must_use]
pub(crate) fn percentiles(recorder: &Recorder) -> BTreeMap<String, Option<u64>> {
    let mut named: BTreeMap<_, _> = PERCENTILES
        .iter()
        .map(|&percent| (percent.to_string(), recorder.percentile(percent)))
        .collect();
    let max = (recorder.count() > 0).then(|| recorder.max());
    named.insert("max".to_owned(), max);
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Mode, Workload};
    use crate::report::sample::series;

    fn at(arrivals: Arrivals, achieved_per_s: f64, samples: u64, unsent: u64) -> Series {
        let case = Case {
            rate_per_s: Some(100_000),
            arrivals: Some(arrivals),
            ..Case::plain(Workload::Latency, Mode::AsShipped)
        };
        Series {
            achieved_per_s: Some(achieved_per_s),
            samples: Some(samples),
            unsent: Some(unsent),
            ..series(&case, "kanal", &[1.0, 1.0])
        }
    }

    #[test]
    fn a_rate_is_kept_within_a_hundredth() {
        assert!(at(Arrivals::Constant, 99_500.0, 2_000_000, 0).kept_up());
        assert!(!at(Arrivals::Constant, 98_500.0, 2_000_000, 0).kept_up());
        assert!(!at(Arrivals::Poisson, 98_500.0, 2_000_000, 0).kept_up());
        assert!(!at(Arrivals::Poisson, 100_000.0, 2_000_000, 1).kept_up());
    }

    #[test]
    fn chance_is_no_failure() {
        assert!(at(Arrivals::Poisson, 97_000.0, 20_000, 0).kept_up());
        assert!(!at(Arrivals::Poisson, 90_000.0, 20_000, 0).kept_up());
        assert!(at(Arrivals::Burst, 97_000.0, 2_000, 0).kept_up());
        assert!(!at(Arrivals::Constant, 97_000.0, 20_000, 0).kept_up());
    }

    #[test]
    fn what_has_no_rate_keeps_up() {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        assert!(series(&case, "kanal", &[1.0]).kept_up());
    }

    #[test]
    fn rounds_that_moved_are_counted() {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        let moved = series(&case, "kanal", &[1.0, 2.0]).with_moved(1, [100.0, 300.0]);
        assert_eq!(moved.moved(), 1);
    }

    #[test]
    fn the_middle_of_an_even_number_is_between_two() {
        assert_eq!(spread(&[4.0, 1.0, 3.0, 2.0]), (1.0, 2.5, 4.0));
        assert_eq!(spread(&[3.0, 1.0, 2.0]), (1.0, 2.0, 3.0));
        assert_eq!(spread(&[]), (0.0, 0.0, 0.0));
    }
}

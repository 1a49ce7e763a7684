//! Results made by hand, for tests.

use super::model::{Ratio, Report, RoundFacts, Series, percentiles, spread};
use crate::case::Case;
use crate::machine::Machine;
use crate::recorder::Recorder;

/// The end of the samples' range.
pub(crate) const HIGHEST_NS: u64 = 60_000_000_000;

/// A report of these.
pub(crate) fn report(results: Vec<Series>) -> Report {
    Report {
        machine: Machine::default(),
        command: "perf".to_owned(),
        settings: None,
        partial: false,
        notes: Vec::new(),
        results,
    }
}

/// A series of these rounds, in none of which anything moved.
pub(crate) fn series(case: &Case, subject: &str, rounds: &[f64]) -> Series {
    let still = RoundFacts {
        ping_pong_ns: Some([100.0, 110.0]),
        moved: false,
    };
    let mut series = Series {
        case: case.clone(),
        subject: subject.to_owned(),
        crowded: false,
        unit: case.unit().to_owned(),
        round_time_ms: None,
        figure: None,
        rounds: rounds.to_vec(),
        min: 0.0,
        median: 0.0,
        max: 0.0,
        per_s: None,
        ratio: None,
        round_facts: vec![still; rounds.len()],
        percentiles: None,
        samples: None,
        over_range: None,
        negative: None,
        achieved_per_s: None,
        unsent: None,
        courses: Vec::new(),
        recorder: None,
    };
    series.sum_up();
    series
}

/// A recorder of these times.
pub(crate) fn recorder(times_ns: impl IntoIterator<Item = u64>) -> Recorder {
    let mut recorder = Recorder::new(HIGHEST_NS);
    times_ns.into_iter().for_each(|ns| recorder.record(ns));
    recorder
}

impl Series {
    /// And its times.
    pub(crate) fn with_times(mut self, times_ns: impl IntoIterator<Item = u64>) -> Self {
        let recorder = recorder(times_ns);
        self.percentiles = Some(percentiles(&recorder));
        self.samples = Some(recorder.count());
        self.over_range = Some(recorder.over_range());
        self.negative = Some(recorder.negative());
        self.recorder = Some(recorder);
        self
    }

    /// And how the reference compares to it.
    pub(crate) fn with_ratio(mut self, of: &str, rounds: &[f64]) -> Self {
        let (min, median, max) = spread(rounds);
        self.ratio = Some(Ratio {
            of: of.to_owned(),
            rounds: rounds.to_vec(),
            min,
            median,
            max,
        });
        self
    }

    /// And a round in which the cache line's round trip changed from one to the other.
    pub(crate) fn with_moved(mut self, round: usize, from_to_ns: [f64; 2]) -> Self {
        self.round_facts[round] = RoundFacts {
            ping_pong_ns: Some(from_to_ns),
            moved: true,
        };
        self
    }
}

//! Rounds become series.

use crate::case::Case;
use crate::measure::Reading;
use crate::report::model::{percentiles, spread};
use crate::report::{RoundFacts, Series};

/// The series of one case, as far as they have come.
pub(crate) struct Collector<'a> {
    case: &'a Case,
    crowded: bool,
    series: Vec<Series>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(case: &'a Case, crowded: bool) -> Self {
        Self {
            case,
            crowded,
            series: Vec::new(),
        }
    }

    /// Adds a round of a subject.
    pub(crate) fn add(&mut self, subject: &str, readings: Vec<Reading>, facts: RoundFacts) {
        for reading in readings {
            let series = self.series_of(subject, &reading);
            series.rounds.push(reading.value);
            series.round_facts.push(facts);
            if let Some(achieved) = reading.achieved_per_s {
                let least = series.achieved_per_s.unwrap_or(f64::INFINITY);
                series.achieved_per_s = Some(least.min(achieved));
                *series.unsent.get_or_insert(0) += reading.unsent;
            }
            match (&mut series.recorder, reading.recorder) {
                (Some(all), Some(round)) => all.add(&round),
                (all @ None, round) => *all = round,
                (Some(_), None) => {}
            }
        }
    }

    /// All of them, with their sums.
    pub(crate) fn series(mut self) -> Vec<Series> {
        for series in &mut self.series {
            (series.min, series.median, series.max) = spread(&series.rounds);
            if let Some(recorder) = &series.recorder {
                series.percentiles = Some(percentiles(recorder));
                series.samples = Some(recorder.count());
                series.over_range = Some(recorder.over_range());
                series.negative = Some(recorder.negative());
            }
        }
        self.series
    }

    fn series_of(&mut self, subject: &str, reading: &Reading) -> &mut Series {
        let case = Case {
            time: reading.time,
            cpu_pair: reading.cpu_pair,
            ..self.case.clone()
        };
        let found = self
            .series
            .iter()
            .position(|series| series.subject == subject && series.case == case);
        let index = found.unwrap_or_else(|| {
            self.series.push(Series {
                unit: case.unit().to_owned(),
                case,
                subject: subject.to_owned(),
                crowded: self.crowded,
                rounds: Vec::new(),
                min: 0.0,
                median: 0.0,
                max: 0.0,
                ratio: None,
                round_facts: Vec::new(),
                percentiles: None,
                samples: None,
                over_range: None,
                negative: None,
                achieved_per_s: None,
                unsent: None,
                recorder: None,
            });
            self.series.len() - 1
        });
        &mut self.series[index]
    }
}

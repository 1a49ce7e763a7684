//! Rounds become series.

use crate::case::{Case, Part, Workload};
use crate::measure::Reading;
use crate::report::model::{Figures, percentiles};
use crate::report::{RoundFacts, Series};
use std::time::Duration;

/// The series of one case, as far as they have come.
pub(crate) struct Collector<'a> {
    case: &'a Case,
    crowded: bool,
    round_time: Duration,
    series: Vec<Series>,
    /// Of each series' rounds, where these are told by a percentile.
    figures: Vec<Vec<Figures>>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(case: &'a Case, crowded: bool, round_time: Duration) -> Self {
        Self {
            case,
            crowded,
            round_time,
            series: Vec::new(),
            figures: Vec::new(),
        }
    }

    /// Adds a round of a subject.
    pub(crate) fn add(&mut self, subject: &str, readings: Vec<Reading>, facts: RoundFacts) {
        for reading in readings {
            let index = self.index_of(subject, &reading);
            let recorder = reading.recorder.as_ref();
            self.figures[index].extend(recorder.map(Figures::of));
            let series = &mut self.series[index];
            series.rounds.push(reading.value);
            series.round_facts.push(facts);
            series.courses.extend(reading.course);
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
        match self.case.workload {
            // It is the way that matters, not what else the machine does.
            _ if self.case.part == Some(Part::Parked) => self.name_figure("p50"),
            _ if self.case.part == Some(Part::Pause) => self.choose_figure(99.9),
            _ if self.case.is_open_loop() => self.choose_figure(99.0),
            Workload::Hiccup => self.choose_figure(99.0),
            _ => {}
        }
        for series in &mut self.series {
            series.sum_up();
            if let Some(recorder) = &series.recorder {
                series.percentiles = Some(percentiles(recorder));
                series.samples = Some(recorder.count());
                series.over_range = Some(recorder.over_range());
                series.negative = Some(recorder.negative());
            }
        }
        self.series
    }

    /// Makes the rounds' figures the best that each round of each subject has, none above `most`: none
    /// of the others could be compared.
    fn choose_figure(&mut self, most: f64) {
        let (name, value) = Figures::best(self.figures.iter().flatten(), most);
        for (series, figures) in self.series.iter_mut().zip(&self.figures) {
            if figures.len() == series.rounds.len() {
                series.rounds = figures.iter().map(&value).collect();
                series.figure = Some(name.clone());
            }
        }
    }

    /// Says which percentile the rounds' figures are, where they are what their readings say.
    fn name_figure(&mut self, name: &str) {
        for series in &mut self.series {
            series.figure = Some(name.to_owned());
        }
    }

    fn index_of(&mut self, subject: &str, reading: &Reading) -> usize {
        let case = Case {
            time: reading.time,
            cpu_pair: reading.cpu_pair,
            ..self.case.clone()
        };
        let found = self
            .series
            .iter()
            .position(|series| series.subject == subject && series.case == case);
        found.unwrap_or_else(|| {
            self.figures.push(Vec::new());
            self.series.push(Series {
                unit: case.unit().to_owned(),
                case,
                subject: subject.to_owned(),
                crowded: self.crowded,
                round_time_ms: Some(self.round_time.as_secs_f64() * 1e3),
                figure: None,
                rounds: Vec::new(),
                min: 0.0,
                median: 0.0,
                max: 0.0,
                per_s: None,
                ratio: None,
                round_facts: Vec::new(),
                percentiles: None,
                samples: None,
                over_range: None,
                negative: None,
                achieved_per_s: None,
                unsent: None,
                courses: Vec::new(),
                recorder: None,
            });
            self.series.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Mode;
    use crate::report::sample::recorder;

    /// The figures of rounds of so many samples.
    fn rounds(samples: &[u64]) -> (Vec<f64>, Option<String>) {
        let case = Case::plain(Workload::Latency, Mode::AsShipped);
        let mut collector = Collector::new(&case, false, Duration::ZERO);
        let facts = RoundFacts {
            ping_pong_ns: None,
            moved: false,
        };
        for &samples in samples {
            let reading = Reading::of_p99(recorder(1..=samples));
            collector.add("kanal", vec![reading], facts);
        }
        let series = collector.series().pop().expect("a series");
        (series.rounds, series.figure)
    }

    #[test]
    fn the_way_to_a_parked_owner_is_told_by_its_median() {
        let case = Case {
            part: Some(Part::Parked),
            ..Case::plain(Workload::Mail, Mode::AsShipped)
        };
        let mut collector = Collector::new(&case, false, Duration::ZERO);
        let facts = RoundFacts {
            ping_pong_ns: None,
            moved: false,
        };
        let reading = Reading::of_times(&case, recorder(1..=2_000));
        collector.add("raw-futex", vec![reading], facts);
        let series = collector.series().pop().expect("a series");
        assert_eq!(
            (series.rounds, series.figure),
            (vec![1_000.0], Some("p50".to_owned()))
        );
    }

    #[test]
    fn rounds_are_told_by_a_percentile_that_each_of_them_has() {
        let told = |figure: &str| Some(figure.to_owned());
        assert_eq!(rounds(&[1_000, 2_000]), (vec![990.0, 1_980.0], told("p99")));
        assert_eq!(rounds(&[1_000, 100]), (vec![900.0, 90.0], told("p90")));
        assert_eq!(rounds(&[1_000, 100, 99]).0, [500.0, 50.0, 50.0]);
        assert_eq!(rounds(&[3]), (vec![2.0], told("p50")));
    }
}

//! How the reference compares to each subject, round by round.

use super::{Ratio, Series, model};

/// Adds to each series of one case the ratio of its reference to it, where both have figures.
pub(crate) fn add<'a>(series: &mut [Series], reference_for: impl Fn(&str) -> Option<&'a str>) {
    for index in 0..series.len() {
        let this = &series[index];
        let reference = reference_for(&this.subject)
            .filter(|&name| name != this.subject)
            .and_then(|name| {
                series
                    .iter()
                    .find(|other| other.subject == name && other.case == this.case)
            });
        let ratio = reference.and_then(|reference| ratio(reference, this));
        series[index].ratio = ratio;
    }
}

/// Nothing if a figure is zero: then there is none.
fn ratio(reference: &Series, of: &Series) -> Option<Ratio> {
    let rounds: Vec<_> = reference
        .rounds
        .iter()
        .zip(&of.rounds)
        .map(|(reference, of)| reference / of)
        .collect();
    if rounds.is_empty() || !rounds.iter().all(|ratio| ratio.is_finite() && *ratio > 0.0) {
        return None;
    }
    let (min, median, max) = model::spread(&rounds);
    Some(Ratio {
        of: reference.subject.clone(),
        rounds,
        min,
        median,
        max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::measure::Reading;
    use crate::report::RoundFacts;
    use crate::run::Collector;
    use std::time::Duration;

    fn series(rounds: &[(&str, f64)]) -> Vec<Series> {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        let mut collector = Collector::new(&case, false, Duration::ZERO);
        let facts = RoundFacts {
            ping_pong_ns: None,
            moved: false,
        };
        for &(subject, value) in rounds {
            let reading = Reading {
                value,
                ..Reading::default()
            };
            collector.add(subject, vec![reading], facts);
        }
        let mut series = collector.series();
        add(&mut series, |_| Some("ours"));
        series
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let all = [
            ("ours", 5.0),
            ("theirs", 10.0),
            ("ours", 4.0),
            ("theirs", 40.0),
            ("ours", 6.0),
        ];
        let series = series(&all);
        assert_eq!(series[0].ratio, None);
        let ratio = series[1].ratio.as_ref().expect("two rounds of each");
        assert_eq!(ratio.of, "ours");
        assert_eq!(ratio.rounds, [0.5, 0.1]);
        assert_eq!((ratio.min, ratio.median, ratio.max), (0.1, 0.3, 0.5));
        assert_eq!(
            (series[0].min, series[0].median, series[0].max),
            (4.0, 5.0, 6.0)
        );
    }

    #[test]
    fn there_is_no_ratio_to_nothing() {
        assert_eq!(series(&[("ours", 5.0), ("theirs", 0.0)])[1].ratio, None);
        assert_eq!(series(&[("ours", 0.0), ("theirs", 1.0)])[1].ratio, None);
        assert_eq!(series(&[("theirs", 1.0)])[0].ratio, None);
    }
}

//! Runs cases in rounds, in which the subjects take turns.

mod collect;
mod pace;
pub(crate) mod progress;

use crate::case::{Case, Workload};
use crate::measure::{Effort, Reading, Site, ping_pong};
use crate::recorder::Recorder;
use crate::registry::{Measured, RoundError};
use crate::report::{RoundFacts, Series};
pub(crate) use collect::Collector;
use pace::Pace;
use progress::Progress;
use std::time::Duration;

/// A case and who takes part.
pub(crate) struct Planned<'a> {
    pub(crate) case: Case,
    /// Those that are fit for it.
    pub(crate) subjects: Vec<&'a dyn Measured>,
    /// What a reader should know of those that are not.
    pub(crate) left_out: Vec<String>,
    pub(crate) rounds: usize,
    /// How long a round is to last.
    pub(crate) round_time: Duration,
    /// How long each warms up before the first round, where time is given.
    pub(crate) warm_up: Duration,
    /// How many letters a round is given, where that does not follow from its time.
    pub(crate) count: Option<u64>,
}

impl Planned<'_> {
    /// How long it takes, about.
    pub(crate) fn expected(&self) -> Duration {
        (self.round_time * self.rounds as u32 + self.warm_up) * self.subjects.len() as u32
    }
}

/// A round in which the cache line's round trip changes by more than this factor says little.
const MOVED: f64 = 1.5;

/// Round trips of a look at the cache line's state.
const PROBED_TRIPS: u64 = 1_000;

/// A round that could not be measured: the subject is no sound queue, or the system refused.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{subject}: {fault}")]
pub(crate) struct Faulty {
    subject: &'static str,
    fault: RoundError,
}

/// Measures a case: each subject once to warm up, then in each round each subject once, each round
/// from another one on. Ends early, with what is done, when the user asks to stop.
pub(crate) fn measure(
    site: &Site,
    planned: &Planned<'_>,
    progress: &Progress,
) -> Result<Vec<Series>, Faulty> {
    let case = &planned.case;
    let crowded = site.cpus.crowded(case.threads());
    let mut collector = Collector::new(case, crowded, planned.round_time);
    let mut running: Vec<_> = planned
        .subjects
        .iter()
        .map(|&subject| {
            (
                subject,
                Pace::new(case, planned.round_time).with(planned.count),
            )
        })
        .collect();

    for (subject, pace) in &mut running {
        progress.at(case, subject.name());
        let readings = round(site, case, *subject, pace.warm_up(planned.warm_up))?;
        pace.learn(&readings);
        progress.done(planned.warm_up);
        if site.is_interrupted() {
            return Ok(Vec::new());
        }
    }

    let count = running.len();
    for nth in 0..planned.rounds {
        for turn in 0..count {
            let (subject, pace) = &mut running[(turn + nth) % count];
            progress.at(case, subject.name());
            // A seed of its own for each round, the same for all subjects.
            let site = Site {
                seed: site
                    .seed
                    .wrapping_add((nth as u64).wrapping_mul(SEEDS_APART)),
                ..site.clone()
            };
            let before = probe(&site, case);
            if site.is_interrupted() {
                return Ok(collector.series());
            }
            let readings = round(&site, case, *subject, pace.effort())?;
            if site.is_interrupted() {
                let mut readings = cut(case, readings);
                if nth > 0 {
                    // The rounds before are not to lose their figure for a few times more.
                    readings.retain(has_tail);
                }
                collector.add(subject.name(), readings, facts(before, None));
                return Ok(collector.series());
            }
            let after = probe(&site, case);
            pace.learn(&readings);
            collector.add(subject.name(), readings, facts(before, after));
            progress.done(planned.round_time);
        }
    }
    Ok(collector.series())
}

/// Further than there can be producers, each of which has a seed of its own.
const SEEDS_APART: u64 = 2_000;

fn round(
    site: &Site,
    case: &Case,
    subject: &dyn Measured,
    effort: Effort,
) -> Result<Vec<Reading>, Faulty> {
    subject.round(site, case, effort).map_err(|fault| Faulty {
        subject: subject.name(),
        fault,
    })
}

/// What counts of a round during which the user asked to stop. Round trips that end early are
/// still warming up, or few, and so is a consumer that idles; a rate is not missed by who was told
/// to end.
fn cut(case: &Case, readings: Vec<Reading>) -> Vec<Reading> {
    let is_empty = |recorder: &Recorder| recorder.count() == 0;
    let is_too_short = case.times_each() || case.workload == Workload::Idle;
    let counts =
        |reading: &Reading| !is_too_short && !reading.recorder.as_ref().is_some_and(is_empty);
    let counting = readings.into_iter().filter(counts);
    let without_rate = counting.map(|reading| Reading {
        achieved_per_s: None,
        unsent: 0,
        ..reading
    });
    without_rate.collect()
}

/// Whether a round's 99th percentile is known, where it has times.
fn has_tail(reading: &Reading) -> bool {
    let recorder = reading.recorder.as_ref();
    recorder.is_none_or(|recorder| recorder.percentile(99.0).is_some())
}

/// The round trip of a cache line now, between the CPUs of the first two threads; nothing once the
/// user has asked to stop.
fn probe(site: &Site, case: &Case) -> Option<f64> {
    match (case.workload, site.cpus.numbers()) {
        (Workload::Cores | Workload::Hiccup | Workload::Idle, _) => None,
        _ if case.threads() < 2 => None,
        (_, &[first, second, ..]) => {
            let trips = ping_pong::run(site, [first, second], PROBED_TRIPS, None);
            (!site.is_interrupted()).then(|| trips.median() as f64)
        }
        _ => None,
    }
}

fn facts(before: Option<f64>, after: Option<f64>) -> RoundFacts {
    let ping_pong_ns = before.zip(after).map(|(before, after)| [before, after]);
    let moved =
        ping_pong_ns.is_some_and(|[before, after]| before.max(after) > MOVED * before.min(after));
    RoundFacts {
        ping_pong_ns,
        moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Mode;
    use crate::report::sample::recorder;

    #[test]
    fn a_round_that_was_cut_says_only_what_is_true() {
        let reading = |times: &[u64]| Reading {
            achieved_per_s: Some(1.0),
            unsent: 7,
            ..Reading::of_median(recorder(times.iter().copied()))
        };
        let of = |workload| {
            let case = Case::plain(workload, Mode::AsShipped);
            cut(&case, vec![reading(&[3, 4]), reading(&[])])
        };
        let latency = of(Workload::Latency);
        assert_eq!(latency.len(), 1);
        assert_eq!((latency[0].achieved_per_s, latency[0].unsent), (None, 0));
        assert!(of(Workload::Rtt).is_empty() && of(Workload::Idle).is_empty());
        let plain = Case::plain(Workload::Throughput, Mode::AsShipped);
        assert_eq!(cut(&plain, vec![Reading::default()]).len(), 1);
    }

    #[test]
    fn a_round_is_flagged_when_the_cache_line_changed_its_place() {
        assert!(facts(Some(90.0), Some(400.0)).moved);
        assert!(facts(Some(400.0), Some(90.0)).moved);
        assert!(!facts(Some(400.0), Some(360.0)).moved);
        let one_cpu = facts(None, None);
        assert!(!one_cpu.moved && one_cpu.ping_pong_ns.is_none());
    }
}

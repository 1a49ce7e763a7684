//! Runs cases in rounds, in which the subjects take turns.

mod collect;
mod pace;
pub(crate) mod progress;

use crate::case::{Case, Workload};
use crate::measure::{Effort, Reading, Site, ping_pong};
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

/// A subject that turned out not to be a sound queue.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{subject} is no sound queue: {fault}")]
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
    let mut collector = Collector::new(case, crowded);
    let mut running: Vec<_> = planned
        .subjects
        .iter()
        .map(|&subject| (subject, Pace::new(case, planned.round_time)))
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
                seed: site.seed.wrapping_add(nth as u64 * SEEDS_APART),
                ..site.clone()
            };
            let before = probe(&site, case);
            let readings = round(&site, case, *subject, pace.effort())?;
            let after = probe(&site, case);
            pace.learn(&readings);
            collector.add(subject.name(), readings, facts(before, after));
            progress.done(planned.round_time);
            if site.is_interrupted() {
                return Ok(collector.series());
            }
        }
    }
    Ok(collector.series())
}

/// Further than there are producers.
const SEEDS_APART: u64 = 1_000;

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

/// The round trip of a cache line now, between the CPUs of the first two threads.
fn probe(site: &Site, case: &Case) -> Option<f64> {
    match (case.workload, site.cpus.numbers()) {
        (Workload::Cores | Workload::Hiccup | Workload::Idle, _) => None,
        (_, &[first, second, ..]) => {
            let trips = ping_pong::run(site, [first, second], PROBED_TRIPS, None);
            Some(trips.median() as f64)
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

    #[test]
    fn a_round_is_flagged_when_the_cache_line_changed_its_place() {
        assert!(facts(Some(90.0), Some(400.0)).moved);
        assert!(facts(Some(400.0), Some(90.0)).moved);
        assert!(!facts(Some(400.0), Some(360.0)).moved);
        let one_cpu = facts(None, None);
        assert!(!one_cpu.moved && one_cpu.ping_pong_ns.is_none());
    }
}

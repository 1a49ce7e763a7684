//! The machine itself: what is left when there is no queue.

use crate::case::{Case, Time, Workload};
use crate::measure::{Effort, Reading, Site, hiccup, ping_pong};
use crate::registry::{Abilities, Measured, Role, RoundError, Unfit};

/// Measures the machine: its pauses, and its cache lines. It is no subject to choose; it is beside
/// those whose figures need it.
pub(crate) struct Machine;

impl Measured for Machine {
    fn name(&self) -> &'static str {
        "machine"
    }

    fn about(&self) -> &'static str {
        "what is left when there is no queue"
    }

    fn package(&self) -> &'static str {
        "std"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            role: Role::Baseline,
            many_producers: true,
            batches: false,
            blocks: false,
            capacity_min: 0,
        }
    }

    fn fits(&self, case: &Case) -> Result<(), Unfit> {
        match case.workload {
            Workload::Hiccup | Workload::Cores => Ok(()),
            _ if case.tells_tail() => Ok(()),
            _ => Err(Unfit::NoQueue),
        }
    }

    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        let cpus = site.cpus.numbers();
        match (case.workload, effort) {
            // All CPUs of the run at once: a pause of one may be that of all.
            (Workload::Hiccup, Effort::Time(duration)) => {
                let recorders = hiccup::run(site, cpus, duration)?;
                let readings = cpus.iter().zip(recorders).map(|(&cpu, recorder)| Reading {
                    cpu_pair: Some([cpu, cpu]),
                    ..Reading::of_p99(recorder)
                });
                Ok(readings.collect())
            }
            // On the CPUs of the case's threads: how late a letter would be by the machine alone.
            (_, Effort::Time(duration)) if case.tells_tail() => {
                let used = &cpus[..case.threads().min(cpus.len())];
                let mut recorders = hiccup::run(site, used, duration)?.into_iter();
                let mut all = recorders.next().expect("a run has a CPU");
                recorders.for_each(|recorder| all.add(&recorder));
                Ok(vec![Reading {
                    time: case.is_open_loop().then_some(Time::Response),
                    ..Reading::of_times(case, all)
                }])
            }
            (Workload::Cores, Effort::Count(trips)) => {
                let pairs = cpus.iter().enumerate().flat_map(|(index, &first)| {
                    cpus[index + 1..].iter().map(move |&second| [first, second])
                });
                let readings = pairs.map(|pair| Reading {
                    cpu_pair: Some(pair),
                    ..Reading::of_median(ping_pong::run(site, pair, trips, None))
                });
                Ok(readings.collect())
            }
            _ => Err(Unfit::NoQueue.into()),
        }
    }
}

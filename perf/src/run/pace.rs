//! How much a subject is given to do in a round, so that rounds last about as long as they should.

use crate::case::Workload;
use crate::measure::{Effort, Reading};
use std::time::Duration;

/// What one subject can do in a round's time, as its last round showed.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    workload: Workload,
    round_time: Duration,
    ns_each: f64,
}

/// Letters or round trips of a first look at a subject.
const FIRST: u64 = 4_000;
const FIRST_TRIPS: u64 = 200;
/// Bounds of what a round is given.
const LEAST: f64 = 500.0;
const MOST: f64 = 1e9;

impl Pace {
    pub(crate) fn new(workload: Workload, round_time: Duration) -> Self {
        Self {
            workload,
            round_time,
            ns_each: 1_000.0,
        }
    }

    /// The effort of the warm-up.
    pub(crate) fn warm_up(&self, time: Duration) -> Effort {
        match self.workload {
            Workload::Throughput => Effort::Count(FIRST),
            Workload::Rtt | Workload::Cores => Effort::Count(FIRST_TRIPS),
            Workload::Latency | Workload::Hiccup | Workload::Idle => Effort::Time(time),
        }
    }

    /// The effort of a round.
    pub(crate) fn effort(&self) -> Effort {
        match self.workload {
            Workload::Throughput | Workload::Rtt | Workload::Cores => {
                let count = self.round_time.as_nanos() as f64 / self.ns_each;
                Effort::Count(count.clamp(LEAST, MOST) as u64)
            }
            Workload::Latency | Workload::Hiccup | Workload::Idle => Effort::Time(self.round_time),
        }
    }

    /// Learns from a round.
    pub(crate) fn learn(&mut self, readings: &[Reading]) {
        if let Some(reading) = readings.first() {
            self.ns_each = reading.value.max(0.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(value: f64) -> Effort {
        let mut pace = Pace::new(Workload::Throughput, Duration::from_millis(50));
        let reading = Reading {
            value,
            ..Reading::default()
        };
        pace.learn(&[reading]);
        pace.effort()
    }

    #[test]
    fn a_round_is_given_what_fits_into_its_time() {
        assert_eq!(after(10.0), Effort::Count(5_000_000));
        assert_eq!(after(50_000.0), Effort::Count(1_000));
    }

    #[test]
    fn even_the_slowest_and_the_fastest_are_given_something_sensible() {
        assert_eq!(after(1e12), Effort::Count(500));
        assert_eq!(after(0.0), Effort::Count(500_000_000));
    }

    #[test]
    fn an_open_loop_is_given_its_time() {
        let pace = Pace::new(Workload::Latency, Duration::from_secs(2));
        assert_eq!(pace.effort(), Effort::Time(Duration::from_secs(2)));
    }
}

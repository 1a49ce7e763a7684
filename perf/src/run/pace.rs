//! How much a subject is given to do in a round, so that rounds last about as long as they should.

use crate::case::{Case, Part, Workload};
use crate::measure::{Effort, Reading};
use std::time::Duration;

/// What one subject can do in a round's time, as its last round showed.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    given_in: GivenIn,
    round_time: Duration,
    /// What a letter or round trip takes beside what is measured of it.
    think_ns: f64,
    ns_each: f64,
    /// Letters of a first look at a subject.
    first: f64,
    /// What a round is given at least.
    least: f64,
    /// Letters of each look and round, where the user says how many.
    chosen: Option<u64>,
    /// What the last round was given.
    given: Option<f64>,
}

/// In what a subject is given something to do.
#[derive(Clone, Copy, Debug)]
enum GivenIn {
    /// In letters, mails, turns: many a second.
    Letters,
    Trips,
    Time,
}

impl GivenIn {
    fn of(case: &Case) -> Self {
        match case.workload {
            _ if case.tells_tail() => Self::Time,
            Workload::Hiccup | Workload::Idle => Self::Time,
            Workload::Cores => Self::Trips,
            // There are as many as the case says.
            _ if case.part == Some(Part::Memory) => Self::Time,
            _ if case.workload == Workload::Checkpoint => Self::of_checkpoint(case.part),
            _ if case.times_each() => Self::Trips,
            _ => Self::Letters,
        }
    }

    fn of_checkpoint(part: Option<Part>) -> Self {
        match part {
            Some(Part::Empty) => Self::Trips,
            // A snapshot or a restore is as long as its state is large.
            Some(Part::Sync | Part::Restore | Part::Restart) => Self::Time,
            _ => Self::Letters,
        }
    }
}

/// Letters of a first look at a subject, and at least so many times what its queue holds: most of
/// them must have to wait for room, as those of a round have to.
const FIRST: f64 = 4_000.0;
const FIRST_QUEUES: f64 = 4.0;
/// Records of it: so many that starting the tasks is not most of their time.
const FIRST_RECORDS: f64 = 50_000.0;
/// How often each key is in it: what its first record costs is not most of their time.
const FIRST_ROWS: f64 = 4.0;
/// Round trips of it, where they take no longer than a round.
const FIRST_TRIPS: f64 = 200.0;
/// Bounds of what a round is given: with fewer, a median says little. Where each is slow, or has to wait
/// for its turn, more of them would make a round too long.
const LEAST: f64 = 500.0;
const LEAST_SLOW: f64 = 20.0;
const MOST: f64 = 1e9;
/// How many times what the last round was given the next one is given at most, however fast that was.
const GROWTH: f64 = 8.0;

impl Pace {
    pub(crate) fn new(case: &Case, round_time: Duration) -> Self {
        Self {
            given_in: GivenIn::of(case),
            round_time,
            think_ns: case.think_ns.unwrap_or(0) as f64,
            ns_each: 1_000.0,
            first: match case.workload {
                Workload::Pipeline => FIRST_RECORDS,
                Workload::Checkpoint => {
                    FIRST_RECORDS.max(FIRST_ROWS * case.keys.unwrap_or(0) as f64)
                }
                _ => FIRST.max(FIRST_QUEUES * case.capacity as f64),
            },
            least: match case.part {
                _ if case.think_ns > Some(0) => LEAST_SLOW,
                Some(Part::Empty) => LEAST_SLOW,
                _ => LEAST,
            },
            chosen: None,
            given: None,
        }
    }

    /// With so many letters a round, whatever time they take; nothing if that is to follow from the
    /// time.
    pub(crate) fn with(self, chosen: Option<u64>) -> Self {
        Self { chosen, ..self }
    }

    /// The effort of the warm-up.
    pub(crate) fn warm_up(&self, time: Duration) -> Effort {
        if let Some(chosen) = self.chosen {
            return Effort::Count(chosen);
        }
        match self.given_in {
            GivenIn::Letters => Effort::Count(self.first as u64),
            GivenIn::Trips => Effort::Count(self.fitting().clamp(1.0, FIRST_TRIPS) as u64),
            GivenIn::Time => Effort::Time(time),
        }
    }

    /// The effort of a round.
    pub(crate) fn effort(&mut self) -> Effort {
        if let Some(chosen) = self.chosen {
            return Effort::Count(chosen);
        }
        match self.given_in {
            GivenIn::Letters | GivenIn::Trips => {
                let most = self.given.map_or(MOST, |given| MOST.min(GROWTH * given));
                let count = self.fitting().clamp(self.least, most);
                self.given = Some(count);
                Effort::Count(count as u64)
            }
            GivenIn::Time => Effort::Time(self.round_time),
        }
    }

    /// How many fit into a round.
    fn fitting(&self) -> f64 {
        self.round_time.as_nanos() as f64 / (self.ns_each + self.think_ns)
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
    use crate::case::Mode;

    fn after(value: f64) -> Effort {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        let mut pace = Pace::new(&case, Duration::from_millis(50));
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
    fn thinking_takes_its_time_too() {
        let case = Case {
            think_ns: Some(1_000_000),
            ..Case::plain(Workload::Rtt, Mode::SameWaiting)
        };
        let mut pace = Pace::new(&case, Duration::from_millis(50));
        assert_eq!(pace.warm_up(Duration::ZERO), Effort::Count(49));
        pace.learn(&[Reading {
            value: 400.0,
            ..Reading::default()
        }]);
        assert_eq!(pace.effort(), Effort::Count(49));
        pace.round_time = Duration::from_millis(1);
        assert_eq!(pace.effort(), Effort::Count(20));
    }

    #[test]
    fn a_first_look_is_longer_than_the_queue() {
        let first = |capacity| {
            let case = Case {
                capacity,
                ..Case::plain(Workload::Throughput, Mode::AsShipped)
            };
            Pace::new(&case, Duration::from_millis(50)).warm_up(Duration::ZERO)
        };
        assert_eq!(first(64), Effort::Count(4_000));
        assert_eq!(first(65_536), Effort::Count(262_144));
    }

    #[test]
    fn a_round_that_came_out_too_fast_does_not_make_the_next_one_endless() {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        let mut pace = Pace::new(&case, Duration::from_millis(50));
        let of = |value| {
            [Reading {
                value,
                ..Reading::default()
            }]
        };
        pace.learn(&of(100.0));
        assert_eq!(pace.effort(), Effort::Count(500_000));
        pace.learn(&of(0.5));
        assert_eq!(pace.effort(), Effort::Count(4_000_000));
        assert_eq!(pace.effort(), Effort::Count(32_000_000));
    }

    #[test]
    fn a_count_that_was_chosen_is_given_always() {
        let case = Case::plain(Workload::Pipeline, Mode::AsShipped);
        let pace = Pace::new(&case, Duration::from_millis(50));
        assert_eq!(pace.warm_up(Duration::ZERO), Effort::Count(50_000));
        let mut pace = pace.with(Some(7));
        assert_eq!(pace.warm_up(Duration::ZERO), Effort::Count(7));
        pace.learn(&[Reading::of(0.5)]);
        assert_eq!(pace.effort(), Effort::Count(7));
    }

    #[test]
    fn an_open_loop_is_given_its_time() {
        let case = Case::plain(Workload::Latency, Mode::AsShipped);
        let mut pace = Pace::new(&case, Duration::from_secs(2));
        assert_eq!(pace.effort(), Effort::Time(Duration::from_secs(2)));
    }

    #[test]
    fn an_owner_is_given_mails_and_turns_or_its_time() {
        let given = |workload, part| {
            let case = Case {
                part: Some(part),
                ..Case::plain(workload, Mode::AsShipped)
            };
            let time = Duration::from_millis(50);
            Pace::new(&case, time).warm_up(time)
        };
        let count = Effort::Count(4_096);
        assert_eq!(given(Workload::Mail, Part::AcrossCores), count);
        assert_eq!(given(Workload::Loop, Part::Turn), count);
        let time = Effort::Time(Duration::from_millis(50));
        assert_eq!(given(Workload::Mail, Part::Parked), time);
        assert_eq!(given(Workload::Wake, Part::Parked), time);
        assert_eq!(given(Workload::Tasks, Part::OneThread), count);
        assert_eq!(
            given(Workload::Checkpoint, Part::EverySecond),
            Effort::Count(50_000)
        );
        assert_eq!(given(Workload::Checkpoint, Part::Pause), time);
        assert_eq!(given(Workload::Checkpoint, Part::Restart), time);
        let trips = Effort::Count(200);
        // A checkpoint takes as long as a first look at most says, until one was timed.
        assert_eq!(given(Workload::Checkpoint, Part::Empty), trips);
        assert_eq!(given(Workload::Tasks, Part::TwoThreads), trips);
    }
}

//! Pipelines made by hand, some of which compute something else.

use super::*;
use crate::case::{Mode, Workload};
use crate::clock::Clock;
use crate::pipeline::flights::{Flights, Open};
use crate::pipeline::numbers::{Numbers, is_kept, key, mapped};
use crate::place::Cpus;
use std::sync::atomic::AtomicBool;

const RECORDS: u64 = 30_000;

fn site() -> Site {
    static GOES_ON: AtomicBool = AtomicBool::new(false);
    Site {
        cpus: Cpus::all(),
        clock: Clock::shared(),
        pause_hints: None,
        highest_ns: 60_000_000_000,
        seed: 0,
        interrupted: &GOES_ON,
    }
}

fn case(part: Part) -> Case {
    Case {
        part: Some(part),
        keys: part.has_keys().then_some(16),
        ..Case::plain(Workload::Pipeline, Mode::AsShipped)
    }
}

/// A pipeline of one thread that is given `records` and reads `given` of them, `twice` some of them.
fn measured(part: Part, given: u64, twice: u64) -> Result<Vec<Reading>, RoundError> {
    let effort = Effort::Count(RECORDS);
    let time = site().clock.ticks(RECORDS as f64 * 5.0) as Ticks;
    let numbers = || Numbers::all(given).chain(Numbers::all(twice));
    match part {
        Part::Chained => chained(&site(), effort, |_| {
            let result = numbers()
                .map(mapped)
                .filter(|&record| is_kept(record))
                .sum();
            Ok(Ran { result, time })
        }),
        Part::Hop => hop(&site(), effort, |_| {
            let result = numbers().sum();
            Ok(Ran { result, time })
        }),
        Part::Flights => flights(&site(), effort, |_| {
            let (mut open, mut result) = (Open::default(), Windows::default());
            let flights = Flights::all(given).chain(Flights::all(twice));
            flights.for_each(|flight| open.add(&flight));
            open.close(&mut result);
            Ok(Ran { result, time })
        }),
        _ => keyed(&site(), &case(part), effort, |keyed| {
            assert_eq!(keyed.tasks, if part == Part::KeyedOne { 1 } else { 2 });
            let mut sums = vec![0; keyed.keys];
            let mut result = Totals::new(keyed.keys);
            for record in numbers() {
                let key = key(record, keyed.keys);
                sums[key as usize] += record;
                result.note(key, sums[key as usize]);
            }
            Ok(Ran { result, time })
        }),
    }
}

#[test]
fn the_time_is_divided_by_the_records() {
    for part in Part::PIPELINE {
        let readings = measured(part, RECORDS, 0).expect("the right result");
        let [reading] = &readings[..] else {
            panic!("{part}: one figure");
        };
        assert!((4.9..5.1).contains(&reading.value), "{part}");
    }
}

#[test]
fn what_is_lost_or_doubled_is_found_out() {
    for part in Part::PIPELINE {
        // Record 5 is dropped by the chained pipeline's filter, and its key has others.
        for (given, twice) in [(RECORDS - 3, 0), (RECORDS, 7), (0, 0)] {
            let round = measured(part, given, twice);
            let Err(RoundError::Wrong(Wrong { found, right })) = round else {
                panic!("{part}: it went unnoticed: {given} and {twice}");
            };
            assert_ne!(found, right);
        }
    }
}

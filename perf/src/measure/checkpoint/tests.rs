//! Jobs made by hand, some of which compute something else.

use super::*;
use crate::case::{Mode, Part, Workload};
use crate::clock::{Clock, Ticks};
use crate::measure::pipeline::Wrong;
use crate::pipeline::numbers::{Numbers, key};
use crate::place::Cpus;
use crate::report::Stretch;
use crate::report::sample::recorder;
use std::sync::atomic::AtomicBool;

const RECORDS: u64 = 30_000;
const KEYS: usize = 16;

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
        producers: 3,
        keys: Some(KEYS),
        ..Case::plain(Workload::Checkpoint, Mode::AsShipped)
    }
}

/// The sums of who is given numbers and reads `given` of them, `twice` some of them.
fn sums(given: u64, twice: u64) -> Totals {
    let mut sums = [0; KEYS];
    let mut totals = Totals::new(KEYS);
    for record in Numbers::all(given).chain(Numbers::all(twice)) {
        let key = key(record, KEYS);
        sums[key as usize] += record;
        totals.note(key, sums[key as usize]);
    }
    totals
}

fn course() -> Course {
    let stretch = Stretch {
        from_ms: 0.0,
        to_ms: 1.0,
        records: RECORDS,
    };
    Course {
        records: vec![stretch],
        checkpoints: Vec::new(),
    }
}

/// A round of a part in which `given` records were read, `twice` some of them.
fn measured(part: Part, given: u64, twice: u64) -> Result<Vec<Reading>, RoundError> {
    let case = case(part);
    let flowed = |keys| {
        assert_eq!(keys, KEYS);
        Ok(Flowed {
            made: RECORDS,
            sums: sums(given, twice),
            times: recorder(1..=20_000),
        })
    };
    match part {
        Part::Pause => pauses(&case, flowed),
        Part::Restore => restored(&case, |keys| {
            Ok(Restored {
                flowed: flowed(keys)?,
                bytes: 5_000,
            })
        }),
        Part::Sync | Part::Restart => timed(&case, flowed),
        _ => keyed(&site(), &case, Effort::Count(RECORDS), |asked| {
            assert_eq!((asked.records, asked.tasks), (RECORDS, 3));
            let time = site().clock.ticks(RECORDS as f64 * 5.0) as Ticks;
            let result = sums(given, twice);
            Ok(Watched {
                ran: Ran { result, time },
                course: course(),
            })
        }),
    }
}

/// Those in which records flow that are told apart.
fn flowing() -> impl Iterator<Item = Part> {
    Part::CHECKPOINT.into_iter().filter(|part| part.has_keys())
}

#[test]
fn each_part_has_the_figure_it_is_to_have() {
    for part in flowing() {
        let readings = measured(part, RECORDS, 0).expect("the right result");
        let [reading] = &readings[..] else {
            panic!("{part}: one figure");
        };
        let right = match part {
            Part::Pause => 19_980.0,
            Part::Restore => 2.0,
            Part::Sync | Part::Restart => 10_000.0,
            _ => 5.0,
        };
        let value = reading.value;
        assert!((value / right - 1.0).abs() < 0.01, "{part}: {value}");
        let has_course = part.is_with_and_without();
        assert_eq!(reading.course, has_course.then(course), "{part}");
        assert_eq!(reading.recorder.is_some(), !has_course, "{part}");
    }
}

#[test]
fn what_is_lost_or_doubled_is_found_out() {
    for part in flowing() {
        for (given, twice) in [(RECORDS - 3, 0), (RECORDS, 7), (0, 0)] {
            let round = measured(part, given, twice);
            let Err(RoundError::Wrong(Wrong { found, right })) = round else {
                panic!("{part}: it went unnoticed: {given} and {twice}");
            };
            assert_ne!(found, right);
        }
    }
}

#[test]
fn why_there_is_no_checkpoint_is_told_in_a_line() {
    let error = NoCheckpoint::of("cannot create a file:\n  no space left");
    let told = error.to_string();
    assert_eq!(told, "no checkpoint: cannot create a file: no space left");
}

//! Tasks that do not do each thing once are found out.

use super::*;
use crate::case::{Mode, Workload};
use crate::clock::Clock;
use crate::measure::{NoThread, Unsound};
use crate::place::Cpus;
use crate::tasks::{Answering, Asking};
use std::sync::atomic::AtomicBool;

/// What somebody does who is no good at it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// They do it.
    None,
    /// They do not answer the tenth question.
    Loses,
    /// They hand over the tenth answer twice.
    Doubles,
    /// They change it.
    Changes,
}

/// Runs all on the calling thread, by turns.
struct Double(Fault);

impl Double {
    fn play(&self, asking: &mut Asking, answering: &mut Answering) {
        let mut asked = 0;
        while let Some(question) = asking.ask() {
            asked += 1;
            match self.0 {
                Fault::Loses if asked == 10 => return,
                Fault::Changes if asked == 10 => asking.hear(answering.answer(question) + 1),
                Fault::Doubles if asked == 10 => {
                    let answer = answering.answer(question);
                    asking.hear(answer);
                    asking.hear(answer);
                }
                _ => asking.hear(answering.answer(question)),
            }
        }
    }
}

impl Tasks for Double {
    fn play(&self, _: &Seats<'_>, players: [Player; 2]) -> Result<(), NoThread> {
        let [Player::Asking(mut asking), Player::Answering(mut answering)] = players else {
            panic!("one asks and the other answers");
        };
        Double::play(self, &mut asking, &mut answering);
        Ok(())
    }

    fn ask(
        &self,
        _: &Seats<'_>,
        mut asking: Asking,
        mut answering: Answering,
    ) -> Result<(), NoThread> {
        Double::play(self, &mut asking, &mut answering);
        Ok(())
    }

    fn live(&self, _: &Seats<'_>, lives: &mut Lives) -> Result<(), NoThread> {
        while let Some(life) = lives.begin() {
            if self.0 == Fault::Loses {
                // It goes on for ever.
                std::mem::forget(life);
            }
            lives.end();
        }
        Ok(())
    }

    fn rest(&self, seats: &Seats<'_>, meanwhile: impl FnOnce() + Send) -> Result<(), NoThread> {
        let all = vec![0_u8; BYTES * seats.idle()];
        meanwhile();
        drop(all);
        Ok(())
    }
}

/// What a task of a [`Double`] takes.
const BYTES: usize = 1_000_000;

fn site(interrupted: &'static AtomicBool) -> Site {
    Site {
        cpus: Cpus::all(),
        clock: Clock::shared(),
        pause_hints: None,
        highest_ns: 60_000_000_000,
        seed: 0,
        interrupted,
    }
}

static GOES_ON: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(true);

fn of(part: Part) -> Case {
    Case {
        part: Some(part),
        idle_tasks: Some(100),
        ..Case::plain(Workload::Tasks, Mode::AsShipped)
    }
}

/// Those that can be measured on this machine.
fn parts() -> impl Iterator<Item = Part> {
    let is_crowded = Cpus::all().crowded(2);
    let can_be = move |part: &Part| !(is_crowded && part.spins_on_two());
    Part::TASKS.into_iter().filter(can_be)
}

fn measured(fault: Fault, part: Part) -> Result<Reading, RoundError> {
    let effort = Effort::Count(1_000);
    let mut readings = round(&Double(fault), &site(&GOES_ON), &of(part), effort)?;
    assert_eq!(readings.len(), 1);
    Ok(readings.remove(0))
}

#[test]
fn what_is_done_once_makes_a_figure() {
    for part in parts() {
        if part == Part::Memory && !is_told() {
            continue;
        }
        let reading = measured(Fault::None, part).expect("a sound one");
        assert!(reading.value > 0.0, "{part}");
        let times = reading.recorder.map(|recorder| recorder.count());
        // A tenth more to warm up does not count.
        assert_eq!(times, part.spins_on_two().then_some(1_000), "{part}");
    }
}

#[test]
fn what_is_lost_or_doubled_or_changed_is_found_out() {
    for part in parts().filter(|&part| part != Part::Memory) {
        let faults: &[Fault] = match part {
            Part::SpawnStop => &[Fault::Loses],
            _ => &[Fault::Loses, Fault::Doubles, Fault::Changes],
        };
        for &fault in faults {
            let Err(RoundError::Unsound(Unsound { posted, taken })) = measured(fault, part) else {
                panic!("{part}: it went unnoticed: {fault:?}");
            };
            assert_ne!(posted, taken);
        }
    }
}

#[test]
fn the_time_of_a_round_trip_is_told_by_the_middle_of_its_stretches() {
    // With the pause, which is in one of four, it would be 100,000 ns on average. The system may hold up
    // another one as long, though not each time.
    let mut values = (0..20).map(|_| told_with_a_pause());
    assert!(values.any(|value| 0.0 < value && value < 50_000.0));
}

/// What is told of a round trip where one of a thousand takes 100 ms.
fn told_with_a_pause() -> f64 {
    let site = site(&GOES_ON);
    let (mut asking, mut answering, asks) = Asks::new(&site, 1_000, false);
    let mut trips = 0;
    while let Some(question) = asking.ask() {
        if trips == 300 {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        trips += 1;
        asking.hear(answering.answer(question));
    }
    drop((asking, answering));
    assert_eq!(trips, 1_024, "whole stretches");
    asks.arrive().expect("a sound one").value
}

#[test]
fn who_is_told_to_stop_does_so_soon_and_says_nothing_wrong() {
    let site = site(&INTERRUPTED);
    let all = Effort::Count(1_000_000_000_000);
    for part in parts().filter(|&part| part != Part::Memory) {
        let readings = round(&Double(Fault::None), &site, &of(part), all).expect("a sound one");
        let times = readings[0].recorder.as_ref();
        // What is timed each was warming up still; the others have one stretch.
        match part.spins_on_two() {
            true => assert_eq!(times.map(|times| times.count()), Some(0)),
            false => assert!(readings[0].value > 0.0),
        }
    }
}

#[test]
fn memory_is_divided_by_the_tasks_that_have_it() {
    if is_told() {
        let bytes = measured(Fault::None, Part::Memory).expect("a sound one");
        // Other tests allocate meanwhile, by far less.
        let of_each = bytes.value / BYTES as f64;
        assert!((0.5..1.5).contains(&of_each), "{of_each}");
    }
}

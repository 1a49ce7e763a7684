//! An owner that does not run each mail once is found out.

use super::*;
use crate::case::{Arrivals, Mode, Workload};
use crate::clock::Clock;
use crate::measure::{NoThread, Unsound};
use crate::owner::{Boxed, Owned, Poster, Seat, boxed};
use crate::place::Cpus;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Posts each tenth mail so many times.
struct Faulty<const COPIES: usize>;

struct FaultySender<O, const COPIES: usize>(Sender<Boxed<O>>, u64);

impl<O: Owned, const COPIES: usize> Poster for FaultySender<O, COPIES> {
    fn post(&mut self, first: u64, second: u64) {
        self.1 += 1;
        let copies = if self.1.is_multiple_of(10) { COPIES } else { 1 };
        for _ in 0..copies {
            let posted = self.0.send(boxed(first, second));
            assert!(posted.is_ok(), "the owner is there");
        }
    }
}

impl<const COPIES: usize> Serving for Faulty<COPIES> {
    type Poster<O: Owned> = FaultySender<O, COPIES>;

    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        mut owned: O,
        body: impl FnOnce(Vec<Self::Poster<O>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let (sender, receiver) = channel::<Boxed<O>>();
        let posters = (0..seat.case.producers).map(|_| FaultySender(sender.clone(), 0));
        let posters = posters.collect();
        drop(sender);
        let owner = move || receiver.iter().for_each(|mail| mail(&mut owned));
        seat.beside(owner, posters, body)
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn site() -> Site {
    Site {
        cpus: Cpus::all(),
        clock: Clock::shared(),
        pause_hints: None,
        highest_ns: 60_000_000_000,
        seed: 0,
        interrupted: &INTERRUPTED,
    }
}

fn case(part: Part, producers: usize) -> Case {
    Case {
        part: Some(part),
        producers,
        rate_per_s: Some(20_000),
        arrivals: Some(Arrivals::Constant),
        ..Case::plain(Workload::Mail, Mode::AsShipped)
    }
}

fn of_200<const COPIES: usize>(part: Part, producers: usize) -> Result<Vec<Reading>, RoundError> {
    let effort = match part {
        Part::AcrossCores => Effort::Count(200),
        _ => Effort::Time(Duration::from_millis(10)),
    };
    served(&Faulty::<COPIES>, &site(), &case(part, producers), effort)
}

#[test]
fn mails_that_are_run_once_make_a_figure() {
    for producers in [1, 2] {
        let readings = of_200::<1>(Part::AcrossCores, producers).expect("a sound one");
        assert!(readings[0].value > 0.0);
        let readings = of_200::<1>(Part::Parked, producers).expect("a sound one");
        let counts: Vec<_> = readings
            .iter()
            .filter_map(|reading| Some(reading.recorder.as_ref()?.count()))
            .collect();
        assert_eq!(counts, [200, 200]);
    }
}

#[test]
fn mails_that_are_lost_or_run_twice_are_found_out() {
    for (part, producers) in [(Part::AcrossCores, 2), (Part::Parked, 1)] {
        let lost = of_200::<0>(part, producers);
        let twice = of_200::<2>(part, producers);
        for round in [lost, twice] {
            let Err(RoundError::Unsound(Unsound { posted, taken })) = round else {
                panic!("it went unnoticed: {round:?}");
            };
            assert_ne!(posted, taken);
        }
    }
}

#[test]
fn a_marker_that_does_not_run_once_is_found_out() {
    let site = site();
    for runs in [0, 2] {
        let round = marker(&site, 10, |posts| (posts, runs));
        let unsound = Unsound {
            posted: 1,
            taken: runs,
        };
        assert_eq!(round.err(), Some(RoundError::Unsound(unsound)));
    }
    let once = marker(&site, 10, |posts| {
        (site.clock.ticks(50.0 * posts as f64) as u64, 1)
    });
    let value = once.expect("a sound one")[0].value;
    assert!((value - 50.0).abs() < 1.0, "{value}");
}

#[test]
fn mails_to_itself_are_all_posted_and_counted() {
    let site = site();
    let case = Case {
        batch: 7,
        ..case(Part::SelfPost, 1)
    };
    let mut turns = Vec::new();
    let all = to_itself(&site, &case, 20, |mut mails, mut ledger| {
        let start = site.clock.now();
        while let Some(some) = mails.turn() {
            turns.push(
                some.map(|(first, second)| ledger.take(first, second))
                    .count(),
            );
        }
        start
    });
    assert!(all.expect("a sound one")[0].value > 0.0);
    assert_eq!(turns, [7, 7, 7]);
    let none = to_itself(&site, &case, 20, |_, _| 0);
    assert!(matches!(none, Err(RoundError::Unsound(_))), "{none:?}");
}

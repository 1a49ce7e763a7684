//! Queues that lose or double letters are found out.

use super::site;
use crate::case::{Case, Mode, Workload};
use crate::letter::Letter;
use crate::measure::{Effort, Unsound};
use crate::place::Cpus;
use crate::registry::{Registry, RoundError};
use crate::subject::{Producer, Setting, Subject};
use crate::subjects::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The standard library's channel, but for one letter in so many: with `COPIES` 0 it is lost, with 2
/// it comes twice.
struct Faulty<const COPIES: usize>;

/// A producer of it, and how many letters it was given.
struct FaultyProducer<P, const COPIES: usize> {
    half: P,
    given: u64,
}

impl<const COPIES: usize> Subject for Faulty<COPIES> {
    const NAME: &'static str = "faulty";
    const ABOUT: &'static str = "no sound queue";
    const PACKAGE: &'static str = "std";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = FaultyProducer<<StdMpsc as Subject>::Producer<L>, COPIES>;
    type Consumer<L: Letter> = <StdMpsc as Subject>::Consumer<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (producers, consumer) = StdMpsc::queue(setting);
        let faulty = producers
            .into_iter()
            .map(|half| FaultyProducer { half, given: 0 });
        (faulty.collect(), consumer)
    }
}

impl<L: Letter, P: Producer<L>, const COPIES: usize> Producer<L> for FaultyProducer<P, COPIES> {
    fn try_post(&mut self, letter: L) -> bool {
        let is_faulty = self.given % 100 == 99;
        let is_posted = (is_faulty && COPIES == 0) || self.half.try_post(letter);
        if is_posted {
            self.given += 1;
            if is_faulty && COPIES == 2 {
                self.half.post(letter);
            }
        }
        is_posted
    }

    fn post(&mut self, letter: L) {
        while !self.try_post(letter) {
            thread::yield_now();
        }
    }
}

fn is_found_out<const COPIES: usize>() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let registry = Registry::new().with::<Faulty<COPIES>>();
    let subject = registry.iter().next().expect("the one");
    let site = site(Cpus::all(), &INTERRUPTED);
    for mode in [Mode::AsShipped, Mode::SameWaiting] {
        for producers in [1, 2] {
            let plain = |workload| Case {
                producers,
                capacity: 16,
                payload_bytes: 16,
                ..Case::plain(workload, mode)
            };
            let case = plain(Workload::Throughput);
            let round = subject.round(&site, &case, Effort::Count(1_000));
            let Err(RoundError::Unsound(Unsound { posted, taken })) = round else {
                panic!("it went unnoticed: {round:?}");
            };
            assert_eq!(posted, 1_000);
            assert_eq!(taken, 990 + 10 * COPIES as u64);

            let case = Case {
                rate_per_s: Some(200_000),
                ..plain(Workload::Latency)
            };
            let round = subject.round(&site, &case, Effort::Time(Duration::from_millis(5)));
            assert!(matches!(round, Err(RoundError::Unsound(_))), "{round:?}");
        }
    }
}

#[test]
fn a_queue_that_loses_letters_is_found_out() {
    is_found_out::<0>();
}

#[test]
fn a_queue_that_doubles_letters_is_found_out() {
    is_found_out::<2>();
}

#[test]
fn round_trips_through_a_queue_that_loses_letters_end_when_asked_to() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let registry = Registry::new().with::<Faulty<0>>();
    let subject = registry.iter().next().expect("the one");
    let site = site(Cpus::all(), &INTERRUPTED);
    let case = Case::plain(Workload::Rtt, Mode::SameWaiting);
    thread::scope(|scope| {
        let measuring = scope.spawn(|| subject.round(&site, &case, Effort::Count(1_000)));
        thread::sleep(Duration::from_millis(20));
        // Relaxed: it says when to stop and orders nothing.
        INTERRUPTED.store(true, Ordering::Relaxed);
        let readings = measuring.join().expect("nothing panics");
        let readings = readings.expect("it is fit for this");
        let recorder = readings[0].recorder.as_ref().expect("all times");
        assert_eq!(recorder.count(), 0, "the first was lost within the warm-up");
    });
}

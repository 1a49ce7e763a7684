//! What each subject must do to be measured at all.

mod unsound;

use super::*;
use crate::case::{Case, Mode, Workload};
use crate::clock::Clock;
use crate::letter::{Batch, Letter, Words};
use crate::measure::{AsShipped, Effort, SameWaiting, Site, Way};
use crate::place::Cpus;
use crate::registry::{Measured, Role, RoundError, Unfit};
use crate::subject::{Consumer, Producer, Setting, Subject};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// Letters of each thread that posts.
const COUNT: u64 = 1_000;

fn setting(capacity: usize, producers: usize) -> Setting {
    Setting {
        capacity,
        producers,
        crowded: true,
        pause: Pause::new(1, true),
    }
}

/// A queue for one producer.
fn queue<S: Subject, L: Letter>(capacity: usize) -> (S::Producer<L>, S::Consumer<L>) {
    let (mut producers, consumer) = S::queue::<L>(setting(capacity, 1));
    let producer = producers.pop().expect("a producer for one");
    assert!(producers.is_empty());
    (producer, consumer)
}

/// The words of what is there.
fn rest<L: Letter>(consumer: &mut impl Consumer<L>) -> Vec<u64> {
    let mut words = Vec::new();
    while consumer.try_drain(5, |letter| words.push(letter.word())) > 0 {}
    words
}

/// Takes `count` letters, at most `limit` at once.
fn take<W: Way, L: Letter>(consumer: &mut impl Consumer<L>, count: u64, limit: usize) -> Vec<L> {
    let mut pause = Pause::new(1, true);
    let mut letters = Vec::new();
    while (letters.len() as u64) < count {
        let before = letters.len();
        let taken = W::drain(consumer, &mut pause, limit, |letter| letters.push(letter));
        assert_eq!(taken, letters.len() - before);
        assert!(taken <= limit);
    }
    letters
}

fn come_in_order_and_once<S: Subject, W: Way>() {
    for (capacity, limit) in [(2, 1), (2, 7), (16, 1), (16, 7), (16, 256)] {
        let (mut producer, mut consumer) = queue::<S, Words<1>>(capacity);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut pause = Pause::new(1, true);
                for word in 0..COUNT {
                    W::post(&mut producer, &mut pause, Words::new(word));
                }
            });
            let letters = take::<W, _>(&mut consumer, COUNT, limit);
            assert!(letters.iter().map(Letter::word).eq(0..COUNT));
            assert!(rest(&mut consumer).is_empty());
        });
    }
}

fn come_from_each_producer_in_order<S: Subject, W: Way>() {
    if !S::MANY_PRODUCERS {
        return;
    }
    const PRODUCERS: u64 = 3;
    let (producers, mut consumer) = S::queue::<Words<2>>(setting(16, PRODUCERS as usize));
    assert_eq!(producers.len() as u64, PRODUCERS);
    thread::scope(|scope| {
        for (index, mut producer) in (0..).zip(producers) {
            scope.spawn(move || {
                let mut pause = Pause::new(1, true);
                for word in 0..COUNT {
                    W::post(&mut producer, &mut pause, Words::pair(index, word));
                }
            });
        }
        let letters = take::<W, _>(&mut consumer, PRODUCERS * COUNT, 7);
        for index in 0..PRODUCERS {
            let his = letters.iter().filter(|letter| letter.word() == index);
            assert!(his.map(Letter::second_word).eq(0..COUNT));
        }
        assert!(rest(&mut consumer).is_empty());
    });
}

fn are_refused_when_it_is_full<S: Subject>() {
    for capacity in [2, 16] {
        let (mut producer, mut consumer) = queue::<S, Words<1>>(capacity as usize);
        let mut posted = 0;
        while producer.try_post(Words::new(posted)) {
            posted += 1;
            assert!(posted <= 64.max(capacity + 1), "it is never full");
        }
        assert!(posted >= capacity);
        assert!(!producer.try_post(Words::new(posted)));

        let mut first = None;
        assert_eq!(
            consumer.try_drain(1, |letter| first = Some(letter.word())),
            1
        );
        assert_eq!(first, Some(0));
        assert!(producer.try_post(Words::new(posted)), "there is room again");
        assert!(rest(&mut consumer).into_iter().eq(1..=posted));
    }
}

fn are_taken_up_to_the_limit<S: Subject>() {
    let (mut producer, mut consumer) = queue::<S, Words<1>>(16);
    assert_eq!(consumer.try_drain(4, |_| ()), 0);
    (0..16).for_each(|word| producer.post(Words::new(word)));
    let mut words = Vec::new();
    let mut each = |letter: Words<1>| words.push(letter.word());
    assert_eq!(consumer.try_drain(3, &mut each), 3);
    assert_eq!(consumer.drain(1, &mut each), 1);
    assert_eq!(consumer.drain(5, &mut each), 5);
    assert_eq!(consumer.try_drain(100, &mut each), 7);
    assert_eq!(consumer.try_drain(100, &mut each), 0);
    (16..20).for_each(|word| producer.post(Words::new(word)));
    assert_eq!(consumer.drain(100, &mut each), 4);
    assert!(words.into_iter().eq(0..20));
}

fn in_a_batch_are_posted_where_they_fit<S: Subject>() {
    for (there, count) in [(10, 20), (10, 7), (10, 6), (16, 3), (0, 16), (3, 0)] {
        let (mut producer, mut consumer) = queue::<S, Words<1>>(16);
        (0..there).for_each(|word| producer.post(Words::new(word)));
        let mut batch = Batch::new(there, count as usize);
        producer.try_post_batch(&mut batch);
        let posted = count - batch.len() as u64;
        if there + count <= 16 {
            assert_eq!(posted, count);
        }
        assert!(rest(&mut consumer).into_iter().eq(0..there + posted));
        assert!(
            batch
                .map(|letter| letter.word())
                .eq(there + posted..there + count)
        );
    }
}

fn in_batches_come_in_order_and_once<S: Subject, W: Way>() {
    const BATCH: usize = 8;
    for capacity in [8, 16] {
        let (mut producer, mut consumer) = queue::<S, Words<1>>(capacity);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut pause = Pause::new(1, true);
                for first in (0..COUNT).step_by(BATCH) {
                    W::post_batch(&mut producer, &mut pause, Batch::new(first, BATCH));
                }
            });
            let letters = take::<W, _>(&mut consumer, COUNT, 5);
            assert!(letters.iter().map(Letter::word).eq(0..COUNT));
            assert!(rest(&mut consumer).is_empty());
        });
    }
}

fn are_waited_for_while_there_is_a_producer<S: Subject>() {
    let (mut producer, mut consumer) = queue::<S, Words<1>>(16);
    (0..3).for_each(|word| producer.post(Words::new(word)));
    drop(producer);
    let mut words = Vec::new();
    while consumer.drain(2, |letter: Words<1>| words.push(letter.word())) > 0 {}
    assert_eq!(words, [0, 1, 2]);
    assert_eq!(consumer.drain(2, |_| ()), 0);
    assert_eq!(consumer.try_drain(2, |_| ()), 0);

    // One that waits, most of the time, when the last producer goes.
    let producers = if S::MANY_PRODUCERS { 2 } else { 1 };
    let (producers, mut consumer) = S::queue::<Words<1>>(setting(2, producers));
    thread::scope(|scope| {
        scope.spawn(move || assert_eq!(consumer.drain(2, |_| ()), 0));
        producers.into_iter().for_each(|producer| {
            thread::yield_now();
            drop(producer);
        });
    });
}

fn keep_all_their_words<S: Subject>() {
    let (mut producer, mut consumer) = queue::<S, Words<7>>(4);
    let letter = |word: u64| Words([0, 1, 2, 3, 4, 5, 6].map(|place| 10 * word + place));
    // Several times around.
    for first in (0..40).step_by(3) {
        (first..first + 3).for_each(|word| producer.post(letter(word)));
        let letters = take::<AsShipped, _>(&mut consumer, 3, 2);
        let expected = (first..first + 3).map(|word| letter(word).0);
        assert!(letters.into_iter().map(|letter| letter.0).eq(expected));
    }
}

macro_rules! letters_of {
    ($($queue:ident: $subject:ident,)*) => { $(
        mod $queue {
            use super::*;

            #[test]
            fn come_in_order_and_once() {
                super::come_in_order_and_once::<$subject, AsShipped>();
                super::come_in_order_and_once::<$subject, SameWaiting>();
            }

            #[test]
            fn come_from_each_producer_in_order() {
                super::come_from_each_producer_in_order::<$subject, AsShipped>();
                super::come_from_each_producer_in_order::<$subject, SameWaiting>();
            }

            #[test]
            fn are_refused_when_it_is_full() {
                super::are_refused_when_it_is_full::<$subject>();
            }

            #[test]
            fn are_taken_up_to_the_limit() {
                super::are_taken_up_to_the_limit::<$subject>();
            }

            #[test]
            fn in_a_batch_are_posted_where_they_fit() {
                super::in_a_batch_are_posted_where_they_fit::<$subject>();
            }

            #[test]
            fn in_batches_come_in_order_and_once() {
                super::in_batches_come_in_order_and_once::<$subject, AsShipped>();
                super::in_batches_come_in_order_and_once::<$subject, SameWaiting>();
            }

            #[test]
            fn are_waited_for_while_there_is_a_producer() {
                super::are_waited_for_while_there_is_a_producer::<$subject>();
            }

            #[test]
            fn keep_all_their_words() {
                super::keep_all_their_words::<$subject>();
            }
        }
    )* };
}

letters_of! {
    mailring_mpsc: MailringMpsc,
    mailring_spsc: MailringSpsc,
    disruptor_multi: DisruptorMulti,
    disruptor_single: DisruptorSingle,
    crossbeam_channel: CrossbeamChannel,
    crossbeam_array_queue: CrossbeamArrayQueue,
    std_mpsc: StdMpsc,
    kanal: Kanal,
    flume: Flume,
    crossfire: Crossfire,
    crossfire_spsc: CrossfireSpsc,
    thingbuf: Thingbuf,
    rtrb: Rtrb,
    tokio_mpsc: TokioMpsc,
}

#[test]
fn all_are_there_in_order() {
    let all = all();
    let names: Vec<_> = all.iter().map(Measured::name).collect();
    let expected = [
        "mailring-mpsc",
        "mailring-spsc",
        "disruptor-multi",
        "disruptor-single",
        "crossbeam-channel",
        "crossbeam-array-queue",
        "std-mpsc",
        "kanal",
        "flume",
        "crossfire",
        "crossfire-spsc",
        "thingbuf",
        "rtrb",
        "tokio-mpsc",
        "raw-ping-pong",
        "raw-park",
        "raw-futex",
        "mailring-mail",
        "mailring-enum",
        "crossbeam-boxed",
        "disruptor-enum",
        "tokio-boxed",
        "tokio-local",
        "tokio-notify",
        "std-boxed",
        "vecdeque-boxed",
        "atomic-swap",
        "mailring-task",
        "mailring-alone",
        "tokio-task",
        "kameo-actor",
        "mailring-job",
        "mailring-no-letters",
        "mailring-checkpoints",
        "hand-loop",
        "crossbeam-threads",
        "crossbeam-batched",
        "timely",
    ];
    assert_eq!(names, expected);
}

fn is_a(subject: &dyn Measured, role: Role) -> bool {
    subject.abilities().role == role
}

#[test]
fn one_that_would_be_larger_than_asked_for_is_left_out() {
    let all = all();
    for subject in all.iter().filter(|subject| is_a(*subject, Role::Queue)) {
        let fits = |capacity| {
            subject.fits(&Case {
                capacity,
                ..Case::plain(Workload::Throughput, Mode::SameWaiting)
            })
        };
        assert_eq!(fits(64), Ok(()), "{}", subject.name());
        let expected = match subject.name() {
            "disruptor-multi" => Err(Unfit::CapacityTooSmall(64)),
            _ => Ok(()),
        };
        assert_eq!(fits(32), expected, "{}", subject.name());
        assert_eq!(fits(2), expected, "{}", subject.name());
    }
}

#[test]
fn facts_are_well_formed() {
    let manifest = include_str!("../../Cargo.toml");
    let all = all();
    let names: HashSet<_> = all.iter().map(Measured::name).collect();
    assert_eq!(names.len(), all.iter().count());
    for subject in all.iter() {
        let (name, package) = (subject.name(), subject.package());
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(
            name.chars().all(is_plain) && !name.starts_with('-'),
            "{name}"
        );
        assert!(!subject.about().is_empty(), "{name}");
        let depends = manifest
            .lines()
            .any(|line| line.starts_with(&format!("{package} = ")));
        assert!(package == "std" || depends, "{name} is from {package}");
    }
}

fn site(cpus: Cpus, interrupted: &'static AtomicBool) -> Site {
    Site {
        cpus,
        clock: Clock::shared(),
        pause_hints: None,
        highest_ns: 60_000_000_000,
        seed: 0,
        interrupted,
    }
}

/// The baselines, each with a case it is fit for.
fn baselines(all: &Registry) -> Vec<(&dyn Measured, Case)> {
    let baselines = all.iter().filter(|subject| is_a(*subject, Role::Baseline));
    let with_case = baselines.map(|subject| {
        let mode = match subject.abilities().blocks {
            true => Mode::AsShipped,
            false => Mode::SameWaiting,
        };
        (subject, Case::plain(Workload::Rtt, mode))
    });
    with_case.collect()
}

#[test]
fn baselines_give_a_time_for_each_round_trip() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let all = all();
    assert_eq!(baselines(&all).len(), 3);
    for cpus in [Cpus::all(), one_cpu()] {
        let site = site(cpus, &INTERRUPTED);
        for (subject, mut case) in baselines(&all) {
            assert_eq!(
                subject.fits(&Case::plain(Workload::Throughput, case.mode)),
                Err(Unfit::NoQueue)
            );
            for think_ns in [None, Some(1_000)] {
                case.think_ns = think_ns;
                let readings = match subject.round(&site, &case, Effort::Count(50)) {
                    Err(RoundError::Unfit(Unfit::NeedsTwoCpus)) => {
                        assert!(site.cpus.crowded(2) && !subject.abilities().blocks);
                        continue;
                    }
                    readings => readings.expect("it is fit for this"),
                };
                let [reading] = &readings[..] else {
                    panic!("one reading of {}, not {}", subject.name(), readings.len());
                };
                let recorder = reading.recorder.as_ref().expect("all times");
                assert_eq!(recorder.count(), 50);
                assert_eq!(reading.value, recorder.median() as f64);
                assert!(reading.value > 0.0);
            }
        }
    }
}

#[test]
fn a_sleeping_baseline_stops_when_asked_to() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(true);
    let all = all();
    let site = site(one_cpu(), &INTERRUPTED);
    for (subject, case) in baselines(&all) {
        if subject.abilities().blocks {
            let readings = subject.round(&site, &case, Effort::Count(50));
            let readings = readings.expect("it is fit for this");
            let recorder = readings[0].recorder.as_ref().expect("all times");
            assert!(recorder.count() <= 1);
        }
    }
}

#[test]
fn what_takes_long_ends_when_asked_to() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(true);
    let all = all();
    let site = site(Cpus::all(), &INTERRUPTED);
    let start = Instant::now();
    for subject in all.iter().filter(|subject| subject.name() == "std-mpsc") {
        let hour = Duration::from_secs(3_600);
        let case = Case::plain(Workload::Idle, Mode::AsShipped);
        match subject.round(&site, &case, Effort::Time(hour)) {
            Ok(_) | Err(RoundError::Unfit(Unfit::Untold)) => {}
            Err(fault) => panic!("{fault}"),
        }
        let case = Case {
            think_ns: Some(hour.as_nanos() as u64),
            ..Case::plain(Workload::Rtt, Mode::AsShipped)
        };
        let round = subject.round(&site, &case, Effort::Count(100));
        assert!(round.is_ok(), "{round:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

fn one_cpu() -> Cpus {
    Cpus::of(&Cpus::all().numbers()[..1]).expect("one of those allowed")
}

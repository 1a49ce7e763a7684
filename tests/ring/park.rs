//! A consumer that sleeps: woken when it must be, once, and never for want of a second letter.

use crate::kind::{Handles, Kind, Mpsc, Spsc, SpscFences, Strategy};
#[cfg(target_os = "linux")]
use crate::usage::{assert_cheap, usage_of_this_thread};
use crate::watchdog::{Dice, until, watched, watched_for};
use mailring::ring::{Closed, Ring, TakeTimeoutError, Waited, mpsc};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

on_both_kinds!(
    scenario_28_a_letter_just_before_the_park_is_seen,
    scenario_29_the_first_letter_after_a_park_pays_one_wake,
    scenario_31_while_the_consumer_is_awake_nobody_wakes_it,
    scenario_32_and_b18_a_foreign_unpark_is_no_event,
    b18_a_timed_take_lasts_its_time_through_foreign_unparks,
);

fn scenario_28_a_letter_just_before_the_park_is_seen<K: Kind>() {
    watched(|| {
        const ROUNDS: u64 = 5_000;
        let (producer, mut consumer) = K::waiting(1, Strategy::ParkAtOnce);
        let taken = AtomicU64::new(0);
        thread::scope(|scope| {
            let taken = &taken;
            scope.spawn(move || {
                let mut dice = Dice::new(28);
                for round in 0..ROUNDS {
                    // The consumer is just about to look, to park, or asleep.
                    while taken.load(SeqCst) < round {
                        std::hint::spin_loop();
                        if dice.roll(100) == 0 {
                            thread::yield_now();
                        }
                    }
                    dice.dawdle(60);
                    assert_eq!(producer.try_post(round), Ok(()));
                }
            });
            for round in 0..ROUNDS {
                assert_eq!(consumer.take(), Ok(round));
                taken.store(round + 1, SeqCst);
            }
            assert_eq!(consumer.take(), Err(Closed(())));
        });
    });
}

fn scenario_29_the_first_letter_after_a_park_pays_one_wake<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::waiting(8, Strategy::ParkAtOnce);
        let (resting, rested) = channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                // Asleep: it parked more often than it was woken, and nobody else posts.
                for round in 0..200 {
                    let before: u64 = rested.recv().unwrap();
                    until(|| producer.counters().parks > before);
                    let wakes = producer.counters().wakes;
                    producer.post(2 * round).unwrap();
                    producer.post(2 * round + 1).unwrap();
                    let paid = producer.counters().wakes - wakes;
                    assert!(paid <= 2, "one wake for the park, at most one for the next");
                }
            });
            for round in 0..200 {
                resting.send(consumer.counters().parks).unwrap();
                assert_eq!(consumer.take(), Ok(2 * round));
                assert_eq!(consumer.take(), Ok(2 * round + 1));
            }
            let counters = consumer.counters();
            assert!(counters.wakes <= counters.parks, "{counters:?}");
        });
    });
}

#[test]
fn scenario_30_two_producers_meet_one_sleeper_and_one_wakes_it() {
    watched(|| {
        let (producer, mut consumer) = Mpsc::waiting(8, Strategy::ParkAtOnce);
        for _ in 0..500 {
            let before = consumer.counters();
            thread::scope(|scope| {
                for _ in 0..2 {
                    let producer = producer.clone();
                    scope.spawn(move || {
                        until(|| producer.counters().parks > before.parks);
                        producer.post(()).unwrap();
                    });
                }
                consumer.take().unwrap();
                consumer.take().unwrap();
            });
            let after = consumer.counters();
            let (parks, wakes) = (after.parks - before.parks, after.wakes - before.wakes);
            assert!(wakes <= parks, "each park is ended by one: {parks} {wakes}");
        }
    });
}

fn scenario_31_while_the_consumer_is_awake_nobody_wakes_it<K: Kind>() {
    watched(|| {
        const LETTERS: usize = 300_000;
        let (producer, mut consumer) = K::bounded(1024);
        let before = consumer.counters();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut posted = 0;
                while posted < LETTERS {
                    match producer.try_post(posted) {
                        Ok(()) => posted += 1,
                        Err(_) => thread::yield_now(),
                    }
                }
            });
            // Drains in a loop and never waits: awake all the time, also where it finds nothing.
            let mut taken = 0;
            while taken < LETTERS {
                taken += consumer.drain(64, |_, _| {});
            }
        });
        let after = consumer.counters();
        assert_eq!((after.wakes, after.parks), (before.wakes, before.parks));
    });
}

fn scenario_32_and_b18_a_foreign_unpark_is_no_event<K: Kind>() {
    for strategy in [Strategy::ParkAtOnce, Strategy::Parking, Strategy::Fickle] {
        watched(move || {
            let (producer, mut consumer) = K::waiting(2, strategy);
            let returned = AtomicBool::new(false);
            thread::scope(|scope| {
                let taking = scope.spawn(|| {
                    let letter = consumer.take();
                    returned.store(true, SeqCst);
                    letter
                });
                until(|| producer.counters().parks > 0);
                for _ in 0..1_000 {
                    taking.thread().unpark();
                    thread::yield_now();
                }
                assert!(!returned.load(SeqCst));
                producer.post(7).unwrap();
                assert_eq!(taking.join().unwrap(), Ok(7));
            });
        });
    }
}

/// About time: a take that is woken for nothing again and again still lasts as long as was asked.
fn b18_a_timed_take_lasts_its_time_through_foreign_unparks<K: Kind>() {
    watched(|| {
        const TIMEOUT: Duration = Duration::from_millis(50);
        let (_producer, mut consumer) = K::waiting::<u8>(2, Strategy::ParkAtOnce);
        thread::scope(|scope| {
            let taking = scope.spawn(move || {
                let start = Instant::now();
                let outcome = consumer.take_timeout(TIMEOUT);
                (outcome, start.elapsed())
            });
            while !taking.is_finished() {
                taking.thread().unpark();
                thread::yield_now();
            }
            let (outcome, lasted) = taking.join().unwrap();
            assert_eq!(outcome, Err(TakeTimeoutError::Timeout));
            assert!(lasted >= TIMEOUT, "{lasted:?}");
        });
    });
}

#[test]
fn b18_a_wake_that_comes_late_is_no_event() {
    watched(|| {
        // Two producers race so that one drain eats both letters; the wake of one may come while
        // the consumer waits for the next round already.
        const ROUNDS: u64 = 2_000;
        let (producer, mut consumer) = Mpsc::waiting(4, Strategy::ParkAtOnce);
        let taken = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                let (producer, taken) = (producer.clone(), &taken);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        until(|| taken.load(SeqCst) >= 2 * round);
                        producer.post(round).unwrap();
                    }
                });
            }
            drop(producer);
            let mut count = 0;
            loop {
                match consumer.wait() {
                    Waited::Letters => {
                        let drained = consumer.drain(4, |_, _| {}) as u64;
                        assert!(drained > 0, "a wait that says so has letters");
                        count += drained;
                        taken.store(count, SeqCst);
                    }
                    Waited::Finished => break,
                    other => panic!("{other:?} although nobody kicked"),
                }
            }
            assert_eq!(count, 2 * ROUNDS);
        });
    });
}

/// Producers take turns posting one letter and waiting for its acknowledgement: nothing else
/// follows that could repair a missed wake-up.
fn b17_round_trips<R>(
    producers: Vec<mailring::ring::Producer<R>>,
    consumer: Consumer<R>,
    rounds: u64,
) where
    R: Ring<Letter = u64, ProducerSide: Send> + Send + Sync,
{
    let mut consumer = consumer;
    let count = producers.len() as u64;
    let acknowledged = AtomicU64::new(0);
    thread::scope(|scope| {
        for (who, producer) in producers.into_iter().enumerate() {
            let acknowledged = &acknowledged;
            scope.spawn(move || {
                let mut dice = Dice::new(17 + who as u64);
                for round in (who as u64..rounds).step_by(count as usize) {
                    until(|| acknowledged.load(SeqCst) >= round);
                    dice.dawdle(400);
                    producer.post(round).unwrap();
                }
            });
        }
        for round in 0..rounds {
            assert_eq!(consumer.take(), Ok(round));
            acknowledged.store(round + 1, SeqCst);
        }
        assert_eq!(consumer.take(), Err(Closed(())));
    });
}

type Consumer<R> = mailring::ring::Consumer<R>;

fn b17_each_strategy(rounds: u64) {
    fn alone<K: Kind>(strategy: Strategy, rounds: u64) {
        let (producer, consumer): Handles<K, u64> = K::waiting(4, strategy);
        b17_round_trips(vec![producer], consumer, rounds);
    }
    for strategy in Strategy::ALL {
        watched_for(
            Duration::from_secs(3_600.min(240 + rounds / 1_000)),
            move || {
                let (producer, consumer) = Mpsc::waiting(4, strategy);
                b17_round_trips(vec![producer.clone(), producer], consumer, rounds);
                alone::<Spsc>(strategy, rounds);
                alone::<SpscFences>(strategy, rounds);
            },
        );
    }
}

#[test]
fn b17_no_letter_waits_for_the_next_one() {
    b17_each_strategy(1_000);
}

#[test]
#[ignore = "long form: 1,000,000 round trips for each strategy and kind"]
fn b17_no_letter_waits_for_the_next_one_long() {
    b17_each_strategy(1_000_000);
}

#[test]
fn a_kick_wakes_a_sleeper_and_counts_once() {
    watched(|| {
        let (producer, mut consumer) = Mpsc::waiting::<u64>(2, Strategy::ParkAtOnce);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(consumer.wait(), Waited::Kicked));
            until(|| producer.counters().parks > 0);
            producer.kick();
        });
        producer.kick();
        producer.kick();
        producer.post(1).unwrap();
        assert_eq!(consumer.take(), Ok(1), "a take is not ended by a kick");
        assert_eq!(consumer.wait(), Waited::Kicked);
        let now = Instant::now();
        assert_eq!(consumer.wait_deadline(now), Waited::TimedOut);
    });
}

/// Waits that a kick does not end leave it to the next one that it does.
#[test]
fn a_kick_that_a_take_skips_is_reported_by_the_next_wait() {
    use mailring::ring::mpsc::Rest;
    use std::task::{Context, Waker};

    type Take = fn(&mut mpsc::Consumer<u64>, &mpsc::Producer<u64>);
    // Each finds the kick before the letter.
    let takes: [Take; 4] = [
        |consumer, producer| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    // Taken once the owner sleeps without it.
                    until(|| producer.counters().parks > 0);
                    producer.post(1).unwrap();
                });
                assert_eq!(consumer.take(), Ok(1));
            });
        },
        |consumer, producer| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    until(|| producer.counters().parks > 0);
                    producer.post(1).unwrap();
                });
                assert_eq!(consumer.iter().next(), Some(1));
            });
        },
        |consumer, producer| {
            let late = consumer.take_timeout(std::time::Duration::from_millis(1));
            assert!(late.is_err());
            producer.post(1).unwrap();
            assert_eq!(consumer.take(), Ok(1));
        },
        |consumer, producer| {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(consumer.poll_take(&mut cx).is_pending());
            producer.post(1).unwrap();
            assert!(consumer.poll_take(&mut cx).is_ready());
        },
    ];
    for (case, take) in takes.into_iter().enumerate() {
        for by_rest in [false, true] {
            watched(move || {
                let (producer, mut consumer) = Mpsc::waiting(2, Strategy::ParkAtOnce);
                producer.kick();
                take(&mut consumer, &producer);
                // Before letters, and once.
                producer.post(2).unwrap();
                if by_rest {
                    assert_eq!(consumer.rest(), Rest::Kicked, "case {case}");
                    assert_eq!(consumer.rest(), Rest::Look, "case {case}");
                } else {
                    assert_eq!(consumer.wait(), Waited::Kicked, "case {case}");
                    let waited = consumer.wait_deadline(Instant::now());
                    assert_eq!(waited, Waited::Letters, "case {case}");
                }
                assert_eq!(consumer.take(), Ok(2));
                let waited = consumer.wait_deadline(Instant::now());
                assert_eq!(waited, Waited::TimedOut, "case {case}");
            });
        }
    }
}

#[test]
fn an_owner_at_rest_has_its_hook_called_once() {
    use mailring::ring::mpsc::Rest;
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let (producer, mut consumer) = mpsc::Builder::new(4)
        .wake_by(|| {
            CALLS.fetch_add(1, SeqCst);
        })
        .build()
        .unwrap();
    assert_eq!(consumer.rest(), Rest::Resting);
    producer.post(1).unwrap();
    producer.post(2).unwrap();
    assert_eq!(
        CALLS.load(SeqCst),
        1,
        "whoever ends the rest, and nobody else"
    );
    assert_eq!(consumer.rest(), Rest::Look);
    assert_eq!(consumer.drain(4, |_, _| {}), 2);
    assert_eq!(consumer.rest(), Rest::Resting);
    producer.kick();
    assert_eq!(CALLS.load(SeqCst), 2);
    assert_eq!(consumer.rest(), Rest::Kicked);
    assert_eq!(consumer.rest(), Rest::Resting);
    drop(producer);
    assert_eq!(CALLS.load(SeqCst), 3);
    assert_eq!(consumer.rest(), Rest::Finished);
}

/// About time: a sleep that lasts is what is measured.
#[test]
#[cfg(target_os = "linux")]
fn a_parked_consumer_uses_no_cpu() {
    const ASLEEP: Duration = Duration::from_millis(400);
    fn used<K: Kind>() -> (Duration, i64) {
        let (producer, mut consumer) = K::bounded::<u8>(16);
        let sleeper = thread::spawn(move || {
            let before = usage_of_this_thread();
            assert_eq!(consumer.take(), Ok(1));
            let after = usage_of_this_thread();
            (after.0 - before.0, after.1 - before.1)
        });
        until(|| producer.counters().parks > 0);
        thread::sleep(ASLEEP);
        producer.post(1).unwrap();
        sleeper.join().unwrap()
    }
    watched(|| assert_cheap(ASLEEP / 8, 100, used::<Mpsc>));
    watched(|| assert_cheap(ASLEEP / 8, 100, used::<Spsc>));
}

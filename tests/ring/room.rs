//! Producers that wait for room: served in order, woken as room appears, released by the end.

use crate::counted::Live;
use crate::kind::{Kind, Mpsc, Strategy};
#[cfg(target_os = "linux")]
use crate::usage::{assert_cheap, usage_of_this_thread};
use crate::watchdog::{Dice, until, watched, watched_for};
use mailring::ring::{Closed, PostTimeoutError, mpsc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

on_both_kinds!(
    scenario_37_and_b25_the_end_releases_a_blocked_producer,
    scenario_45_release_against_a_producer_about_to_wait,
    scenario_53_a_handler_posts_to_its_own_full_ring,
);

const FAR: Duration = Duration::from_secs(3_600);

/// The three ways in which the consumer's side may end.
#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Drop,
    Panic,
}

const ENDS: [End; 3] = [End::Close, End::Drop, End::Panic];

fn scenario_37_and_b25_the_end_releases_a_blocked_producer<K: Kind>() {
    for strategy in Strategy::ALL {
        for end in ENDS {
            watched(move || {
                let live = Live::new();
                let (producer, consumer) = K::waiting(2, strategy);
                producer.try_post_batch(live.letters(2)).unwrap();
                let blocked = AtomicBool::new(false);
                thread::scope(|scope| {
                    let (live, blocked) = (&live, &blocked);
                    scope.spawn(move || {
                        blocked.store(true, SeqCst);
                        let Closed(letter) = producer.post(live.letter(9)).unwrap_err();
                        assert_eq!(letter.number(), 9);
                    });
                    until(|| blocked.load(SeqCst));
                    end_by(end, consumer);
                });
                assert_eq!(live.now(), 0);
            });
        }
    }
}

fn end_by<R: mailring::ring::Ring>(end: End, consumer: mailring::ring::Consumer<R>) {
    match end {
        End::Close => assert!(consumer.close().count() <= 2),
        End::Drop => drop(consumer),
        End::Panic => {
            let panicked = catch_unwind(AssertUnwindSafe(move || {
                let _consumer = consumer;
                panic!("the consumer's thread ends by a panic");
            }));
            assert!(panicked.is_err());
        }
    }
}

#[test]
fn scenario_37_and_b25_the_end_releases_all_who_stand_in_line() {
    for strategy in Strategy::ALL {
        for end in ENDS {
            watched(move || {
                let live = Live::new();
                let (producer, consumer) = Mpsc::waiting(2, strategy);
                producer.try_post_batch(live.letters(2)).unwrap();
                thread::scope(|scope| {
                    for number in 10..13 {
                        let (producer, live) = (producer.clone(), &live);
                        scope.spawn(move || {
                            let Closed(letter) = producer.post(live.letter(number)).unwrap_err();
                            assert_eq!(letter.number(), number);
                        });
                    }
                    let (timed, counted) = (producer.clone(), &live);
                    scope.spawn(move || match timed.post_timeout(counted.letter(13), FAR) {
                        Err(PostTimeoutError::Closed(letter)) => {
                            assert_eq!(letter.number(), 13);
                        }
                        other => panic!("{other:?}"),
                    });
                    until(|| producer.waiting_producers() == 4);
                    end_by(end, consumer);
                });
                assert_eq!(producer.waiting_producers(), 0);
                assert_eq!(live.now(), 0);
            });
        }
    }
}

#[test]
fn scenario_44_those_who_wait_are_served_in_the_order_they_came() {
    for strategy in Strategy::ALL {
        watched(move || {
            const WAITING: usize = 6;
            let (producer, mut consumer) = Mpsc::waiting(1, strategy);
            for _ in 0..10 {
                producer.try_post(0).unwrap();
                thread::scope(|scope| {
                    for number in 1..=WAITING {
                        let waiting = producer.clone();
                        scope.spawn(move || waiting.post(number).unwrap());
                        until(|| producer.waiting_producers() == number);
                    }
                    for number in 0..=WAITING {
                        assert_eq!(consumer.take(), Ok(number));
                    }
                });
            }
        });
    }
}

#[test]
fn scenario_44_a_batch_released_at_once_serves_as_many_as_fit() {
    watched(|| {
        const CAPACITY: usize = 4;
        const WAITING: usize = 7;
        let (producer, mut consumer) = Mpsc::waiting(CAPACITY, Strategy::ParkAtOnce);
        for _ in 0..30 {
            producer.try_post_batch([0; CAPACITY]).unwrap();
            thread::scope(|scope| {
                for number in 1..=WAITING {
                    let waiting = producer.clone();
                    scope.spawn(move || waiting.post(number).unwrap());
                    until(|| producer.waiting_producers() == number);
                }
                let mut letters = Vec::new();
                assert_eq!(consumer.drain_to(&mut letters, CAPACITY), CAPACITY);
                until(|| producer.len() == CAPACITY);
                until(|| producer.waiting_producers() == WAITING - CAPACITY);
                // Which of those four wrote first is theirs to race for; nobody overtook them.
                letters.clear();
                while letters.len() < CAPACITY {
                    consumer.drain_to(&mut letters, CAPACITY);
                }
                letters[..CAPACITY].sort_unstable();
                assert_eq!(letters[..CAPACITY], [1, 2, 3, 4]);
                while letters.len() < WAITING {
                    letters.push(consumer.take().unwrap());
                }
            });
            assert_eq!((producer.len(), producer.waiting_producers()), (0, 0));
        }
    });
}

#[test]
fn scenario_44_and_45_none_starves_and_no_wake_is_lost() {
    for strategy in Strategy::ALL {
        for capacity in [1, 2, 5] {
            watched(move || {
                const EACH: u64 = 300;
                let (producer, mut consumer) = Mpsc::waiting(capacity, strategy);
                thread::scope(|scope| {
                    for who in 0..4_u64 {
                        let producer = producer.clone();
                        scope.spawn(move || {
                            for number in 0..EACH {
                                if who == 3 && number % 3 == 0 {
                                    producer.post_batch([(who, number)]).unwrap();
                                } else {
                                    producer.post((who, number)).unwrap();
                                }
                            }
                        });
                    }
                    drop(producer);
                    let mut dice = Dice::new(44);
                    let mut next = [0; 4];
                    while !consumer.is_finished() {
                        consumer.wait();
                        let max = 1 + dice.roll(capacity as u64) as usize;
                        consumer.drain(max, |(who, number), _| {
                            assert_eq!(number, next[who as usize]);
                            next[who as usize] += 1;
                        });
                    }
                    assert_eq!(next, [EACH; 4]);
                });
            });
        }
    }
}

fn scenario_45_release_against_a_producer_about_to_wait<K: Kind>() {
    watched(|| {
        const ROUNDS: u64 = 5_000;
        let (producer, mut consumer) = K::waiting(1, Strategy::ParkAtOnce);
        let posted = AtomicU64::new(0);
        thread::scope(|scope| {
            let posted = &posted;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // The second waits for room, or finds it just made.
                    producer.post(2 * round).unwrap();
                    posted.store(round + 1, SeqCst);
                    producer.post(2 * round + 1).unwrap();
                }
            });
            let mut dice = Dice::new(45);
            for round in 0..ROUNDS {
                until(|| posted.load(SeqCst) > round);
                dice.dawdle(60);
                assert_eq!(consumer.try_take(), Ok(2 * round));
                assert_eq!(consumer.take(), Ok(2 * round + 1));
            }
        });
    });
}

fn scenario_53_a_handler_posts_to_its_own_full_ring<K: Kind>() {
    for capacity in [1, 2, 8, 100] {
        let (producer, mut consumer) = K::bounded(capacity);
        while producer.try_post(0_u64).is_ok() {}
        let mut refused = 0;
        let handled = consumer.drain(capacity, |letter, _| {
            // Ok or full, as the documented quarters have it; never a deadlock.
            refused += usize::from(producer.try_post(letter + 1).is_err());
        });
        assert_eq!(handled, capacity);
        assert!(
            refused <= capacity - capacity / 4 * 4 + capacity / 4 * 3,
            "{refused}"
        );
        // Between drains there is room for what was handled.
        assert_eq!(producer.len(), handled - refused);
        assert_eq!(consumer.drain(usize::MAX, |_, _| {}), handled - refused);
    }
}

/// A waits within a bound, then B and C come; whether A gets in or gives up, B and C get in.
fn b20_rounds(rounds: u64, strategy: Strategy) {
    let mut dice = Dice::new(20);
    for round in 0..rounds {
        let (producer, mut consumer) = Mpsc::waiting(1, strategy);
        producer.try_post(0).unwrap();
        // Long enough for the three to line up, mostly, and then just about when room appears.
        let timeout = Duration::from_micros(300 + dice.roll(300));
        let (accepted, taken) = thread::scope(|scope| {
            let a = producer.clone();
            let giving_up = scope.spawn(move || a.post_timeout(1, timeout).is_ok());
            for number in 2..4 {
                let waiting = producer.clone();
                until(|| {
                    producer.waiting_producers() as u64 == number - 1
                        || round % 2 == 0
                        || giving_up.is_finished()
                });
                scope.spawn(move || waiting.post(number).unwrap());
            }
            until(|| giving_up.is_finished() || dice_says(round, &producer));
            let mut taken = vec![consumer.take().unwrap()];
            let accepted = 3 + u64::from(giving_up.join().unwrap());
            while (taken.len() as u64) < accepted {
                taken.push(consumer.take().unwrap());
            }
            (accepted, taken)
        });
        assert_eq!(taken.len() as u64, accepted);
        assert!(taken.contains(&2) && taken.contains(&3));
        assert_eq!((producer.len(), producer.waiting_producers()), (0, 0));
    }

    /// In some rounds room appears while A waits, in others when it has given up.
    fn dice_says(round: u64, producer: &mpsc::Producer<u64>) -> bool {
        !round.is_multiple_of(3) && producer.waiting_producers() == 3
    }
}

#[test]
fn b20_and_scenario_70_a_waiter_that_gives_up_passes_its_wake_on() {
    for strategy in [Strategy::Parking, Strategy::ParkAtOnce, Strategy::Yielding] {
        watched(move || b20_rounds(200, strategy));
    }
}

#[test]
#[ignore = "long form: 20,000 rounds for each strategy"]
fn b20_a_waiter_that_gives_up_passes_its_wake_on_long() {
    for strategy in Strategy::ALL {
        watched_for(FAR, move || b20_rounds(20_000, strategy));
    }
}

#[test]
fn scenario_70_those_who_retry_in_time_strand_nobody() {
    watched(|| {
        // Bounds so short that waiters leave just as they are being woken.
        const EACH: u64 = 300;
        let (producer, mut consumer) = Mpsc::waiting(1, Strategy::ParkAtOnce);
        thread::scope(|scope| {
            for who in 0..4_u64 {
                let producer = producer.clone();
                scope.spawn(move || {
                    let mut dice = Dice::new(who);
                    for mut letter in 0..EACH {
                        if who < 2 {
                            producer.post(letter).unwrap();
                            continue;
                        }
                        loop {
                            let bound = Duration::from_micros(dice.roll(40));
                            match producer.post_timeout(letter, bound) {
                                Ok(()) => break,
                                Err(PostTimeoutError::Timeout(back)) => letter = back,
                                Err(PostTimeoutError::Closed(_)) => panic!("closed"),
                            }
                        }
                    }
                });
            }
            drop(producer);
            assert_eq!(consumer.iter().count() as u64, 4 * EACH);
        });
    });
}

/// About time: what waiting costs while the consumer is slow.
#[test]
#[cfg(target_os = "linux")]
fn b24_producers_that_wait_for_room_use_no_cpu() {
    const WAITING: usize = 8;
    const SLOW: Duration = Duration::from_millis(400);
    fn used() -> (Duration, i64) {
        let (producer, mut consumer) = mpsc::bounded(16).unwrap();
        producer.try_post_batch([0; 16]).unwrap();
        let used: Vec<_> = thread::scope(|scope| {
            let waiting: Vec<_> = (0..WAITING)
                .map(|_| {
                    let producer = producer.clone();
                    scope.spawn(move || {
                        let before = usage_of_this_thread();
                        producer.post(1).unwrap();
                        let after = usage_of_this_thread();
                        (after.0 - before.0, after.1 - before.1)
                    })
                })
                .collect();
            until(|| producer.waiting_producers() == WAITING);
            thread::sleep(SLOW);
            let handled = consumer.drain(16, |_, _| {});
            assert_eq!(handled, 16);
            let used = waiting.into_iter().map(|w| w.join().unwrap()).collect();
            assert_eq!(consumer.drain(16, |_, _| {}), WAITING);
            used
        });
        let cpu = used.iter().map(|(cpu, _)| *cpu).sum();
        (cpu, used.iter().map(|(_, switches)| *switches).sum())
    }
    // The case allows an eighth of one CPU and 2,500 switches a second, for all eight.
    watched(|| assert_cheap(SLOW / 8, 1_000, used));
}

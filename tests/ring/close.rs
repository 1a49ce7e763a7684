//! Close, quiesce, and the end: what was accepted comes exactly once, the rest is handed back.

use crate::counted::{Live, numbers};
use crate::kind::{Kind, Strategy};
use crate::watchdog::{Dice, until, watched};
use mailring::ring::{
    Closed, Consumer, PostTimeoutError, Producer, Refusal, Ring, TakeTimeoutError, TryPostError,
    TryTakeError, Waited, mpsc,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

on_both_kinds!(
    scenario_34_and_b72_a_closed_ring_hands_every_letter_back,
    scenario_34_quiesce_drains_what_was_accepted,
    scenario_35_close_against_posts,
    scenario_36_close_wakes_a_parked_consumer,
    scenario_36_the_last_producer_gone_wakes_a_parked_consumer,
    scenario_38_the_second_close_says_so,
    scenario_40_last_producer_dropped_against_take,
    scenario_42_posts_after_the_close_move_nothing,
);

const FAR: Duration = Duration::from_secs(60);

fn scenario_34_and_b72_a_closed_ring_hands_every_letter_back<K: Kind>() {
    watched(|| {
        for full in [false, true] {
            let live = Live::new();
            let (producer, mut consumer) = K::bounded(1);
            if full {
                producer.try_post(live.letter(0)).unwrap();
            }
            consumer.quiesce();
            assert!(producer.is_closed() && consumer.is_closed());
            // Closed comes before full.
            match producer.try_post(live.letter(1)) {
                Err(TryPostError::Closed(letter)) => assert_eq!(letter.number(), 1),
                other => panic!("{other:?}"),
            }
            let Err(Closed(letter)) = producer.post(letter_of(&live, 2)) else {
                panic!("accepted");
            };
            assert_eq!(letter.number(), 2);
            drop(letter);
            match producer.post_timeout(live.letter(3), FAR) {
                Err(PostTimeoutError::Closed(letter)) => assert_eq!(letter.number(), 3),
                other => panic!("{other:?}"),
            }
            match producer.post_deadline(live.letter(4), Instant::now()) {
                Err(PostTimeoutError::Closed(letter)) => assert_eq!(letter.number(), 4),
                other => panic!("{other:?}"),
            }
            let batch = producer.try_post_batch(live.letters(3)).unwrap_err();
            assert_eq!((batch.posted, batch.reason), (0, Refusal::Closed));
            assert_eq!(numbers(batch.rest), [0, 1, 2]);
            let batch = producer
                .post_batch(live.letters(3).into_iter())
                .unwrap_err();
            assert_eq!((batch.posted, batch.reason), (0, Refusal::Closed));
            assert_eq!(numbers(batch.rest), [0, 1, 2]);

            assert_eq!(consumer.len(), usize::from(full));
            assert_eq!(consumer.is_finished(), !full);
            assert_eq!(numbers(consumer.iter()).len(), usize::from(full));
            assert!(consumer.is_finished());
            assert_eq!(live_after(consumer, producer, &live), 0);
        }
    });

    fn letter_of(live: &Live, number: u64) -> crate::counted::Counted {
        live.letter(number)
    }

    fn live_after<R: Ring>(consumer: Consumer<R>, producer: Producer<R>, live: &Live) -> i64 {
        drop((consumer, producer));
        live.now()
    }
}

fn scenario_34_quiesce_drains_what_was_accepted<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::bounded(4);
        producer.post_batch([1, 2, 3]).unwrap();
        consumer.quiesce();
        assert_eq!(producer.try_post(4), Err(TryPostError::Closed(4)));
        assert_eq!(consumer.wait(), Waited::Letters);
        assert_eq!(consumer.try_take(), Ok(1));
        assert!(!consumer.is_finished());
        assert_eq!(consumer.take(), Ok(2));
        assert_eq!(consumer.take_timeout(FAR), Ok(3));
        assert!(consumer.is_finished());
        assert_eq!(consumer.wait(), Waited::Finished);
        assert_eq!(
            consumer.wait_deadline(Instant::now() + FAR),
            Waited::Finished
        );
        assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
        assert_eq!(consumer.take(), Err(Closed(())));
        assert_eq!(consumer.take_timeout(FAR), Err(TakeTimeoutError::Closed));
        assert_eq!(consumer.drain(9, |_, _| {}), 0);
        assert_eq!(consumer.close().count(), 0);
    });
}

/// Posts until refused as closed; returns how many were accepted.
fn post_until_closed<R: Ring<Letter = u64>>(producer: &Producer<R>) -> u64 {
    let mut accepted = 0;
    loop {
        match producer.try_post(accepted) {
            Ok(()) => accepted += 1,
            Err(TryPostError::Full(letter)) => {
                assert_eq!(letter, accepted);
                thread::yield_now();
            }
            Err(TryPostError::Closed(letter)) => {
                assert_eq!(letter, accepted);
                return accepted;
            }
        }
    }
}

fn scenario_35_close_against_posts<K: Kind>() {
    watched(|| {
        let mut dice = Dice::new(35);
        for round in 0..300 {
            let (producer, mut consumer) = K::bounded(8);
            thread::scope(|scope| {
                let posting = scope.spawn(move || post_until_closed(&producer));
                let mut taken = 0;
                for _ in 0..dice.roll(4) {
                    taken += consumer.drain(usize::MAX, |_, _| {}) as u64;
                    dice.dawdle(200);
                }
                let undelivered = if round % 2 == 0 {
                    consumer.close().count()
                } else {
                    consumer.quiesce();
                    consumer.iter().count()
                };
                let accepted = posting.join().unwrap();
                assert_eq!(accepted, taken + undelivered as u64, "each Ok exactly once");
            });
        }
    });
}

#[test]
fn scenario_35_close_against_posts_of_two_producers() {
    watched(|| {
        let mut dice = Dice::new(35);
        for round in 0..300 {
            let (producer, mut consumer) = mpsc::bounded(4).unwrap();
            let closer = producer.clone();
            thread::scope(|scope| {
                let posting: Vec<_> = (0..2)
                    .map(|_| {
                        let producer = producer.clone();
                        scope.spawn(move || post_until_closed(&producer))
                    })
                    .collect();
                let mut taken = 0;
                for _ in 0..dice.roll(4) {
                    taken += consumer.drain(usize::MAX, |_, _| {}) as u64;
                    dice.dawdle(200);
                }
                taken += if round % 2 == 0 {
                    consumer.close().count()
                } else {
                    assert!(closer.close());
                    consumer.iter().count()
                } as u64;
                let accepted: u64 = posting.into_iter().map(|p| p.join().unwrap()).sum();
                assert_eq!(accepted, taken, "each Ok exactly once");
            });
        }
    });
}

fn scenario_36_close_wakes_a_parked_consumer<K: Kind>() {
    for strategy in Strategy::ALL {
        watched(move || {
            let mut dice = Dice::new(36);
            for round in 0..100 {
                let (producer, mut consumer) = K::waiting::<u64>(1, strategy);
                thread::scope(|scope| {
                    let taking = scope.spawn(move || match round % 3 {
                        0 => assert_eq!(consumer.take(), Err(Closed(()))),
                        1 => assert_eq!(consumer.wait(), Waited::Finished),
                        _ => assert_eq!(consumer.take_timeout(FAR), Err(TakeTimeoutError::Closed)),
                    });
                    // Half the time it surely sleeps first, where it sleeps at all.
                    if round % 2 == 0 && strategy == Strategy::ParkAtOnce {
                        until(|| producer.counters().parks > 0);
                    } else {
                        dice.dawdle(2_000);
                    }
                    assert!(producer.close());
                    taking.join().unwrap();
                });
            }
        });
    }
}

fn scenario_36_the_last_producer_gone_wakes_a_parked_consumer<K: Kind>() {
    watched(|| {
        for _ in 0..300 {
            let (producer, mut consumer) = K::waiting::<u64>(1, Strategy::ParkAtOnce);
            thread::scope(|scope| {
                scope.spawn(move || assert_eq!(consumer.take(), Err(Closed(()))));
                until(|| producer.counters().parks > 0);
                drop(producer);
            });
        }
    });
}

fn scenario_38_the_second_close_says_so<K: Kind>() {
    let (producer, mut consumer) = K::bounded::<u64>(1);
    assert!(producer.close());
    assert!(!producer.close());
    consumer.quiesce();
    consumer.quiesce();
    assert!(!producer.close());
    assert_eq!(consumer.close().count(), 0);
}

#[test]
fn scenario_38_of_two_who_close_at_once_one_did_it() {
    watched(|| {
        for _ in 0..500 {
            let (producer, mut consumer) = mpsc::bounded(8).unwrap();
            let start = Barrier::new(2);
            producer.post_batch([1, 2]).unwrap();
            let closed = thread::scope(|scope| {
                let close = || {
                    let (producer, start) = (producer.clone(), &start);
                    scope.spawn(move || {
                        start.wait();
                        (producer.close(), producer.try_post(9))
                    })
                };
                [close(), close()].map(|closing| closing.join().unwrap())
            });
            assert!(closed[0].0 != closed[1].0, "one of them, and only one");
            assert!(
                closed
                    .iter()
                    .all(|(_, post)| *post == Err(TryPostError::Closed(9)))
            );
            assert!(consumer.iter().eq([1, 2]), "one end for both");
        }
    });
}

fn scenario_40_last_producer_dropped_against_take<K: Kind>() {
    watched(|| {
        let mut dice = Dice::new(40);
        for _ in 0..500 {
            let (producer, mut consumer) = K::waiting(4, Strategy::ParkAtOnce);
            let letters = dice.roll(6);
            thread::scope(|scope| {
                scope.spawn(move || {
                    for letter in 0..letters {
                        producer.post(letter).unwrap();
                    }
                });
                assert!(
                    consumer.iter().eq(0..letters),
                    "all letters, and then the end"
                );
                assert_eq!(consumer.take(), Err(Closed(())));
            });
        }
    });
}

fn scenario_42_posts_after_the_close_move_nothing<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::bounded(4);
        producer.post_batch([0, 1, 2]).unwrap();
        consumer.quiesce();
        for _ in 0..100 {
            assert!(producer.try_post(9).unwrap_err().is_closed());
            assert!(producer.try_post_batch([9; 9]).is_err());
        }
        assert_eq!((producer.len(), consumer.len()), (3, 3));
        let undelivered = consumer.close();
        assert_eq!(undelivered.size_hint().0, 3);
        assert!(undelivered.eq(0..3));
    });
}

#[test]
fn scenario_43_no_close_while_a_handle_lives() {
    watched(|| {
        const ROUNDS: u64 = 2_000;
        for _ in 0..20 {
            let (producer, mut consumer) = mpsc::bounded(64).unwrap();
            let weak = producer.downgrade();
            let gone = AtomicBool::new(false);
            let upgraded = thread::scope(|scope| {
                let upgrading = scope.spawn(|| {
                    let mut upgraded = 0;
                    while let Some(producer) = weak.upgrade() {
                        assert!(!producer.is_closed(), "it keeps the ring open");
                        upgraded += 1;
                        if gone.load(SeqCst) && upgraded > 10 {
                            break;
                        }
                    }
                    upgraded
                });
                scope.spawn(|| {
                    let mut producer = producer;
                    for letter in 0..ROUNDS {
                        // The last but one handle goes just as another comes.
                        let next = producer.clone();
                        drop(std::mem::replace(&mut producer, next));
                        assert!(!producer.is_closed());
                        if letter % 64 == 0 {
                            producer.post(letter).unwrap();
                        }
                    }
                    drop(producer);
                    gone.store(true, SeqCst);
                });
                assert_eq!(consumer.iter().count() as u64, ROUNDS.div_ceil(64));
                upgrading.join().unwrap()
            });
            assert!(consumer.is_finished());
            assert!(
                weak.upgrade().is_none(),
                "after {upgraded} upgrades, none is left"
            );
        }
    });
}

#[test]
fn scenario_43_a_weak_producer_does_not_keep_the_ring_open() {
    let (producer, mut consumer) = mpsc::bounded(2).unwrap();
    let weak = producer.downgrade();
    let upgraded = weak.upgrade().unwrap();
    drop(producer);
    assert!(!consumer.is_closed());
    upgraded.post(1).unwrap();
    drop(upgraded);
    assert!(consumer.is_closed());
    assert!(weak.clone().upgrade().is_none());
    assert!(consumer.iter().eq([1]));
}

#[test]
fn scenario_43_an_upgrade_after_a_close_finds_it_closed() {
    let (producer, consumer) = mpsc::bounded(2).unwrap();
    let weak = producer.downgrade();
    drop(consumer);
    let upgraded = weak.upgrade().unwrap();
    assert_eq!(upgraded.try_post(1), Err(TryPostError::Closed(1)));
}

#[test]
fn a_kick_does_not_hide_the_end() {
    let (producer, mut consumer) = mpsc::bounded(2).unwrap();
    producer.post(1).unwrap();
    producer.kick();
    drop(producer);
    assert_eq!(consumer.try_take(), Ok(1));
    assert!(consumer.is_finished());
    assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
    // The kick is still there for a wait.
    assert_eq!(consumer.wait(), Waited::Kicked);
    assert_eq!(consumer.wait(), Waited::Finished);
}

//! Both halves torn down at once, again and again, with letters on their way.

use crate::counted::Live;
use crate::kind::Kind;
use crate::watchdog::{Dice, watched, watched_for};
use mailring::ring::{TryPostError, mpsc};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

on_both_kinds!(
    b02_the_consumer_dropped_under_a_busy_producer,
    scenario_41_both_handles_dropped_at_once,
);

fn b01_rounds(rounds: u64) {
    let mut dice = Dice::new(1);
    for _ in 0..rounds {
        let live = Live::new();
        let (producer, mut consumer) = mpsc::bounded(8).unwrap();
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..3 {
                let (producer, live, start) = (producer.clone(), &live, &start);
                scope.spawn(move || {
                    start.wait();
                    for number in 0..5 {
                        let _ = producer.try_post(live.letter(number));
                    }
                });
            }
            drop(producer);
            start.wait();
            dice.dawdle(300);
            consumer.drain(dice.roll(4) as usize, |_, _| {});
            drop(consumer);
        });
        assert_eq!(live.now(), 0);
    }
}

#[test]
fn b01_the_halves_go_away_together() {
    watched(|| b01_rounds(1_000));
}

#[test]
#[ignore = "long form: 200,000 rounds"]
fn b01_the_halves_go_away_together_long() {
    watched_for(Duration::from_secs(3_600), || b01_rounds(200_000));
}

#[test]
fn b02_undelivered_letters_go_with_the_consumer() {
    let live = Live::new();
    let (producer, consumer) = mpsc::bounded(8).unwrap();
    producer.try_post_batch(live.letters(5)).unwrap();
    drop(consumer);
    assert_eq!(live.now(), 0, "with the producer still alive");
    let TryPostError::Closed(letter) = producer.try_post(live.letter(6)).unwrap_err() else {
        panic!("not closed");
    };
    assert_eq!(letter.number(), 6);
}

fn b02_the_consumer_dropped_under_a_busy_producer<K: Kind>() {
    watched(|| {
        let mut dice = Dice::new(2);
        for _ in 0..500 {
            let live = Live::new();
            let (producer, mut consumer) = K::bounded(8);
            let start = Barrier::new(2);
            let (accepted, delivered) = thread::scope(|scope| {
                let (live, start) = (&live, &start);
                // A letter that is on its way when the consumer goes, goes with the last handle.
                let posting = scope.spawn(move || {
                    start.wait();
                    let mut accepted = 0;
                    loop {
                        match producer.try_post(live.letter(accepted)) {
                            Ok(()) => accepted += 1,
                            Err(TryPostError::Full(_)) => {}
                            Err(TryPostError::Closed(letter)) => {
                                assert_eq!(letter.number(), accepted);
                                return accepted;
                            }
                        }
                    }
                });
                start.wait();
                let delivered = consumer.drain(dice.roll(20) as usize, |_, _| {});
                dice.dawdle(300);
                drop(consumer);
                (posting.join().unwrap(), delivered)
            });
            assert!(accepted >= delivered as u64);
            assert_eq!(live.now(), 0);
        }
    });
}

#[test]
fn b02_the_consumer_dropped_under_two_busy_producers() {
    watched(|| {
        let mut dice = Dice::new(2);
        for _ in 0..500 {
            let live = Live::new();
            let (producer, mut consumer) = mpsc::bounded(8).unwrap();
            thread::scope(|scope| {
                for _ in 0..2 {
                    let (producer, live) = (producer.clone(), &live);
                    scope.spawn(move || {
                        let closed = |e: TryPostError<_>| e.is_closed();
                        while !producer.try_post(live.letter(0)).is_err_and(closed) {}
                    });
                }
                drop(producer);
                consumer.drain(dice.roll(20) as usize, |_, _| {});
                dice.dawdle(300);
                drop(consumer);
            });
            assert_eq!(live.now(), 0);
        }
    });
}

fn scenario_41_both_handles_dropped_at_once<K: Kind>() {
    watched(|| {
        let mut dice = Dice::new(41);
        for round in 0..500 {
            let live = Live::new();
            let (producer, consumer) = K::bounded(4);
            producer.try_post_batch(live.letters(round % 4)).unwrap();
            let start = Barrier::new(2);
            let wait = dice.roll(100);
            thread::scope(|scope| {
                let (live, start) = (&live, &start);
                scope.spawn(move || {
                    start.wait();
                    let _ = producer.try_post(live.letter(9));
                    drop(producer);
                });
                start.wait();
                Dice::new(wait).dawdle(wait + 1);
                drop(consumer);
            });
            assert_eq!(live.now(), 0);
        }
    });
}

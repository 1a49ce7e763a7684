//! Lengths and flags: within bounds at every moment, exact when nothing moves.

use crate::kind::Kind;
use crate::watchdog::watched;
use mailring::ring::mpsc;
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::thread;

on_both_kinds!(
    scenario_60_and_b04_lengths_stay_within_bounds,
    b04_lengths_are_exact_when_nothing_moves,
    b04_never_empty_right_after_ones_own_post,
);

fn scenario_60_and_b04_lengths_stay_within_bounds<K: Kind>() {
    watched(|| {
        const LETTERS: u64 = 40_000;
        let (producer, mut consumer) = K::bounded(64);
        thread::scope(|scope| {
            scope.spawn(move || {
                for letter in 0..LETTERS {
                    let len = producer.len();
                    assert!(len <= 64, "{len}");
                    assert!(!(producer.is_empty() && producer.is_full() && len == 0));
                    producer.post(letter).unwrap();
                }
            });
            let mut taken = 0;
            while !consumer.is_finished() {
                let len = consumer.len();
                assert!(len <= 64, "{len}");
                taken += consumer.drain(7, |_, _| {});
            }
            assert_eq!(taken as u64, LETTERS);
            assert_eq!(consumer.len(), 0);
        });
    });
}

#[test]
fn scenario_60_and_b04_a_sampler_sees_no_nonsense() {
    watched(|| {
        const EACH: u64 = 20_000;
        let (producer, mut consumer) = mpsc::bounded(64).unwrap();
        let sampler = producer.clone();
        thread::scope(|scope| {
            for _ in 0..4 {
                let producer = producer.clone();
                scope.spawn(move || {
                    for letter in 0..EACH {
                        producer.post(letter).unwrap();
                    }
                });
            }
            let (begin, begun) = sync_channel(1);
            let (stop, stopped) = sync_channel::<()>(0);
            scope.spawn(move || {
                while stopped.try_recv() == Err(TryRecvError::Empty) {
                    let len = sampler.len();
                    assert!(len <= 64, "{len}");
                    let _ = (sampler.is_empty(), sampler.is_full());
                    assert!(!sampler.is_closed());
                    let _again = begin.try_send(());
                }
            });
            drop(producer);
            // Most letters are still to be posted: the ring is full of the first ones.
            begun.recv().unwrap();
            for _ in 0..4 * EACH {
                consumer.take().unwrap();
                assert!(consumer.len() <= 64);
            }
            drop(stop);
        });
        assert!(consumer.is_finished());
    });
}

fn b04_lengths_are_exact_when_nothing_moves<K: Kind>() {
    let (producer, mut consumer) = K::bounded(64);
    assert_eq!((producer.len(), consumer.len()), (0, 0));
    assert!(producer.is_empty() && consumer.is_empty());
    producer.post_batch(0..3).unwrap();
    consumer.quiesce();
    assert_eq!(
        (producer.len(), consumer.len()),
        (3, 3),
        "closing is no letter"
    );
    assert!(!producer.is_empty() && !consumer.is_empty());
    assert_eq!(consumer.drain(64, |_, _| {}), 3);
    assert_eq!((producer.len(), consumer.len()), (0, 0));
    assert!(producer.is_empty() && consumer.is_empty());
}

fn b04_never_empty_right_after_ones_own_post<K: Kind>() {
    for capacity in [1, 3, 64] {
        let (producer, mut consumer) = K::bounded(capacity);
        for _ in 0..100 {
            for count in 1..=capacity {
                producer.try_post(0_u8).unwrap();
                assert_eq!((producer.len(), consumer.len()), (count, count));
                assert!(!producer.is_empty() && consumer.has_letters());
            }
            assert_eq!(consumer.drain(capacity, |_, _| {}), capacity);
        }
    }
}

#[test]
fn b04_never_empty_after_ones_own_post_among_others() {
    watched(|| {
        const EACH: usize = 500;
        let (producer, consumer) = mpsc::bounded(4 * EACH).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                let producer = producer.clone();
                scope.spawn(move || {
                    for count in 1..=EACH {
                        producer.try_post(0_u8).unwrap();
                        assert!(producer.len() >= count && !producer.is_empty());
                    }
                });
            }
        });
        assert_eq!((producer.len(), consumer.len()), (4 * EACH, 4 * EACH));
    });
}

//! A producer stopped between claim and publication: it delays what is behind it, and nothing else.
//!
//! A claim cannot be given back: letters are made before it, and no caller code runs until it is
//! published. So the cases of an abandoned claim (B07, B26 b and c) have nothing to happen to.

use super::{claim, parking, until};
use crate::ring::batch::IntoBatch as _;
use crate::ring::protocol::Claim as _;
use crate::ring::{Closed, TryPostError, TryTakeError, Waited, mpsc};
use crate::sync::{AtomicU32, thread};
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Waker};
use core::time::Duration;
use std::time::Instant;

#[test]
fn scenario_26_and_b06_a_drain_stops_at_the_hole_and_goes_on_behind_it() {
    let (producer, mut consumer) = mpsc::bounded(16).unwrap();
    producer.try_post(0).unwrap();
    let hole = claim(&producer, 1);
    producer.try_post_batch(2..7).unwrap();
    assert_eq!(consumer.drain(16, |letter, _| assert_eq!(letter, 0)), 1);
    for _ in 0..10 {
        assert_eq!(consumer.try_take(), Err(TryTakeError::Empty));
        assert_eq!(consumer.drain(16, |_, _| unreachable!()), 0);
        assert_eq!(consumer.drain_to(&mut Vec::new(), 16), 0);
        assert_eq!(consumer.try_iter().count(), 0);
    }
    hole.publish(1).unwrap();
    assert!(
        consumer.try_iter().eq(1..7),
        "nothing skipped, nothing reordered"
    );
}

#[test]
fn scenario_26_the_end_of_the_batch_is_where_the_hole_is() {
    let (producer, mut consumer) = mpsc::bounded(16).unwrap();
    producer.try_post_batch([0, 1]).unwrap();
    let hole = claim(&producer, 1);
    producer.try_post(3).unwrap();
    let mut ends = Vec::new();
    consumer.drain(16, |letter, end| ends.push((letter, end)));
    assert_eq!(ends, [(0, false), (1, true)]);
    hole.publish(2).unwrap();
    assert!(consumer.try_iter().eq([2, 3]));
}

#[test]
fn scenario_61_a_claimed_letter_counts_and_is_not_there_yet() {
    let (producer, mut consumer) = mpsc::bounded(4).unwrap();
    let hole = claim(&producer, 1);
    assert!(!producer.is_empty() && !consumer.is_empty());
    assert_eq!((producer.len(), consumer.len()), (1, 1));
    assert!(!consumer.has_letters() && !consumer.is_finished());
    // Looking does not wait for it, and waiting keeps its bound.
    let past = Instant::now();
    assert_eq!(consumer.wait_deadline(past), Waited::TimedOut);
    assert!(consumer.take_deadline(past).is_err());
    hole.publish(7).unwrap();
    assert_eq!(consumer.take(), Ok(7));
    assert!(producer.is_empty() && consumer.is_empty());
}

#[test]
fn b06_a_consumer_that_waits_at_the_hole_needs_no_further_post() {
    for parks_first in [false, true] {
        let (producer, mut consumer) = parking(16);
        let other = producer.clone();
        thread::scope(|scope| {
            let start = |consumer: &mut mpsc::Consumer<u64>| consumer.iter().take(6).collect();
            let (taking, hole);
            if parks_first {
                // The claim itself ends the park, and owes the wake until it is published.
                taking = scope.spawn(move || -> Vec<u64> { start(&mut consumer) });
                until(|| producer.counters().parks == 1);
                hole = claim(&producer, 1);
            } else {
                hole = claim(&producer, 1);
                taking = scope.spawn(move || -> Vec<u64> { start(&mut consumer) });
            }
            other.post_batch(1..6).unwrap();
            assert!(!taking.is_finished());
            hole.publish(0).unwrap();
            assert_eq!(taking.join().unwrap(), [0, 1, 2, 3, 4, 5]);
        });
    }
}

#[test]
fn scenario_27_a_hole_at_a_parked_consumer_and_a_second_producer() {
    for _ in 0..100 {
        let (producer, mut consumer) = parking(4);
        let second = producer.clone();
        thread::scope(|scope| {
            let taking = scope.spawn(move || (consumer.take(), consumer.take()));
            until(|| second.counters().parks == 1);
            let hole = claim(&producer, 1);
            second.post(2).unwrap();
            assert_eq!(
                second.counters().wakes,
                0,
                "the wake is the first one's to give"
            );
            hole.publish(1).unwrap();
            assert_eq!(taking.join().unwrap(), (Ok(1), Ok(2)));
            // None, where the sleep ended by itself and the consumer napped at the hole.
            assert!(second.counters().wakes <= 1);
        });
    }
}

#[test]
fn scenario_27_a_kick_reaches_a_consumer_whose_wake_is_owed_by_a_stalled_producer() {
    let (producer, mut consumer) = parking::<u64>(4);
    let second = producer.clone();
    thread::scope(|scope| {
        let waiting = scope.spawn(move || (consumer.wait(), consumer));
        until(|| second.counters().parks == 1);
        let hole = claim(&producer, 1);
        second.kick();
        let (waited, mut consumer) = waiting.join().unwrap();
        assert_eq!(waited, Waited::Kicked);
        hole.publish(1).unwrap();
        assert_eq!(consumer.take(), Ok(1));
    });
}

#[test]
fn scenario_27_a_nudge_reaches_a_consumer_whose_wake_is_owed_by_a_stalled_producer() {
    let (producer, mut consumer) = parking::<u64>(4);
    let second = producer.clone();
    let work = AtomicU32::new(0);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let waited = consumer.wait_unless(None, || work.load(Relaxed) == 1);
            (waited, consumer)
        });
        until(|| second.counters().parks == 1);
        let hole = claim(&producer, 1);
        work.store(1, Relaxed);
        second.downgrade().nudge();
        let (waited, mut consumer) = waiting.join().unwrap();
        assert_eq!(waited, Waited::Kicked);
        hole.publish(1).unwrap();
        assert_eq!(consumer.take(), Ok(1));
    });
}

#[test]
fn b06_quiesce_is_not_finished_before_the_hole_is_filled() {
    let (producer, mut consumer) = mpsc::bounded(16).unwrap();
    let hole = claim(&producer, 1);
    producer.try_post_batch(1..6).unwrap();
    consumer.quiesce();
    assert_eq!(producer.try_post(9), Err(TryPostError::Closed(9)));
    for _ in 0..10 {
        assert!(!consumer.is_finished());
        assert_eq!(
            consumer.try_take(),
            Err(TryTakeError::Empty),
            "and not closed"
        );
        assert_eq!(consumer.drain(16, |_, _| unreachable!()), 0);
        assert_eq!(consumer.wait_deadline(Instant::now()), Waited::TimedOut);
    }
    hole.publish(0).unwrap();
    assert_eq!(consumer.drain(16, |_, _| {}), 6);
    assert!(consumer.is_finished());
    assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
}

#[test]
fn b26_a_and_scenario_39_no_end_is_told_while_a_claim_is_out() {
    for closed_by_producer in [false, true] {
        let (producer, mut consumer) = parking(4);
        let closer = producer.clone();
        let hole = claim(&producer, 1);
        if closed_by_producer {
            closer.close();
        } else {
            consumer.quiesce();
        }
        thread::scope(|scope| {
            let taking = scope.spawn(move || (consumer.take(), consumer.take()));
            for _ in 0..100 {
                assert!(!taking.is_finished());
                thread::yield_now();
            }
            hole.publish(5).unwrap();
            assert_eq!(taking.join().unwrap(), (Ok(5), Err(Closed(()))));
        });
    }
}

#[test]
fn b26_a_close_returns_the_letter_of_a_claim_that_was_out() {
    let (producer, consumer) = parking(4);
    let other = producer.clone();
    other.try_post(0).unwrap();
    let hole = claim(&producer, 1);
    other.try_post(2).unwrap();
    let undelivered = consumer.close();
    assert_eq!(undelivered.size_hint().0, 3);
    thread::scope(|scope| {
        let returning = scope.spawn(|| undelivered.collect::<Vec<_>>());
        for _ in 0..100 {
            assert!(!returning.is_finished());
            thread::yield_now();
        }
        hole.publish(1).unwrap();
        assert_eq!(returning.join().unwrap(), [0, 1, 2]);
    });
}

#[test]
fn scenario_71_a_full_ring_with_a_hole_at_its_head() {
    for closes in [false, true] {
        let (producer, mut consumer) = parking(4);
        let other = producer.clone();
        let hole = claim(&producer, 1);
        other.try_post_batch(1..4).unwrap();
        assert_eq!(other.try_post(9), Err(TryPostError::Full(9)));
        assert_eq!(consumer.drain(4, |_, _| unreachable!()), 0);
        thread::scope(|scope| {
            let blocked = [4, 5].map(|letter| {
                let waiting = other.clone();
                let blocked = scope.spawn(move || waiting.post(letter));
                until(|| other.waiting_producers() == letter - 3);
                blocked
            });
            if closes {
                // The end does not wait for the hole where producers are concerned.
                consumer.quiesce();
                for (blocked, letter) in blocked.into_iter().zip(4..) {
                    assert_eq!(blocked.join().unwrap(), Err(Closed(letter)));
                }
                hole.publish(0).unwrap();
                assert!(consumer.iter().eq(0..4));
            } else {
                hole.publish(0).unwrap();
                let mut letters: Vec<_> = consumer.iter().take(6).collect();
                // There was room for both that waited: which claims first is theirs to race for.
                letters[4..].sort_unstable();
                assert_eq!(letters, [0, 1, 2, 3, 4, 5]);
                for blocked in blocked {
                    blocked.join().unwrap().unwrap();
                }
                assert!(consumer.is_empty());
            }
        });
    }
}

#[test]
fn scenario_71_the_whole_ring_claimed_at_once() {
    let (producer, mut consumer) = mpsc::bounded(3).unwrap();
    let hole = claim(&producer, 3);
    assert!(producer.is_full());
    assert_eq!(producer.try_post(9), Err(TryPostError::Full(9)));
    assert_eq!(
        producer
            .post_timeout(9, Duration::ZERO)
            .unwrap_err()
            .into_inner(),
        9
    );
    assert_eq!(consumer.try_take(), Err(TryTakeError::Empty));
    hole.publish_batch(&mut [0, 1, 2].into_batch()).unwrap();
    assert!(consumer.try_iter().eq(0..3));
}

#[test]
fn an_owner_polled_or_at_rest_at_a_hole_is_told_to_look_again() {
    let (producer, mut consumer) = mpsc::bounded(4).unwrap();
    let hole = claim(&producer, 1);
    assert_eq!(consumer.rest(), mpsc::Rest::Look);
    assert!(
        consumer
            .poll_take(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    hole.publish(1).unwrap();
    assert!(
        consumer
            .poll_take(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
}

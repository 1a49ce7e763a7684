//! Models that must fail: the checker sees sleepers whom nobody wakes, races, and lost letters.
//!
//! Each runs in a process of its own: a model that fails may panic again in a drop and abort.

mod model;

use core::sync::atomic::Ordering::Relaxed;
use model::{Letter, Plain, assert_fails, check, join, many, one, unbounded, with};
use std::sync::Arc;

/// Weakens nothing.
fn fails(name: &str, because: &str) {
    assert_fails(name, "none", Relaxed, because);
}

#[test]
#[ignore = "must fail; run by a_consumer_that_nobody_wakes"]
fn must_fail_nobody_posts() {
    check(unbounded(1), || {
        let (_producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let _ = consumer.take();
    });
}

#[test]
fn a_consumer_that_nobody_wakes() {
    fails("must_fail_nobody_posts", "deadlock");
}

#[test]
#[ignore = "must fail; run by a_producer_that_nobody_wakes"]
fn must_fail_nobody_takes() {
    check(unbounded(1), || {
        let (producer, _consumer) = many(1).build().unwrap();
        producer.post(1).unwrap();
        let _ = producer.post(2);
    });
}

#[test]
fn a_producer_that_nobody_wakes() {
    fails("must_fail_nobody_takes", "deadlock");
}

#[test]
#[ignore = "must fail; run by one_letter_is_not_two"]
fn must_fail_one_letter_for_two() {
    check(unbounded(1), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| producer.post(1).unwrap());
        consumer.take().unwrap();
        let _ = consumer.take();
        join([posting]);
    });
}

#[test]
fn one_letter_is_not_two() {
    fails("must_fail_one_letter_for_two", "deadlock");
}

#[test]
#[ignore = "must fail; run by plain_memory_is_watched"]
fn must_fail_two_writes_race() {
    check(unbounded(1), || {
        let plain = Arc::new(Plain::new(0));
        let other = Arc::clone(&plain);
        let writing = with((), move |()| other.write(1));
        plain.write(2);
        join([writing]);
    });
}

#[test]
fn plain_memory_is_watched() {
    fails("must_fail_two_writes_race", "Causality violation");
}

#[test]
#[ignore = "must fail; run by forgotten_letters_are_noticed"]
fn must_fail_a_letter_is_forgotten() {
    check(unbounded(1), || core::mem::forget(Letter::new(1)));
}

#[test]
fn forgotten_letters_are_noticed() {
    fails("must_fail_a_letter_is_forgotten", "letters left over");
}

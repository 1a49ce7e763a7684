//! The consumer gone while claims are out: their values are dropped once, by the last handle.

use super::claim;
use crate::ring::batch::IntoBatch as _;
use crate::ring::mpsc;
use crate::ring::protocol::Claim as _;
use crate::sync::Arc;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Letters that live are counted by the token they share.
fn live(token: &Arc<()>) -> usize {
    Arc::strong_count(token) - 1
}

#[test]
fn scenario_41_a_value_published_after_the_consumer_went_is_dropped_once() {
    let token = Arc::new(());
    let (producer, consumer) = mpsc::bounded(8).unwrap();
    let letter = || Arc::clone(&token);
    producer.try_post_batch([letter(), letter()]).unwrap();
    let hole = claim(&producer, 1);
    producer.try_post_batch([letter(), letter()]).unwrap();
    // Not waited for; what is before the hole is dropped now, what is behind it later.
    drop(consumer);
    assert_eq!(live(&token), 2);
    hole.publish(letter()).unwrap();
    assert_eq!(live(&token), 3);
    assert!(producer.is_closed());
    let weak = producer.downgrade();
    drop(producer);
    assert_eq!(
        live(&token),
        3,
        "a weak producer keeps the memory, and says so"
    );
    drop(weak);
    assert_eq!(live(&token), 0);
}

#[test]
fn scenario_41_letters_are_taken_by_turns_before_the_consumer_goes() {
    let token = Arc::new(());
    for taken in 0..4 {
        let (producer, mut consumer) = mpsc::bounded(4).unwrap();
        producer
            .try_post_batch([(); 4].map(|()| Arc::clone(&token)))
            .unwrap();
        consumer.drain(taken, |_, _| {});
        let late = (taken > 0).then(|| claim(&producer, taken));
        drop(consumer);
        if let Some(late) = late {
            let letters = vec![Arc::clone(&token); taken];
            late.publish_batch(&mut letters.into_batch()).unwrap();
        }
        assert_eq!(live(&token), taken);
        drop(producer);
        assert_eq!(live(&token), 0);
    }
}

#[test]
fn b15_the_last_handle_drops_all_although_one_panics() {
    struct Brittle(bool, #[allow(dead_code)] Arc<()>);
    impl Drop for Brittle {
        fn drop(&mut self) {
            assert!(!self.0, "panics in its drop");
        }
    }
    let token = Arc::new(());
    let (producer, consumer) = mpsc::bounded(8).unwrap();
    let late = claim(&producer, 5);
    drop(consumer);
    let letters = [1, 2, 3, 4, 5].map(|count| Brittle(count == 3, Arc::clone(&token)));
    late.publish_batch(&mut letters.into_batch()).unwrap();
    assert_eq!(live(&token), 5);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(producer))).is_err());
    assert_eq!(live(&token), 0, "each once");
}

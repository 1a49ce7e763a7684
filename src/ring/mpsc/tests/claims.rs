//! How many slots one claim takes.

use super::claim;
use crate::ring::batch::IntoBatch as _;
use crate::ring::mpsc;
use crate::ring::protocol::Claim as _;

#[test]
fn scenario_14_a_batch_that_fits_takes_one_claim_also_past_an_old_limit() {
    for left in 1..8 {
        let (producer, mut consumer) = mpsc::bounded(8).unwrap();
        // The handle remembers room for so many, and there is room for all again.
        producer.try_post_batch(vec![0; 8 - left]).unwrap();
        consumer.drain(8, |_, _| {});
        let whole = claim(&producer, 8);
        whole
            .publish_batch(&mut (0..8).collect::<Vec<_>>().into_batch())
            .unwrap();
        assert!(consumer.try_iter().eq(0..8));
    }
}

#[test]
fn scenario_14_a_batch_of_all_that_a_vector_can_hold() {
    let (producer, mut consumer) = mpsc::bounded(8).unwrap();
    producer.try_post(()).unwrap();
    let refused = producer.try_post_batch(vec![(); usize::MAX]).unwrap_err();
    assert_eq!((refused.posted, refused.rest.len()), (7, usize::MAX - 7));
    assert_eq!(consumer.drain(usize::MAX, |(), _| {}), 8);
}

#[test]
fn scenario_14_a_batch_that_does_not_fit_takes_what_there_is() {
    let (producer, mut consumer) = mpsc::bounded(8).unwrap();
    producer.try_post_batch([0; 5]).unwrap();
    consumer.drain(2, |_, _| {});
    assert_eq!(producer.try_post_batch([1; 9]).unwrap_err().posted, 5);
    assert!(consumer.try_iter().eq([0, 0, 0, 1, 1, 1, 1, 1]));
}

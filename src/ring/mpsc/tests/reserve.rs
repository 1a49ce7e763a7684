//! Letters that always fit: one of each, also where the ring is full.

use crate::ring::mpsc::{Builder, ReservedPost};
use crate::ring::{Closed, TryPostError};

#[test]
fn a_reserved_letter_fits_into_a_full_ring_and_once() {
    for capacity in [1, 2, 3, 4, 7] {
        let (producer, mut consumer) = Builder::new(capacity).reserved(2).build().unwrap();
        let [first, second] = [0, 1].map(|index| producer.reservation(index).unwrap());
        assert!(producer.reservation(2).is_none());
        assert_eq!((first.index(), second.index()), (0, 1));
        for _ in 0..20 {
            while producer.try_post("letter").is_ok() {}
            assert_eq!(first.post("first"), Ok(ReservedPost::Posted));
            assert_eq!(
                first.post("first"),
                Ok(ReservedPost::AlreadyPending("first"))
            );
            assert_eq!(second.clone().post("second"), Ok(ReservedPost::Posted));
            assert_eq!(
                producer.try_post("letter"),
                Err(TryPostError::Full("letter"))
            );
            assert!(producer.len() <= capacity);
            let letters: Vec<_> = consumer.try_iter().collect();
            assert_eq!(letters.len(), capacity + 2);
            assert_eq!(letters[capacity..], ["first", "second"]);
            for index in 0..2 {
                // SAFETY: its letter was taken just now.
                unsafe { consumer.settle(index) };
            }
        }
    }
}

#[test]
fn a_reserved_letter_may_be_posted_again_once_it_is_settled() {
    let (producer, mut consumer) = Builder::new(1).reserved(1).build().unwrap();
    let reservation = producer.reservation(0).unwrap();
    producer.try_post(0).unwrap();
    assert_eq!(reservation.post(100), Ok(ReservedPost::Posted));
    assert_eq!(consumer.try_take(), Ok(0));
    for round in 0..100 {
        producer.try_post(round).unwrap_err();
        assert_eq!(consumer.try_take(), Ok(100));
        // SAFETY: its letter was taken just now.
        unsafe { consumer.settle(0) };
        // It counts against the capacity: one of either.
        assert_eq!(reservation.post(100), Ok(ReservedPost::Posted));
    }
}

#[test]
fn a_reserved_post_to_a_closed_ring_is_handed_back() {
    let (producer, mut consumer) = Builder::new(1).reserved(1).build().unwrap();
    let reservation = producer.reservation(0).unwrap();
    assert_eq!(reservation.post(1), Ok(ReservedPost::Posted));
    drop(producer);
    assert_eq!(
        reservation.post(2),
        Err(Closed(2)),
        "it does not keep the ring open"
    );
    assert_eq!(consumer.take(), Ok(1));
    // SAFETY: its letter was taken just now.
    unsafe { consumer.settle(0) };
    assert_eq!(reservation.post(3), Err(Closed(3)));
    assert!(consumer.is_finished());
}

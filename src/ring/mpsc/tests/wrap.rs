//! Rings that start at other sequences than zero: near where narrow counters and flags would bite.

use super::Builder;
use crate::ring::mpsc::words::SEQUENCE;
use crate::ring::{Closed, TryPostError};

/// Sequences to start at, for rings of a few letters and some laps.
fn starts() -> impl Iterator<Item = u64> {
    let around = [1 << 8, 1 << 16, 1 << 31, 1 << 32, 5 << 32, 1 << 59];
    let around = around.into_iter().flat_map(|at: u64| at - 20..at + 3);
    // The last letters of a ring's lifetime.
    (0..20).chain(around).chain(SEQUENCE - 220..SEQUENCE - 200)
}

#[test]
fn scenario_07_full_laps_at_every_start() {
    for start in starts() {
        for capacity in [1, 2, 3, 4, 5, 8] {
            let ring = Builder::new(capacity).start(start).build().unwrap();
            let (producer, mut consumer) = ring;
            assert!(!consumer.has_letters(), "an old stamp is no letter");
            for lap in 0..200 / capacity as u64 / 5 {
                for letter in 0..capacity {
                    assert_eq!(
                        producer.try_post((lap, letter)),
                        Ok(()),
                        "{start} {capacity}"
                    );
                }
                let refused = (lap, capacity);
                assert_eq!(producer.try_post(refused), Err(TryPostError::Full(refused)));
                assert_eq!((producer.len(), consumer.len()), (capacity, capacity));
                let letters = (0..capacity).map(|letter| (lap, letter));
                assert!(consumer.try_iter().eq(letters));
                assert!(producer.is_empty() && consumer.is_empty());
            }
        }
    }
}

#[test]
fn scenario_07_waiting_closing_and_the_end_at_every_start() {
    for start in starts() {
        let ring = Builder::new(3).start(start).build().unwrap();
        let (producer, mut consumer) = ring;
        assert_eq!(producer.post_batch([1, 2]).unwrap(), 2);
        producer.kick();
        assert_eq!(consumer.try_take(), Ok(1));
        assert_eq!(producer.post(3), Ok(()));
        assert!(producer.close());
        assert_eq!(producer.post(4), Err(Closed(4)));
        assert_eq!(consumer.len(), 2);
        assert_eq!(consumer.take(), Ok(2));
        assert_eq!(consumer.close().collect::<Vec<_>>(), [3]);
    }
}

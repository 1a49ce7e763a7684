//! Batches: arrays, vectors and iterators; what fits, what is handed back, in which order.

use crate::counted::{Live, numbers};
use crate::kind::Kind;
use crate::watchdog::{until, watched};
use mailring::ring::{Refusal, mpsc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

on_both_kinds!(
    scenario_14_an_empty_batch_does_nothing,
    scenario_14_one_letter_the_capacity_and_more,
    scenario_14_a_waiting_batch_may_be_larger_than_the_ring,
    scenario_14_a_batch_that_runs_out_of_time_hands_the_rest_back,
    scenario_15_a_batch_across_the_end_of_the_ring,
    scenario_16_an_iterator_yields_fewer_or_more_than_its_hint,
    scenario_16_an_iterator_is_not_asked_again_after_its_end,
    b08_an_iterator_that_panics_midway_exposes_nothing,
    b08_what_was_posted_before_a_late_panic_stays,
);

fn scenario_14_an_empty_batch_does_nothing<K: Kind>() {
    let (producer, mut consumer) = K::bounded::<u64>(2);
    assert_eq!(producer.try_post_batch([]).unwrap(), 0);
    assert_eq!(producer.post_batch(Vec::new()).unwrap(), 0);
    assert_eq!(producer.try_post_batch([0, 1]).unwrap(), 2);
    // Not even where it is full, or closed: there is nothing that could be refused.
    assert_eq!(producer.try_post_batch(std::iter::empty()).unwrap(), 0);
    assert_eq!(producer.post_batch(std::iter::empty()).unwrap(), 0);
    consumer.quiesce();
    assert_eq!(producer.post_batch([]).unwrap(), 0);
    assert!(consumer.iter().eq([0, 1]));
}

fn scenario_14_one_letter_the_capacity_and_more<K: Kind>() {
    for capacity in [1, 2, 3, 5, 40] {
        for count in [1, capacity, capacity + 1, 2 * capacity + 1, 100] {
            for form in 0..2 {
                let (producer, mut consumer) = K::bounded(capacity);
                let letters = 0..count;
                let outcome = if form == 0 {
                    producer
                        .try_post_batch(letters.clone().collect::<Vec<_>>())
                        .map_err(|e| (e.posted, e.reason, e.rest.collect::<Vec<_>>()))
                } else {
                    producer
                        .try_post_batch(letters.clone())
                        .map_err(|e| (e.posted, e.reason, e.rest.collect::<Vec<_>>()))
                };
                let fits = count.min(capacity);
                match outcome {
                    Ok(posted) => assert_eq!((posted, fits), (count, count)),
                    Err((posted, reason, rest)) => {
                        assert_eq!((posted, reason), (fits, Refusal::Full));
                        assert!(rest.into_iter().eq(fits..count));
                    }
                }
                assert!(consumer.try_iter().eq(0..fits));
            }
        }
    }
}

fn scenario_14_a_waiting_batch_may_be_larger_than_the_ring<K: Kind>() {
    watched(|| {
        for capacity in [1, 3, 8, 33] {
            let (producer, consumer) = K::bounded(capacity);
            thread::scope(|scope| {
                scope.spawn(move || {
                    assert_eq!(producer.post_batch(0..1_000).unwrap(), 1_000);
                    let vec: Vec<_> = (1_000..1_500).collect();
                    assert_eq!(producer.post_batch(vec).unwrap(), 500);
                    let array: [u64; 100] = std::array::from_fn(|at| 1_500 + at as u64);
                    assert_eq!(producer.post_batch(array).unwrap(), 100);
                });
                assert!(consumer.into_iter().eq(0..1_600));
            });
        }
    });
}

fn scenario_14_a_batch_that_runs_out_of_time_hands_the_rest_back<K: Kind>() {
    let (producer, mut consumer) = K::bounded(3);
    let late = producer
        .post_batch_timeout(0..5, Duration::from_millis(1))
        .unwrap_err();
    assert_eq!((late.posted, late.reason), (3, Refusal::Timeout));
    assert!(late.rest.eq(3..5));
    assert_eq!(
        late_to_string(&producer),
        "the ring stayed full until the deadline after 0 letters"
    );
    consumer.quiesce();
    let closed = producer
        .post_batch_timeout([9, 9], Duration::from_secs(60))
        .unwrap_err();
    assert_eq!((closed.posted, closed.reason), (0, Refusal::Closed));
    assert!(closed.rest.eq([9, 9]));
    assert!(consumer.iter().eq(0..3));

    fn late_to_string<R: mailring::ring::Ring<Letter = i32>>(
        producer: &mailring::ring::Producer<R>,
    ) -> String {
        let late = producer.post_batch_timeout([9], Duration::ZERO);
        late.unwrap_err().to_string()
    }
}

fn scenario_15_a_batch_across_the_end_of_the_ring<K: Kind>() {
    for capacity in [2, 3, 4, 5, 8] {
        for shift in 0..16 {
            let (producer, mut consumer) = K::bounded(capacity);
            for letter in 0..shift {
                producer.try_post(letter).unwrap();
                consumer.try_take().unwrap();
            }
            let letters: Vec<_> = (0..capacity).collect();
            assert_eq!(producer.try_post_batch(letters).unwrap(), capacity);
            let mut taken = Vec::new();
            assert_eq!(consumer.drain_to(&mut taken, capacity), capacity);
            assert!(taken.into_iter().eq(0..capacity));
        }
    }
}

#[test]
fn scenario_14_letters_of_one_claim_lie_side_by_side() {
    watched(|| {
        const EACH: u64 = 500;
        // Room for all: every array fits, and takes one claim.
        let (producer, mut consumer) = mpsc::bounded(2 * 8 * EACH as usize).unwrap();
        thread::scope(|scope| {
            for who in 0..2 {
                let producer = producer.clone();
                scope.spawn(move || {
                    for batch in 0..EACH {
                        producer.post_batch([(who, batch); 8]).unwrap();
                    }
                });
            }
        });
        drop(producer);
        let mut letters = Vec::new();
        consumer.drain_to(&mut letters, usize::MAX);
        assert_eq!(letters.len() as u64, 2 * 8 * EACH);
        for batch in letters.chunks(8) {
            assert!(batch.iter().all(|letter| *letter == batch[0]), "{batch:?}");
        }
    });
}

/// Claims to yield `claimed` letters, and yields those of `letters`.
struct Liar<I> {
    letters: I,
    claimed: usize,
}

impl<I: Iterator> Iterator for Liar<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.letters.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.claimed, Some(self.claimed))
    }
}

fn scenario_16_an_iterator_yields_fewer_or_more_than_its_hint<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(8);
    for claimed in [0, 3, 5, 7, 1_000] {
        let letters = live.letters(5).into_iter();
        let posted = producer.try_post_batch(Liar { letters, claimed });
        assert_eq!(posted.unwrap(), 5);
        assert_eq!(numbers(consumer.try_iter()), [0, 1, 2, 3, 4]);
    }
    assert_eq!(live.now(), 0);
}

fn scenario_16_an_iterator_is_not_asked_again_after_its_end<K: Kind>() {
    /// Ends before each third number, and goes on when it is asked again.
    fn resuming() -> impl Iterator<Item = u64> {
        let mut number = 0;
        std::iter::from_fn(move || {
            number += 1;
            (number % 3 != 0).then_some(number)
        })
    }
    for capacity in [1, 2, 8] {
        let (producer, consumer) = K::bounded(capacity);
        thread::scope(|scope| {
            scope.spawn(move || assert_eq!(producer.post_batch(resuming()).unwrap(), 2));
            assert!(consumer.into_iter().eq([1, 2]));
        });
    }
    let (producer, mut consumer) = K::bounded(1);
    let mut refused = producer.try_post_batch(resuming()).unwrap_err();
    assert_eq!((refused.posted, refused.rest.next()), (1, Some(2)));
    assert_eq!((refused.rest.next(), refused.rest.next()), (None, None));
    let letters = [Some(1), Some(2), None, Some(4)];
    let mut letters = letters.into_iter();
    assert_eq!(consumer.try_take(), Ok(1));
    let refused = producer.try_post_batch(std::iter::from_fn(|| letters.next()?));
    assert_eq!(refused.unwrap_err().posted, 1);
    assert_eq!(letters.len(), 1, "4 was not asked for");
}

fn b08_an_iterator_that_panics_midway_exposes_nothing<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(8);
    let letters = (0..5).map(|number| {
        assert!(number != 2, "the third letter cannot be made");
        live.letter(number)
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(producer.try_post_batch(letters))));
    assert!(outcome.is_err());
    // None of them was claimed yet; the two that were made are dropped.
    assert_eq!(live.now(), 0);
    assert!(consumer.try_take().is_err());
    assert_eq!(producer.len(), 0);
    assert_eq!(producer.try_post_batch(live.letters(8)).unwrap(), 8);
    assert_eq!(numbers(consumer.try_iter()), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(live.now(), 0);
}

fn b08_what_was_posted_before_a_late_panic_stays<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(100);
    let letters = (0..90).map(|number| {
        assert!(number != 40, "this letter cannot be made");
        live.letter(number)
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(producer.post_batch(letters))));
    assert!(outcome.is_err());
    assert_eq!(
        live.now(),
        32,
        "made ready 32 at a time; those 32 are posted"
    );
    assert!(numbers(consumer.try_iter()).into_iter().eq(0..32));
    assert_eq!(live.now(), 0);
}

#[test]
fn b08_an_iterator_that_panics_while_its_batch_waits_leaves_the_line() {
    watched(|| {
        let live = Live::new();
        let (producer, mut consumer) = mpsc::bounded(1).unwrap();
        let other = producer.clone();
        thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let letters = (0..).map(|number| {
                    assert!(number < 40, "no more letters");
                    live.letter(number)
                });
                drop(producer.post_batch(letters));
            });
            // 32 letters go through one by one; the panic comes when the next are to be made.
            for expected in 0..32 {
                assert_eq!(consumer.take().unwrap().number(), expected);
            }
            assert!(panicking.join().is_err());
            until(|| other.waiting_producers() == 0);
            other.post(live.letter(99)).unwrap();
            assert_eq!(consumer.take().unwrap().number(), 99);
        });
        assert_eq!(live.now(), 0);
    });
}

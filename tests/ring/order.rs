//! Order: each producer's letters in its own order, each letter once.

use crate::kind::{Kind, Strategy};
use crate::watchdog::watched;
use mailring::ring::mpsc;
use std::sync::mpsc::sync_channel;
use std::thread;

on_both_kinds!(scenario_01_one_producer_keeps_its_order);

fn scenario_01_one_producer_keeps_its_order<K: Kind>() {
    for capacity in [1, 2, 3, 64] {
        watched(move || {
            const LETTERS: u64 = 5_000;
            let (producer, consumer) = K::bounded(capacity);
            thread::scope(|scope| {
                scope.spawn(move || {
                    for letter in 0..LETTERS {
                        producer.post(letter).unwrap();
                    }
                });
                assert!(consumer.into_iter().eq(0..LETTERS));
            });
        });
    }
}

/// Letters of several producers: who posted it, and its number among theirs.
type Tagged = (usize, u64);

/// Asserts that `letters` are those of all producers, `each` of them, and in order for each.
fn assert_each_in_order(letters: impl Iterator<Item = Tagged>, producers: usize, each: u64) {
    let mut next = vec![0; producers];
    for (who, number) in letters {
        assert_eq!(number, next[who], "out of order from producer {who}");
        next[who] += 1;
    }
    assert!(next.iter().all(|&count| count == each), "{next:?}");
}

#[test]
fn scenario_02_letters_of_two_producers_come_each_once_and_in_their_order() {
    for capacity in [1, 2, 3, 64] {
        watched(move || {
            const EACH: u64 = 3_000;
            let (producer, consumer) = mpsc::bounded(capacity).unwrap();
            thread::scope(|scope| {
                for who in 0..2 {
                    let producer = producer.clone();
                    scope.spawn(move || {
                        for number in 0..EACH {
                            producer.post((who, number)).unwrap();
                        }
                    });
                }
                drop(producer);
                assert_each_in_order(consumer.into_iter(), 2, EACH);
            });
        });
    }
}

#[test]
fn scenario_02_with_batches_single_letters_and_a_shared_handle() {
    watched(|| {
        const EACH: u64 = 3_200;
        let (producer, consumer) = mpsc::bounded(50).unwrap();
        thread::scope(|scope| {
            let batches = producer.clone();
            scope.spawn(move || {
                for first in (0..EACH).step_by(40) {
                    let batch = (first..first + 40).map(|number| (0, number));
                    batches.post_batch(batch).unwrap();
                }
            });
            let arrays = producer.clone();
            scope.spawn(move || {
                for first in (0..EACH).step_by(4) {
                    let array: [_; 4] = std::array::from_fn(|at| (1, first + at as u64));
                    arrays.post_batch(array).unwrap();
                }
            });
            let shared = producer.clone();
            scope.spawn(move || {
                let shared = &shared;
                thread::scope(|scope| {
                    for who in 2..4 {
                        scope.spawn(move || {
                            for number in 0..EACH {
                                shared.post((who, number)).unwrap();
                            }
                        });
                    }
                });
            });
            drop(producer);
            assert_each_in_order(consumer.into_iter(), 4, EACH);
        });
    });
}

#[test]
fn scenario_03_a_post_that_returned_comes_before_one_that_began_after_it() {
    watched(|| {
        const ROUNDS: u64 = 2_000;
        let (first, mut consumer) = mpsc::bounded(8).unwrap();
        let second = first.clone();
        let (returned, was_returned) = sync_channel(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    first.post(2 * round).unwrap();
                    returned.send(round).unwrap();
                }
            });
            scope.spawn(move || {
                for round in was_returned {
                    second.post(2 * round + 1).unwrap();
                }
            });
            // The first may go on meanwhile: only each pair has an order.
            let mut seen = vec![false; 2 * ROUNDS as usize];
            for letter in consumer.iter() {
                seen[letter as usize] = true;
                assert!(letter % 2 == 0 || seen[letter as usize - 1], "{letter}");
            }
            assert!(seen.into_iter().all(|seen| seen));
        });
    });
}

#[test]
fn scenario_52_many_more_producers_than_cores() {
    const EACH: u64 = 2_000;
    let producers = 4 * thread::available_parallelism().unwrap().get();
    for strategy in Strategy::ALL {
        watched(move || {
            let (producer, consumer) = crate::kind::Mpsc::waiting(64, strategy);
            thread::scope(|scope| {
                for who in 0..producers {
                    let producer = producer.clone();
                    scope.spawn(move || {
                        for number in 0..EACH {
                            producer.post((who, number)).unwrap();
                        }
                    });
                }
                drop(producer);
                assert_each_in_order(consumer.into_iter(), producers, EACH);
            });
        });
    }
}

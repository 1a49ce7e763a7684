//! Soak: all operations mixed, sums per producer; short here, 10^9 letters in the ignored form.
//!
//! ```sh
//! cargo test --release --test ring scenario_64 -- --ignored --nocapture
//! ```

use crate::kind::Kind;
use crate::watchdog::{Dice, watched, watched_for};
use mailring::ring::{Consumer, Producer, Ring, Waited, mpsc};
use std::thread;
use std::time::Duration;

on_both_kinds!(scenario_64_soak_one_producer);

/// Who posted, which letter of theirs, and a number that both sides sum up.
type Letter = (u32, u64, u64);

fn soak_producer<R>(producer: &Producer<R>, who: u32, letters: u64) -> u64
where
    R: Ring<Letter = Letter>,
{
    let mut dice = Dice::new(u64::from(who) + 64);
    let (mut sum, mut number) = (0_u64, 0);
    let mut make = |number: u64| {
        let value = number.wrapping_mul(0x9e37_79b9) ^ u64::from(who);
        sum = sum.wrapping_mul(31).wrapping_add(value);
        (who, number, value)
    };
    while number < letters {
        let left = letters - number;
        match dice.roll(5) {
            0 if left >= 8 => {
                let batch: [Letter; 8] = std::array::from_fn(|at| make(number + at as u64));
                producer.post_batch(batch).unwrap();
                number += 8;
            }
            1 => {
                let count = left.min(1 + dice.roll(70));
                let batch = (number..number + count).map(&mut make);
                assert_eq!(producer.post_batch(batch).unwrap() as u64, count);
                number += count;
            }
            2 => {
                let mut letter = make(number);
                while let Err(refused) = producer.try_post(letter) {
                    assert!(refused.is_full());
                    letter = refused.into_inner();
                    thread::yield_now();
                }
                number += 1;
            }
            3 => {
                let mut letter = make(number);
                let bound = Duration::from_micros(dice.roll(50));
                while let Err(late) = producer.post_timeout(letter, bound) {
                    letter = late.into_inner();
                }
                number += 1;
            }
            _ => {
                producer.post(make(number)).unwrap();
                number += 1;
            }
        }
    }
    sum
}

/// Takes everything in every way there is; the sum per producer.
fn soak_consumer<R: Ring<Letter = Letter>>(
    consumer: &mut Consumer<R>,
    producers: usize,
) -> Vec<u64> {
    let mut dice = Dice::new(46);
    let mut next = vec![0; producers];
    let mut sums = vec![0_u64; producers];
    let mut check = |(who, number, value): Letter| {
        let who = who as usize;
        assert_eq!(number, next[who], "out of order from producer {who}");
        next[who] += 1;
        sums[who] = sums[who].wrapping_mul(31).wrapping_add(value);
    };
    let mut letters = Vec::with_capacity(64);
    while consumer.wait() != Waited::Finished {
        match dice.roll(4) {
            0 => drop(consumer.try_take().map(&mut check)),
            1 => {
                consumer.drain_to(&mut letters, 64);
                letters.drain(..).for_each(&mut check);
            }
            2 => drop(consumer.take().map(&mut check)),
            _ => drop(consumer.drain(1 + dice.roll(200) as usize, |letter, _| check(letter))),
        }
    }
    sums
}

fn soak(producers: u32, each: u64, capacity: usize) {
    let (producer, mut consumer) = mpsc::bounded(capacity).unwrap();
    let handles: Vec<_> = (0..producers).map(|_| producer.clone()).collect();
    drop(producer);
    thread::scope(|scope| {
        let posting: Vec<_> = handles
            .into_iter()
            .zip(0..)
            .map(|(producer, who)| scope.spawn(move || soak_producer(&producer, who, each)))
            .collect();
        let sums = soak_consumer(&mut consumer, producers as usize);
        let posted: Vec<_> = posting.into_iter().map(|p| p.join().unwrap()).collect();
        assert_eq!(posted, sums);
    });
}

#[test]
fn scenario_64_soak_of_many_producers() {
    for (producers, capacity) in [(4, 128), (3, 7), (2, 1)] {
        watched(move || soak(producers, 20_000 / u64::from(producers), capacity));
    }
}

#[test]
#[ignore = "long form: 10^9 letters, some minutes in release"]
fn scenario_64_soak_of_many_producers_long() {
    watched_for(Duration::from_secs(4 * 3_600), || {
        soak(4, 250_000_000, 1024)
    });
}

fn scenario_64_soak_one_producer<K: Kind>() {
    for capacity in [1, 7, 128] {
        watched(move || {
            let (producer, mut consumer) = K::bounded(capacity);
            thread::scope(|scope| {
                let posting = scope.spawn(move || soak_producer(&producer, 0, 20_000));
                let sums = soak_consumer(&mut consumer, 1);
                assert_eq!(vec![posting.join().unwrap()], sums);
            });
        });
    }
}

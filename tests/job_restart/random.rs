//! Jobs that fail at random, and give what a plain loop gives in the end.

use mailring::job::{ExponentialDelay, Job};
use mailring::stream::{Collect, FromIter, Sum};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::failing::{Failing, How, engine};
use crate::watchdog::{Dice, watched};

#[test]
fn jobs_that_fail_at_random_give_what_a_plain_loop_gives() {
    watched(|| {
        let engines = [engine(1), engine(2)];
        for seed in 0..60 {
            let mut dice = Dice::new(seed);
            let engine = &engines[dice.roll(2) as usize];
            let (numbers, keys) = (1 + dice.roll(2_000), 1 + dice.roll(20));
            let attempts = dice.roll(5) as u32;
            let how = |dice: &mut Dice| match dice.roll(4) {
                0 => How::InOpen,
                1 => How::PanicAtRecord(dice.roll(numbers)),
                _ => How::AtRecord(dice.roll(numbers)),
            };
            // Each of two operators fails in some of the attempts, or its record never comes.
            let first = Failing::new(how(&mut dice), attempts);
            let second = Failing::new(how(&mut dice), dice.roll(1 + u64::from(attempts)) as u32);
            let delay = ExponentialDelay::new(Duration::from_nanos(1), Duration::from_micros(50));
            let out = Collect::new();
            let report = Job::new("job")
                .restart(delay.seed(seed))
                .parallelism(1 + dice.roll(3) as u32)
                .channel_capacity(1 + dice.roll(100) as usize)
                .source("numbers", FromIter::new(0..numbers))
                .transform("first", move || first)
                .rebalance()
                .transform("second", move || second)
                .key_by(move |(_, (_, number)): &(u32, (u32, u64))| number % keys)
                .aggregate(Sum::of(|(attempt, (_, number)): &(u32, (u32, u64))| {
                    (u64::from(*attempt) << 32) + number
                }))
                .sink("collect", out.clone())
                .run(engine)
                .unwrap();
            assert!(report.restarts <= attempts, "seed {seed}");
            let last_attempt = u64::from(1 + report.restarts) << 32;
            // Within an attempt the sums of a key grow; its last one is of the last attempt.
            let mut sums = BTreeMap::new();
            for sum in out.take() {
                let last = sums.entry(sum.key).or_insert(0);
                *last = sum.value.max(*last);
            }
            let mut expected = BTreeMap::new();
            for number in 0..numbers {
                *expected.entry(number % keys).or_insert(0) += last_attempt + number;
            }
            assert_eq!(sums, expected, "seed {seed}");
        }
    });
}

//! Jobs that are stepped by hand, whose process dies at any moment.

use crate::scratch::Scratch;
use crate::watchdog::watched;
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, exactly_once_files};
use mailring::job::{Checkpointing, Job, JobState, SteppedJob};
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::Generator;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const RECORDS: u64 = 400;
const KEYS: u64 = 7;

/// A small generator of random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn job(folder: &Path, storage: &CheckpointStorage, clock: &ManualClock) -> SteppedJob {
    let settings = CheckpointSettings::new(Duration::from_millis(10));
    Job::new("sums")
        .parallelism(2)
        .channel_capacity(4)
        .records_per_turn(3)
        .checkpoints(Checkpointing::new(storage.clone(), settings))
        .source("numbers", Generator::new(|number| number).count(RECORDS))
        .parallelism(2)
        .key_by(|number| number % KEYS)
        .reduce(|sum, number| *sum += number)
        .sink(
            "out",
            exactly_once_files(folder, |sum: &u64, file: &mut Vec<u8>| {
                file.extend_from_slice(format!("{sum}\n").as_bytes());
            }),
        )
        .on_this_thread(clock.clone())
        .unwrap()
}

/// Steps all that there is in random order, until the job has ended or `steps` are over.
fn run(job: &mut SteppedJob, clock: &ManualClock, random: &mut Random, mut steps: usize) -> bool {
    while steps > 0 && !job.is_finished() {
        steps -= 1;
        match random.below(job.tasks() + 3) {
            0 => {
                job.run_beside();
            }
            1 => {
                let _step = job.step_checkpoints(Budget::letters(1)).unwrap();
            }
            2 => clock.advance(Duration::from_millis(random.below(4) as u64)),
            task => {
                let _step = job
                    .step(task - 3, Budget::letters(1 + random.below(4)))
                    .unwrap();
            }
        }
    }
    job.is_finished()
}

/// What the files hold, in any order.
fn output(folder: &Path) -> BTreeMap<u64, usize> {
    let mut sums = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                *sums.entry(line.parse().unwrap()).or_insert(0) += 1;
            }
        }
    }
    sums
}

/// The numbers of each key: what each of its sums is made of depends on the order in which two
/// sources' records come, so that only the last one, and how many there are, is known.
fn check(sums: &BTreeMap<u64, usize>) {
    assert_eq!(sums.values().sum::<usize>() as u64, RECORDS);
    for key in 0..KEYS {
        let all: u64 = (0..RECORDS).filter(|number| number % KEYS == key).sum();
        assert!(sums.contains_key(&all), "the last sum of key {key}");
    }
}

#[test]
fn each_record_counts_once_whenever_the_process_dies() {
    watched(|| {
        for seed in 1..=60_u64 {
            let scratch = Scratch::new(&format!("stepped-{seed}"));
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let (storage, clock) = (CheckpointStorage::in_memory(), ManualClock::new());
            let mut lives = 0;
            loop {
                lives += 1;
                let steps = if lives > 6 {
                    usize::MAX
                } else {
                    random.below(2_000)
                };
                let mut job = job(scratch.folder(), &storage, &clock);
                if run(&mut job, &clock, &mut random, steps) {
                    assert_eq!(job.state(), JobState::Finished, "seed {seed}");
                    assert!(matches!(job.run_until_idle().unwrap(), Step::Ended(_)));
                    break;
                }
                // The process dies: nothing of it is closed in order.
                std::mem::forget(job);
            }
            check(&output(scratch.folder()));
        }
    });
}

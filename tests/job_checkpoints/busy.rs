//! A snapshot that becomes bytes while all keys are written: what is stored is the state at the barrier,
//! T172.

use super::engine;
use super::kit::Stand;
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job};
use mailring::stream::{Discard, Generator};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers as fast as they are taken, counted by key; each key comes once in so many numbers.
fn job(keys: u64, storage: &CheckpointStorage, counted: &Arc<AtomicU64>) -> Job {
    let settings = CheckpointSettings::manual();
    let counted = Arc::clone(counted);
    Job::new("busy")
        .parallelism(2)
        .checkpoints(Checkpointing::new(storage.clone(), settings))
        .source("numbers", Generator::new(|number| (number, 1)))
        .key_by(move |&(number, _): &(u64, u64)| number % keys)
        .reduce(|count, next| *count = (next.0, count.1 + next.1))
        .try_map(move |(number, count)| {
            // Of its key there were just those before it, whatever the state was restored from.
            let expected = number / keys + 1;
            if count != expected {
                return Err(format!(
                    "{number} is number {count} of its key, and not {expected}"
                ));
            }
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(number)
        })
        .sink("discard", Discard)
}

#[test]
fn t172_what_is_written_before_a_snapshot_is_encoded_is_not_in_it() {
    const KEYS: u64 = 1_000;
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        for life in 0..4 {
            let counted = Arc::<AtomicU64>::default();
            let mut stand = Stand::new(&job(KEYS, &storage, &counted));
            let come_to = |stand: &mut Stand, count: u64| {
                while counted.load(Ordering::Relaxed) < count {
                    stand.step_without(&[]).unwrap();
                }
            };
            // Each key is compared once at least, with what it was restored from.
            come_to(&mut stand, 2 * KEYS);
            for checkpoint in 1..=3 {
                let mut promise = stand.trigger();
                stand.step_without(&[]).unwrap();
                // The copies were taken, and wait; all keys are written several times.
                let count = counted.load(Ordering::Relaxed);
                come_to(&mut stand, count + 3 * KEYS);
                assert!(promise.try_take().is_none());
                while stand.job.run_beside() {}
                stand.step_without(&[]).unwrap();
                while stand.job.run_beside() {}
                stand.step_without(&[]).unwrap();
                let summary = promise.try_take().expect("it is kept").unwrap();
                assert!(summary.state_bytes > KEYS, "{life} {checkpoint}");
            }
            // The process dies.
            std::mem::forget(stand);
        }
    });
}

#[test]
fn t172_a_snapshot_that_is_encoded_while_all_keys_are_written_is_the_state_at_the_barrier() {
    const KEYS: u64 = 50_000;
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(2);
        for life in 0..3 {
            let counted = Arc::<AtomicU64>::default();
            let job = job(KEYS, &storage, &counted).start(&engine).unwrap();
            let checkpoints = job.checkpoints().unwrap();
            let is_over = || job.has_ended();
            until(|| is_over() || counted.load(Ordering::Relaxed) >= 2 * KEYS);
            for _ in 0..3 {
                until(|| is_over() || checkpoints.trigger().wait().is_ok());
            }
            assert_eq!(
                checkpoints.statistics().counts.restored,
                u64::from(life > 0)
            );
            job.cancel();
            let ended = job.wait().unwrap_err();
            assert!(
                matches!(ended, mailring::job::RunError::Canceled(_)),
                "{ended}"
            );
        }
    });
}

//! The costs themselves.

use super::subjects::{CopyOnWrite, Imbl, KEY_GROUPS, Subject};
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput};
use mailring::stream::{hash_of, key_group_of};
use std::hint::black_box;
use std::time::{Duration, Instant};

const KEYS: u64 = 1_000_000;
const STATE_BYTES: u64 = 16 * KEYS;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Key number `number`: spread over all there are.
fn key(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The number of the key that update `update` is of: any of them, in no order.
fn updated(update: u64) -> u64 {
    key(update.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 7) % KEYS
}

fn filled<S: Subject>() -> S {
    let mut subject = S::new();
    for number in 0..KEYS {
        subject.add_one(key(number));
    }
    subject
}

/// A key of each key group.
fn one_of_each_group() -> Vec<u64> {
    let mut keys = vec![None; KEY_GROUPS as usize];
    for number in 0..KEYS {
        let key = key(number);
        keys[key_group_of(hash_of(&key), KEY_GROUPS) as usize].get_or_insert(key);
    }
    keys.into_iter()
        .map(|key| key.expect("there are many"))
        .collect()
}

pub(crate) fn costs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("snapshot");
    snapshot::<CopyOnWrite>(&mut group);
    snapshot::<Imbl>(&mut group);
    group.finish();

    let mut group = criterion.benchmark_group("first_write_to_a_group");
    first_write::<CopyOnWrite>(&mut group);
    first_write::<Imbl>(&mut group);
    group.finish();

    let mut group = criterion.benchmark_group("a_million_updates");
    group.throughput(Throughput::Elements(KEYS));
    updates::<CopyOnWrite>(&mut group, Snapshots::None);
    updates::<Imbl>(&mut group, Snapshots::None);
    updates::<CopyOnWrite>(&mut group, Snapshots::Kept);
    updates::<Imbl>(&mut group, Snapshots::Kept);
    group.finish();

    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Bytes(STATE_BYTES));
    encode::<CopyOnWrite>(&mut group);
    encode::<Imbl>(&mut group);
    group.finish();

    let mut group = criterion.benchmark_group("restore");
    group.throughput(Throughput::Bytes(STATE_BYTES));
    restore::<CopyOnWrite>(&mut group);
    restore::<Imbl>(&mut group);
    group.finish();
}

/// The part of a snapshot for which the task stands still, when each key group was written since the
/// last one.
fn snapshot<S: Subject>(group: &mut Group<'_>) {
    let mut subject: S = filled();
    let keys = one_of_each_group();
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|times| {
            let mut taken = Duration::ZERO;
            for _ in 0..times {
                let start = Instant::now();
                let snapshot = subject.snapshot();
                taken += start.elapsed();
                drop(black_box(snapshot));
                keys.iter().for_each(|&key| subject.add_one(key));
            }
            taken
        });
    });
}

/// A write to a key group that a snapshot shares, on the average of all.
fn first_write<S: Subject>(group: &mut Group<'_>) {
    let mut subject: S = filled();
    let keys = one_of_each_group();
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|times| {
            let mut taken = Duration::ZERO;
            for _ in 0..times {
                let snapshot = subject.snapshot();
                let start = Instant::now();
                keys.iter().for_each(|&key| subject.add_one(key));
                taken += start.elapsed();
                drop(black_box(snapshot));
            }
            taken / KEY_GROUPS
        });
    });
}

/// Whether a snapshot is taken before each million of updates, and kept while they are made.
#[derive(Clone, Copy)]
enum Snapshots {
    None,
    Kept,
}

fn updates<S: Subject>(group: &mut Group<'_>, snapshots: Snapshots) {
    let mut subject: S = filled();
    let name = match snapshots {
        Snapshots::None => format!("{}/no_snapshot", S::NAME),
        Snapshots::Kept => format!("{}/snapshot_before", S::NAME),
    };
    let mut first = 0;
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            let snapshot = match snapshots {
                Snapshots::None => None,
                Snapshots::Kept => Some(subject.snapshot()),
            };
            for update in first..first + KEYS {
                subject.add_one(key(updated(update)));
            }
            first += KEYS;
            snapshot
        });
    });
}

fn encode<S: Subject>(group: &mut Group<'_>) {
    let mut subject: S = filled();
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_batched(
            || subject.snapshot(),
            |snapshot| S::encode(snapshot),
            BatchSize::PerIteration,
        );
    });
}

fn restore<S: Subject>(group: &mut Group<'_>) {
    let bytes = S::encode(filled::<S>().snapshot());
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_batched(
            || bytes.clone(),
            |bytes| S::restored(bytes),
            BatchSize::PerIteration,
        );
    });
}

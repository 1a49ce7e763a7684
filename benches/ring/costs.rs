//! What an operation costs by itself, on one thread: post, drain, claim of 16, empty and full check.

use crate::measure;
use crate::subjects::{
    ArrayQueue, CrossbeamChannel, DisruptorMulti, DisruptorSingle, MailringMpsc, MailringSpsc,
    Post, Rtrb, Subject, Take,
};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use std::hint::black_box;
use std::time::{Duration, Instant};

const CAPACITY: u64 = 1024;

/// Times `timed` for `iterations` letters in all, `untimed` after each lap of the ring.
fn by_laps(
    iterations: u64,
    mut before: impl FnMut(),
    mut timed: impl FnMut(),
    mut after: impl FnMut(),
) -> Duration {
    let laps = iterations.div_ceil(CAPACITY);
    let mut total = Duration::ZERO;
    for _ in 0..laps {
        before();
        let start = Instant::now();
        timed();
        total += start.elapsed();
        after();
    }
    // Per letter asked for, not per letter of whole laps.
    total.mul_f64(iterations as f64 / (laps * CAPACITY) as f64)
}

fn empty(take: &mut impl Take) {
    let mut left = CAPACITY;
    while left > 0 {
        left -= take.drain();
    }
}

fn post<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (mut post, mut take) = S::make(CAPACITY as usize);
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|iterations| {
            let fill = || (0..CAPACITY).for_each(|letter| assert!(post.try_post(letter)));
            by_laps(iterations, || {}, fill, || empty(&mut take))
        });
    });
}

fn claim_of_16<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (mut post, mut take) = S::make(CAPACITY as usize);
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|iterations| {
            let fill = || (0..CAPACITY / 16).for_each(|letter| post.post_16(letter));
            by_laps(iterations, || {}, fill, || empty(&mut take))
        });
    });
}

fn drain<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (mut post, mut take) = S::make(CAPACITY as usize);
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|iterations| {
            let fill = || (0..CAPACITY).for_each(|letter| assert!(post.try_post(letter)));
            by_laps(iterations, fill, || empty(&mut take), || {})
        });
    });
}

fn empty_check<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (_post, mut take) = S::make(CAPACITY as usize);
    group.bench_function(S::NAME, |bencher| {
        bencher.iter(|| black_box(&mut take).is_empty());
    });
}

fn full_check<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (mut post, _take) = S::make(CAPACITY as usize);
    while post.try_post(0) {}
    group.bench_function(S::NAME, |bencher| {
        bencher.iter(|| black_box(&mut post).try_post(1));
    });
}

/// All of them.
pub(crate) fn costs(criterion: &mut Criterion) {
    measure!(criterion, post: MailringMpsc, ArrayQueue, CrossbeamChannel, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    measure!(criterion, claim_of_16: MailringMpsc, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    measure!(criterion, drain: MailringMpsc, ArrayQueue, CrossbeamChannel, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    measure!(criterion, empty_check: MailringMpsc, ArrayQueue, CrossbeamChannel, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    measure!(criterion, full_check: MailringMpsc, ArrayQueue, CrossbeamChannel, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
}

//! More threads than CPUs: what each wait strategy keeps of the throughput of threads = CPUs.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use mailring::Cpus;
use mailring::ring::{Waited, mpsc};
use mailring::wait::{BusySpin, Parking, SpinHint, WaitStrategy, Yielding};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Letters of a measurement, at least: threads take turns for milliseconds.
const LETTERS_MIN: u64 = 100_000;

fn stream<W>(strategy: W, producers: usize, letters: u64) -> Duration
where
    W: WaitStrategy + Copy + 'static,
{
    let ring = mpsc::Builder::new(1024).wait(|| strategy).build::<u64>();
    let (producer, mut consumer) = ring.expect("a sound capacity");
    let ready = &Barrier::new(producers + 1);
    thread::scope(|scope| {
        for _ in 0..producers {
            let producer = producer.clone();
            scope.spawn(move || {
                ready.wait();
                for letter in 0..letters.div_ceil(producers as u64) {
                    producer.post(letter).expect("the consumer is there");
                }
            });
        }
        drop(producer);
        ready.wait();
        let start = Instant::now();
        while consumer.wait() != Waited::Finished {
            consumer.drain(256, |letter, _| {
                black_box(letter);
            });
        }
        start.elapsed()
    })
}

fn each_strategy<W>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, strategy: W)
where
    W: WaitStrategy + Copy + 'static,
{
    let cpus = Cpus::allowed().get();
    for (producers, crowd) in [(cpus.max(2) - 1, "1x"), (4 * cpus, "4x")] {
        group.bench_function(format!("{name}/{crowd}"), |bencher| {
            bencher.iter_custom(|letters| {
                let measured = letters.max(LETTERS_MIN);
                stream(strategy, producers, measured).mul_f64(letters as f64 / measured as f64)
            });
        });
    }
}

/// One group; `1x` has as many threads as CPUs, `4x` four times as many producers as CPUs.
pub(crate) fn crowded(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("crowded");
    group.sample_size(10);
    each_strategy(&mut group, "busy-spin", BusySpin);
    each_strategy(&mut group, "spin-hint", SpinHint);
    each_strategy(&mut group, "yielding", Yielding);
    each_strategy(&mut group, "parking", Parking::default());
    group.finish();
}

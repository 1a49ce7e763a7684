//! What a letter costs from one core to another: unbatched, 16 to a claim, and to a parked owner.
//!
//! Such figures depend on where the host puts the two CPUs at the time: compare them only within
//! one run, and only roughly.

use crate::measure;
use crate::subjects::{
    ArrayQueue, CrossbeamChannel, DisruptorMulti, DisruptorSingle, MailringMpsc, MailringSpsc,
    Post, Rtrb, Subject, Take,
};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use mailring::ring::mpsc;
use mailring::wait::Parking;
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

const CAPACITY: usize = 1024;
/// Letters that pass before the clock starts.
const WARM_UP: u64 = 10_000;

/// Pins this thread to the `index`th CPU it may use, where that is possible.
fn pin(index: usize) {
    #[cfg(feature = "affinity")]
    {
        // As it was before the first pin: a pinned thread sees one core.
        static CORES: std::sync::OnceLock<Vec<core_affinity::CoreId>> = std::sync::OnceLock::new();
        let cores = CORES.get_or_init(|| core_affinity::get_core_ids().unwrap_or_default());
        if let Some(core) = cores.get(index) {
            core_affinity::set_for_current(*core);
        }
    }
    #[cfg(not(feature = "affinity"))]
    let _ = index;
}

fn stream<S: Subject>(letters: u64, send: impl Fn(&mut S::Post, u64) + Send) -> Duration {
    let (mut post, mut take) = S::make(CAPACITY);
    let ready = &Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(move || {
            pin(0);
            ready.wait();
            send(&mut post, WARM_UP + letters);
        });
        let taking = scope.spawn(move || {
            pin(1);
            ready.wait();
            let mut taken = 0;
            while taken < WARM_UP {
                taken += take.wait_and_drain();
            }
            let start = Instant::now();
            let first = taken;
            while taken < WARM_UP + letters {
                taken += take.wait_and_drain();
            }
            // What came with the warm-up's last batch is not in the time.
            start
                .elapsed()
                .mul_f64(letters as f64 / (taken - first).max(1) as f64)
        });
        taking.join().expect("nothing panics here")
    })
}

fn unbatched<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|letters| {
            stream::<S>(letters.max(WARM_UP), |post, letters| {
                (0..letters).for_each(|letter| post.post(letter));
            })
            .mul_f64(letters as f64 / letters.max(WARM_UP) as f64)
        });
    });
}

fn batches_of_16<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|letters| {
            stream::<S>(letters.max(WARM_UP), |post, letters| {
                (0..letters.div_ceil(16)).for_each(|letter| post.post_16(letter));
            })
            .mul_f64(letters as f64 / letters.max(WARM_UP) as f64)
        });
    });
}

/// Round trips between two threads that both sleep at once, so that each trip has two wake-ups;
/// and the same with the waiting that is shipped, which spins first.
fn wake(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wake_round_trip");
    group.bench_function("std-park", |bencher| {
        bencher.iter_custom(by_std_park);
    });
    for (name, parking) in [
        (
            "mailring-mpsc-parks-at-once",
            Parking::after(Duration::ZERO),
        ),
        ("mailring-mpsc", Parking::default()),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|trips| {
                let ring = || mpsc::Builder::new(1).wait(|| parking).build::<()>();
                let (ping, mut pinged) = ring().expect("a sound capacity");
                let (pong, mut ponged) = ring().expect("a sound capacity");
                round_trips(
                    trips,
                    move || ping.post(()).expect("the other side is there"),
                    move || ponged.take().expect("the other side is there"),
                    move || pinged.take().is_ok() && pong.post(()).is_ok(),
                )
            });
        });
    }
    group.bench_function("crossbeam-channel", |bencher| {
        bencher.iter_custom(|trips| {
            let (ping, pinged) = crossbeam_channel::bounded(1);
            let (pong, ponged) = crossbeam_channel::bounded(1);
            round_trips(
                trips,
                move || ping.send(()).expect("the other side is there"),
                move || ponged.recv().expect("the other side is there"),
                move || pinged.recv().is_ok() && pong.send(()).is_ok(),
            )
        });
    });
    group.finish();
}

/// The same round trips by `std::thread::park` and a word for whose turn it is.
fn by_std_park(trips: u64) -> Duration {
    let turns = &AtomicU64::new(0);
    let asking = || {
        pin(1);
        let asking = thread::current();
        thread::scope(|scope| {
            let answering = scope.spawn(move || {
                pin(0);
                for trip in 0..trips {
                    while turns.load(Acquire) != 2 * trip + 1 {
                        thread::park();
                    }
                    turns.store(2 * trip + 2, Release);
                    asking.unpark();
                }
            });
            let start = Instant::now();
            for trip in 0..trips {
                turns.store(2 * trip + 1, Release);
                answering.thread().unpark();
                while turns.load(Acquire) != 2 * trip + 2 {
                    thread::park();
                }
            }
            start.elapsed()
        })
    };
    thread::scope(|scope| scope.spawn(asking).join().expect("nothing panics here"))
}

fn round_trips(
    trips: u64,
    mut ping: impl FnMut() + Send,
    mut wait: impl FnMut() + Send,
    mut answer: impl FnMut() -> bool + Send,
) -> Duration {
    thread::scope(|scope| {
        scope.spawn(move || {
            pin(0);
            while answer() {}
        });
        let asking = scope.spawn(move || {
            pin(1);
            let start = Instant::now();
            for _ in 0..trips {
                ping();
                wait();
            }
            start.elapsed()
        });
        asking.join().expect("nothing panics here")
    })
}

/// All of them.
pub(crate) fn threads(criterion: &mut Criterion) {
    measure!(criterion, unbatched: MailringMpsc, ArrayQueue, CrossbeamChannel, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    measure!(criterion, batches_of_16: MailringMpsc, DisruptorMulti, MailringSpsc, Rtrb, DisruptorSingle);
    wake(criterion);
}

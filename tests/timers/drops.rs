//! What callbacks have captured is dropped once, on the owner's thread, with nothing held.

use crate::bench::{Bench, Log, ms};
use crate::watchdog::watched;
use mailring::processor::{Ended, Executor, OnFailure, Repeat};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

/// Where captures were dropped.
type Drops = Arc<Mutex<Vec<ThreadId>>>;

/// What a callback has captured: in its drop it does all that a handle can do to the processor.
struct Captured {
    drops: Drops,
    executor: Executor<Log>,
}

impl Drop for Captured {
    fn drop(&mut self) {
        let Self { drops, executor } = self;
        let _refused_at_the_end = executor.execute(|log: &mut Log| log.push(77));
        let _refused_at_the_end = executor.execute_urgent(|log: &mut Log| log.push(88));
        executor.run_at(executor.now(), |log: &mut Log| log.push(99));
        let cancelled = executor.run_at(executor.now(), |_: &mut Log| unreachable!());
        assert!(cancelled.cancel());
        let _on_the_owners_thread = executor.is_idle();
        let _answers = (executor.should_interrupt(), executor.has_urgent());
        let _count = executor.counters();
        drops.lock().unwrap().push(thread::current().id());
    }
}

fn captured(bench: &Bench) -> (Captured, Drops) {
    let drops = Drops::default();
    let captured = Captured {
        drops: Arc::clone(&drops),
        executor: bench.executor.clone(),
    };
    (captured, drops)
}

fn count(drops: &Drops) -> usize {
    drops.lock().unwrap().len()
}

/// It was dropped once by the thread that asks, and what its drop has posted has come.
fn assert_dropped_here(bench: &mut Bench, drops: &Drops) {
    assert_eq!(*drops.lock().unwrap(), [thread::current().id()]);
    bench.run();
    let mut log = bench.log();
    log.sort_unstable();
    assert_eq!(log, [77, 88, 99]);
    assert_eq!(count(drops), 1);
}

#[test]
fn after_its_run() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    bench.executor.run_at(bench.start, move |_: &mut Log| {
        let _captured = captured;
    });
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn by_a_cancel_before_it_is_taken_in() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    let timer = bench.executor.run_at(bench.at(9), move |_: &mut Log| {
        let _captured = &captured;
    });
    assert!(timer.cancel());
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn by_a_cancel_while_it_is_armed() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    let timer = bench
        .executor
        .run_at(bench.at(3_600_000), move |_: &mut Log| {
            let _captured = &captured;
        });
    bench.run();
    assert_eq!(count(&drops), 0);
    assert!(timer.cancel());
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn by_a_cancel_while_its_letter_waits() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    let slot = Arc::new(Mutex::new(None));
    let other = Arc::clone(&slot);
    bench.executor.run_at(bench.start, move |_: &mut Log| {
        let timer: mailring::processor::Timer = other.lock().unwrap().take().unwrap();
        assert!(timer.cancel());
    });
    let timer = bench.executor.run_at(bench.start, move |_: &mut Log| {
        let _captured = &captured;
    });
    *slot.lock().unwrap() = Some(timer);
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn by_a_cancel_in_its_own_run() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    let slot = Arc::new(Mutex::new(None::<mailring::processor::Timer>));
    let own = Arc::clone(&slot);
    let repeat = Repeat::FixedRate(ms(1));
    let timer = bench
        .executor
        .run_every(bench.start, repeat, move |_: &mut Log, _| {
            let _captured = &captured;
            assert!(own.lock().unwrap().take().unwrap().cancel());
        });
    *slot.lock().unwrap() = Some(timer);
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn by_a_panic() {
    let mut bench = Bench::with(|builder| builder.on_failure(OnFailure::Skip));
    let (captured, drops) = captured(&bench);
    bench.executor.run_at(bench.start, move |_: &mut Log| {
        let _captured = captured;
        panic!("a run that fails");
    });
    bench.run();
    assert_dropped_here(&mut bench, &drops);
}

#[test]
fn when_timers_are_counted() {
    let mut bench = Bench::new();
    let (captured, drops) = captured(&bench);
    let timer = bench.executor.run_at(bench.at(9), move |_: &mut Log| {
        let _captured = &captured;
    });
    bench.run();
    timer.cancel();
    assert_eq!(bench.processor.timers_pending(), 0);
    assert_dropped_here(&mut bench, &drops);
}

/// At the end nothing can follow; dropped it is all the same.
#[test]
fn at_the_ends() {
    type End = fn(&mut Bench);
    let ends: [End; 4] = [
        |bench| bench.processor.quiesce(),
        |bench| drop(bench.processor.close()),
        |bench| drop(bench.processor.finish()),
        |bench| *bench = Bench::new(),
    ];
    for end in ends {
        for is_taken_in in [false, true] {
            let mut bench = Bench::new();
            let (captured, drops) = captured(&bench);
            let timer = bench.executor.run_at(bench.at(9), move |_: &mut Log| {
                let _captured = &captured;
            });
            if is_taken_in {
                bench.run();
            }
            end(&mut bench);
            assert_eq!(*drops.lock().unwrap(), [thread::current().id()]);
            assert!(!timer.is_pending());
        }
    }
}

#[test]
fn where_it_is_refused() {
    let mut bench = Bench::new();
    drop(bench.processor.close());
    let (captured, drops) = captured(&bench);
    bench.executor.run_at(bench.start, move |_: &mut Log| {
        let _captured = &captured;
    });
    assert_eq!(count(&drops), 1);
}

/// Cancelled on another thread, it is dropped by its owner.
#[test]
fn by_the_owner_whoever_cancels() {
    watched(|| {
        let mut bench = Bench::new();
        let (captured, drops) = captured(&bench);
        let timer = bench.executor.run_at(bench.at(9), move |_: &mut Log| {
            let _captured = &captured;
        });
        bench.run();
        thread::spawn(move || assert!(timer.cancel()))
            .join()
            .unwrap();
        assert_eq!(count(&drops), 0);
        bench.run();
        assert_dropped_here(&mut bench, &drops);
    });
}

/// What is posted in a drop just before the owner sleeps is not slept through: however often the
/// owner looks at its clock.
#[test]
fn what_a_drop_posts_is_not_slept_through() {
    watched(|| {
        for letters in 0..80_u64 {
            let Bench {
                mut processor,
                executor,
                start,
                clock: _clock,
            } = Bench::new();
            let own = executor.clone();
            let done = Arc::new(AtomicU32::new(0));
            let posting = PostingAllDone(executor.clone(), Arc::clone(&done));
            let timer = executor.run_at(start + ms(3_600_000), move |_: &mut Log| {
                let _posting = &posting;
            });
            post_after(own, letters, move |_: &mut Log| assert!(timer.cancel()));
            assert_eq!(processor.run().unwrap(), Ended::AllDone);
            assert_eq!(done.load(SeqCst), 1);
        }
    });
}

/// As many turns in which one letter runs, and then `last`.
fn post_after(executor: Executor<Log>, turns: u64, last: impl FnOnce(&mut Log) + Send + 'static) {
    let own = executor.clone();
    let posted = if turns == 0 {
        executor.execute(last)
    } else {
        let last: Box<dyn FnOnce(&mut Log) + Send> = Box::new(last);
        executor.execute(move |_: &mut Log| post_after(own, turns - 1, last))
    };
    posted.unwrap();
}

/// Posts a letter when it is dropped, which ends the loop.
struct PostingAllDone(Executor<Log>, Arc<AtomicU32>);

impl Drop for PostingAllDone {
    fn drop(&mut self) {
        let (executor, done) = (self.0.clone(), Arc::clone(&self.1));
        self.0
            .execute(move |_: &mut Log| {
                done.fetch_add(1, SeqCst);
                executor.all_done();
            })
            .unwrap();
    }
}

/// Captures of timers that are cancelled by another thread all the while, dropped once each.
#[test]
fn once_each_under_cancels_from_elsewhere() {
    watched(|| {
        const TIMERS: u32 = 20_000;
        let mut bench = Bench::new();
        let dropped = Arc::new(AtomicU32::new(0));
        let (send, cancelled) = std::sync::mpsc::channel::<mailring::processor::Timer>();
        let cancelling =
            thread::spawn(move || cancelled.iter().filter(|timer| timer.cancel()).count());
        for number in 0..TIMERS {
            let once = Once(Arc::clone(&dropped));
            let due = bench.executor.now() + ms(u64::from(number % 3));
            let timer = bench.executor.run_at(due, move |log: &mut Log| {
                let _once = &once;
                log.push(0);
            });
            send.send(timer).unwrap();
            if number % 16 == 0 {
                bench.clock.advance(ms(1));
                bench.run();
            }
        }
        drop(send);
        let cancels = cancelling.join().unwrap();
        bench.clock.advance(ms(10));
        bench.run();
        assert_eq!(bench.log().len() + cancels, TIMERS as usize);
        assert_eq!(dropped.load(SeqCst), TIMERS);
        assert_eq!(bench.processor.timers_pending(), 0);
    });
}

struct Once(Arc<AtomicU32>);

impl Drop for Once {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

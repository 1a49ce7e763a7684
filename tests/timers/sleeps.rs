//! An owner that sleeps until a timer is due, and what ends that sleep (case B49).

use crate::bench::{Bench, Log, ms};
use crate::watchdog::{until, watched};
use mailring::processor::{Controller, Ended, Executor, MailboxProcessor};
use mailring::{Clock, ManualClock};
use std::thread;
use std::time::{Duration, Instant};

fn parks(executor: &Executor<Log>) -> u64 {
    executor.counters().mailbox.parks
}

/// An owner that sleeps until a far timer, and a sooner one set on another thread.
#[test]
fn b49_a_a_sooner_timer_ends_the_sleep() {
    watched(|| {
        let Bench {
            clock,
            mut processor,
            executor,
            start,
        } = Bench::new();
        let far = executor.run_at(start + ms(60_000), |log: &mut Log| log.push(60_000));
        let setting = thread::spawn(move || {
            until(|| parks(&executor) > 0);
            let own = executor.clone();
            let due = start + ms(100);
            executor.run_at(due, move |log: &mut Log| {
                assert!(own.now() >= due, "early");
                log.push(100);
                own.all_done();
            });
            clock.advance(ms(99));
            let asked = executor.ask(|log: &mut Log| log.len()).unwrap();
            assert_eq!(asked.wait(), Ok(0), "early");
            clock.advance(ms(1));
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        setting.join().unwrap();
        assert_eq!(processor.with_owner(std::mem::take), [100]);
        assert!(far.is_pending());
    });
}

/// The same by the system's clock: the far one is an hour off.
#[test]
fn b49_a_a_sooner_timer_ends_the_sleep_by_the_systems_clock() {
    watched(|| {
        let mut processor = MailboxProcessor::new(Log::new()).unwrap();
        let executor = processor.executor();
        executor.run_after(Duration::from_secs(3600), |log: &mut Log| log.push(0));
        let setting = thread::spawn(move || {
            until(|| parks(&executor) > 0);
            for number in [3, 1, 2] {
                let (own, due) = (executor.clone(), executor.now() + ms(number * 10));
                executor.run_at(due, move |log: &mut Log| {
                    assert!(Instant::now() >= due, "early");
                    log.push(number);
                    if log.len() == 3 {
                        own.all_done();
                    }
                });
            }
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        setting.join().unwrap();
        let mut log = processor.with_owner(std::mem::take);
        log.sort_unstable();
        assert_eq!(log, [1, 2, 3]);
    });
}

/// A later timer delays none that was set before.
#[test]
fn b49_b_a_later_timer_delays_nothing() {
    let mut bench = Bench::new();
    let (executor, start) = (bench.executor.clone(), bench.start);
    for at_ms in [100, 200, 300] {
        let executor = executor.clone();
        bench
            .executor
            .run_at(bench.at(at_ms), move |log: &mut Log| {
                log.push(at_ms);
                if at_ms == 100 {
                    executor.run_at(start + ms(10_000), |log: &mut Log| log.push(10_000));
                }
            });
    }
    for at_ms in [100, 200, 300, 10_000] {
        bench.run_to(at_ms - 1);
        assert_eq!(bench.log(), [], "early");
        bench.run_to(at_ms);
        assert_eq!(bench.log(), [at_ms]);
    }
}

/// After a long sleep the time is read anew.
#[test]
fn b49_c_a_delay_after_a_long_sleep_is_whole() {
    watched(|| {
        let clock = ManualClock::new();
        let builder = MailboxProcessor::<Log>::builder().clock(clock.clone());
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        let start = clock.now();
        let asking = thread::spawn(move || {
            until(|| parks(&executor) > 0);
            clock.advance(ms(3_000));
            let own = executor.clone();
            let set = executor.ask(move |_: &mut Log| {
                let ending = own.clone();
                own.run_after(ms(500), move |log: &mut Log| {
                    log.push((ending.now() - start).as_millis() as u64);
                    ending.all_done();
                });
            });
            set.unwrap().wait().unwrap();
            clock.advance(ms(499));
            let asked = executor.ask(|log: &mut Log| log.len()).unwrap();
            assert_eq!(asked.wait(), Ok(0), "early");
            clock.advance(ms(1));
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        asking.join().unwrap();
        assert_eq!(processor.with_owner(std::mem::take), [3_500]);
    });
}

/// A cancelled timer is no reason to wake for anything but itself, and the owner sleeps on.
#[test]
fn a_cancel_on_another_thread_leaves_the_sleep_whole() {
    watched(|| {
        let Bench {
            clock,
            mut processor,
            executor,
            start,
        } = Bench::new();
        let cancelled = executor.run_at(start + ms(10), |_: &mut Log| unreachable!());
        let own = executor.clone();
        executor.run_at(start + ms(20), move |log: &mut Log| {
            log.push(20);
            own.all_done();
        });
        let cancelling = thread::spawn(move || {
            until(|| parks(&executor) > 0);
            assert!(cancelled.cancel());
            clock.advance(ms(10));
            clock.advance(ms(10));
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        cancelling.join().unwrap();
        assert_eq!(processor.with_owner(std::mem::take), [20]);
    });
}

/// A busy owner looks at once at a clock that was moved by hand.
#[test]
fn a_busy_owner_sees_a_clock_that_was_moved() {
    let clock = ManualClock::new();
    let builder = MailboxProcessor::<Log>::builder().clock(clock.clone());
    let mut processor = builder
        .build_with(Log::new(), |log: &mut Log, _: &mut Controller<'_>| {
            log.push(0)
        })
        .unwrap();
    let executor = processor.executor();
    for turn in 1..200 {
        // Turns in which no time passes make readings rare.
        let step = |letters| mailring::ring::Budget::letters(letters);
        let _more = processor.step(step(turn)).unwrap();
        executor.run_after(ms(1), |log: &mut Log| log.push(1));
        let _more = processor.step(step(1)).unwrap();
        processor.with_owner(Log::clear);
        clock.advance(ms(1));
        let _more = processor.step(step(1)).unwrap();
        assert_eq!(processor.with_owner(std::mem::take), [1]);
    }
}

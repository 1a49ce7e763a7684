//! Timers that are set and cancelled on other threads than their owner's.

use crate::bench::{Bench, Log, ms};
use crate::watchdog::{Dice, until, watched};
use mailring::letter::Priority;
use mailring::processor::{Ended, MailboxProcessor, Repeat, Timer, YieldError};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn a_handle_is_used_by_any_thread() {
    fn assert_shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    assert_shared::<Timer>();
}

/// As many as anybody likes: setting one waits for nothing, whoever runs the owner, or if nobody
/// does yet.
#[test]
fn any_number_is_set_before_the_first_run() {
    watched(|| {
        let mut bench = Bench::new();
        for number in 0..1_000 {
            let timer = bench
                .executor
                .run_at(bench.at(number), move |log: &mut Log| log.push(number));
            assert!(timer.is_pending());
        }
        assert_eq!(bench.processor.timers_pending(), 1_000);
        bench.run_to(999);
        assert_eq!(bench.log(), (0..1_000).collect::<Log>());
    });
}

/// The same between two runs, on the thread that runs the owner.
#[test]
fn any_number_is_set_between_runs() {
    watched(|| {
        let mut bench = Bench::new();
        bench.run();
        let timers: Vec<_> = (0..1_000)
            .map(|number| {
                bench
                    .executor
                    .run_at(bench.at(0), move |log: &mut Log| log.push(number))
            })
            .collect();
        assert!(timers.iter().all(|timer| timer.is_pending()));
        bench.run();
        assert_eq!(bench.log(), (0..1_000).collect::<Log>());
        assert!(!timers.iter().any(|timer| timer.is_pending()));
    });
}

/// A collaborator that waits in a yield gets the timer that another thread sets for it.
#[test]
fn a_yield_waits_for_a_timer_from_another_thread() {
    watched(|| {
        let mut processor = MailboxProcessor::new(Log::new()).unwrap();
        let collaborator = processor.executor().with_priority(Priority::new(7));
        let setting = collaborator.clone();
        let other = collaborator.clone();
        collaborator
            .execute(move |log: &mut Log| {
                let setter = thread::spawn(move || {
                    // Only so that the owner sleeps more often than not when it comes.
                    until(|| other.counters().mailbox.parks > 0);
                    other.run_after(Duration::ZERO, |log: &mut Log| log.push(1));
                });
                setting.yield_now(log)?;
                assert_eq!(*log, [1]);
                setter.join().unwrap();
                setting.all_done();
                Ok::<_, YieldError>(())
            })
            .unwrap();
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
    });
}

/// Four threads set timers while one runs them and four cancel: each timer runs or is cancelled.
#[test]
fn each_timer_runs_or_is_cancelled() {
    watched(|| {
        const TIMERS: u64 = 5_000;
        let mut processor = MailboxProcessor::new(Log::new()).unwrap();
        let executor = processor.executor();
        let done = Arc::new(AtomicU32::new(0));
        let setting: Vec<_> = (0..4)
            .map(|thread| {
                let (executor, done) = (executor.clone(), Arc::clone(&done));
                let (send, timers) = mpsc::channel::<Timer>();
                let cancelling = thread::spawn(move || {
                    let mut dice = Dice::new(thread + 100);
                    let cancel = |timer: &Timer| {
                        dice.dawdle(60);
                        timer.cancel()
                    };
                    timers.iter().filter(cancel).count()
                });
                thread::spawn(move || {
                    let mut dice = Dice::new(thread);
                    for number in 0..TIMERS {
                        let delay = Duration::from_nanos(dice.roll(2_000));
                        let timer = executor.run_after(delay, move |log: &mut Log| {
                            log.push(thread * TIMERS + number);
                        });
                        dice.dawdle(60);
                        send.send(timer).unwrap();
                    }
                    drop(send);
                    let cancels = cancelling.join().unwrap();
                    // The last one ends the loop, when no timer is left to run.
                    if done.fetch_add(1, Relaxed) == 3 {
                        let own = executor.clone();
                        executor.run_after(ms(1), move |_: &mut Log| own.all_done());
                    }
                    cancels
                })
            })
            .collect();
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let cancels: usize = setting
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum();
        assert_eq!(processor.timers_pending(), 0);
        let mut log = processor.with_owner(std::mem::take);
        assert_eq!(log.len() + cancels, 4 * TIMERS as usize);
        log.sort_unstable();
        log.dedup();
        assert_eq!(log.len() + cancels, 4 * TIMERS as usize, "one ran twice");
    });
}

/// A periodic timer that another thread cancels does not run after a letter that was posted then.
#[test]
fn a_cancelled_periodic_timer_is_over_for_letters_that_follow() {
    watched(|| {
        const ROUNDS: u64 = 300;
        let mut processor = MailboxProcessor::new(Log::new()).unwrap();
        let executor = processor.executor();
        let cancelling = thread::spawn(move || {
            let mut dice = Dice::new(7);
            for round in 0..ROUNDS {
                let repeat = Repeat::FixedDelay(Duration::from_nanos(1));
                let first = executor.now();
                let timer =
                    executor.run_every(first, repeat, move |log: &mut Log, _| log.push(round));
                dice.dawdle(3_000);
                assert!(timer.cancel() && !timer.is_pending());
                let runs = move |log: &mut Log| log.iter().filter(|run| **run == round).count();
                let then = executor.ask(runs).unwrap().wait().unwrap();
                dice.dawdle(3_000);
                let later = executor.ask(runs).unwrap().wait().unwrap();
                assert_eq!(later, then, "it ran after its cancel");
                executor.execute(Log::clear).unwrap();
            }
            executor.all_done();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        cancelling.join().unwrap();
        assert_eq!(processor.timers_pending(), 0);
    });
}

/// Timers set while the processor ends: what did not run is cancelled.
#[test]
fn set_against_the_end() {
    watched(|| {
        for round in 0..60 {
            let mut processor = MailboxProcessor::new(Log::new()).unwrap();
            let executor = processor.executor();
            let setting = thread::spawn(move || {
                let mut dice = Dice::new(round);
                let set = |number| {
                    dice.dawdle(200);
                    executor.run_after(Duration::ZERO, move |log: &mut Log| log.push(number))
                };
                (0..200).map(set).collect::<Vec<_>>()
            });
            let mut dice = Dice::new(round + 1_000);
            dice.dawdle(20_000);
            let _idle = processor.run_until_idle().unwrap();
            dice.dawdle(20_000);
            match round % 3 {
                0 => drop(processor.close()),
                1 => drop(processor.finish()),
                _ => {
                    processor.quiesce();
                    assert_eq!(processor.run().unwrap(), Ended::Quiesced);
                }
            }
            let timers = setting.join().unwrap();
            assert_eq!(processor.timers_pending(), 0);
            assert!(!timers.iter().any(Timer::is_pending));
            let cancelled = timers.iter().filter(|timer| timer.cancel()).count();
            assert_eq!(processor.with_owner(|log| log.len()) + cancelled, 200);
        }
    });
}

#[test]
fn a_quiesced_mailbox_refuses_from_any_thread() {
    let mut bench = Bench::new();
    bench.processor.quiesce();
    let executor = bench.executor.clone();
    let late = thread::spawn(move || {
        let late = executor.run_after(Duration::ZERO, |log: &mut Log| log.push(1));
        assert!(!late.is_pending());
        late
    });
    assert!(late.join().unwrap().cancel());
    assert_eq!(bench.processor.run().unwrap(), Ended::Quiesced);
    assert_eq!(bench.log(), []);
}

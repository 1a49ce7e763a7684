//! Ends with many timers due, or pending (case B52).

use crate::bench::{Bench, Log, ms};
use mailring::mailbox::{Marker, MarkerPost, Taken};
use mailring::processor::{Ended, Repeat, Step, YieldError};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Counts its drops.
struct Captured(Arc<AtomicU32>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn b52_a_a_hundred_thousand_due_and_an_end_after_ten() {
    const TIMERS: u32 = 100_000;
    let mut bench = Bench::new();
    let dropped = Arc::new(AtomicU32::new(0));
    let mut timers = Vec::new();
    for number in 0..u64::from(TIMERS) {
        let captured = Captured(Arc::clone(&dropped));
        let executor = bench.executor.clone();
        timers.push(bench.executor.run_at(bench.at(1), move |log: &mut Log| {
            let _captured = captured;
            log.push(number);
            if log.len() == 10 {
                executor.all_done();
            }
        }));
    }
    bench.clock.advance(ms(1));
    let step = bench.processor.run_until_idle().unwrap();
    assert_eq!(step, Step::Ended(Ended::AllDone));
    assert_eq!(bench.log(), (0..10).collect::<Log>());
    assert_eq!(dropped.load(SeqCst), 10);
    assert_eq!(bench.processor.timers_pending(), TIMERS as usize - 10);
    assert!(bench.processor.close().is_empty(), "timers are no letters");
    assert_eq!(dropped.load(SeqCst), TIMERS);
    assert_eq!(bench.processor.timers_pending(), 0);
    assert_eq!(bench.timers_run(), 10);
    let will_not_run = timers.iter().filter(|timer| timer.cancel()).count();
    assert_eq!(will_not_run, TIMERS as usize - 10);
}

/// What is due has its run, what is not is dropped: nobody waits for it.
#[test]
fn b52_b_quiesce_with_timers_to_come() {
    let mut bench = Bench::new();
    let now = bench
        .executor
        .run_at(bench.start, |log: &mut Log| log.push(0));
    let soon = bench
        .executor
        .run_at(bench.at(100), |log: &mut Log| log.push(1));
    let far = bench
        .executor
        .run_at(bench.at(3_600_000), |log: &mut Log| log.push(2));
    bench.processor.quiesce();
    assert_eq!(bench.processor.run().unwrap(), Ended::Quiesced);
    assert_eq!(bench.log(), [0]);
    assert!(!now.cancel());
    assert!(soon.cancel() && far.cancel());
}

#[test]
fn b52_c_the_last_letter_sets_a_timer() {
    let mut bench = Bench::new();
    let executor = bench.executor.clone();
    bench
        .executor
        .execute(move |log: &mut Log| {
            let once = executor.run_after(ms(10), |log: &mut Log| log.push(2));
            let repeat = Repeat::FixedDelay(ms(1));
            let periodic = executor.run_every(executor.now(), repeat, |log: &mut Log, _| {
                log.push(3);
            });
            log.push(u64::from(once.is_pending() || periodic.is_pending()));
            log.push(u64::from(once.cancel() && periodic.cancel()));
        })
        .unwrap();
    assert_eq!(bench.processor.finish().ran, 1);
    assert_eq!(bench.log(), [0, 1], "cancelled from the start");
}

#[test]
fn b52_d_a_timer_set_after_quiesce() {
    let mut bench = Bench::new();
    let executor = bench.executor.clone();
    bench
        .executor
        .execute(move |log: &mut Log| {
            // On the owner's thread too.
            let timer = executor.run_after(ms(0), |log: &mut Log| log.push(2));
            log.push(u64::from(timer.is_pending()));
        })
        .unwrap();
    bench.processor.quiesce();
    let timer = bench.executor.run_after(ms(0), |log: &mut Log| log.push(2));
    assert!(!timer.is_pending());
    assert_eq!(bench.processor.run().unwrap(), Ended::Quiesced);
    assert_eq!(bench.log(), [0]);
}

/// A periodic timer that is due has one last run.
#[test]
fn a_finish_ends_periodic_timers() {
    let mut bench = Bench::new();
    let clock = bench.clock.clone();
    let repeat = Repeat::FixedDelay(ms(1));
    let timer = bench
        .executor
        .run_every(bench.start, repeat, move |log, _| {
            clock.advance(ms(5));
            log.push(1);
        });
    bench.clock.advance(ms(1));
    assert_eq!(bench.processor.finish().ran, 1);
    assert_eq!(bench.log(), [1]);
    assert!(!timer.is_pending());
}

/// Suspended and run again, a loop goes on with its timers.
#[test]
fn a_suspended_loop_keeps_its_timers() {
    let mut bench = Bench::new();
    for number in 0..3 {
        let executor = bench.executor.clone();
        bench.executor.run_at(bench.at(1), move |log: &mut Log| {
            log.push(number);
            executor.suspend_loop();
        });
    }
    bench.clock.advance(ms(1));
    for number in 0..3 {
        assert_eq!(bench.processor.run().unwrap(), Ended::Suspended);
        assert_eq!(bench.log(), [number]);
    }
}

#[test]
fn a_processor_that_is_dropped_cancels_its_timers() {
    let bench = Bench::new();
    let Bench {
        executor,
        processor,
        start,
        ..
    } = bench;
    let timer = executor.run_at(start, |_: &mut Log| {});
    drop(processor);
    assert!(!timer.is_pending() && timer.cancel());
    let late = executor.run_at(start, |_: &mut Log| {});
    assert!(!late.is_pending() && late.cancel());
}

/// A marker that came up in a yield while it ran owes a run; a timer that is due owes none.
#[test]
fn what_is_left_is_letters_and_markers_alone() {
    let mut bench = Bench::new();
    let slot = Arc::new(Mutex::new(None::<Marker<Log>>));
    let (own, executor) = (Arc::clone(&slot), bench.executor.clone());
    let run = move |log: &mut Log| {
        log.push(1);
        let own = own.lock().unwrap();
        assert_eq!(own.as_ref().unwrap().post(), MarkerPost::Posted);
        executor.try_yield(log)?;
        executor.all_done();
        Ok::<_, YieldError>(())
    };
    let marker = bench.processor.marker("itself", run).unwrap();
    *slot.lock().unwrap() = Some(marker.clone());
    assert_eq!(marker.post(), MarkerPost::Posted);
    bench.clock.advance(ms(1));
    let step = bench.processor.run_until_idle().unwrap();
    assert_eq!(step, Step::Ended(Ended::AllDone));
    assert_eq!(bench.log(), [1]);
    bench.executor.execute(|log: &mut Log| log.push(2)).unwrap();
    bench.executor.run_at(bench.start, |_: &mut Log| {});
    let _still = bench.processor.run_until_idle().unwrap();
    let left: Vec<_> = bench.processor.close().collect();
    assert!(
        matches!(&left[..], [Taken::Marker(id), Taken::Letter(_)] if *id == marker.id()),
        "{left:?}"
    );
}

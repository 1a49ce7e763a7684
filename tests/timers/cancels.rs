//! Cancels: before, between, within and after (case B51).

use crate::bench::{Bench, Log, ms};
use mailring::letter::Priority;
use mailring::processor::{Repeat, Timer, YieldError};
use std::sync::{Arc, Mutex};

/// Where a callback finds its own handle.
type Slot = Arc<Mutex<Option<Timer>>>;

/// It has fired, its letter waits behind the owner's work, and then it is cancelled.
#[test]
fn b51_a_cancelled_between_expiry_and_run() {
    let mut bench = Bench::new();
    let (executor, clock, due) = (bench.executor.clone(), bench.clock.clone(), bench.at(100));
    bench.inside(move |log: &mut Log| {
        let timer = executor.run_at(due, |log: &mut Log| log.push(1));
        clock.advance(ms(200));
        // A yield looks for timers, and may not run this one.
        let above = executor.with_priority(Priority::MAX);
        assert!(matches!(above.try_yield(log), Ok(false)));
        assert!(executor.should_interrupt(), "its letter waits");
        assert!(timer.is_pending());
        assert!(timer.cancel());
        assert!(!timer.is_pending());
    });
    bench.run_to(1_000);
    assert_eq!(bench.log(), []);
    assert_eq!(bench.timers_run(), 0);
    assert_eq!(bench.processor.timers_pending(), 0);
}

fn cancel_own(slot: &Slot) -> bool {
    slot.lock().unwrap().as_ref().unwrap().cancel()
}

#[test]
fn b51_b_a_periodic_timer_that_cancels_itself_on_its_third_run() {
    for repeat in [Repeat::FixedRate(ms(10)), Repeat::FixedDelay(ms(10))] {
        let mut bench = Bench::new();
        let slot = Slot::default();
        let own = Arc::clone(&slot);
        let timer = bench
            .executor
            .run_every(bench.at(10), repeat, move |log: &mut Log, _| {
                log.push(0);
                if log.len() == 3 {
                    assert!(cancel_own(&own), "it will not run again");
                }
            });
        *slot.lock().unwrap() = Some(timer.clone());
        for turn in 1..=10 {
            bench.run_to(turn * 10);
        }
        assert_eq!(bench.log().len(), 3);
        assert!(!timer.is_pending());
        assert_eq!(bench.processor.timers_pending(), 0);
    }
}

#[test]
fn a_timer_for_one_run_is_too_late_to_cancel_itself() {
    let mut bench = Bench::new();
    let slot = Slot::default();
    let own = Arc::clone(&slot);
    let timer = bench.executor.run_at(bench.at(1), move |log: &mut Log| {
        log.push(u64::from(cancel_own(&own)));
    });
    *slot.lock().unwrap() = Some(timer);
    bench.run_to(1);
    assert_eq!(bench.log(), [0]);
}

#[test]
fn b51_c_cancel_twice() {
    let mut bench = Bench::new();
    let timer = bench
        .executor
        .run_at(bench.at(1), |log: &mut Log| log.push(1));
    let same = timer.clone();
    assert!(timer.cancel() && timer.cancel() && same.cancel());
    bench.run_to(1);
    assert!(timer.cancel() && same.cancel());
    assert_eq!(bench.log(), []);
}

#[test]
fn b51_d_cancel_after_it_ran() {
    let mut bench = Bench::new();
    let timer = bench
        .executor
        .run_at(bench.at(1), |log: &mut Log| log.push(1));
    bench.run_to(1);
    assert!(!timer.cancel() && !timer.cancel());
    assert_eq!(bench.log(), [1]);
}

#[test]
fn b51_e_of_two_due_together_the_first_cancels_the_second() {
    let mut bench = Bench::new();
    let slot = Slot::default();
    let other = Arc::clone(&slot);
    bench.executor.run_at(bench.at(1), move |log: &mut Log| {
        log.push(u64::from(cancel_own(&other)));
    });
    let second = bench
        .executor
        .run_at(bench.at(1), |log: &mut Log| log.push(7));
    *slot.lock().unwrap() = Some(second);
    bench.run_to(1);
    assert_eq!(bench.log(), [1], "it was cancelled, and did not run");
    assert_eq!(bench.processor.timers_pending(), 0);
}

/// A periodic timer that is cancelled in a yield within its own run.
#[test]
fn a_cancel_in_the_middle_of_a_periodic_run() {
    let mut bench = Bench::new();
    let slot = Slot::default();
    let (own, executor) = (Arc::clone(&slot), bench.executor.clone());
    let timer = bench.executor.run_every(
        bench.at(1),
        Repeat::FixedRate(ms(1)),
        move |log: &mut Log, _| {
            let own = Arc::clone(&own);
            executor
                .execute(move |log: &mut Log| log.push(u64::from(cancel_own(&own))))
                .unwrap();
            executor.yield_now(log)?;
            log.push(2);
            Ok::<_, YieldError>(())
        },
    );
    *slot.lock().unwrap() = Some(timer.clone());
    for at_ms in 1..9 {
        bench.run_to(at_ms);
    }
    assert_eq!(bench.log(), [1, 2]);
    assert!(!timer.is_pending());
}

/// A handle that is dropped cancels nothing.
#[test]
fn a_dropped_handle_changes_nothing() {
    let mut bench = Bench::new();
    drop(
        bench
            .executor
            .run_at(bench.at(1), |log: &mut Log| log.push(1)),
    );
    bench.run_to(1);
    assert_eq!(bench.log(), [1]);
}

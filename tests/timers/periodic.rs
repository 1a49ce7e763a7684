//! Timers that fire again and again, and moments that never come.

use crate::bench::{Bench, Log, ms};
use mailring::letter::BoxError;
use mailring::processor::{Executor, OnFailure, Repeat, Step, Timer};
use std::time::{Duration, Instant};

/// Notes when it was due and moves on.
fn noting(bench: &Bench, first_ms: u64, repeat: Repeat) -> Timer {
    let start = bench.start;
    bench
        .executor
        .run_every(bench.at(first_ms), repeat, move |log: &mut Log, due| {
            log.push((due - start).as_millis() as u64);
        })
}

/// However long the owner is busy, and whatever looks for timers meanwhile.
#[test]
fn there_is_never_more_than_one_letter() {
    for repeat in [Repeat::FixedRate(ms(10)), Repeat::FixedDelay(ms(10))] {
        let mut bench = Bench::new();
        let timer = noting(&bench, 10, repeat);
        let (executor, clock) = (bench.executor.clone(), bench.clock.clone());
        bench.inside(move |log: &mut Log| {
            let above = executor.with_priority(mailring::letter::Priority::MAX);
            for _ in 0..50 {
                clock.advance(ms(10));
                assert!(matches!(above.try_yield(log), Ok(false)));
            }
        });
        assert_eq!(bench.log(), [10]);
        assert_eq!(bench.timers_run(), 1);
        assert_eq!(bench.processor.timers_pending(), 1);
        bench.run_to(510);
        assert_eq!(bench.log(), [510]);
        assert!(timer.cancel());
    }
}

#[test]
fn a_fixed_rate_leaves_out_what_has_passed_and_keeps_its_phase() {
    let mut bench = Bench::new();
    noting(&bench, 10, Repeat::FixedRate(ms(10)));
    bench.run_to(37);
    assert_eq!(bench.log(), [10]);
    bench.run_to(39);
    assert_eq!(bench.log(), []);
    bench.run_to(40);
    assert_eq!(bench.log(), [40]);
    // Exactly at a moment: that one has passed when the run ends.
    bench.run_to(70);
    assert_eq!(bench.log(), [50]);
    bench.run_to(79);
    assert_eq!(bench.log(), []);
    bench.run_to(80);
    assert_eq!(bench.log(), [80]);
}

/// The moments that pass in a long run are left out too.
#[test]
fn a_run_longer_than_the_period_is_followed_by_the_next_moment_to_come() {
    let mut bench = Bench::new();
    let (start, clock) = (bench.start, bench.clock.clone());
    bench
        .executor
        .run_every(bench.at(10), Repeat::FixedRate(ms(10)), move |log, due| {
            log.push((due - start).as_millis() as u64);
            clock.advance(ms(25));
        });
    bench.run_to(10);
    assert_eq!(bench.log(), [10]);
    bench.run_to(40);
    assert_eq!(bench.log(), [40]);
}

#[test]
fn a_first_moment_long_past_is_run_once() {
    let mut bench = Bench::new();
    bench.clock.advance(ms(1_004));
    noting(&bench, 0, Repeat::FixedRate(ms(10)));
    bench.run();
    assert_eq!(bench.log(), [0]);
    bench.run_to(1_009);
    assert_eq!(bench.log(), []);
    bench.run_to(1_010);
    assert_eq!(bench.log(), [1_010]);
}

/// A period of zero: each moment of the clock has one run.
#[test]
fn a_period_of_zero_runs_once_at_each_moment() {
    for repeat in [
        Repeat::FixedRate(Duration::ZERO),
        Repeat::FixedDelay(Duration::ZERO),
    ] {
        let mut bench = Bench::new();
        let timer = bench
            .executor
            .run_every(bench.start, repeat, |log: &mut Log, _| log.push(0));
        bench.run();
        assert_eq!(bench.log(), [0]);
        bench.run();
        assert_eq!(bench.log(), []);
        for at_ms in 1..=3 {
            bench.run_to(at_ms);
        }
        assert_eq!(bench.log(), [0, 0, 0]);
        assert!(timer.cancel());
    }
}

#[test]
fn after_a_period_past_the_end_of_time_it_is_over() {
    for repeat in [
        Repeat::FixedRate(Duration::MAX),
        Repeat::FixedDelay(Duration::MAX),
    ] {
        let mut bench = Bench::new();
        let timer = noting(&bench, 1, repeat);
        bench.run_to(1);
        assert_eq!(bench.log(), [1]);
        assert!(!timer.is_pending());
        assert!(timer.cancel(), "it will not run again");
        assert_eq!(bench.processor.timers_pending(), 0);
    }
}

#[test]
fn a_delay_past_the_end_of_time_is_never_over() {
    let mut bench = Bench::new();
    let far = bench.executor.run_after(Duration::MAX, |_: &mut Log| {
        unreachable!("it never comes");
    });
    noting(&bench, 1, Repeat::FixedRate(ms(1)));
    // Fifty years.
    bench.run_to(50 * 365 * 24 * 3_600_000);
    assert_eq!(bench.log(), [1]);
    assert!(far.is_pending() && far.cancel());
}

/// Far ahead of and behind each other on the same wheel.
#[test]
fn near_and_far_come_in_order() {
    let mut bench = Bench::new();
    let year_ms = 365 * 24 * 3_600_000;
    let mut moments = [10 * year_ms, 1, year_ms, 70, 3_600_000, 0];
    for at_ms in moments {
        bench
            .executor
            .run_at(bench.at(at_ms), move |log: &mut Log| log.push(at_ms));
    }
    moments.sort_unstable();
    for at_ms in moments {
        if at_ms > 0 {
            bench.run_to(at_ms - 1);
            assert_eq!(bench.log(), [], "early");
        }
        bench.run_to(at_ms);
        assert_eq!(bench.log(), [at_ms]);
    }
}

fn failing(log: &mut Log, _: Instant) -> Result<(), BoxError> {
    log.push(1);
    match log.len() {
        1 => panic!("the first run"),
        2 => Err("the second run".into()),
        _ => Ok(()),
    }
}

#[test]
fn where_failures_are_skipped_a_timer_that_fails_goes_on() {
    for repeat in [Repeat::FixedRate(ms(10)), Repeat::FixedDelay(ms(10))] {
        let mut bench = Bench::with(|builder| builder.on_failure(OnFailure::Skip));
        let timer = bench.executor.run_every(bench.at(10), repeat, failing);
        for turn in 1..=4 {
            bench.run_to(turn * 10);
        }
        assert_eq!(bench.log().len(), 4);
        assert_eq!(bench.executor.counters().failures, 2);
        assert!(timer.is_pending());
    }
}

#[test]
fn a_timer_for_one_run_that_fails_has_run() {
    let mut bench = Bench::with(|builder| builder.on_failure(OnFailure::Skip));
    let timer = bench
        .executor
        .run_at(bench.at(1), |_: &mut Log| panic!("its run"));
    bench.run_to(1);
    assert!(!timer.is_pending() && !timer.cancel());
    assert_eq!(bench.processor.timers_pending(), 0);
    assert_eq!(bench.executor.counters().failures, 1);
}

#[test]
fn where_failures_stop_a_timer_that_fails_does_not_run_again() {
    let mut bench = Bench::new();
    let repeat = Repeat::FixedRate(ms(10));
    let timer = bench.executor.run_every(bench.at(10), repeat, failing);
    let other = noting(&bench, 20, repeat);
    bench.clock.advance(ms(10));
    let failure = bench.processor.run_until_idle().unwrap_err();
    assert_eq!(failure.what(), "timer");
    assert!(failure.is_panic());
    bench.clock.advance(ms(100));
    bench.processor.run_until_idle().unwrap_err();
    assert_eq!(bench.log(), [1]);
    assert_refused(&bench.executor);
    let finished = bench.processor.finish();
    assert_eq!(finished.ran, 0);
    for timer in [timer, other] {
        assert!(!timer.is_pending() && timer.cancel());
    }
    assert_eq!(bench.processor.timers_pending(), 0);
}

#[test]
fn a_panic_that_goes_on_leaves_the_timers_whole() {
    let mut bench = Bench::with(|builder| builder.on_failure(OnFailure::Propagate));
    let repeat = Repeat::FixedRate(ms(10));
    let timer = bench.executor.run_every(bench.at(10), repeat, failing);
    bench.clock.advance(ms(10));
    let run = std::panic::AssertUnwindSafe(|| bench.processor.run_until_idle());
    let message = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(message.downcast_ref(), Some(&"the first run"));
    assert_refused(&bench.executor);
    assert_eq!(bench.processor.timers_pending(), 1);
    assert_eq!(bench.processor.close().count(), 0);
    assert!(!timer.is_pending());
}

fn assert_refused(executor: &Executor<Log>) {
    let late = executor.run_after(Duration::ZERO, |_: &mut Log| {});
    assert!(!late.is_pending(), "a failed processor takes no timers");
}

/// The loop's budget counts a timer as the letter it is.
#[test]
fn a_timer_is_a_letter_of_the_budget() {
    let mut bench = Bench::new();
    for number in 0..3 {
        bench
            .executor
            .run_at(bench.start, move |log: &mut Log| log.push(number));
    }
    for number in 0..3 {
        let step = bench.processor.step(mailring::ring::Budget::letters(1));
        assert_eq!(step.unwrap(), Step::More);
        assert_eq!(bench.log(), [number]);
    }
    bench.run();
}

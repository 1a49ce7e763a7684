//! The reference system's scenarios of timers.

use crate::bench::{Bench, Log, ms};
use mailring::letter::Priority;
use mailring::processor::{Ended, MailboxProcessor, Repeat, Step, YieldError};
use mailring::ring::Budget;
use mailring::{Clock, ManualClock};
use std::time::Duration;

/// In chained operators that wait for their timers, a yield runs those of what stands after it in the
/// chain alone.
#[test]
fn scenario_62_yields_run_the_timers_of_their_priority() {
    let clock = ManualClock::new();
    let builder = MailboxProcessor::<Vec<&str>>::builder().clock(clock.clone());
    let mut processor = builder.build(Vec::new()).unwrap();
    let head = processor.executor().with_priority(Priority::new(0));
    let tail = head.with_priority(Priority::new(1));
    let second = Duration::from_secs(1);
    let (of_head, of_tail) = (head.clone(), tail.clone());
    head.execute(move |log: &mut Vec<&str>| {
        of_head.run_after(second, |log: &mut Vec<&str>| log.push("head's timer"));
        // The record goes on to the tail.
        of_tail.run_after(second, |log: &mut Vec<&str>| log.push("tail's timer"));
        log.push("record");
        clock.advance(second);
        of_tail.yield_now(log)?;
        assert_eq!(*log, ["record", "tail's timer"]);
        assert!(!of_tail.try_yield(log)?, "the head's is not its to run");
        of_head.yield_now(log)?;
        log.push("record done");
        Ok::<_, YieldError>(())
    })
    .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let log = processor.with_owner(std::mem::take);
    assert_eq!(
        log,
        ["record", "tail's timer", "head's timer", "record done"]
    );
}

/// A hundred due at once, and an end after the tenth: no eleventh.
#[test]
fn scenario_90_no_timer_runs_after_the_end() {
    let mut bench = Bench::new();
    for number in 1..=100 {
        let executor = bench.executor.clone();
        bench.executor.run_at(bench.at(5), move |log: &mut Log| {
            log.push(number);
            if number == 10 {
                executor.all_done();
            }
        });
    }
    bench.clock.advance(ms(5));
    let step = bench.processor.run_until_idle().unwrap();
    assert_eq!(step, Step::Ended(Ended::AllDone));
    assert_eq!(bench.log(), (1..=10).collect::<Log>());
    assert_eq!(bench.processor.timers_pending(), 90);
}

/// What is due when the end begins runs before what is posted at the end; what is set at the end, or
/// due later, never does.
#[test]
fn scenario_114_finish_runs_what_is_due_and_no_later_timer() {
    let mut bench = Bench::new();
    let executor = bench.executor.clone();
    bench.executor.run_at(bench.at(10), move |log: &mut Log| {
        log.push(1);
        executor.execute(|log: &mut Log| log.push(2)).unwrap();
        let late = executor.run_at(executor.now(), |log: &mut Log| log.push(3));
        assert!(!late.is_pending());
    });
    let far = bench
        .executor
        .run_at(bench.at(11), |log: &mut Log| log.push(4));
    bench.clock.advance(ms(10));
    let finished = bench.processor.finish();
    assert_eq!(finished.ran, 2);
    assert!(finished.failure.is_none());
    assert_eq!(finished.undelivered.count(), 0);
    assert_eq!(bench.log(), [1, 2]);
    assert!(!far.is_pending());
}

#[test]
fn scenario_129_a_fixed_rate_is_of_its_first_moment() {
    let mut bench = Bench::new();
    let start = bench.start;
    let note = move |log: &mut Log, due: std::time::Instant| {
        log.push((due - start).as_millis() as u64);
    };
    bench
        .executor
        .run_every(bench.at(7), Repeat::FixedRate(ms(10)), note);
    for at_ms in [6, 7, 16, 17, 26, 27] {
        bench.run_to(at_ms);
    }
    assert_eq!(bench.log(), [7, 17, 27]);
}

#[test]
fn scenario_130_a_fixed_delay_is_from_the_end_of_a_run() {
    let mut bench = Bench::new();
    let (start, clock) = (bench.start, bench.clock.clone());
    let note = move |log: &mut Log, due: std::time::Instant| {
        log.push((due - start).as_millis() as u64);
        clock.advance(ms(3));
    };
    bench
        .executor
        .run_every(bench.at(7), Repeat::FixedDelay(ms(10)), note);
    // Late by two, and three more in the run: from 12 on.
    for at_ms in [9, 21, 22, 34, 35] {
        bench.run_to(at_ms);
    }
    assert_eq!(bench.log(), [7, 22, 35]);
}

#[test]
fn scenario_131_quiesce_cancels_and_later_timers_are_cancelled_from_the_start() {
    let mut bench = Bench::new();
    let periodic =
        bench
            .executor
            .run_every(bench.at(5), Repeat::FixedRate(ms(5)), |log: &mut Log, _| {
                log.push(1);
            });
    bench.run_to(5);
    bench.processor.quiesce();
    assert!(!periodic.is_pending());
    assert!(periodic.cancel(), "it will not run again");
    let late = bench
        .executor
        .run_at(bench.at(0), |_: &mut Log| panic!("it is never run"));
    assert!(!late.is_pending());
    assert!(late.cancel());
    assert_eq!(bench.processor.timers_pending(), 0);
    bench.clock.advance(ms(100));
    let step = bench.processor.run_until_idle().unwrap();
    assert_eq!(step, Step::Ended(Ended::Quiesced));
    assert_eq!(bench.log(), [1]);
}

/// Closed: nothing that was set runs, and what is set is cancelled from the start.
#[test]
fn scenario_132_a_closed_processor_takes_no_timer() {
    let mut bench = Bench::new();
    let due = bench.executor.run_at(bench.at(0), |_: &mut Log| {});
    let far = bench.executor.run_at(bench.at(9), |_: &mut Log| {});
    let _undelivered = bench.processor.close();
    let late = bench.executor.run_at(bench.at(0), |_: &mut Log| {});
    for timer in [due, far, late] {
        assert!(!timer.is_pending());
        assert!(timer.cancel());
    }
    assert_eq!(bench.processor.timers_pending(), 0);
    assert_eq!(bench.timers_run(), 0);
}

/// Whoever quiesces does so between runs; a timer that has fired by then still has its run.
#[test]
fn scenarios_133_and_138_quiesce_leaves_what_has_fired_its_run() {
    let mut bench = Bench::new();
    let fired = bench
        .executor
        .run_at(bench.at(5), |log: &mut Log| log.push(5));
    let periodic =
        bench
            .executor
            .run_every(bench.at(5), Repeat::FixedRate(ms(5)), |log: &mut Log, _| {
                log.push(6);
            });
    let far = bench
        .executor
        .run_at(bench.at(6), |log: &mut Log| log.push(7));
    bench.clock.advance(ms(5));
    bench.processor.quiesce();
    assert!(fired.is_pending() && periodic.is_pending());
    assert!(!far.is_pending());
    assert_eq!(bench.processor.timers_pending(), 2);
    bench.clock.advance(ms(5));
    let step = bench.processor.run_until_idle().unwrap();
    assert_eq!(step, Step::Ended(Ended::Quiesced));
    assert_eq!(bench.log(), [5, 6], "once, also the periodic one");
    assert!(!fired.is_pending() && !periodic.is_pending());
}

#[test]
fn scenario_138_quiesce_without_timers_is_the_end_at_once() {
    let mut bench = Bench::new();
    bench.processor.quiesce();
    let step = bench.processor.step(Budget::letters(1)).unwrap();
    assert_eq!(step, Step::Ended(Ended::Quiesced));
}

#[test]
fn scenario_134_a_cancelled_timer_is_not_counted() {
    let mut bench = Bench::new();
    let once = bench.executor.run_at(bench.at(5), |_: &mut Log| {});
    let repeat = Repeat::FixedDelay(ms(1));
    let periodic = bench
        .executor
        .run_every(bench.at(6), repeat, |_: &mut Log, _| {});
    assert_eq!(bench.processor.timers_pending(), 2);
    assert!(once.cancel());
    assert_eq!(bench.processor.timers_pending(), 1);
    assert!(periodic.cancel());
    assert_eq!(bench.processor.timers_pending(), 0);
    bench.run_to(100);
    assert_eq!(bench.timers_run(), 0);
}

#[test]
fn scenario_137_what_a_handle_tells() {
    let mut bench = Bench::new();
    let never = bench.executor.run_at(bench.at(5), |_: &mut Log| {});
    let fires = bench.executor.run_at(bench.at(5), |_: &mut Log| {});
    let repeat = Repeat::FixedRate(ms(5));
    let periodic = bench
        .executor
        .run_every(bench.at(5), repeat, |_: &mut Log, _| {});
    assert!(never.is_pending() && never.cancel() && !never.is_pending());
    bench.run_to(5);
    assert!(!fires.is_pending() && !fires.cancel());
    assert!(periodic.is_pending() && periodic.cancel() && !periodic.is_pending());
    bench.run_to(50);
    assert_eq!(bench.timers_run(), 2);
}

/// Each gets its own moment, those to come in order of due; the late ones too, here.
#[test]
fn scenario_140_each_callback_gets_its_own_moment() {
    let mut bench = Bench::new();
    bench.clock.advance(ms(1_000));
    let start = bench.start;
    let hour = Repeat::FixedDelay(Duration::from_secs(3600));
    for at_ms in [1_000, 800, 1_200, 1_100] {
        let note = move |log: &mut Log, due: std::time::Instant| {
            log.push((due - start).as_millis() as u64);
        };
        bench.executor.run_every(bench.at(at_ms), hour, note);
    }
    bench.run();
    assert_eq!(bench.log(), [800, 1_000]);
    bench.run_to(1_200);
    assert_eq!(bench.log(), [1_100, 1_200]);
    assert_eq!(bench.clock.now(), bench.executor.now());
}

//! Timers: who had one, its run or a cancel, and what either sees of the other.
//!
//! The owner steps and never sleeps, but where its sleep is the point: the locks of a sleep order
//! memory and would hide what the timer's own word must order.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::time::Duration;
use loom::sync::atomic::AtomicU32;
use mailring::mailbox;
use mailring::processor::{Ended, MailboxProcessor, Repeat, Step, Timer};
use mailring::{Clock, ManualClock};
use model::{
    Letter, Plain, assert_fails, check, join, preemptions, sleep_at_once, unbounded, with,
};
use std::sync::Arc;
use std::time::Instant;

const RACE: &str = "Causality violation";
const HOUR: Duration = Duration::from_secs(3600);

/// Runs of timers.
type Runs = u32;

/// A processor with one slot in each lane, on a clock that stands still.
struct Bench {
    processor: MailboxProcessor<Runs>,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        let mailbox = mailbox::Builder::new(1)
            .urgent_capacity(1)
            .markers(0)
            .urgent_markers(0)
            .batch_max(1)
            .sender_wait(sleep_at_once())
            .owner_wait(sleep_at_once());
        let clock = ManualClock::new();
        let now = clock.now();
        let builder = MailboxProcessor::<Runs>::builder().mailbox(mailbox);
        let processor = builder.clock(clock).build(0).expect("a small one");
        Self { processor, now }
    }

    fn once(&self, due: Instant, then: impl FnOnce() + Send + 'static) -> Timer {
        self.processor.executor().run_at(due, |runs: &mut Runs| {
            *runs += 1;
            then();
        })
    }

    fn every_hour(&self, mut then: impl FnMut() + Send + 'static) -> Timer {
        let hour = Repeat::FixedRate(HOUR);
        let run = move |runs: &mut Runs, _| {
            *runs += 1;
            then();
        };
        self.processor.executor().run_every(self.now, hour, run)
    }

    /// Does all there is to do.
    fn run(&mut self) {
        assert_eq!(self.processor.run_until_idle().unwrap(), Step::Idle);
    }

    fn runs(&mut self) -> Runs {
        self.processor.with_owner(|runs| *runs)
    }
}

/// Whoever cancels is told the truth, and what was captured is dropped once.
#[test]
fn m50_cancel_against_run_b51() {
    check(unbounded(40), || {
        let mut bench = Bench::new();
        let captured = Letter::new(0);
        let timer = bench.once(bench.now, move || drop(captured));
        let cancelling = with(timer, |timer| timer.cancel());
        bench.run();
        let [cancelled] = join([cancelling]);
        bench.run();
        assert_eq!(bench.runs(), Runs::from(!cancelled));
    });
}

/// Two cancel: they are told the same.
#[test]
fn m50b_two_cancels_against_run_b51() {
    check(preemptions(3, 500), || {
        let mut bench = Bench::new();
        let timer = bench.once(bench.now, || {});
        let cancelling = [(); 2].map(|()| with(timer.clone(), |timer| timer.cancel()));
        bench.run();
        let [one, other] = join(cancelling);
        assert_eq!(one, other);
        assert_eq!(bench.runs(), Runs::from(!one));
    });
}

/// Who finds a timer cancelled sees what came before the cancel.
#[test]
fn m51_a_cancel_is_seen_by_who_asks() {
    check(unbounded(3), || {
        let mut bench = Bench::new();
        let why = Arc::new(Plain::new(0));
        let own = Arc::clone(&why);
        let timer = bench.once(bench.now + HOUR, || {});
        let other = timer.clone();
        let cancelling = with(timer, move |timer| {
            own.write(1);
            timer.cancel()
        });
        if !other.is_pending() {
            assert_eq!(why.read(), 1);
        }
        assert_eq!(join([cancelling]), [true]);
        assert_eq!(bench.runs(), 0);
    });
}

/// A cancel comes after the runs that are over, and sees what they did.
#[test]
fn m52_a_cancel_sees_the_runs_before_it() {
    check(unbounded(8), || {
        let mut bench = Bench::new();
        let work = Arc::new(Plain::new(0));
        let over = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&work);
        let timer = bench.every_hour(move || own.write(1));
        let is_over = Arc::clone(&over);
        let cancelling = with(timer, move |timer| {
            // Relaxed: says when, and carries nothing.
            if is_over.load(Relaxed) == 1 {
                assert!(timer.cancel());
                assert_eq!(work.read(), 1);
            }
        });
        bench.run();
        // Relaxed: as above.
        over.store(1, Relaxed);
        join([cancelling]);
        assert_eq!(bench.runs(), 1);
    });
}

/// Reads when it is dropped unrun.
struct Dropped(Arc<Plain<u32>>, bool);

impl Dropped {
    fn run(&mut self) {
        self.1 = true;
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        let Self(why, has_run) = self;
        if !*has_run && !std::thread::panicking() {
            assert_eq!(why.read(), 1);
        }
    }
}

/// What came before a cancel is seen where the callback is dropped for it.
#[test]
fn m53_a_cancel_is_seen_where_it_is_met() {
    check(unbounded(40), || {
        let mut bench = Bench::new();
        let why = Arc::new(Plain::new(0));
        let mut dropped = Dropped(Arc::clone(&why), false);
        let timer = bench.once(bench.now, move || dropped.run());
        let cancelling = with(timer, move |timer| {
            why.write(1);
            timer.cancel()
        });
        bench.run();
        join([cancelling]);
        bench.run();
    });
}

/// A cancel while the timer is put on the wheel: it is taken off again, and dropped before it is
/// due.
#[test]
fn m54_cancel_against_its_way_to_the_wheel() {
    check(unbounded(6), || {
        let mut bench = Bench::new();
        let captured = Arc::new(());
        let own = Arc::clone(&captured);
        let timer = bench.once(bench.now + HOUR, move || drop(own));
        let cancelling = with(timer, |timer| timer.cancel());
        bench.run();
        assert_eq!(join([cancelling]), [true]);
        bench.run();
        assert_eq!(
            Arc::strong_count(&captured),
            1,
            "it lies there until it is due"
        );
        assert_eq!(bench.processor.timers_pending(), 0);
    });
}

/// The same while a periodic timer runs and is put back: it runs once at most, and is gone.
#[test]
fn m54b_cancel_against_the_end_of_a_periodic_run() {
    check(unbounded(200), || {
        let mut bench = Bench::new();
        let captured = Arc::new(());
        let own = Arc::clone(&captured);
        let timer = bench.every_hour(move || assert!(Arc::strong_count(&own) > 0));
        let cancelling = with(timer, |timer| {
            assert!(timer.cancel());
            assert!(!timer.is_pending());
        });
        bench.run();
        join([cancelling]);
        bench.run();
        assert!(bench.runs() <= 1);
        assert_eq!(
            Arc::strong_count(&captured),
            1,
            "it lies there until it is due"
        );
        assert_eq!(bench.processor.timers_pending(), 0);
    });
}

/// A cancel while the processor ends.
#[test]
fn m55_cancel_against_close() {
    check(unbounded(8), || {
        let mut bench = Bench::new();
        let captured = Letter::new(0);
        let timer = bench.once(bench.now + HOUR, move || drop(captured));
        bench.run();
        let cancelling = with(timer, |timer| timer.cancel());
        drop(bench.processor.close());
        assert_eq!(join([cancelling]), [true]);
        assert_eq!(bench.runs(), 0);
    });
}

/// A timer that is set while the owner goes to sleep ends the sleep.
#[test]
fn m56_set_against_sleep_b49() {
    check(preemptions(3, 500), || {
        let mut bench = Bench::new();
        let executor = bench.processor.executor();
        let now = bench.now;
        let setting = with(executor, move |executor| {
            let ending = executor.clone();
            executor.run_at(now, move |runs: &mut Runs| {
                *runs += 1;
                ending.all_done();
            });
        });
        assert_eq!(bench.processor.run().unwrap(), Ended::AllDone);
        join([setting]);
        assert_eq!(bench.runs(), 1);
    });
}

/// A timer that is set while the processor ends runs, or is cancelled.
#[test]
fn m57_set_against_quiesce() {
    check(unbounded(500), || {
        let mut bench = Bench::new();
        let executor = bench.processor.executor();
        let now = bench.now;
        let setting = with(executor, move |executor| {
            let captured = Letter::new(0);
            executor.run_at(now, move |runs: &mut Runs| {
                drop(captured);
                *runs += 1;
            })
        });
        bench.processor.quiesce();
        assert_eq!(bench.processor.run().unwrap(), Ended::Quiesced);
        let [timer] = join([setting]);
        assert!(!timer.is_pending());
        assert_eq!(bench.runs(), Runs::from(!timer.cancel()));
    });
}

/// The swap's answer is not heeded: the timer lies on the wheel though it was cancelled.
#[test]
fn row_gone_the_owner_learns_of_a_cancel_before_it() {
    let on_the_wheel = "it lies there until it is due";
    assert_fails(
        "m54_cancel_against_its_way_to_the_wheel",
        "gone",
        Relaxed,
        on_the_wheel,
    );
    assert_fails(
        "m54b_cancel_against_the_end_of_a_periodic_run",
        "gone",
        Relaxed,
        on_the_wheel,
    );
}

#[test]
fn row_v_cancel_acquires() {
    assert_fails("m52_a_cancel_sees_the_runs_before_it", "v", Release, RACE);
}

#[test]
fn row_v_cancel_releases() {
    assert_fails("m51_a_cancel_is_seen_by_who_asks", "v", Acquire, RACE);
    assert_fails("m53_a_cancel_is_seen_where_it_is_met", "v", Acquire, RACE);
}

#[test]
fn row_v1_is_pending_acquires() {
    assert_fails("m51_a_cancel_is_seen_by_who_asks", "v1", Relaxed, RACE);
}

#[test]
fn row_v2_giving_up_acquires() {
    assert_fails("m53_a_cancel_is_seen_where_it_is_met", "v2", Relaxed, RACE);
}

#[test]
fn row_v3_end_of_a_run_releases() {
    assert_fails("m52_a_cancel_sees_the_runs_before_it", "v3", Relaxed, RACE);
}

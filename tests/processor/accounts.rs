//! Counters: what has happened, by kind and by reason.

use crate::watchdog::{until, watched};
use crate::{Log, logging, say, until_asleep};
use mailring::ManualClock;
use mailring::letter::{Kind, Letter, Outcome};
use mailring::mailbox::{self, MarkerPost};
use mailring::processor::{Controller, Ended, MailboxProcessor, Reason, Step, Suspension};
use mailring::ring::Budget;
use mailring::wait::{Spell, Step as WaitStep, WaitStrategy};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy)]
struct OfKind(u8);

impl Letter<()> for OfKind {
    fn run(self, (): &mut ()) -> Outcome {
        Ok(())
    }
    fn kind(&self) -> Kind {
        Kind::new(self.0)
    }
}

#[test]
fn letters_are_counted_by_kind_and_those_of_yields_too() {
    let mut processor = MailboxProcessor::<(), OfKind>::builder().build(()).unwrap();
    let executor = processor.executor();
    for kind in 0..16 {
        for _ in 0..=kind {
            executor.post(OfKind(kind)).unwrap();
        }
    }
    let yielding = executor.clone();
    executor
        .execute_urgent(move |owner: &mut ()| {
            for _ in 0..20 {
                assert!(yielding.try_yield(owner).unwrap());
            }
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let counters = executor.counters();
    for kind in 1..Kind::COUNT {
        assert_eq!(counters.letters_by_kind[kind], kind as u64 + 1);
    }
    assert_eq!(counters.letters_by_kind[0], 2, "and the action");
    assert_eq!(counters.letters(), 137);
    assert_eq!(
        (counters.markers, counters.timers, counters.failures),
        (0, 0, 0)
    );
}

#[test]
fn markers_are_counted_by_name_and_what_was_coalesced() {
    let (mut processor, executor) = logging();
    let first = processor
        .marker("first", |log: &mut Log| log.push("first"))
        .unwrap();
    let second = processor
        .marker("second", |log: &mut Log| log.push("second"))
        .unwrap();
    for post in 0..1_000 {
        let expected = if post == 0 {
            MarkerPost::Posted
        } else {
            MarkerPost::AlreadyPending
        };
        assert_eq!(first.post(), expected);
    }
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(first.post(), MarkerPost::Posted);
    assert_eq!(second.post(), MarkerPost::Posted);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let counters = processor.marker_counters();
    let seen: Vec<_> = counters
        .iter()
        .map(|one| (one.name, one.runs, one.coalesced))
        .collect();
    assert_eq!(seen, [("first", 2, 999), ("second", 1, 0)]);
    assert_eq!(
        (executor.counters().markers, executor.counters().letters()),
        (3, 0)
    );
}

#[test]
fn refused_posts_are_counted() {
    let mailbox = mailbox::Builder::new(2);
    let mut processor = MailboxProcessor::<Log>::builder()
        .mailbox(mailbox)
        .build(Log::new())
        .unwrap();
    let executor = processor.executor();
    for _ in 0..5 {
        let _full = executor.try_execute(say("letter"));
    }
    assert_eq!(executor.counters().mailbox.rejected, 3);
    processor.quiesce();
    assert!(executor.execute(say("letter")).is_err());
    assert_eq!(executor.counters().mailbox.rejected, 4);
}

/// Says when a poster waits.
#[derive(Debug)]
struct Watched(Arc<AtomicBool>);

impl WaitStrategy for Watched {
    fn step(&self, _spell: Spell) -> WaitStep {
        self.0.store(true, SeqCst);
        WaitStep::Yield
    }
}

#[test]
fn the_time_that_posters_were_blocked_is_counted() {
    watched(|| {
        let waits = Arc::new(AtomicBool::new(false));
        let mailbox = mailbox::Builder::new(1).sender_wait(Watched(waits.clone()));
        let builder = MailboxProcessor::<Log>::builder().mailbox(mailbox);
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        while executor.try_execute(say("letter")).is_ok() {}
        assert_eq!(executor.counters().mailbox.blocked_ns, 0);
        let posting = executor.clone();
        let other = thread::spawn(move || posting.execute(say("late")));
        until(|| waits.load(SeqCst));
        // It waits; only now is room made.
        let _step = processor.step(Budget::letters(1)).unwrap();
        other.join().unwrap().unwrap();
        assert!(executor.counters().mailbox.blocked_ns > 0);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(log.last(), Some(&"late")));
    });
}

#[test]
fn the_longest_letter_is_known_where_all_are_timed() {
    let clock = ManualClock::new();
    let builder = MailboxProcessor::<Log>::builder()
        .clock(clock.clone())
        .time_letters();
    let mut processor = builder.build(Log::new()).unwrap();
    let executor = processor.executor();
    for ms in [1, 7, 3] {
        let clock = clock.clone();
        executor
            .execute(move |_| clock.advance(Duration::from_millis(ms)))
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let longest = executor.counters().longest_letter;
        assert_eq!(longest, Duration::from_millis(if ms == 1 { 1 } else { 7 }));
    }
    assert_eq!(executor.counters().busy, Duration::from_millis(11));
}

#[test]
fn waiting_is_idle_or_back_pressured_by_the_reason_that_was_given() {
    for reason in [Reason::NoInput, Reason::NoOutput] {
        watched(move || {
            let (to_other, suspensions) = channel::<Suspension>();
            let action = move |calls: &mut u32, controller: &mut Controller<'_>| {
                *calls += 1;
                if *calls == 2 {
                    controller.all_done();
                } else {
                    to_other.send(controller.suspend_for(reason)).unwrap();
                }
            };
            let mut processor = MailboxProcessor::with_action(0, action).unwrap();
            let executor = processor.executor();
            let other = thread::spawn(move || {
                let suspension = suspensions.recv().unwrap();
                until_asleep(&executor, 0);
                suspension.resume();
                executor
            });
            assert_eq!(processor.run().unwrap(), Ended::AllDone);
            let counters = other.join().unwrap().counters();
            let (waited, not) = match reason {
                Reason::NoInput => (counters.idle, counters.back_pressured),
                _ => (counters.back_pressured, counters.idle),
            };
            assert!(waited > Duration::ZERO, "{counters:?}");
            assert_eq!(not, Duration::ZERO, "{counters:?}");
        });
    }
}

#[test]
fn time_in_the_mailbox_is_told_by_probes() {
    let clock = ManualClock::new();
    let builder = MailboxProcessor::<Log>::builder().clock(clock.clone());
    let mut processor = builder.build(Log::new()).unwrap();
    let executor = processor.executor();
    for (ms, max) in [(5, 5), (20, 20), (1, 20)] {
        let reply = executor.probe().unwrap();
        clock.advance(Duration::from_millis(ms));
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(reply.wait(), Ok(Duration::from_millis(ms)));
        let counters = executor.counters();
        assert_eq!(counters.in_mailbox_last, Duration::from_millis(ms));
        assert_eq!(counters.in_mailbox_max, Duration::from_millis(max));
    }
    assert_eq!(executor.counters().probes, 3);
}

#[test]
fn depth_is_what_the_owner_met_and_its_high_water_mark() {
    let (mut processor, executor) = logging();
    for _ in 0..10 {
        executor.execute(say("letter")).unwrap();
    }
    let _step = processor.step(Budget::letters(1)).unwrap();
    assert_eq!(executor.counters().mailbox.depth, 10);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    executor.execute(say("letter")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(executor.counters().mailbox.depth_max, 10);
    assert!(processor.close().is_empty());
    assert_eq!(executor.counters().mailbox.depth, 0);
}

#[test]
fn a_sleep_and_its_end_are_counted() {
    watched(|| {
        let (mut processor, executor) = logging();
        let other = thread::spawn(move || {
            for parks in 0..10 {
                until_asleep(&executor, parks);
                let stop = executor.clone();
                let last = parks == 9;
                executor
                    .execute(move |_| {
                        if last {
                            stop.all_done();
                        }
                    })
                    .unwrap();
            }
            executor
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let counters = other.join().unwrap().counters().mailbox;
        assert!(counters.parks >= 10, "{counters:?}");
        assert!(counters.wakes >= 1, "{counters:?}");
    });
}

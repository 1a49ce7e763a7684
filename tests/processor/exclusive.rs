//! A second thread that has the owner in turn, under the hand-off lock.

use crate::Log;
use crate::watchdog::{until, watched};
use mailring::processor::{
    Controller, Ended, Exclusive, Executor, MailboxProcessor, NoAction, Step,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;

fn exclusive<O: Send + 'static>(owner: O) -> (MailboxProcessor<O>, Exclusive<O>, Executor<O>) {
    let builder = MailboxProcessor::<O>::builder();
    let (processor, exclusive) = builder.build_exclusive(owner, NoAction).unwrap();
    let executor = processor.executor();
    (processor, exclusive, executor)
}

/// The lock is what the reference calls the action executor.
#[test]
fn scenario_41_a_letter_runs_under_the_lock_and_posting_it_does_not_take_it() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(Log::new());
        let holding = exclusive.lock();
        // Returns although the lock is held.
        executor
            .execute(|log: &mut Log| log.push("letter"))
            .unwrap();
        let stopping = executor.clone();
        executor
            .execute(move |_: &mut Log| stopping.all_done())
            .unwrap();
        let owner = thread::spawn(move || {
            let ended = processor.run().unwrap();
            (ended, processor)
        });
        until(|| exclusive.has_waiters());
        assert!(holding.is_empty());
        drop(holding);
        let (ended, mut processor) = owner.join().unwrap();
        assert_eq!(ended, Ended::AllDone);
        processor.with_owner(|log| assert_eq!(*log, ["letter"]));
    });
}

#[test]
fn scenario_119_a_letter_never_sees_the_source_in_the_middle_of_its_turn() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive((0_u64, 0_u64));
        let source = thread::spawn(move || {
            let mut turns = 0_u64;
            loop {
                let mut owner = exclusive.lock();
                if owner.1 == 100 {
                    return turns;
                }
                owner.0 += 1;
                thread::yield_now();
                owner.0 += 1;
                turns += 1;
            }
        });
        let stopping = executor.clone();
        let snapshots = thread::spawn(move || {
            for _ in 0..100 {
                let even = executor
                    .ask(|owner: &mut (u64, u64)| {
                        let before = owner.0;
                        thread::yield_now();
                        owner.1 += 1;
                        before.is_multiple_of(2) && owner.0 == before
                    })
                    .unwrap();
                assert_eq!(even.wait(), Ok(true));
            }
            executor.all_done();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        snapshots.join().unwrap();
        let turns = source.join().unwrap();
        assert_eq!(processor.with_owner(|owner| *owner), (2 * turns, 100));
        drop(stopping);
    });
}

#[test]
fn scenario_122_no_letter_runs_while_the_source_holds_the_owner_and_the_end_comes_after() {
    watched(|| {
        for pending in [false, true] {
            let (mut processor, exclusive, executor) = exclusive(Log::new());
            let (to_source, release) = channel::<()>();
            let (to_us, held) = channel();
            let source = thread::spawn(move || {
                let mut log = exclusive.lock();
                log.push("source begins");
                to_us.send(()).unwrap();
                release.recv().unwrap();
                if pending {
                    until(|| exclusive.has_waiters());
                }
                log.push("source ends");
            });
            held.recv().unwrap();
            if pending {
                executor
                    .execute(|log: &mut Log| log.push("letter"))
                    .unwrap();
            }
            let stopping = thread::spawn(move || {
                to_source.send(()).unwrap();
                if pending {
                    // It is in line already: it runs before the end is met.
                    until(|| executor.counters().letters() == 1);
                }
                executor.all_done();
            });
            assert_eq!(processor.run().unwrap(), Ended::AllDone);
            source.join().unwrap();
            stopping.join().unwrap();
            let expected: &[_] = if pending {
                &["source begins", "source ends", "letter"]
            } else {
                &["source begins", "source ends"]
            };
            processor.with_owner(|log| assert_eq!(*log, expected));
        }
    });
}

#[test]
fn scenario_125_letters_run_after_the_source_has_gone() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(0_u64);
        thread::spawn(move || *exclusive.lock() += 1)
            .join()
            .unwrap();
        let reply = executor.ask(|sum: &mut u64| *sum).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(reply.wait(), Ok(1));
    });
}

#[test]
fn scenario_128_a_source_that_locks_again_at_once_lets_a_letter_in_within_a_turn() {
    const LETTERS: usize = 2_000;
    watched(|| {
        #[derive(Default)]
        struct Turns {
            source: usize,
            letters: usize,
        }
        let (mut processor, exclusive, executor) = exclusive(Turns::default());
        let stopping = executor.clone();
        let source = thread::spawn(move || {
            let mut owner = exclusive.lock();
            for letters in 1..=LETTERS {
                executor
                    .execute(|owner: &mut Turns| owner.letters += 1)
                    .unwrap();
                // In the middle of a turn; the letter gets in line behind it.
                until(|| exclusive.has_waiters());
                owner.source += 1;
                assert_eq!(owner.letters, letters - 1);
                drop(owner);
                owner = exclusive.lock();
                assert_eq!(owner.letters, letters, "the source barged in");
            }
            drop(owner);
            stopping.all_done();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        source.join().unwrap();
        processor.with_owner(|owner| assert_eq!((owner.source, owner.letters), (LETTERS, LETTERS)));
    });
}

#[test]
fn a_source_that_waits_unlocked_lets_letters_run_meanwhile() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(0_u64);
        let source = thread::spawn(move || {
            let mut owner = exclusive.lock();
            *owner = 1;
            // Holding on, this would last for ever.
            let seen = owner.unlocked(|| {
                executor
                    .ask(|sum: &mut u64| {
                        *sum += 10;
                        *sum
                    })
                    .unwrap()
                    .wait()
            });
            assert_eq!((seen, *owner), (Ok(11), 11));
            let panic = catch_unwind(AssertUnwindSafe(|| {
                owner.unlocked(|| panic!("while waiting"))
            }));
            assert!(panic.is_err());
            *owner += 100;
            drop(owner);
            executor.all_done();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        source.join().unwrap();
        assert_eq!(processor.with_owner(|sum| *sum), 111);
    });
}

#[test]
fn a_source_that_panics_with_the_owner_releases_it() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(0_u64);
        let source = thread::spawn(move || {
            let mut owner = exclusive.lock();
            *owner = 7;
            panic!("with the owner");
        });
        assert!(source.join().is_err());
        let reply = executor.ask(|sum: &mut u64| *sum).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(reply.wait(), Ok(7));
    });
}

#[test]
fn a_letter_that_panics_releases_the_owner() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(0_u64);
        executor
            .execute(|_: &mut u64| panic!("with the owner"))
            .unwrap();
        assert!(processor.run().is_err());
        assert_eq!(*exclusive.lock(), 0);
        assert!(exclusive.try_lock().is_some());
    });
}

#[test]
fn the_default_action_runs_under_the_lock_too() {
    watched(|| {
        let builder = MailboxProcessor::<u64>::builder();
        let action = |sum: &mut u64, controller: &mut Controller<'_>| {
            *sum += 1;
            if *sum >= 100 {
                controller.all_done();
            }
        };
        let (mut processor, exclusive) = builder.build_exclusive(0, action).unwrap();
        let mut holding = exclusive.lock();
        let other = exclusive.clone();
        let owner = thread::spawn(move || {
            assert_eq!(processor.run().unwrap(), Ended::AllDone);
            processor.with_owner(|sum| *sum)
        });
        until(|| other.has_waiters());
        assert!(other.try_lock().is_none());
        assert_eq!(*holding, 0);
        *holding = 98;
        drop(holding);
        assert_eq!(owner.join().unwrap(), 100);
    });
}

#[test]
fn a_yield_runs_under_the_lock_that_its_letter_holds() {
    watched(|| {
        let (mut processor, exclusive, executor) = exclusive(Log::new());
        let yielding = executor.clone();
        let source = exclusive.clone();
        executor
            .execute(move |log: &mut Log| {
                yielding.execute(|log: &mut Log| log.push("inner")).unwrap();
                assert!(source.try_lock().is_none());
                assert!(yielding.try_yield(log).unwrap());
                log.push("outer");
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(*exclusive.lock(), ["inner", "outer"]);
    });
}

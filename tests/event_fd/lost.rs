//! No wake is lost, whatever comes between a look and a sleep.

use crate::sleep_on;
use crate::watchdog::{Dice, until, watched};
use mailring::processor::{MailboxProcessor, Rest, Step};
use mailring::ring::Budget;
use mailring::task::{EventFd, FdProcessor};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;

const ROUNDS: u32 = 10_000;

/// A poster answers each run of its letter with the next one, at once or a little later: about when
/// the owner goes to rest. Each round there is one wake, and a lost one hangs.
#[test]
fn rounds_of_one_letter_in_a_poll_loop() {
    watched(|| {
        let mut driven = FdProcessor::new(0_u32).unwrap();
        let executor = driven.executor();
        let ran = Arc::new(AtomicU32::new(0));
        let poster = thread::spawn(move || {
            let mut dice = Dice::new(5);
            for round in 0..ROUNDS {
                let of_owner = Arc::clone(&ran);
                let action = move |sum: &mut u32| {
                    *sum += 1;
                    of_owner.store(*sum, Release);
                };
                if round % 3 == 0 {
                    executor.execute_urgent(action).unwrap();
                } else {
                    executor.execute(action).unwrap();
                }
                until(|| ran.load(Acquire) > round);
                dice.dawdle(100);
            }
            executor.all_done();
        });
        loop {
            sleep_on(&driven);
            if let Step::Ended(_) = driven.turn(Budget::letters(64)).unwrap() {
                break;
            }
        }
        poster.join().unwrap();
        assert_eq!(driven.with_owner(|sum| *sum), ROUNDS);
    });
}

/// The same by hand, with several posters at once, who wait for all of them after each letter.
#[test]
fn rounds_of_many_posters_by_hand() {
    const POSTERS: u32 = 3;
    watched(|| {
        let fd = EventFd::new().unwrap();
        let builder = MailboxProcessor::<u32>::builder().wake_by(fd.waker());
        let mut processor = builder.build(0).unwrap();
        let posters: Vec<_> = (0..POSTERS)
            .map(|poster| {
                let executor = processor.executor();
                thread::spawn(move || {
                    let mut dice = Dice::new(poster.into());
                    for _ in 0..ROUNDS / POSTERS {
                        dice.dawdle(300);
                        executor.ask(|sum| *sum += 1).unwrap().wait().unwrap();
                    }
                })
            })
            .collect();
        let all = ROUNDS / POSTERS * POSTERS;
        loop {
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
            if processor.with_owner(|sum| *sum == all) {
                break;
            }
            fd.clear().unwrap();
            if processor.rest() == Rest::Resting {
                sleep_on(&fd);
            }
        }
        for poster in posters {
            poster.join().unwrap();
        }
    });
}

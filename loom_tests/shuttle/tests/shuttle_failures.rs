//! Stories that must fail: the checker sees sleepers whom nobody wakes, races, lost letters and
//! spins, and what goes wrong among many threads where one step of a protocol is left out.
//!
//! Those that leave a step out run in a process of their own, for it stays left out.

mod schedules;

use core::sync::atomic::Ordering::Relaxed;
use mailring::ring::{mpsc, spsc};
use schedules::{Ledger, Left, Letter, assert_fails, check, parking, roll};
use shuttle::sync::atomic::AtomicBool;
use shuttle::thread;

/// A ring for many producers with room for one letter.
fn small() -> (mpsc::Producer<Letter>, mpsc::Consumer<Letter>) {
    mpsc::Builder::new(1)
        .wait(parking)
        .build()
        .expect("a small ring")
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_consumer_that_nobody_wakes() {
    check(4, || {
        let (_producer, mut consumer) = small();
        let _ = consumer.take();
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_producer_that_nobody_wakes() {
    check(4, || {
        let ledger = Ledger::new();
        let (producer, _consumer) = small();
        let posting = [0, 1].map(|who| {
            let (producer, (_, letter)) = (producer.clone(), ledger.letter(who));
            thread::spawn(move || producer.post(letter))
        });
        for thread in posting {
            let _ = thread.join();
        }
    });
}

#[test]
#[should_panic(expected = "exceeded max_steps")]
fn a_thread_that_spins_for_ever() {
    check(4, || {
        let flag = AtomicBool::new(false);
        while !flag.load(Relaxed) {
            thread::yield_now();
        }
    });
}

#[test]
#[should_panic(expected = "letter 0 is")]
fn a_letter_that_is_forgotten() {
    check(4, || {
        let ledger = Ledger::new();
        let (made, letter) = ledger.letter(0);
        ledger.accepted(made);
        core::mem::forget(letter);
        ledger.settle(Left::None);
    });
}

#[test]
#[should_panic(expected = "letter 1 is")]
fn a_letter_that_was_accepted_and_is_dropped() {
    check(4, || {
        let ledger = Ledger::new();
        let (producer, mut consumer) = small();
        for _ in 0..2 {
            let (made, letter) = ledger.letter(0);
            producer.post(letter).expect("there is room");
            ledger.accepted(made);
            if made.0 == 0 {
                consumer.take().expect("it is there").ran();
            }
        }
        drop(consumer);
        drop(producer);
        ledger.settle(Left::None);
    });
}

#[test]
#[should_panic(expected = "out of order")]
fn letters_of_one_thread_out_of_order() {
    check(4, || {
        let ledger = Ledger::new();
        let (mut made, _letters) = ledger.letters(0, 2);
        made.reverse();
        ledger.assert_in_order(&made);
    });
}

#[test]
#[ignore = "must fail; run by a_sleeping_owner_whose_wake_is_left_out"]
fn must_fail_eight_producers_and_a_sleeper() {
    check(400, || {
        let ledger = Ledger::new();
        let (producer, mut consumer) = small();
        let posting: Vec<_> = (0..8)
            .map(|who| {
                let (producer, (_, letter)) = (producer.clone(), ledger.letter(who));
                thread::spawn(move || producer.post(letter).expect("it is open"))
            })
            .collect();
        drop(producer);
        while let Ok(letter) = consumer.take() {
            letter.ran();
        }
        for thread in posting {
            thread.join().expect("no producer fails");
        }
    });
}

#[test]
fn a_sleeping_owner_whose_wake_is_left_out() {
    assert_fails(
        "must_fail_eight_producers_and_a_sleeper",
        "wake",
        Relaxed,
        "deadlock",
    );
}

#[test]
fn a_line_of_producers_that_is_not_served() {
    assert_fails(
        "must_fail_eight_producers_and_a_sleeper",
        "serve",
        Relaxed,
        "deadlock",
    );
}

#[test]
#[ignore = "must fail; run by a_post_that_meets_a_close_and_does_not_ask"]
fn must_fail_a_post_meets_a_close() {
    check(400, || {
        let ledger = Ledger::new();
        let (producer, mut consumer) = spsc::Builder::new(2)
            .wait(parking)
            .build()
            .expect("a small ring");
        let posting = {
            let ledger = ledger.clone();
            thread::spawn(move || {
                for _ in 0..4 {
                    let (made, letter) = ledger.letter(0);
                    match producer.post(letter) {
                        Ok(()) => ledger.accepted(made),
                        Err(refused) => refused.0.refused(),
                    }
                }
            })
        };
        for _ in 0..roll(4) {
            consumer.take().expect("it is open").ran();
        }
        for letter in consumer.close() {
            letter.returned();
        }
        posting.join().expect("the producer does not fail");
        ledger.settle(Left::None);
    });
}

#[test]
fn a_post_that_meets_a_close_and_does_not_ask() {
    assert_fails(
        "must_fail_a_post_meets_a_close",
        "settle",
        Relaxed,
        "letter ",
    );
}

/// The stories above pass with every step in its place.
#[test]
fn what_must_fail_passes_with_no_step_left_out() {
    must_fail_eight_producers_and_a_sleeper();
    must_fail_a_post_meets_a_close();
}

//! Many producers: the owner waits for what is not in the ring, and is nudged.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::AtomicU32;
use mailring::ring::Waited;
use mailring::ring::mpsc::Consumer;
use model::{Hosted, Letter, assert_fails, check, join, many, past, preemptions, unbounded, with};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";

/// A word beside the ring that says there is work. Relaxed: the nudge alone is to carry it.
#[derive(Debug)]
struct Work(AtomicU32);

impl Work {
    fn none() -> Arc<Self> {
        Arc::new(Self(AtomicU32::new(0)))
    }

    fn make(&self) {
        self.0.store(1, Relaxed);
    }

    fn is_made(&self) -> bool {
        self.0.load(Relaxed) == 1
    }
}

/// Takes `letters` letters of the main ring and `urgent` of the one beside it, sleeping where there
/// is none; returns their numbers.
fn take_both(
    main: &mut Consumer<Letter>,
    letters: usize,
    beside: &mut Consumer<Letter>,
    urgent: usize,
) -> [Vec<u32>; 2] {
    let mut taken = [Vec::new(), Vec::new()];
    while taken[0].len() < letters || taken[1].len() < urgent {
        match main.wait_unless(None, || beside.has_letters()) {
            Waited::Letters => taken[0].push(main.try_take().unwrap().id()),
            Waited::Kicked => taken[1].push(beside.try_take().unwrap().id()),
            other => unreachable!("{other:?}"),
        }
    }
    taken
}

/// An urgent lane and a main lane, one place to sleep: a letter to each while the owner goes to
/// sleep.
#[test]
fn m14_urgent_and_main_lane() {
    check(preemptions(3, 40_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let (urgent, mut beside) = many(1).build().unwrap();
        let nudging = with((urgent, producer.downgrade()), |(urgent, main)| {
            urgent.try_post(Letter::new(1)).unwrap();
            main.nudge();
        });
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(2)).unwrap();
        });
        let taken = take_both(&mut consumer, 1, &mut beside, 1);
        assert_eq!(taken, [[2], [1]]);
        join([nudging]);
        join([posting]);
    });
}

/// The urgent letter alone, in every interleaving.
#[test]
fn m14s_urgent_lane_alone() {
    check(unbounded(170), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let (urgent, mut beside) = many(1).build().unwrap();
        let nudging = with((urgent, producer.downgrade()), |(urgent, main)| {
            urgent.try_post(Letter::new(1)).unwrap();
            main.nudge();
        });
        let taken = take_both(&mut consumer, 0, &mut beside, 1);
        assert_eq!(taken[1], [1]);
        join([nudging]);
    });
}

/// A claim that ended the sleep stalls before it wakes the owner's thread: the nudge finds no sleep to
/// end and wakes it all the same; and one that stalls before it publishes is a hole for the owner.
#[test]
fn m14c_nudge_behind_a_stalled_claim() {
    check(preemptions(3, 40_000), || {
        let work = Work::none();
        let (producer, mut consumer) = many(1).build().unwrap();
        let maker = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            maker.make();
            main.nudge();
        });
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let (mut taken, mut seen) = (false, false);
        while !taken || !seen {
            match consumer.wait_unless(None, || !seen && work.is_made()) {
                Waited::Letters => taken = consumer.try_take().is_ok(),
                Waited::Kicked => seen = true,
                other => unreachable!("{other:?}"),
            }
        }
        join([nudging]);
        join([posting]);
    });
}

/// Two nudgers: one may end the sleep and stall, and the other finds none to end.
#[test]
fn m14d_two_nudgers() {
    check(preemptions(3, 30_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let (urgent, mut beside) = many(2).build().unwrap();
        let nudging = [10, 20].map(|id| {
            let handles = (urgent.clone(), producer.downgrade());
            with(handles, move |(urgent, main)| {
                urgent.try_post(Letter::new(id)).unwrap();
                main.nudge();
            })
        });
        let [_, mut taken] = take_both(&mut consumer, 0, &mut beside, 2);
        taken.sort_unstable();
        assert_eq!(taken, [10, 20]);
        join(nudging);
    });
}

/// A flag instead of a letter: it is never slept through.
#[test]
fn m14e_flag_and_nudge() {
    check(unbounded(170), || {
        let work = Work::none();
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let maker = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            maker.make();
            main.nudge();
        });
        assert_eq!(
            consumer.wait_unless(None, || work.is_made()),
            Waited::Kicked
        );
        join([nudging]);
    });
}

/// A nudge against the last producer's close: the end is found, and the work that was made before
/// the nudge is not slept through.
#[test]
fn m14f_nudge_against_close() {
    check(preemptions(3, 10_000), || {
        let work = Work::none();
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let maker = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            maker.make();
            main.nudge();
        });
        let closing = with(producer, |producer| assert!(producer.close()));
        let mut seen = false;
        loop {
            match consumer.wait_unless(None, || !seen && work.is_made()) {
                Waited::Kicked => seen = true,
                Waited::Finished => break,
                other => unreachable!("{other:?}"),
            }
        }
        join([nudging]);
        join([closing]);
        // The end does not hide it either.
        let waited = consumer.wait_unless(None, || !seen && work.is_made());
        assert_eq!(
            waited,
            if seen {
                Waited::Finished
            } else {
                Waited::Kicked
            }
        );
    });
}

/// Scenario 68: a wait that expires during a nudge; the next sleep is as good as the first.
#[test]
fn m14g_timeout_against_nudge_scenario_68() {
    check(unbounded(700), || {
        let work = Work::none();
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let maker = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            maker.make();
            main.nudge();
        });
        if consumer.wait_unless(Some(past()), || work.is_made()) != Waited::Kicked {
            assert_eq!(
                consumer.wait_unless(None, || work.is_made()),
                Waited::Kicked
            );
        }
        join([nudging]);
    });
}

/// The same with a post, whose claim may be a hole for the owner when it is nudged.
#[test]
fn m14h_nudge_at_a_hole() {
    check(preemptions(2, 15_000), || {
        let work = Work::none();
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let maker = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            maker.make();
            main.nudge();
        });
        let (mut taken, mut seen) = (false, false);
        let mut deadline = Some(past());
        while !taken || !seen {
            match consumer.wait_unless(deadline.take(), || !seen && work.is_made()) {
                Waited::Letters => taken = consumer.try_take().is_ok(),
                Waited::Kicked => seen = true,
                Waited::TimedOut => {}
                other => unreachable!("{other:?}"),
            }
        }
        join([posting]);
        join([nudging]);
    });
}

/// An owner that takes and has no `unless` is woken for nothing, and sleeps as well as before.
#[test]
fn m14i_nudge_against_take() {
    check(preemptions(3, 10_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let nudging = with(producer.downgrade(), |main| main.nudge());
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        assert_eq!(consumer.take().unwrap().id(), 1);
        join([nudging]);
        join([posting]);
    });
}

/// Waker cell: a nudge that ends a rest runs the owner, as a post does, and sees what it did before;
/// it leaves no trace, so the owner is run once per rest.
#[test]
fn m14w_nudge_runs_the_owner() {
    check(preemptions(5, 8_000), || {
        let (producer, owner) = Hosted::new(1);
        let nudging = with(producer.downgrade(), |main| main.nudge());
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        join([nudging]);
        join([posting]);
        let ran = owner.into_ran();
        assert_eq!((ran.letters, ran.kicks), (vec![1], 0));
        // The first run, one for the post, and one for the nudge if it met a rest.
        assert!((2..=3).contains(&ran.runs), "{} runs", ran.runs);
    });
}

/// An `unless` that panics when the owner has announced its sleep: the next waits sleep, expire and
/// are woken as ever.
#[test]
fn m14p_unless_panics() {
    check(preemptions(4, 5_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let mut asked = 0;
        let waited = catch_unwind(AssertUnwindSafe(|| {
            consumer.wait_unless(None, || {
                asked += 1;
                if asked == 2 {
                    resume_unwind(Box::new("asked twice"));
                }
                false
            })
        }));
        assert!(matches!(waited, Err(_) | Ok(Waited::Letters)));
        let waited = consumer.wait_unless(Some(past()), || false);
        assert!(matches!(waited, Waited::TimedOut | Waited::Letters));
        assert_eq!(consumer.take().unwrap().id(), 1);
        join([posting]);
    });
}

#[test]
fn row_g_park_acquires_what_was_nudged_for() {
    assert_fails("m14s_urgent_lane_alone", "g", Release, DEADLOCK);
    assert_fails("m14e_flag_and_nudge", "g", Release, DEADLOCK);
}

#[test]
fn row_n_nudge_releases_its_work() {
    assert_fails("m14s_urgent_lane_alone", "n", Acquire, DEADLOCK);
    assert_fails("m14e_flag_and_nudge", "n", Acquire, DEADLOCK);
}

#[test]
fn row_b_claim_acquires_the_rest_after_a_nudge() {
    assert_fails("m14w_nudge_runs_the_owner", "b", Release, RACE);
}

#[test]
fn row_n_nudge_acquires_the_rest_it_ends() {
    assert_fails("m14w_nudge_runs_the_owner", "n", Release, RACE);
}

/// No ordering, but the wake itself: without it a nudged owner sleeps for ever.
#[test]
fn row_wake_left_out_of_a_nudge() {
    assert_fails("m14s_urgent_lane_alone", "wake", Relaxed, DEADLOCK);
}

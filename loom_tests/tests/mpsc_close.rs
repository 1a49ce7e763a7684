//! Many producers: close, the last producer, and dropping either side.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use mailring::ring::{Closed, TryPostError, TryTakeError};
use model::{
    Bounds, Hosted, Letter, Plain, assert_fails, check, ids, join, many, preemptions, spawn,
    unbounded, with,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";

/// Scenarios 35, 39, B26: the consumer closes while two producers post. Every accepted letter is
/// returned, once; every refused one comes back to its producer.
#[test]
fn m7_close_against_posts() {
    check(preemptions(5, 30_000), || {
        let (producer, consumer) = many(2).build().unwrap();
        let posting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                match producer.try_post(Letter::new(id)) {
                    Ok(()) => Some(id),
                    Err(TryPostError::Closed(letter)) => {
                        assert_eq!(letter.id(), id);
                        None
                    }
                    Err(TryPostError::Full(_)) => unreachable!("there is room for both"),
                }
            })
        });
        let mut returned = ids(consumer.close());
        returned.sort_unstable();
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(returned, accepted);
    });
}

/// Scenarios 35, 42: the same by quiesce, with a producer that posts twice. Finished comes once and
/// no letter after it.
#[test]
fn m7q_quiesce_against_posts() {
    check(unbounded(700), || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let posting = with(producer, |producer| {
            [1, 2].map(|id| producer.try_post(Letter::new(id)).is_ok())
        });
        consumer.quiesce();
        let taken = ids(consumer.iter());
        assert!(matches!(consumer.try_take(), Err(TryTakeError::Closed)));
        assert!(consumer.is_finished());
        let [accepted] = join([posting]);
        let expected = (1..=2).filter(|id| accepted[*id as usize - 1]);
        assert!(expected.eq(taken));
        assert!(!accepted[1] || accepted[0], "refused for good");
        assert!(matches!(consumer.try_take(), Err(TryTakeError::Closed)));
    });
}

/// Scenario 36: a close while the owner's thread goes to sleep.
#[test]
fn m8_close_against_park_scenario_36() {
    check(unbounded(70), || {
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let closing = with(producer, |producer| producer.close());
        assert!(matches!(consumer.take(), Err(Closed(()))));
        assert_eq!(join([closing]), [true]);
    });
}

/// Scenario 38: two close at once: one of them did it.
#[test]
fn m8_close_twice_scenario_38() {
    check(preemptions(4, 20_000), || {
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let closing = [(); 2].map(|()| with(producer.clone(), |producer| producer.close()));
        assert!(matches!(consumer.take(), Err(Closed(()))));
        let [one, other] = join(closing);
        assert!(one != other);
    });
}

/// What was written before the close is seen by a sleeping owner that is told of it.
#[test]
fn m8b_reason_seen_by_a_sleeper() {
    check(unbounded(70), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, mut consumer) = many(1).build::<Letter>().unwrap();
        let closing = with(producer, move |producer| {
            why.write(7);
            producer.close();
        });
        assert!(matches!(consumer.take(), Err(Closed(()))));
        assert_eq!(reason.read(), 7);
        join([closing]);
    });
}

/// The same for an owner that only looks.
#[test]
fn m8b_reason_seen_by_a_look() {
    check(unbounded(4), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, consumer) = many(1).build::<Letter>().unwrap();
        let looking = with(consumer, move |consumer| {
            if let Err(TryTakeError::Closed) = consumer.try_take() {
                assert_eq!(why.read(), 7);
            }
        });
        reason.write(7);
        producer.close();
        join([looking]);
    });
}

/// The same for a producer that asks.
#[test]
fn m8b_reason_seen_by_a_producer_that_asks() {
    check(unbounded(4), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, _consumer) = many(1).build::<Letter>().unwrap();
        let asking = with(producer.clone(), move |producer| {
            if producer.is_closed() {
                assert_eq!(why.read(), 7);
            }
        });
        reason.write(7);
        producer.close();
        join([asking]);
    });
}

/// The same for a producer whose letter is refused.
#[test]
fn m8b_reason_seen_by_a_producer_that_is_refused() {
    check(unbounded(8), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, _consumer) = many(1).build().unwrap();
        let posting = with(producer.clone(), move |producer| {
            if producer.try_post(Letter::new(1)).is_err() {
                assert_eq!(why.read(), 7);
            }
        });
        reason.write(7);
        producer.close();
        join([posting]);
    });
}

/// A close that runs the owner itself: what the owner did before is seen, the end is seen once.
#[test]
fn m8c_close_runs_the_owner() {
    check(unbounded(700), || {
        let (producer, owner) = Hosted::new(1);
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(1)).is_ok()
        });
        let closing = with(producer, |producer| producer.close());
        let [accepted, closed] = join([posting, closing]);
        assert!(closed);
        let ran = owner.into_ran();
        assert!(ran.finished);
        assert_eq!(ran.letters.len(), usize::from(accepted));
    });
}

/// Scenario 37, B25: the consumer closes while a producer waits for room.
#[test]
fn m9_close_against_a_waiter_b25() {
    check(unbounded(80_000), || {
        let (producer, consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            let Err(Closed(letter)) = producer.post(Letter::new(2)) else {
                unreachable!("there was no room");
            };
            assert_eq!(letter.id(), 2);
        });
        assert_eq!(ids(consumer.close()), [1]);
        join([waiting]);
    });
}

/// Scenario 37, B25: the same with two that wait, and a consumer that is dropped.
#[test]
fn m9_drop_against_two_waiters_b25() {
    check(preemptions(2, 10_000), || {
        let (producer, consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                assert!(producer.post(Letter::new(id)).is_err());
            })
        });
        drop(consumer);
        join(waiting);
    });
}

/// Scenarios 24, 41, B01, B02: everything goes at once while letters are posted; each is dropped
/// once.
#[test]
fn m10_drop_with_letters_in_flight() {
    check(preemptions(2, 3_000), || {
        let (producer, consumer) = many(2).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = [10, 20].map(|id| {
            let producer = producer.clone();
            // Refused or not, the letter goes.
            spawn(move || drop(producer.try_post(Letter::new(id))))
        });
        drop(producer);
        drop(consumer);
        for thread in posting {
            thread.join().unwrap();
        }
    });
}

/// Scenario 37: one registers to wait for room while another producer closes.
#[test]
fn m10b_waiter_registers_while_closing() {
    check(unbounded(10_000), || {
        let (producer, consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let closing = with(producer.clone(), |producer| {
            producer.close();
        });
        let waiting = with(producer, |producer| {
            assert!(producer.post(Letter::new(2)).is_err());
        });
        join([closing, waiting]);
        assert_eq!(ids(consumer.close()), [1]);
    });
}

/// Scenario 40: the only producer posts and goes: the letter, then the end.
#[test]
fn m12_last_producer_goes_scenario_40() {
    check(preemptions(6, 20_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = spawn(move || producer.try_post(Letter::new(1)).unwrap());
        assert_eq!(ids(consumer.iter()), [1]);
        posting.join().unwrap();
    });
}

/// Scenarios 40, 43: one clones and goes, another comes by a weak handle: no end while a handle
/// lives, and the end after the last.
#[test]
fn m12_clone_drop_and_upgrade_scenario_43() {
    clone_drop_and_upgrade(preemptions(1, 5_000));
}

#[test]
#[ignore = "takes a minute"]
fn long_m12_clone_drop_and_upgrade_scenario_43() {
    clone_drop_and_upgrade(preemptions(2, 100_000));
}

fn clone_drop_and_upgrade(bounds: Bounds) {
    check(bounds, || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let weak = producer.downgrade();
        let cloning = spawn(move || {
            let clone = producer.clone();
            drop(producer);
            clone.try_post(Letter::new(1)).unwrap();
        });
        let upgrading = with(weak, |weak| {
            weak.upgrade()
                .map(|producer| producer.try_post(Letter::new(2)).unwrap())
                .is_some()
        });
        let taken = ids(consumer.iter()).len();
        cloning.join().unwrap();
        let [upgraded] = join([upgrading]);
        assert_eq!(taken, 1 + usize::from(upgraded));
    });
}

#[test]
fn row_g1_failed_park_acquires() {
    assert_fails("m8b_reason_seen_by_a_sleeper", "g1", Relaxed, RACE);
}

#[test]
fn row_o_look_acquires() {
    assert_fails("m8b_reason_seen_by_a_look", "o", Relaxed, RACE);
    assert_fails(
        "m8b_reason_seen_by_a_producer_that_asks",
        "o",
        Relaxed,
        RACE,
    );
}

#[test]
fn row_t_refusal_acquires() {
    let model = "m8b_reason_seen_by_a_producer_that_is_refused";
    assert_fails(model, "t", Relaxed, RACE);
    assert_fails(model, "t1", Relaxed, RACE);
}

#[test]
fn row_g_rest_is_released_to_a_close() {
    assert_fails("m8c_close_runs_the_owner", "g", Acquire, RACE);
}

#[test]
fn row_i_close_releases_its_reason() {
    assert_fails("m8b_reason_seen_by_a_sleeper", "i", Acquire, RACE);
}

#[test]
fn row_i_close_acquires_the_rest_it_ends() {
    assert_fails("m8c_close_runs_the_owner", "i", Release, RACE);
}

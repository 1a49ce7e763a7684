//! Many producers: the owner sleeps and is woken.

mod model;

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::task::{Context, Poll};
use loom::sync::atomic::AtomicU32;
use mailring::ring::{TakeTimeoutError, Waited};
use model::{
    Alarm, Hosted, Letter, Plain, assert_fails, check, ids, join, many, past, preemptions,
    unbounded, with, yield_now,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";

/// Scenarios 28, 29, B17: one producer posts while the owner's thread goes to sleep.
#[test]
fn m4_park_and_wake() {
    check(unbounded(500), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        assert_eq!(consumer.take().unwrap().id(), 1);
        join([posting]);
    });
}

/// Scenarios 27, 28, 29, 30: two producers post while the owner's thread goes to sleep.
#[test]
fn m4_park_and_wake_two_producers() {
    check(preemptions(3, 40_000), || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let posting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                producer.try_post(Letter::new(id)).unwrap();
            })
        });
        let mut taken = [(); 2].map(|()| consumer.take().unwrap().id());
        taken.sort_unstable();
        assert_eq!(taken, [10, 20]);
        join(posting);
    });
}

/// Scenario 68: a wait that expires while a letter is posted ends with the letter or without it,
/// and the owner's next sleep is as good as its first.
#[test]
fn m4t_timeout_against_post_scenario_68() {
    check(unbounded(20_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let id = match consumer.take_deadline(past()) {
            Ok(letter) => letter.id(),
            Err(TakeTimeoutError::Timeout) => consumer.take().unwrap().id(),
            Err(TakeTimeoutError::Closed) => unreachable!("a producer is there"),
        };
        assert_eq!(id, 1);
        join([posting]);
    });
}

/// Scenarios 26, 27: a claim that ended the park stalls while another producer publishes two.
#[test]
fn m5_stalled_claim_that_ended_the_park() {
    check(preemptions(2, 50_000), || {
        let (producer, mut consumer) = many(3).build().unwrap();
        let first = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(10)).unwrap();
        });
        let second = with(producer, |producer| {
            producer.try_post(Letter::new(20)).unwrap();
            producer.try_post(Letter::new(21)).unwrap();
        });
        let taken = [(); 3].map(|()| consumer.take().unwrap().id());
        assert!(taken.into_iter().filter(|id| *id >= 20).is_sorted());
        join([first, second]);
    });
}

/// Scenario 30: the same with an owner that is run by whoever ends its rest. It is run by one at a
/// time, once per rest, and no letter is left behind.
#[test]
fn m5b_owner_run_by_one_at_a_time_scenario_30() {
    check(preemptions(4, 20_000), || {
        let (producer, owner) = Hosted::new(2);
        let posting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                producer.try_post(Letter::new(id)).unwrap();
            })
        });
        join(posting);
        let mut ran = owner.into_ran();
        ran.letters.sort_unstable();
        assert_eq!(ran.letters, [10, 20]);
        assert!((2..=3).contains(&ran.runs), "{ran:?}");
    });
}

/// What the owner wrote before it rested is seen by whoever ends its rest.
#[test]
fn m5c_owner_written_by_the_last_waker() {
    check(preemptions(3, 30_000), || {
        let (producer, owner) = Hosted::new(3);
        let first = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(10)).unwrap();
        });
        let second = with(producer, |producer| {
            producer.try_post(Letter::new(20)).unwrap();
            producer.try_post(Letter::new(21)).unwrap();
        });
        join([first, second]);
        assert_eq!(owner.into_ran().letters.len(), 3);
    });
}

/// A kick runs the owner, which rests again at the same cursor; a claim that looked at the tail
/// before that takes the second rest for the first.
#[test]
fn m5d_kick_and_rest_at_the_same_cursor() {
    check(preemptions(5, 10_000), || {
        let work = Arc::new(Plain::new(0));
        let done = Arc::clone(&work);
        let (producer, owner) = Hosted::with(1, move || assert_eq!(done.read(), 1));
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let kicking = with(producer, move |producer| {
            work.write(1);
            producer.kick();
        });
        join([posting, kicking]);
        let ran = owner.into_ran();
        assert_eq!(ran.letters, [1]);
        assert_eq!(ran.kicks, 1);
    });
}

/// A kick reaches an owner's thread whatever it does, also behind a stalled claim.
#[test]
fn m5e_kick_reaches_a_sleeper() {
    check(preemptions(3, 30_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let kicking = with(producer, |producer| producer.kick());
        let (mut kicked, mut taken) = (false, None);
        while !kicked || taken.is_none() {
            match consumer.wait() {
                Waited::Letters => taken = consumer.try_take().ok(),
                Waited::Kicked => kicked = true,
                other => unreachable!("{other:?}"),
            }
        }
        join([posting, kicking]);
    });
}

/// Two kickers, one owner: each kick's work has been seen at the end, whether the kicks were taken
/// as one or as two.
#[test]
fn m14b_two_kickers() {
    check(preemptions(4, 9_000), || {
        let work: Arc<[AtomicU32; 2]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let seen = Arc::new(Plain::new([0; 2]));
        let (at_work, see) = (Arc::clone(&work), Arc::clone(&seen));
        let (producer, owner) = Hosted::with(1, move || {
            // Relaxed: the kick alone is to carry it.
            see.write([0, 1].map(|index| at_work[index].load(Relaxed)));
        });
        let kicking = [0, 1].map(|index| {
            let work = Arc::clone(&work);
            with(producer.clone(), move |producer| {
                work[index].store(1, Relaxed);
                producer.kick();
            })
        });
        join(kicking);
        assert_eq!(seen.read(), [1, 1], "both kicks' work is seen");
        assert!((1..=2).contains(&owner.into_ran().kicks));
    });
}

/// Scenario 49: an owner polled as a task replaces its waker while a letter is posted: the latest
/// waker fires, or the letter is seen.
#[test]
fn m13w_waker_replaced_scenario_49() {
    check(unbounded(3_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let (old, latest) = (Alarm::new(), Alarm::new());
        let mut polled = consumer.poll_take(&mut Context::from_waker(&old.waker()));
        while polled.is_pending() {
            polled = consumer.poll_take(&mut Context::from_waker(&latest.waker()));
            if polled.is_pending() {
                latest.wait();
                // At a claimed, unpublished slot it rings at once.
                yield_now();
            }
        }
        let Poll::Ready(Ok(letter)) = polled else {
            unreachable!("it is not closed");
        };
        assert_eq!(letter.id(), 1);
        join([posting]);
    });
}

/// Scenario 48: a future that takes is dropped while it is woken: the letter is kept for the next.
#[test]
fn m13x_take_future_dropped_scenario_48() {
    check(unbounded(8_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let alarm = Alarm::new();
        let waker = alarm.waker();
        let polled = pin!(consumer.take_async()).poll(&mut Context::from_waker(&waker));
        let letter = match polled {
            Poll::Ready(letter) => letter,
            Poll::Pending => consumer.take(),
        };
        assert_eq!(ids(letter), [1]);
        join([posting]);
    });
}

#[test]
fn row_g_rest_is_released() {
    assert_fails("m5c_owner_written_by_the_last_waker", "g", Acquire, RACE);
}

#[test]
fn row_b_claim_acquires_the_rest_it_ends() {
    assert_fails("m5d_kick_and_rest_at_the_same_cursor", "b", Release, RACE);
}

#[test]
fn row_q_kick_releases_its_work() {
    assert_fails("m5d_kick_and_rest_at_the_same_cursor", "q", Acquire, RACE);
    assert_fails("m14b_two_kickers", "q", Acquire, "both kicks");
}

#[test]
fn row_q_kick_acquires_the_rest_it_ends() {
    assert_fails("m5d_kick_and_rest_at_the_same_cursor", "q", Release, RACE);
}

#[test]
fn row_q1_clear_acquires_the_work() {
    assert_fails("m14b_two_kickers", "q1", Relaxed, "both kicks");
}

/// No ordering, but the wake itself: without it the owner sleeps for ever.
#[test]
fn row_wake_left_out() {
    assert_fails("m4_park_and_wake", "wake", Relaxed, DEADLOCK);
}

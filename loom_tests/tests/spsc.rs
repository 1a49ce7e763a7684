//! One producer: publishing, room, sleep on either side, and the end.

mod model;

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::task::{Context, Poll};
use mailring::ring::{Closed, PostTimeoutError, TakeTimeoutError, TryTakeError};
use model::{
    Alarm, Letter, Plain, assert_fails, check, ids, join, one, past, preemptions, spawn, unbounded,
    with, yield_now,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";

/// Scenario 62, B17: a letter is posted while the consumer goes to sleep.
#[test]
fn m19_consumer_sleeps_scenario_62() {
    check(unbounded(800), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        assert_eq!(consumer.take().unwrap().id(), 1);
        join([posting]);
    });
}

/// Two letters, two sleeps: a late wake of the first is nothing to the second.
#[test]
fn m19b_consumer_sleeps_twice() {
    check(preemptions(6, 50_000), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
            producer.try_post(Letter::new(2)).unwrap();
        });
        assert_eq!([(); 2].map(|()| consumer.take().unwrap().id()), [1, 2]);
        join([posting]);
    });
}

/// Scenario 68: a wait that expires while a letter is posted.
#[test]
fn m19t_timeout_against_post_scenario_68() {
    check(preemptions(6, 7_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let letter = match consumer.take_deadline(past()) {
            Ok(letter) => letter,
            Err(TakeTimeoutError::Timeout) => consumer.take().unwrap(),
            Err(TakeTimeoutError::Closed) => unreachable!("the producer is there"),
        };
        assert_eq!(letter.id(), 1);
        join([posting]);
    });
}

/// Scenario 49: a consumer polled as a task replaces its waker while a letter is posted.
#[test]
fn m19w_waker_replaced_scenario_49() {
    check(unbounded(3_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
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
        assert!(matches!(polled, Poll::Ready(Ok(_))));
        join([posting]);
    });
}

fn value_crosses(unfenced: bool, start: u64) {
    check(unbounded(10), move || {
        let ring = one(1).start(start);
        let ring = if unfenced { ring.unfenced() } else { ring };
        let (producer, mut consumer) = ring.build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        let mut taken = ids(consumer.try_iter());
        join([posting]);
        taken.extend(ids(consumer.try_iter()));
        assert_eq!(taken, [1]);
    });
}

/// Scenario 1: the value is there when its letter is seen.
#[test]
fn m19v_value_crosses() {
    value_crosses(false, 0);
}

/// The same where the light barrier is one for the compiler only; scenario 7: across 2^32.
#[test]
fn m19v_value_crosses_unfenced() {
    value_crosses(true, (1 << 32) - 1);
}

/// Room is released while the producer goes to sleep.
#[test]
fn m20_producer_sleeps() {
    check(unbounded(100), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            producer.post(Letter::new(2)).unwrap();
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        join([waiting]);
        assert_eq!(ids(consumer.try_iter()), [2]);
    });
}

/// Both sides sleep: three letters through a ring of one.
#[test]
fn m20b_both_sleep() {
    check(preemptions(3, 40_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let waiting = with(producer, |producer| {
            for id in 1..=3 {
                producer.post(Letter::new(id)).unwrap();
            }
        });
        assert_eq!([(); 3].map(|()| consumer.take().unwrap().id()), [1, 2, 3]);
        join([waiting]);
    });
}

/// A wait for room that expires while room is released.
#[test]
fn m20t_timeout_against_release() {
    check(preemptions(4, 300), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            match producer.post_deadline(Letter::new(2), past()) {
                Ok(()) => {}
                Err(PostTimeoutError::Timeout(letter)) => producer.post(letter).unwrap(),
                Err(PostTimeoutError::Closed(_)) => unreachable!("the consumer is there"),
            }
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        join([waiting]);
        assert_eq!(ids(consumer.try_iter()), [2]);
    });
}

/// Scenario 49: a future that waits for room replaces its waker while room is released.
#[test]
fn m20w_post_waker_replaced_scenario_49() {
    check(unbounded(800), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            let (old, latest) = (Alarm::new(), Alarm::new());
            let mut post = pin!(producer.post_async(Letter::new(2)));
            let mut polled = post.as_mut().poll(&mut Context::from_waker(&old.waker()));
            while polled.is_pending() {
                polled = post
                    .as_mut()
                    .poll(&mut Context::from_waker(&latest.waker()));
                if polled.is_pending() {
                    latest.wait();
                }
            }
            assert!(matches!(polled, Poll::Ready(Ok(()))));
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        join([waiting]);
        assert_eq!(ids(consumer.try_iter()), [2]);
    });
}

fn slot_reuse(unfenced: bool) {
    check(unbounded(6), move || {
        let ring = if unfenced { one(1).unfenced() } else { one(1) };
        let (producer, mut consumer) = ring.build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(2)).is_ok()
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        let [accepted] = join([posting]);
        assert_eq!(consumer.try_iter().count(), usize::from(accepted));
    });
}

/// Scenario 4, B12: a slot is written again only after the value before was moved out.
#[test]
fn m20v_slot_reuse() {
    slot_reuse(false);
}

/// The same where the light barrier is one for the compiler only.
#[test]
fn m20v_slot_reuse_unfenced() {
    slot_reuse(true);
}

/// Scenarios 35, 39, B26: the consumer quiesces while letters are posted. Every accepted letter is
/// taken, once; Finished is never followed by a letter.
#[test]
fn m21_quiesce_against_posts_b26() {
    check(preemptions(7, 80_000), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| {
            [1, 2].map(|id| producer.try_post(Letter::new(id)).is_ok())
        });
        consumer.quiesce();
        let taken = ids(consumer.iter());
        let [accepted] = join([posting]);
        let expected = (1..=2).filter(|id| accepted[*id as usize - 1]);
        assert!(expected.eq(taken), "every Ok is delivered");
        assert!(!accepted[1] || accepted[0], "refused for good");
        assert!(matches!(consumer.try_take(), Err(TryTakeError::Closed)));
    });
}

/// The same by close, which returns what was accepted.
#[test]
fn m21_close_against_posts() {
    check(unbounded(10_000), || {
        let (producer, consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).is_ok()
        });
        let returned = ids(consumer.close());
        let [accepted] = join([posting]);
        assert_eq!(returned.len(), usize::from(accepted));
    });
}

/// Scenarios 24, 41, B01, B02: the consumer is dropped while letters are posted; each is dropped
/// once, whichever side goes last.
#[test]
fn m21_drop_against_posts() {
    check(preemptions(6, 4_000), || {
        let (producer, consumer) = one(2).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = spawn(move || {
            for id in [2, 3] {
                // Refused or not, the letter goes.
                drop(producer.try_post(Letter::new(id)));
            }
        });
        drop(consumer);
        posting.join().unwrap();
    });
}

/// Scenario 37, B25: the consumer closes while the producer goes to sleep for room: it gets its
/// letter back, or it had begun before the close and its letter is returned.
#[test]
fn m21_close_against_a_waiter_b25() {
    check(preemptions(6, 80_000), || {
        let (producer, consumer) = one(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| match producer.post(Letter::new(2)) {
            Ok(()) => &[1, 2][..],
            Err(Closed(letter)) => {
                assert_eq!(letter.id(), 2);
                &[1]
            }
        });
        let returned = ids(consumer.close());
        assert_eq!([&returned[..]], join([waiting]));
    });
}

/// Scenario 40: the producer posts and goes while the consumer sleeps: the letter, then the end.
#[test]
fn m21_producer_goes_scenario_40() {
    check(preemptions(6, 40_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = spawn(move || producer.try_post(Letter::new(1)).unwrap());
        assert_eq!(ids(consumer.iter()), [1]);
        posting.join().unwrap();
    });
}

/// The same by looks alone, where the light barrier is one for the compiler only: the end is never
/// seen before the last letter.
#[test]
fn m21_producer_goes_unfenced() {
    check(unbounded(60), || {
        let (producer, mut consumer) = one(1).unfenced().build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
            producer.close();
        });
        let first = consumer.try_take();
        join([posting]);
        match first {
            Ok(letter) => assert_eq!(letter.id(), 1),
            Err(TryTakeError::Closed) => panic!("the end before the last letter"),
            Err(TryTakeError::Empty) => assert_eq!(ids(consumer.try_iter()), [1]),
        }
        assert!(consumer.is_finished());
    });
}

/// What the consumer wrote before it closed is seen by a producer that is refused.
#[test]
fn m21_reason_seen_by_the_producer() {
    check(unbounded(7), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, mut consumer) = one(1).unfenced().build().unwrap();
        let posting = with(producer, move |producer| {
            if producer.try_post(Letter::new(1)).is_err() {
                assert_eq!(why.read(), 7);
            }
        });
        reason.write(7);
        consumer.quiesce();
        join([posting]);
        drop(consumer.try_take());
    });
}

/// What the producer wrote before it closed is seen by a consumer that finds the end.
#[test]
fn m21_reason_seen_by_the_consumer() {
    check(unbounded(4), || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, consumer) = one(1).unfenced().build::<Letter>().unwrap();
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

#[test]
fn row_s1_tail() {
    for model in ["m19v_value_crosses", "m19v_value_crosses_unfenced"] {
        assert_fails(model, "s1", Acquire, RACE);
        assert_fails(model, "s1", Release, RACE);
    }
}

#[test]
fn row_s2_head() {
    for model in ["m20v_slot_reuse", "m20v_slot_reuse_unfenced"] {
        assert_fails(model, "s2", Acquire, RACE);
        assert_fails(model, "s2", Release, RACE);
    }
}

#[test]
fn row_s3_light_barrier() {
    assert_fails("m19_consumer_sleeps_scenario_62", "s3", Relaxed, DEADLOCK);
    assert_fails("m20_producer_sleeps", "s3", Relaxed, DEADLOCK);
    assert_fails(
        "m21_quiesce_against_posts_b26",
        "s3",
        Relaxed,
        "every Ok is delivered",
    );
}

#[test]
fn row_s4_heavy_barrier() {
    assert_fails("m19_consumer_sleeps_scenario_62", "s4", Relaxed, DEADLOCK);
    assert_fails("m20_producer_sleeps", "s4", Relaxed, DEADLOCK);
    assert_fails(
        "m21_quiesce_against_posts_b26",
        "s4",
        Relaxed,
        "every Ok is delivered",
    );
}

#[test]
fn row_s5_closed() {
    assert_fails(
        "m21_producer_goes_unfenced",
        "s5",
        Acquire,
        "the end before the last letter",
    );
    assert_fails(
        "m21_producer_goes_unfenced",
        "s5",
        Release,
        "the end before the last letter",
    );
    assert_fails("m21_reason_seen_by_the_producer", "s5", Acquire, RACE);
    assert_fails("m21_reason_seen_by_the_producer", "s5", Release, RACE);
    assert_fails("m21_reason_seen_by_the_consumer", "s5", Acquire, RACE);
    assert_fails("m21_reason_seen_by_the_consumer", "s5", Release, RACE);
}

#[test]
fn row_s6_posting_ends() {
    assert_fails(
        "m21_quiesce_against_posts_b26",
        "s6",
        Acquire,
        "every Ok is delivered",
    );
    assert_fails(
        "m21_quiesce_against_posts_b26",
        "s6",
        Release,
        "every Ok is delivered",
    );
}

//! One producer: publishing, room, sleep on either side, and the end.

mod model;

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::task::{Context, Poll};
use mailring::ring::spsc::{Producer, Staging};
use mailring::ring::{
    Closed, IntoBatch, PostTimeoutError, TakeTimeoutError, TryPostError, TryTakeError,
};
use model::{
    Alarm, Letter, Plain, assert_fails, check, ids, join, one, past, preemptions, spawn, unbounded,
    with, yield_now,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";
const LOST: &str = "every Ok is delivered";

/// Scenario 62, B17: a letter is posted while the consumer goes to sleep.
#[test]
fn m19_consumer_sleeps_scenario_62() {
    check(unbounded(1_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
        });
        assert_eq!(consumer.take().unwrap().id(), 1);
        join([posting]);
    });
}

/// The same with a batch, which comes to its look at the sleeper by a way of its own.
#[test]
fn m19_consumer_sleeps_batch() {
    check(unbounded(1_300), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| {
            assert_eq!(post_batch(producer, letters([1, 2])), 2);
        });
        assert_eq!([(); 2].map(|()| consumer.take().unwrap().id()), [1, 2]);
        join([posting]);
    });
}

/// The same with letters that were staged.
#[test]
fn m19_consumer_sleeps_staged() {
    check(unbounded(800), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(Staging::new(producer), |staging| {
            assert_eq!(stage(staging, [1, 2]), 2);
        });
        assert_eq!([(); 2].map(|()| consumer.take().unwrap().id()), [1, 2]);
        join([posting]);
    });
}

/// Two letters, two sleeps: a late wake of the first is nothing to the second.
#[test]
fn m19b_consumer_sleeps_twice() {
    check(preemptions(6, 140_000), || {
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
    check(unbounded(26_000), || {
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
    check(unbounded(13_000), || {
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
    check(unbounded(6), move || {
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

/// The same for a batch.
#[test]
fn m19v_batch_crosses_unfenced() {
    check(unbounded(21), || {
        let (producer, mut consumer) = one(2).unfenced().build().unwrap();
        let posting = with(producer, |producer| {
            assert_eq!(post_batch(producer, letters([1, 2])), 2);
        });
        let mut taken = ids(consumer.try_iter());
        join([posting]);
        taken.extend(ids(consumer.try_iter()));
        assert_eq!(taken, [1, 2]);
    });
}

/// Room is released while the producer goes to sleep.
#[test]
fn m20_producer_sleeps() {
    check(unbounded(300), || {
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
    check(preemptions(3, 250_000), || {
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
    check(unbounded(2_200), || {
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
    check(unbounded(1_200), || {
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
    check(unbounded(8), move || {
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
    check(unbounded(14_000), || {
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

/// The same for a batch, which is accepted whole or not at all where there is room for it.
#[test]
fn m21_quiesce_against_a_batch_b26() {
    check(unbounded(78_000), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| post_batch(producer, letters([1, 2])));
        consumer.quiesce();
        let taken = ids(consumer.iter());
        let [accepted] = join([posting]);
        assert!([0, 2].contains(&accepted));
        assert_eq!(taken, [1, 2][..accepted], "every Ok is delivered");
        assert!(matches!(consumer.try_take(), Err(TryTakeError::Closed)));
    });
}

/// A letter behind a batch: that the batch goes on may be old news, and the letter's post decides
/// the end.
#[test]
fn m21_quiesce_against_staged_letters() {
    check(unbounded(78_000), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(Staging::new(producer), |staging| stage(staging, [1, 2]));
        consumer.quiesce();
        let taken = ids(consumer.iter());
        let [accepted] = join([posting]);
        assert!([0, 2].contains(&accepted));
        assert_eq!(taken, [1, 2][..accepted], "every Ok is delivered");
        assert!(matches!(consumer.try_take(), Err(TryTakeError::Closed)));
    });
}

#[test]
fn m21_quiesce_against_a_batch_and_a_post() {
    check(preemptions(8, 77_000), || {
        let (producer, mut consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| {
            let accepted = post_batch(producer, letters([1]));
            accepted + usize::from(producer.try_post(Letter::new(2)).is_ok())
        });
        consumer.quiesce();
        let taken = ids(consumer.iter());
        let [accepted] = join([posting]);
        assert_eq!(taken, [1, 2][..accepted], "every Ok is delivered");
    });
}

/// The consumer takes before it closes, in a ring of one: what it has seen is before the end, and a
/// slot that was used before may be the one that a late post takes its letter back from.
#[test]
fn m21_quiesce_after_a_look() {
    check(unbounded(39_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            let accepted = [1, 2].map(|id| producer.try_post(Letter::new(id)).is_ok());
            (1..=2).filter(move |id| accepted[*id as usize - 1])
        });
        let mut taken = ids(consumer.try_iter());
        consumer.quiesce();
        taken.extend(ids(consumer.iter()));
        let [accepted] = join([posting]);
        assert!(accepted.eq(taken), "every Ok is delivered");
    });
}

/// A post that is late for the end gets its letter back; a single post never keeps the consumer from
/// telling the end.
#[test]
fn m21_late_post_gets_its_letter_back() {
    check(unbounded(5_300), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            match producer.try_post(Letter::new(1)) {
                Ok(()) => None,
                Err(TryPostError::Closed(letter)) => Some(letter.id()),
                Err(TryPostError::Full(_)) => unreachable!("there is room"),
            }
        });
        consumer.quiesce();
        let taken = match consumer.try_take() {
            Ok(letter) => Some(letter.id()),
            Err(TryTakeError::Closed) => None,
            Err(TryTakeError::Empty) => panic!("a close waits for no single post"),
        };
        assert_eq!(consumer.len(), 0);
        assert!(consumer.is_finished());
        let [back] = join([posting]);
        assert_eq!(taken.xor(back), Some(1), "taken or given back");
    });
}

/// The same for a future that waited for room.
#[test]
fn m21_late_future_gets_its_letter_back() {
    check(preemptions(6, 45_000), || {
        let (producer, mut consumer) = one(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            let alarm = Alarm::new();
            let mut post = pin!(producer.post_async(Letter::new(2)));
            loop {
                match post.as_mut().poll(&mut Context::from_waker(&alarm.waker())) {
                    Poll::Ready(Ok(())) => break None,
                    Poll::Ready(Err(Closed(letter))) => break Some(letter.id()),
                    Poll::Pending => alarm.wait(),
                }
            }
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        consumer.quiesce();
        let taken = consumer.try_take().map(|letter| letter.id()).ok();
        assert!(consumer.is_finished());
        let [back] = join([waiting]);
        assert_eq!(taken.xor(back), Some(2), "taken or given back");
    });
}

/// The consumer looked at tail before the post stored it, and learns of the letter by the end that
/// the post decided.
#[test]
fn m21_last_letter_by_its_end_unfenced() {
    check(unbounded(160), || {
        let (producer, mut consumer) = one(1).unfenced().build().unwrap();
        let posting = with(producer, |producer| {
            // Without the barriers the letter may be missed: it goes with the ring.
            drop(producer.try_post(Letter::new(1)));
        });
        consumer.quiesce();
        drop(consumer.try_take());
        join([posting]);
    });
}

/// The same by close, which returns what was accepted.
#[test]
fn m21_close_against_posts() {
    check(unbounded(5_000), || {
        let (producer, consumer) = one(1).build().unwrap();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).is_ok()
        });
        let returned = ids(consumer.close());
        let [accepted] = join([posting]);
        assert_eq!(returned.len(), usize::from(accepted));
    });
}

/// The same for a batch.
#[test]
fn m21_close_against_a_batch() {
    check(preemptions(7, 37_000), || {
        let (producer, consumer) = one(2).build().unwrap();
        let posting = with(producer, |producer| {
            post_batch(producer, Vec::from(letters([1, 2])))
        });
        let returned = ids(consumer.close());
        let [accepted] = join([posting]);
        assert_eq!(returned, [1, 2][..accepted], "every Ok is returned");
    });
}

/// Scenarios 24, 41, B01, B02: the consumer is dropped while letters are posted; each is dropped
/// once, whichever side goes last.
#[test]
fn m21_drop_against_posts() {
    check(preemptions(6, 110_000), || {
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

/// The same during a batch, which nobody waits for.
#[test]
fn m21_drop_against_a_batch() {
    check(preemptions(6, 57_000), || {
        let (producer, consumer) = one(3).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = spawn(move || {
            post_batch(&producer, Vec::from(letters([2, 3])));
        });
        drop(consumer);
        posting.join().unwrap();
    });
}

/// Scenario 37, B25: the consumer closes while the producer goes to sleep for room: it gets its
/// letter back, or it had begun before the close and its letter is returned.
#[test]
fn m21_close_against_a_waiter_b25() {
    check(preemptions(6, 40_000), || {
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
    check(preemptions(6, 140_000), || {
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
    check(unbounded(360), || {
        let (producer, consumer) = one(1).unfenced().build().unwrap();
        // The consumer has a thread of its own: the one that makes the words knows their first
        // values, and after it has yielded the checker gives it newer ones alone.
        let looking = spawn(move || {
            let mut consumer = consumer;
            (consumer.try_take(), consumer)
        });
        producer.try_post(Letter::new(1)).unwrap();
        producer.close();
        let (first, mut consumer) = looking.join().unwrap();
        match first {
            Ok(letter) => assert_eq!(letter.id(), 1),
            Err(TryTakeError::Closed) => panic!("the end before the last letter"),
            Err(TryTakeError::Empty) => assert_eq!(
                ids(consumer.try_iter()),
                [1],
                "the end before the last letter"
            ),
        }
        assert!(consumer.is_finished());
    });
}

fn reason_seen_by_the_producer(accepts: fn(&Producer<Letter>) -> bool) {
    check(unbounded(90), move || {
        let reason = Arc::new(Plain::new(0));
        let why = Arc::clone(&reason);
        let (producer, mut consumer) = one(1).unfenced().build().unwrap();
        let posting = with(producer, move |producer| {
            if !accepts(producer) {
                assert_eq!(why.read(), 7);
            }
        });
        reason.write(7);
        consumer.quiesce();
        drop(consumer.try_take());
        join([posting]);
    });
}

/// What the consumer wrote before it closed is seen by a producer that is refused, at once or late
/// for the end.
#[test]
fn m21_reason_seen_by_the_producer() {
    reason_seen_by_the_producer(|producer| producer.try_post(Letter::new(1)).is_ok());
}

/// The same for a batch.
#[test]
fn m21_reason_seen_by_the_producer_of_a_batch() {
    reason_seen_by_the_producer(|producer| post_batch(producer, letters([1])) == 1);
}

/// What the producer wrote before it closed is seen by a consumer that finds the end.
#[test]
fn m21_reason_seen_by_the_consumer() {
    check(unbounded(15), || {
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

fn letters<const N: usize>(ids: [u32; N]) -> [Letter; N] {
    ids.map(Letter::new)
}

/// Posts what fits; how many were accepted. The others are dropped.
fn post_batch<K>(producer: &Producer<Letter>, batch: impl IntoBatch<Letter, K>) -> usize {
    producer
        .try_post_batch(batch)
        .unwrap_or_else(|refused| refused.posted)
}

/// Stages and publishes; how many were accepted. The others are dropped.
fn stage<const N: usize>(staging: &mut Staging<Letter>, ids: [u32; N]) -> usize {
    for id in ids {
        staging.try_stage(Letter::new(id)).unwrap();
    }
    staging.publish().unwrap_or(0)
}

#[test]
fn row_s1_tail() {
    for model in [
        "m19v_value_crosses",
        "m19v_value_crosses_unfenced",
        "m19v_batch_crosses_unfenced",
    ] {
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
    for model in [
        "m19_consumer_sleeps_scenario_62",
        "m19_consumer_sleeps_batch",
        "m20_producer_sleeps",
    ] {
        assert_fails(model, "s3", Relaxed, DEADLOCK);
    }
    for model in [
        "m21_quiesce_against_posts_b26",
        "m21_quiesce_against_a_batch_b26",
    ] {
        assert_fails(model, "s3", Relaxed, LOST);
    }
}

#[test]
fn row_s4_heavy_barrier() {
    for model in [
        "m19_consumer_sleeps_scenario_62",
        "m19_consumer_sleeps_batch",
        "m20_producer_sleeps",
    ] {
        assert_fails(model, "s4", Relaxed, DEADLOCK);
    }
    for model in [
        "m21_quiesce_against_posts_b26",
        "m21_quiesce_against_a_batch_b26",
    ] {
        assert_fails(model, "s4", Relaxed, LOST);
    }
}

#[test]
fn row_s5_closed() {
    let early = "the end before the last letter";
    assert_fails("m21_producer_goes_unfenced", "s5", Acquire, early);
    assert_fails("m21_producer_goes_unfenced", "s5", Release, early);
    for model in [
        "m21_reason_seen_by_the_producer",
        "m21_reason_seen_by_the_producer_of_a_batch",
        "m21_reason_seen_by_the_consumer",
    ] {
        assert_fails(model, "s5", Acquire, RACE);
        assert_fails(model, "s5", Release, RACE);
    }
}

#[test]
fn row_s6_batch_ends() {
    let model = "m21_quiesce_against_a_batch_b26";
    assert_fails(model, "s6", Acquire, LOST);
    assert_fails(model, "s6", Release, LOST);
    let model = "m21_close_against_a_batch";
    assert_fails(model, "s6", Acquire, "every Ok is returned");
    assert_fails(model, "s6", Release, "every Ok is returned");
}

#[test]
fn row_s7_end() {
    let model = "m21_last_letter_by_its_end_unfenced";
    assert_fails(model, "s7", Acquire, RACE);
    assert_fails(model, "s7", Release, RACE);
}

#[test]
fn step_settle() {
    for model in [
        "m21_late_post_gets_its_letter_back",
        "m21_late_future_gets_its_letter_back",
    ] {
        assert_fails(model, "settle", Relaxed, "taken or given back");
    }
    assert_fails("m21_quiesce_against_posts_b26", "settle", Relaxed, LOST);
}

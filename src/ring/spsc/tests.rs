//! Tests of what only the inside can show: a post that goes on, and where sequences start.

use super::producer_side::Claim;
use super::shared::SLEEPING;
use super::{Builder, Producer};
use crate::ring::batch::IntoBatch as _;
use crate::ring::protocol::{Claim as _, Ring as _, Turn};
use crate::ring::{Closed, Refusal, TryPostError, TryTakeError, Waited, spsc};
use crate::sync::{Arc, Counter, thread};
use crate::wait::Parking;
use core::cell::OnceCell;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Waker};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Wake;
use std::time::Instant;

/// What a producer holds that was stopped halfway through a batch.
fn batch<T>(producer: &Producer<T>, count: usize) -> Claim<'_, T> {
    let claim = claim(producer, count);
    producer.ring.begin_posting().unwrap();
    claim
}

/// What a producer holds that was stopped before it wrote anything.
fn claim<T>(producer: &Producer<T>, count: usize) -> Claim<'_, T> {
    let claim = producer
        .ring
        .claim(&producer.side, count, Turn::Now)
        .unwrap();
    assert_eq!(claim.count(), count);
    claim
}

#[test]
fn scenario_07_full_laps_at_every_start() {
    let around = [1 << 8, 1 << 16, 1 << 31, 1 << 32, 5 << 32, 1 << 63];
    let around = around.into_iter().flat_map(|at: u64| at - 20..at + 3);
    for start in (0..20).chain(around).chain([u64::MAX - 500]) {
        for capacity in [1, 2, 3, 4, 5, 8] {
            let ring = Builder::new(capacity).start(start).build().unwrap();
            let (producer, mut consumer) = ring;
            for lap in 0..200 / capacity as u64 / 5 {
                for letter in 0..capacity {
                    assert_eq!(producer.try_post((lap, letter)), Ok(()));
                }
                let refused = (lap, capacity);
                assert_eq!(producer.try_post(refused), Err(TryPostError::Full(refused)));
                assert_eq!((producer.len(), consumer.len()), (capacity, capacity));
                let letters = (0..capacity).map(|letter| (lap, letter));
                assert!(consumer.try_iter().eq(letters));
            }
        }
    }
}

#[test]
fn scenario_26_and_61_a_batch_that_goes_on_is_not_there_yet() {
    let (producer, mut consumer) = spsc::bounded(4).unwrap();
    producer.try_post(0).unwrap();
    let hole = batch(&producer, 2);
    assert_eq!((producer.len(), consumer.len()), (1, 1));
    assert_eq!(
        consumer.drain(4, |letter, end| assert_eq!((letter, end), (0, true))),
        1
    );
    for _ in 0..10 {
        assert!(!consumer.has_letters() && !consumer.is_finished());
        assert_eq!(consumer.try_take(), Err(TryTakeError::Empty));
        assert_eq!(consumer.wait_deadline(Instant::now()), Waited::TimedOut);
    }
    hole.publish_posting(&mut [1, 2].into_batch());
    assert!(consumer.try_iter().eq([1, 2]));
}

#[test]
fn b26_a_and_scenario_39_no_end_is_told_while_a_batch_goes_on() {
    let (producer, mut consumer) = Builder::new(4)
        .wait(|| Parking::after(Duration::ZERO))
        .build()
        .unwrap();
    let hole = batch(&producer, 1);
    consumer.quiesce();
    assert!(!consumer.is_finished());
    assert_eq!(
        consumer.try_take(),
        Err(TryTakeError::Empty),
        "and not closed"
    );
    assert_eq!(consumer.wait_deadline(Instant::now()), Waited::TimedOut);
    thread::scope(|scope| {
        let taking = scope.spawn(move || (consumer.take(), consumer.take()));
        for _ in 0..100 {
            assert!(!taking.is_finished());
            thread::yield_now();
        }
        hole.publish_posting(&mut [5].into_batch());
        assert_eq!(taking.join().unwrap(), (Ok(5), Err(Closed(()))));
    });
    assert_eq!(producer.try_post(6), Err(TryPostError::Closed(6)));
}

#[test]
fn b26_a_close_returns_the_letters_of_a_batch_that_went_on() {
    let (producer, consumer) = spsc::bounded(4).unwrap();
    producer.try_post(0).unwrap();
    let hole = batch(&producer, 2);
    let undelivered = consumer.close();
    let (least, most) = undelivered.size_hint();
    thread::scope(|scope| {
        let returning = scope.spawn(move || undelivered.collect::<Vec<_>>());
        hole.publish_posting(&mut [1, 2].into_batch());
        let returned = returning.join().unwrap();
        assert_eq!(returned, [0, 1, 2]);
        assert!(
            least <= 3 && most.is_none_or(|most| most >= 3),
            "{least} to {most:?}"
        );
    });
}

/// R12: the end was told first, so the letter is not the consumer's.
#[test]
fn b26_a_post_that_is_late_for_the_end_gets_its_letter_back() {
    let token = Arc::new(());
    let (producer, mut consumer) = spsc::bounded(4).unwrap();
    producer.try_post(Arc::clone(&token)).unwrap();
    let late = claim(&producer, 1);
    consumer.quiesce();
    assert!(consumer.try_take().is_ok() && consumer.is_finished());
    let letter = late.publish(Arc::clone(&token)).unwrap_err();
    assert_eq!((producer.len(), consumer.len()), (0, 0));
    assert!(!consumer.has_letters() && consumer.is_finished());
    assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
    drop((producer, consumer, letter));
    assert_eq!(Arc::strong_count(&token), 1);
}

/// R12: nobody had told the end, so the letter comes before it.
#[test]
fn b26_a_post_that_meets_a_close_before_its_end_is_delivered() {
    let (producer, mut consumer) = spsc::bounded(4).unwrap();
    producer.try_post(1).unwrap();
    let late = claim(&producer, 1);
    consumer.quiesce();
    assert_eq!(late.publish(2), Ok(()));
    assert_eq!(producer.try_post(3), Err(TryPostError::Closed(3)));
    assert!(consumer.iter().eq([1, 2]));
    assert!(consumer.is_finished());
}

/// R12: a waker is caller code: it may post and close on the thread of the post that woke it.
#[test]
fn b26_a_post_within_the_wake_of_a_post_is_before_the_end() {
    thread_local! {
        static PRODUCER: OnceCell<Producer<u32>> = const { OnceCell::new() };
    }
    struct PostsAndCloses;
    impl Wake for PostsAndCloses {
        fn wake(self: Arc<Self>) {
            PRODUCER.with(|producer| {
                let producer = producer.get().unwrap();
                producer.try_post(2).unwrap();
                producer.close();
            });
        }
    }
    let (producer, mut consumer) = spsc::bounded(4).unwrap();
    let waker = Waker::from(Arc::new(PostsAndCloses));
    let polled = consumer.poll_take(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    PRODUCER.with(|cell| cell.get_or_init(|| producer).try_post(1).unwrap());
    assert!(consumer.iter().eq([1, 2]));
    assert!(consumer.is_finished());
}

/// A batch that found the ring open says for a moment that it goes on, and then sees the close.
#[test]
fn scenario_42_a_told_end_stays_while_a_batch_is_refused() {
    let (producer, mut consumer) = spsc::bounded::<u32>(4).unwrap();
    consumer.quiesce();
    assert!(consumer.is_finished());
    // Relaxed: there is one thread.
    producer.ring.posting.store(1, Relaxed);
    assert!(consumer.is_finished());
    assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
    assert_eq!(consumer.wait_deadline(Instant::now()), Waited::Finished);
}

#[test]
fn b26_a_batch_that_meets_a_close_keeps_its_letters() {
    let (producer, mut consumer) = spsc::bounded(4).unwrap();
    let late = claim(&producer, 2);
    consumer.quiesce();
    let mut letters = vec![1, 2].into_batch();
    assert_eq!(late.publish_batch(&mut letters), Err(Refusal::Closed));
    assert!(letters.eq([1, 2]));
    assert!(consumer.is_finished());
}

#[test]
fn scenario_41_values_published_after_the_consumer_went_are_dropped_once() {
    let token = Arc::new(());
    let (producer, consumer) = spsc::bounded(8).unwrap();
    producer.try_post(Arc::clone(&token)).unwrap();
    let hole = batch(&producer, 3);
    drop(consumer);
    assert_eq!(Arc::strong_count(&token), 1);
    let letters = [(); 3].map(|()| Arc::clone(&token));
    hole.publish_posting(&mut letters.into_batch());
    assert_eq!(Arc::strong_count(&token), 4);
    drop(producer);
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn b15_the_last_handle_drops_all_although_one_panics() {
    struct Brittle(bool, #[allow(dead_code)] Arc<()>);
    impl Drop for Brittle {
        fn drop(&mut self) {
            assert!(!self.0, "panics in its drop");
        }
    }
    let token = Arc::new(());
    let (producer, consumer) = spsc::bounded(8).unwrap();
    let late = batch(&producer, 5);
    drop(consumer);
    let letters = [1, 2, 3, 4, 5].map(|count| Brittle(count == 3, Arc::clone(&token)));
    late.publish_posting(&mut letters.into_batch());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(producer))).is_err());
    assert_eq!(Arc::strong_count(&token), 1, "each once");
}

/// Both sides asleep at once is the affair of a moment; here it stands still.
#[test]
fn a_close_wakes_the_producer_also_where_the_consumers_waker_panics() {
    struct Grenade;
    impl Wake for Grenade {
        fn wake(self: Arc<Self>) {
            panic!("the waker gives up");
        }
    }
    struct Bell(Counter);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.increment();
        }
    }
    let (producer, mut consumer) = spsc::bounded::<()>(1).unwrap();
    let grenade = Waker::from(Arc::new(Grenade));
    let polled = consumer.poll_take(&mut Context::from_waker(&grenade));
    assert!(polled.is_pending());
    let bell = Arc::new(Bell(Counter::default()));
    let ring = &producer.ring;
    ring.cold.producer.register(&Waker::from(Arc::clone(&bell)));
    // Relaxed: there is one thread.
    ring.producer_word.store(SLEEPING, Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| producer.close())).is_err());
    assert_eq!(bell.0.get(), 1);
    assert!(producer.is_closed());
}

#[test]
fn some_are_drained_in_order_up_to_a_stop_at_every_start() {
    for start in (0..12).chain([(1 << 32) - 5, u64::MAX - 2_000]) {
        for capacity in [1, 3, 4, 8] {
            let ring = Builder::new(capacity).start(start).build().unwrap();
            let (producer, mut consumer) = ring;
            let (mut posted, mut taken) = (0, 0);
            for lap in 0..120 {
                while producer.try_post(posted).is_ok() {
                    posted += 1;
                }
                // A bound, a stop, or all that there is.
                let max = [1, 2, 100][lap % 3];
                let stop_at = taken + [100, 1, 2][lap % 3];
                let before = taken;
                let count = consumer.drain_some(max, |letter| {
                    assert_eq!(letter, taken);
                    taken += 1;
                    letter != stop_at
                });
                assert_eq!(count, taken - before);
                let there = posted - before;
                assert_eq!(count, there.min(max).min(stop_at - before + 1));
                assert_eq!(producer.len(), posted - taken, "all their room is free");
            }
        }
    }
}

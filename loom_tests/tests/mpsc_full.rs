//! Many producers: waiting for room, in line.

mod model;

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll};
use mailring::ring::PostTimeoutError;
use model::{
    Alarm, Bounds, Letter, assert_fails, check, ids, join, many, past, preemptions, unbounded, with,
};

/// Scenario 45: one producer waits for room while the owner releases it.
#[test]
fn m6_full_and_release_scenario_45() {
    check(unbounded(500), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            producer.post(Letter::new(2)).unwrap();
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        join([waiting]);
        assert_eq!(ids(consumer.try_iter()), [2]);
    });
}

/// Scenarios 44, 45: two producers wait for room, the owner takes all three letters.
#[test]
fn m6_full_two_waiters() {
    full_two_waiters(preemptions(1, 100_000));
}

#[test]
#[ignore = "takes minutes"]
fn long_m6_full_two_waiters() {
    full_two_waiters(preemptions(2, 100_000));
}

fn full_two_waiters(bounds: Bounds) {
    check(bounds, || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                producer.post(Letter::new(id)).unwrap();
            })
        });
        let mut taken = [(); 3].map(|()| consumer.take().unwrap().id());
        taken[1..].sort_unstable();
        assert_eq!(taken, [1, 10, 20]);
        join(waiting);
    });
}

/// Scenario 70: one waits while another takes the room without standing in line.
#[test]
fn m6b_room_taken_by_a_try_post_scenario_70() {
    check(preemptions(2, 70_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer.clone(), |producer| {
            producer.post(Letter::new(10)).unwrap();
            true
        });
        let trying = with(producer, |producer| {
            producer.try_post(Letter::new(20)).is_ok()
        });
        let mut taken = Vec::new();
        while !taken.contains(&10) {
            taken.push(consumer.take().unwrap().id());
        }
        let [_, tried] = join([waiting, trying]);
        taken.extend(ids(consumer.try_iter()));
        assert_eq!(taken.len(), 2 + usize::from(tried));
    });
}

/// B20: one gives up while it is woken; the wake goes on to the next in line.
#[test]
fn m13_waiter_gives_up_b20() {
    waiter_gives_up(preemptions(1, 30_000));
}

#[test]
#[ignore = "takes minutes"]
fn long_m13_waiter_gives_up_b20() {
    waiter_gives_up(preemptions(2, 100_000));
}

fn waiter_gives_up(bounds: Bounds) {
    check(bounds, || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let giving_up = with(producer.clone(), |producer| {
            match producer.post_deadline(Letter::new(10), past()) {
                Ok(()) => true,
                Err(PostTimeoutError::Timeout(letter)) => {
                    assert_eq!(letter.id(), 10);
                    false
                }
                Err(PostTimeoutError::Closed(_)) => unreachable!("the consumer is there"),
            }
        });
        let waiting = with(producer, |producer| {
            producer.post(Letter::new(20)).unwrap();
            true
        });
        let mut taken = Vec::new();
        while !taken.contains(&20) {
            taken.push(consumer.take().unwrap().id());
        }
        let [got_in, _] = join([giving_up, waiting]);
        taken.extend(ids(consumer.try_iter()));
        assert_eq!(taken.contains(&10), got_in);
        assert_eq!(taken.len(), 2 + usize::from(got_in));
    });
}

/// Scenarios 46, 47: a future that waits for room is dropped, perhaps after it was woken; the wake
/// goes on to the next in line.
#[test]
fn m13f_post_future_dropped_scenario_47() {
    check(unbounded(2_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            let alarms = [Alarm::new(), Alarm::new()];
            let [first, second] = alarms.each_ref().map(|alarm| alarm.waker());
            let mut given_up = Box::pin(producer.post_async(Letter::new(10)));
            let got_in = given_up
                .as_mut()
                .poll(&mut Context::from_waker(&first))
                .is_ready();
            let mut kept = pin!(producer.post_async(Letter::new(20)));
            let polled = kept.as_mut().poll(&mut Context::from_waker(&second));
            drop(given_up);
            if polled.is_pending() && !got_in {
                alarms[1].wait();
                assert!(kept.poll(&mut Context::from_waker(&second)).is_ready());
            }
            got_in
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        let [got_in] = join([waiting]);
        assert_eq!(ids(consumer.try_iter()), [if got_in { 10 } else { 20 }]);
    });
}

/// Scenario 44: two futures wait for room and are woken in the order they came.
#[test]
fn m6c_woken_in_order_scenario_44() {
    check(preemptions(2, 4_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let waiting = with(producer, |producer| {
            let alarms = [Alarm::new(), Alarm::new()];
            let mut futures = [10, 20].map(|id| Box::pin(producer.post_async(Letter::new(id))));
            let wakers = alarms.each_ref().map(|alarm| alarm.waker());
            let mut poll = |index: usize| {
                let mut context = Context::from_waker(&wakers[index]);
                futures[index].as_mut().poll(&mut context)
            };
            let polled = [poll(0), poll(1)];
            assert!(
                polled[0].is_ready() || polled[1].is_pending(),
                "it overtook"
            );
            for index in 0..2 {
                if polled[index].is_pending() {
                    alarms[index].wait();
                    assert!(poll(index).is_ready(), "woken for nothing");
                }
            }
        });
        let taken = [(); 3].map(|()| consumer.take().unwrap().id());
        assert_eq!(taken, [1, 10, 20]);
        join([waiting]);
    });
}

/// Scenario 49: a future that waits for room replaces its waker while room is released.
#[test]
fn m13v_post_waker_replaced_scenario_49() {
    check(unbounded(100), || {
        let (producer, mut consumer) = many(1).build().unwrap();
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

/// No ordering, but serving the line: without it those in it sleep for ever.
#[test]
fn row_serve_left_out() {
    assert_fails(
        "m6_full_and_release_scenario_45",
        "serve",
        Relaxed,
        "deadlock",
    );
}

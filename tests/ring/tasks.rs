//! Posting and taking as futures, driven by an executor made here.

use crate::kind::Strategy;
use crate::watchdog::{Dice, until, watched};
use mailring::ring::{Closed, PostFuture, PostTimeoutError, mpsc, spsc};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Wakes by counting.
#[derive(Default)]
struct Bell(AtomicU64);

impl Bell {
    fn new() -> (Arc<Self>, Waker) {
        let bell = Arc::new(Self::default());
        (Arc::clone(&bell), Waker::from(bell))
    }

    fn rung(&self) -> u64 {
        self.0.load(SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Wakes by unparking a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// The same test for either kind of ring, whose handles differ in how they post as a future.
macro_rules! on_both_modules {
    ($($scenario:ident($ring:ident) $body:block)*) => {$(
        mod $scenario {
            use super::*;

            #[test]
            fn mpsc() {
                use mailring::ring::mpsc as $ring;
                watched(|| $body);
            }

            #[test]
            fn spsc() {
                use mailring::ring::spsc as $ring;
                watched(|| $body);
            }
        }
    )*};
}

on_both_modules! {
    letters_pass_between_tasks_on_two_threads(ring) {
        for capacity in [1, 2, 16] {
            const LETTERS: u64 = 3_000;
            #[allow(unused_mut)]
            let (mut producer, mut consumer) = ring::bounded(capacity).unwrap();
            thread::scope(|scope| {
                scope.spawn(move || {
                    block_on(async {
                        for letter in 0..LETTERS {
                            producer.post_async(letter).await.unwrap();
                        }
                    });
                });
                block_on(async {
                    for letter in 0..LETTERS {
                        assert_eq!(consumer.take_async().await, Ok(letter));
                    }
                    assert_eq!(consumer.take_async().await, Err(Closed(())));
                });
            });
        }
    }

    a_task_posts_to_a_thread_and_a_thread_to_a_task(ring) {
        const LETTERS: u64 = 1_000;
        #[allow(unused_mut)]
        let (mut requests, mut owner) = ring::Builder::new(1)
            .wait(|| Strategy::ParkAtOnce)
            .build()
            .unwrap();
        let (answers, mut task) = ring::Builder::new(1)
            .wait(|| Strategy::ParkAtOnce)
            .build()
            .unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                while let Ok(letter) = owner.take() {
                    answers.post(letter + 1).unwrap();
                }
            });
            block_on(async {
                for letter in 0..LETTERS {
                    requests.post_async(letter).await.unwrap();
                    assert_eq!(task.take_async().await, Ok(letter + 1));
                }
            });
            drop(requests);
        });
    }

    scenario_46_a_post_future_dropped_while_it_waits(ring) {
        let (bell, waker) = Bell::new();
        #[allow(unused_mut)]
        let (mut producer, mut consumer) = ring::bounded(1).unwrap();
        producer.try_post(0).unwrap();
        for _ in 0..10 {
            let mut waiting = producer.post_async(1);
            assert!(poll(&mut waiting, &waker).is_pending());
            assert!(poll(&mut waiting, &waker).is_pending(), "polled for nothing");
            drop(waiting);
            assert_eq!(producer.waiting_producers(), 0, "it is out of the line");
            assert_eq!(consumer.try_take(), Ok(0));
            assert_eq!(producer.try_post(0), Ok(()), "the capacity is what it was");
            assert!(producer.try_post(0).is_err());
        }
        assert_eq!(bell.rung(), 0);
    }

    scenario_48_a_take_future_dropped_as_it_is_woken_keeps_the_letter(ring) {
        let (bell, waker) = Bell::new();
        let (producer, mut consumer) = ring::bounded(4).unwrap();
        for round in 0..10 {
            let mut waiting = consumer.take_async();
            assert!(poll(&mut waiting, &waker).is_pending());
            producer.post(round).unwrap();
            assert_eq!(bell.rung(), round + 1, "woken once");
            drop(waiting);
            if round % 2 == 0 {
                assert_eq!(poll(&mut consumer.take_async(), &waker), Poll::Ready(Ok(round)));
            } else {
                assert_eq!(consumer.take(), Ok(round), "as a thread");
            }
        }
        drop(producer);
        assert_eq!(poll(&mut consumer.take_async(), &waker), Poll::Ready(Err(Closed(()))));
    }

    scenario_48_a_take_future_dropped_while_it_waits(ring) {
        let (bell, waker) = Bell::new();
        let (producer, mut consumer) = ring::Builder::new(4)
            .wait(|| Strategy::ParkAtOnce)
            .build()
            .unwrap();
        for round in 0..200 {
            assert!(poll(&mut consumer.take_async(), &waker).is_pending());
            let rung = bell.rung();
            // The next to wait is a thread: the wake must reach it.
            thread::scope(|scope| {
                let parks = producer.counters().parks;
                let producer = &producer;
                let taking = scope.spawn(|| {
                    assert_eq!(consumer.take(), Ok(round));
                });
                if round % 2 == 0 {
                    until(|| producer.counters().parks > parks || taking.is_finished());
                }
                producer.post(round).unwrap();
            });
            assert!(bell.rung() <= rung + 1);
        }
    }

    scenario_49_the_latest_waker_of_a_take_is_woken(ring) {
        let (old, old_waker) = Bell::new();
        let (new, new_waker) = Bell::new();
        let (producer, mut consumer) = ring::bounded(4).unwrap();
        let mut waiting = consumer.take_async();
        assert!(poll(&mut waiting, &old_waker).is_pending());
        assert!(poll(&mut waiting, &new_waker).is_pending());
        producer.post(5).unwrap();
        assert_eq!((old.rung(), new.rung()), (0, 1));
        assert_eq!(poll(&mut waiting, &new_waker), Poll::Ready(Ok(5)));
    }

    scenario_49_the_latest_waker_of_a_post_is_woken(ring) {
        let (old, old_waker) = Bell::new();
        let (new, new_waker) = Bell::new();
        #[allow(unused_mut)]
        let (mut producer, mut consumer) = ring::bounded(1).unwrap();
        producer.try_post(0).unwrap();
        let mut waiting = producer.post_async(1);
        assert!(poll(&mut waiting, &old_waker).is_pending());
        assert!(poll(&mut waiting, &new_waker).is_pending());
        assert_eq!(consumer.try_take(), Ok(0));
        assert_eq!((old.rung(), new.rung()), (0, 1));
        assert_eq!(poll(&mut waiting, &new_waker), Poll::Ready(Ok(())));
        drop(waiting);
        assert_eq!(consumer.try_take(), Ok(1));
    }

    scenario_49_a_waker_replaced_against_its_wake(ring) {
        const LETTERS: u64 = 2_000;
        let (producer, mut consumer) = ring::bounded(1).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut dice = Dice::new(49);
                for letter in 0..LETTERS {
                    dice.dawdle(100);
                    producer.post(letter).unwrap();
                }
            });
            for letter in 0..LETTERS {
                let mut waiting = consumer.take_async();
                // A new waker for each poll: that of the last one is rung, or there is a letter.
                loop {
                    let (bell, waker) = Bell::new();
                    match poll(&mut waiting, &waker) {
                        Poll::Ready(taken) => {
                            assert_eq!(taken, Ok(letter));
                            break;
                        }
                        Poll::Pending if letter % 3 == 0 => until(|| bell.rung() > 0),
                        Poll::Pending => {}
                    }
                }
            }
        });
    }

    a_close_wakes_tasks_on_both_sides(ring) {
        let (bell, waker) = Bell::new();
        #[allow(unused_mut)]
        let (mut producer, consumer) = ring::bounded(1).unwrap();
        producer.try_post(0).unwrap();
        let mut waiting = producer.post_async(1);
        assert!(poll(&mut waiting, &waker).is_pending());
        drop(consumer);
        assert_eq!(bell.rung(), 1);
        assert_eq!(poll(&mut waiting, &waker), Poll::Ready(Err(Closed(1))));

        let (producer, mut consumer) = ring::bounded::<u8>(1).unwrap();
        let mut waiting = consumer.take_async();
        assert!(poll(&mut waiting, &waker).is_pending());
        drop(producer);
        assert_eq!(bell.rung(), 2);
        assert_eq!(poll(&mut waiting, &waker), Poll::Ready(Err(Closed(()))));
    }

    poll_take_is_a_take_without_a_future(ring) {
        let (producer, mut consumer) = ring::bounded(2).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || producer.post_batch(0..500).unwrap());
            for letter in 0..500 {
                assert_eq!(block_on(poll_fn(|cx| consumer.poll_take(cx))), Ok(letter));
            }
        });
    }
}

#[test]
fn scenario_46_one_of_three_in_line_gives_up() {
    let bells: Vec<_> = (0..3).map(|_| Bell::new()).collect();
    for leaves in 0..3 {
        let (producer, mut consumer) = mpsc::bounded(1).unwrap();
        producer.try_post(9).unwrap();
        let mut waiting: Vec<_> = (0..3)
            .map(|number| Some(producer.post_async(number)))
            .collect();
        for (future, (_, waker)) in waiting.iter_mut().zip(&bells) {
            assert!(poll(future.as_mut().unwrap(), waker).is_pending());
        }
        waiting[leaves] = None;
        assert_eq!(producer.waiting_producers(), 2);
        assert_eq!(consumer.try_take(), Ok(9));
        for next in (0..3).filter(|&number| number != leaves) {
            // Served in order: nobody behind it gets in before it.
            for (number, future) in waiting.iter_mut().enumerate().skip(next + 1) {
                if let Some(future) = future {
                    assert!(
                        poll(future, &bells[number].1).is_pending(),
                        "{number} overtakes {next}"
                    );
                }
            }
            let posted = poll(waiting[next].as_mut().unwrap(), &bells[next].1);
            assert_eq!(posted, Poll::Ready(Ok(())));
            assert_eq!(consumer.try_take(), Ok(next));
        }
        drop(waiting);
        assert_eq!(producer.waiting_producers(), 0);
    }
}

#[test]
fn scenario_47_a_post_future_dropped_after_its_wake_passes_it_on() {
    let (first_bell, first_waker) = Bell::new();
    let (second_bell, second_waker) = Bell::new();
    let (producer, mut consumer) = mpsc::bounded(1).unwrap();
    for round in 1..=10 {
        producer.try_post(0).unwrap();
        let mut first = producer.post_async(1);
        let mut second = producer.post_async(2);
        assert!(poll(&mut first, &first_waker).is_pending());
        assert!(poll(&mut second, &second_waker).is_pending());
        assert_eq!(consumer.try_take(), Ok(0));
        assert_eq!((first_bell.rung(), second_bell.rung()), (round, round - 1));
        drop(first);
        assert_eq!(second_bell.rung(), round, "the wake goes on to the next");
        assert_eq!(poll(&mut second, &second_waker), Poll::Ready(Ok(())));
        assert_eq!(consumer.try_take(), Ok(2));
    }
}

#[test]
fn scenario_47_tasks_and_threads_in_one_line() {
    watched(|| {
        let (bell, waker) = Bell::new();
        let (producer, mut consumer) = mpsc::bounded(1).unwrap();
        for round in 0..50 {
            producer.try_post(0).unwrap();
            let mut task = producer.post_async(1);
            assert!(poll(&mut task, &waker).is_pending());
            thread::scope(|scope| {
                let blocked = scope.spawn(|| producer.post(2));
                until(|| producer.waiting_producers() == 2);
                assert_eq!(consumer.try_take(), Ok(0));
                assert_eq!(bell.rung(), round + 1, "the task is first");
                drop(task);
                blocked.join().unwrap().unwrap();
            });
            assert_eq!(consumer.try_take(), Ok(2));
        }
    });
}

#[test]
fn scenario_47_many_tasks_that_come_and_go() {
    watched(|| {
        const EACH: u64 = 300;
        let (producer, mut consumer) = mpsc::bounded(2).unwrap();
        thread::scope(|scope| {
            for who in 0..3 {
                let producer = producer.clone();
                scope.spawn(move || {
                    let mut dice = Dice::new(who);
                    for number in 0..EACH {
                        // A task that is dropped while it waits, or after it was woken.
                        let (_, waker) = Bell::new();
                        let mut given_up = producer.post_async((who, EACH));
                        let posted = poll(&mut given_up, &waker).is_ready();
                        dice.dawdle(100);
                        drop(given_up);
                        assert!(posted || !producer.is_closed());
                        block_on(producer.post_async((who, number))).unwrap();
                    }
                });
            }
            drop(producer);
            let mut next = [0; 3];
            for (who, number) in consumer.iter() {
                if number < EACH {
                    assert_eq!(number, next[who as usize]);
                    next[who as usize] += 1;
                }
            }
            assert_eq!(next, [EACH; 3]);
        });
    });
}

#[test]
fn a_ring_of_one_producer_wakes_a_thread_after_a_task_gave_up() {
    watched(|| {
        let (bell, waker) = Bell::new();
        #[allow(unused_mut)]
        let (mut producer, mut consumer) = spsc::Builder::new(1)
            .wait(|| Strategy::ParkAtOnce)
            .build()
            .unwrap();
        producer.try_post(0).unwrap();
        assert!(poll(&mut producer.post_async(9), &waker).is_pending());
        thread::scope(|scope| {
            let waits = consumer.counters().producer_waits;
            scope.spawn(move || producer.post(1).unwrap());
            until(|| consumer.counters().producer_waits > waits);
            assert_eq!(consumer.take(), Ok(0));
            assert_eq!(consumer.take_timeout(Duration::from_secs(240)), Ok(1));
        });
        assert!(bell.rung() <= 1);
    });
}

/// A producer that was woken and has not run yet is still first in line.
#[test]
fn scenario_44_nobody_overtakes_one_that_was_woken_and_has_not_run() {
    const BOUND: Duration = Duration::from_millis(1);
    for try_posts in [0, 1] {
        let (bell, waker) = Bell::new();
        // Room for the one in line, and for each `try_post`, which may take what there is.
        let capacity = 1 + try_posts;
        let (producer, mut consumer) = mpsc::bounded(capacity).unwrap();
        producer.try_post_batch(vec![0; capacity]).unwrap();
        let mut waiting = producer.post_async(1);
        assert!(poll(&mut waiting, &waker).is_pending());
        let late = producer.clone();
        assert_eq!(consumer.drain(capacity, |_, _| {}), capacity);
        assert_eq!(bell.rung(), 1);
        for _ in 0..try_posts {
            assert_eq!(late.try_post(2), Ok(()));
        }
        // Again and again: what one post saw of the ring must not let the next one through.
        for _ in 0..3 {
            let overtaking = late.post_timeout(3, BOUND);
            assert_eq!(overtaking, Err(PostTimeoutError::Timeout(3)));
            assert_eq!(late.post_batch_timeout([3], BOUND).unwrap_err().posted, 0);
            let mut behind = late.post_async(3);
            assert!(poll(&mut behind, &waker).is_pending());
        }
        assert_eq!(poll(&mut waiting, &waker), Poll::Ready(Ok(())));
        drop(waiting);
        assert_eq!(consumer.drain(capacity, |_, _| {}), capacity);
        assert_eq!(late.post_timeout(3, BOUND), Ok(()));
    }
}

/// A waker that owns a place in the same line.
struct Nested {
    _place: PostFuture<'static, mpsc::Ring<u8>>,
}

impl Wake for Nested {
    fn wake(self: Arc<Self>) {}
}

/// What a waker does as it is dropped is done outside of the line's lock.
#[test]
fn a_waker_may_own_a_place_in_the_line_it_waits_in() {
    for replaced in [false, true] {
        watched(move || {
            let (producer, mut consumer) = mpsc::bounded(1).unwrap();
            let producer: &'static mpsc::Producer<u8> = Box::leak(Box::new(producer));
            producer.post(0).unwrap();
            let (_, waker) = Bell::new();
            let mut inner = producer.post_async(1);
            assert!(poll(&mut inner, &waker).is_pending());
            let nested = Waker::from(Arc::new(Nested { _place: inner }));
            let mut outer = producer.post_async(2);
            assert!(poll(&mut outer, &nested).is_pending());
            drop(nested);
            assert_eq!(producer.waiting_producers(), 2);
            if replaced {
                assert!(poll(&mut outer, &waker).is_pending());
                assert_eq!(producer.waiting_producers(), 1, "the inner one is gone");
                assert_eq!(consumer.take(), Ok(0));
                assert_eq!(poll(&mut outer, &waker), Poll::Ready(Ok(())));
                assert_eq!(consumer.take(), Ok(2));
            }
            drop(outer);
            assert_eq!(producer.waiting_producers(), 0);
        });
    }
}

#[test]
fn scenario_50_a_forgotten_post_future_keeps_its_room_from_those_behind_it() {
    const BOUND: Duration = Duration::from_millis(1);
    let (bell, waker) = Bell::new();
    let (producer, mut consumer) = mpsc::bounded(2).unwrap();
    producer.try_post_batch([0, 0]).unwrap();
    let mut forgotten = producer.post_async(1);
    assert!(poll(&mut forgotten, &waker).is_pending());
    std::mem::forget(forgotten);
    assert_eq!(consumer.drain(2, |_, _| {}), 2);
    assert_eq!(bell.rung(), 1);
    for letter in 2..5 {
        assert_eq!(producer.post_timeout(letter, BOUND), Ok(()), "one may pass");
        let second = producer.post_timeout(9, BOUND);
        assert_eq!(second, Err(PostTimeoutError::Timeout(9)));
        assert_eq!(consumer.take(), Ok(letter));
    }
    assert_eq!(producer.try_post_batch([5, 6]).unwrap(), 2);
    let mut behind = producer.post_async(7);
    assert!(poll(&mut behind, &waker).is_pending());
    consumer.quiesce();
    assert_eq!(poll(&mut behind, &waker), Poll::Ready(Err(Closed(7))));
    assert!(consumer.iter().eq([5, 6]));
}

#[test]
fn scenario_50_a_forgotten_post_future_costs_the_single_producer_nothing() {
    let (bell, waker) = Bell::new();
    let (mut producer, mut consumer) = spsc::bounded(1).unwrap();
    for round in 1..=10 {
        producer.try_post(0).unwrap();
        let mut forgotten = producer.post_async(1);
        assert!(poll(&mut forgotten, &waker).is_pending());
        std::mem::forget(forgotten);
        assert_eq!(consumer.take(), Ok(0));
        assert_eq!(bell.rung(), round);
        assert_eq!(producer.post(2), Ok(()));
        assert_eq!(consumer.take(), Ok(2));
    }
}

//! Waiting for room as a task, without a letter: the place in line is held until the future goes.

use crate::watchdog::{until, watched};
use mailring::ring::{Closed, RoomFuture, TryPostError, mpsc};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Counts its wakes.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn poll<T>(
    room: &mut RoomFuture<mpsc::Ring<T>>,
    woken: &Arc<Woken>,
) -> Poll<Result<(), Closed<()>>> {
    let waker = Waker::from(Arc::clone(woken));
    Pin::new(room).poll(&mut Context::from_waker(&waker))
}

#[test]
fn room_is_ready_at_once_where_there_is_some_and_waited_for_where_there_is_none() {
    let (producer, mut consumer) = mpsc::bounded(1).unwrap();
    let woken = Arc::new(Woken::default());
    let mut room = producer.room();
    assert_eq!(poll(&mut room, &woken), Poll::Ready(Ok(())));
    producer.try_post(1).unwrap();
    assert_eq!(poll(&mut room, &woken), Poll::Pending);
    assert_eq!(consumer.take(), Ok(1));
    assert_eq!(woken.0.load(SeqCst), 1);
    assert_eq!(poll(&mut room, &woken), Poll::Ready(Ok(())));
    drop(room);
    assert_eq!(producer.waiting_producers(), 0);
    assert_eq!(Arc::strong_count(&woken), 1);
}

#[test]
fn who_comes_later_waits_behind_it_until_it_goes() {
    watched(|| {
        let (producer, mut consumer) = mpsc::bounded(1).unwrap();
        let woken = Arc::new(Woken::default());
        producer.try_post(1).unwrap();
        let mut room = producer.room();
        assert!(poll(&mut room, &woken).is_pending());
        thread::scope(|scope| {
            let behind = producer.clone();
            scope.spawn(move || behind.post(3).unwrap());
            until(|| producer.waiting_producers() == 2);
            assert_eq!(consumer.take(), Ok(1));
            assert!(poll(&mut room, &woken).is_ready());
            // The room is this one's: nobody behind it takes it.
            assert_eq!(producer.len(), 0);
            producer.try_post(2).unwrap();
            drop(room);
            assert_eq!(consumer.take(), Ok(2));
            assert_eq!(consumer.take(), Ok(3));
        });
    });
}

#[test]
fn one_that_goes_unused_lets_the_next_one_in() {
    watched(|| {
        let (producer, mut consumer) = mpsc::bounded(1).unwrap();
        let woken = Arc::new(Woken::default());
        producer.try_post(1).unwrap();
        let mut room = producer.room();
        assert!(poll(&mut room, &woken).is_pending());
        thread::scope(|scope| {
            let behind = producer.clone();
            scope.spawn(move || behind.post(2).unwrap());
            until(|| producer.waiting_producers() == 2);
            assert_eq!(consumer.take(), Ok(1));
            drop(room);
            assert_eq!(consumer.take(), Ok(2));
        });
    });
}

#[test]
fn room_that_was_stolen_is_waited_for_in_the_same_place() {
    let (producer, mut consumer) = mpsc::bounded(1).unwrap();
    let (first, second) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    producer.try_post(1).unwrap();
    let (mut room, mut behind) = (producer.room(), producer.room());
    assert!(poll(&mut room, &first).is_pending());
    assert!(poll(&mut behind, &second).is_pending());
    assert_eq!(consumer.take(), Ok(1));
    producer.try_post(2).unwrap();
    assert!(poll(&mut room, &first).is_pending());
    assert_eq!(producer.try_post(3), Err(TryPostError::Full(3)));
    assert_eq!(consumer.take(), Ok(2));
    assert_eq!((first.0.load(SeqCst), second.0.load(SeqCst)), (2, 0));
    assert!(poll(&mut behind, &second).is_pending());
    assert!(poll(&mut room, &first).is_ready());
}

#[test]
fn a_close_is_ready_and_no_future_keeps_the_ring_open() {
    let (producer, consumer) = mpsc::bounded(1).unwrap();
    let woken = Arc::new(Woken::default());
    producer.try_post(1).unwrap();
    let mut room = producer.room();
    assert!(poll(&mut room, &woken).is_pending());
    drop(producer);
    assert_eq!(woken.0.load(SeqCst), 1);
    assert_eq!(poll(&mut room, &woken), Poll::Ready(Err(Closed(()))));
    assert_eq!(consumer.into_iter().collect::<Vec<_>>(), [1]);
}

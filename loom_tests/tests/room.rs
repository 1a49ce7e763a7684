//! Waiting for room without a letter in hand: as a future, and as a letter that comes when there is some.

mod model;

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll};
use mailring::mailbox;
use mailring::processor::{Ended, Executor, MailboxProcessor, Step};
use mailring::ring::{RoomFuture, mpsc};
use model::{Alarm, Letter, assert_fails, check, join, many, preemptions, sleep_at_once, with};
use std::sync::Arc;

fn poll(room: &mut RoomFuture<mpsc::Ring<Letter>>, alarm: &Arc<Alarm>) -> bool {
    let waker = alarm.waker();
    match Pin::new(room).poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(done) => {
            done.expect("it is open");
            true
        }
        Poll::Pending => false,
    }
}

/// Waits for room, and goes without having used it.
fn wait_in_vain(mut room: RoomFuture<mpsc::Ring<Letter>>) {
    let alarm = Alarm::new();
    while !poll(&mut room, &alarm) {
        alarm.wait();
    }
}

/// Two futures wait while the consumer makes room once: whoever is first in line is woken for it, and
/// the other one when that one goes without having used it.
#[test]
fn m6r_room_is_passed_on() {
    check(preemptions(3, 1_000), || {
        let (producer, consumer) = many(1).build::<Letter>().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let taking = with(consumer, |consumer| {
            assert_eq!(consumer.try_take().map(|letter| letter.id()), Ok(1));
        });
        let waiting = with(producer.clone(), |producer| wait_in_vain(producer.room()));
        wait_in_vain(producer.room());
        join([waiting]);
        // There was room, and nobody has taken it.
        producer.try_post(Letter::new(2)).unwrap();
        join([taking]);
    });
}

/// A processor with one slot in each lane, who sleeps at once.
fn small() -> (MailboxProcessor<u32>, Executor<u32>) {
    let mailbox = mailbox::Builder::new(1)
        .urgent_capacity(1)
        .markers(0)
        .urgent_markers(0)
        .batch_max(1)
        .sender_wait(sleep_at_once())
        .owner_wait(sleep_at_once());
    let processor = MailboxProcessor::<u32>::builder().mailbox(mailbox);
    let processor = processor.build(0).expect("a small one");
    let executor = processor.executor();
    (processor, executor)
}

/// Room is made while somebody asks for it and goes to sleep: it is told, and its post fits.
#[test]
fn m58_room_against_the_request_and_sleep() {
    check(preemptions(2, 100), || {
        let (sink, to_sink) = small();
        let (mut source, to_source) = small();
        to_sink.try_execute(|sum| *sum += 1).unwrap();
        let taking = with(sink, |sink| {
            assert_eq!(sink.run_until_idle().unwrap(), Step::Idle);
        });
        let (again, done) = (to_sink.clone(), to_source.clone());
        to_sink.when_room(&to_source, move |_: &mut u32| {
            again.try_execute(|sum| *sum += 1).unwrap();
            done.all_done();
        });
        assert_eq!(source.run().unwrap(), Ended::AllDone);
        join([taking]);
    });
}

/// The asker goes while room is made: its place goes too, or the next one would wait for ever.
#[test]
fn m58b_room_against_the_end_of_the_asker() {
    check(preemptions(2, 100), || {
        let (sink, to_sink) = small();
        let (gone, to_gone) = small();
        let (mut next, to_next) = small();
        to_sink.try_execute(|sum| *sum += 1).unwrap();
        to_sink.when_room(&to_gone, |_: &mut u32| ());
        let done = to_next.clone();
        to_sink.when_room(&to_next, move |_: &mut u32| done.all_done());
        let taking = with(sink, |sink| {
            assert_eq!(sink.run_until_idle().unwrap(), Step::Idle);
        });
        drop(gone);
        assert_eq!(next.run().unwrap(), Ended::AllDone);
        join([taking]);
    });
}

#[test]
fn row_serve_whoever_makes_room_or_leaves_serves_the_line() {
    assert_fails("m6r_room_is_passed_on", "serve", Relaxed, "deadlock");
    let told = "m58_room_against_the_request_and_sleep";
    assert_fails(told, "serve", Relaxed, "deadlock");
    let passed_on = "m58b_room_against_the_end_of_the_asker";
    assert_fails(passed_on, "serve", Relaxed, "deadlock");
}

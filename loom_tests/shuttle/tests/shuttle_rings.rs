//! Rings: many producers, letters one by one, in batches and by futures, and every end of a ring.

mod schedules;

use core::task::Poll;
use core::time::Duration;
use mailring::ring::{TakeTimeoutError, TryTakeError, Waited, mpsc, spsc};
use schedules::{Ledger, Left, Letter, block_on, check, check_anew, parking, poll_once, roll};
use shuttle::thread;

const PRODUCERS: usize = 8;
/// Posts of one producer, some of which are batches.
const POSTS_MAX: usize = 5;
const CAPACITY_MAX: usize = 4;
const BATCH_MAX: usize = 5;

/// How a ring ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// All producers go.
    ProducersGo,
    /// A producer closes it.
    ProducerCloses,
    /// The consumer refuses new letters and takes the rest.
    Quiesce,
    /// The consumer is handed what is left.
    Close,
    /// The consumer goes.
    Drop,
}

impl End {
    fn random() -> Self {
        [
            Self::ProducersGo,
            Self::ProducerCloses,
            Self::Quiesce,
            Self::Close,
            Self::Drop,
        ][roll(5)]
    }

    /// What may be left of letters when it has ended.
    fn left(self) -> Left {
        match self {
            Self::Drop => Left::Dropped,
            _ => Left::None,
        }
    }
}

/// Posts to a ring of either kind, in a random way.
macro_rules! post_once {
    ($producer:expr, $ledger:expr, $who:expr) => {{
        let (producer, ledger) = (&mut $producer, &$ledger);
        let (made, letter) = ledger.letter($who);
        match roll(8) {
            0 => match producer.try_post(letter) {
                Ok(()) => ledger.accepted(made),
                Err(refused) => refused.into_inner().refused(),
            },
            1 | 2 => match producer.post(letter) {
                Ok(()) => ledger.accepted(made),
                Err(refused) => refused.0.refused(),
            },
            3 => match producer.post_timeout(letter, Duration::ZERO) {
                Ok(()) => ledger.accepted(made),
                Err(refused) => refused.into_inner().refused(),
            },
            4 => match poll_once(producer.post_async(letter)) {
                Poll::Ready(Ok(())) => ledger.accepted(made),
                Poll::Ready(Err(refused)) => refused.0.refused(),
                Poll::Pending => {}
            },
            5 => match block_on(producer.post_async(letter)) {
                Ok(()) => ledger.accepted(made),
                Err(refused) => refused.0.refused(),
            },
            batch => {
                let (mut made, mut letters) = (vec![made], vec![letter]);
                let (more_made, more_letters) = ledger.letters($who, roll(BATCH_MAX));
                made.extend(more_made);
                letters.extend(more_letters);
                let refused = if batch == 6 {
                    producer.post_batch(letters)
                } else {
                    producer.try_post_batch(letters)
                };
                let posted = match refused {
                    Ok(posted) => posted,
                    Err(refused) => {
                        refused.rest.for_each(Letter::refused);
                        refused.posted
                    }
                };
                made[..posted]
                    .iter()
                    .for_each(|made| ledger.accepted(*made));
            }
        }
    }};
}

/// Takes letters of a ring of either kind in random ways, until it ends or `taken_max` were taken;
/// whether it has ended.
macro_rules! take_some {
    ($consumer:expr, $taken:expr, $taken_max:expr) => {{
        let (consumer, taken, taken_max) = (&mut $consumer, &mut $taken, $taken_max);
        loop {
            if taken.len() >= taken_max {
                break false;
            }
            match roll(7) {
                0 => match consumer.try_take() {
                    Ok(letter) => taken.push(letter.ran()),
                    Err(TryTakeError::Empty) => thread::yield_now(),
                    Err(TryTakeError::Closed) => break true,
                },
                1 => match consumer.take_timeout(Duration::ZERO) {
                    Ok(letter) => taken.push(letter.ran()),
                    Err(TakeTimeoutError::Timeout) => thread::yield_now(),
                    Err(TakeTimeoutError::Closed) => break true,
                },
                2 => match block_on(consumer.take_async()) {
                    Ok(letter) => taken.push(letter.ran()),
                    Err(_) => break true,
                },
                3 => match poll_once(consumer.take_async()) {
                    Poll::Ready(Ok(letter)) => taken.push(letter.ran()),
                    Poll::Ready(Err(_)) => break true,
                    Poll::Pending => thread::yield_now(),
                },
                4 => {
                    let mut letters = Vec::new();
                    consumer.drain_to(&mut letters, 1 + roll(CAPACITY_MAX));
                    taken.extend(letters.into_iter().map(Letter::ran));
                    if consumer.wait() == Waited::Finished {
                        break true;
                    }
                }
                5 => {
                    consumer.drain(1 + roll(CAPACITY_MAX), |letter, _last| {
                        taken.push(letter.ran());
                    });
                    thread::yield_now();
                }
                _ => match consumer.take() {
                    Ok(letter) => taken.push(letter.ran()),
                    Err(_) => break true,
                },
            }
        }
    }};
}

/// Takes, ends the ring and accounts for all letters.
macro_rules! consume {
    ($consumer:expr, $end:expr) => {{
        let (mut consumer, mut taken) = ($consumer, Vec::new());
        let taken_max = match $end {
            End::ProducersGo | End::ProducerCloses => usize::MAX,
            End::Quiesce | End::Close | End::Drop => roll(PRODUCERS * POSTS_MAX),
        };
        let over = take_some!(consumer, taken, taken_max);
        match $end {
            End::ProducersGo | End::ProducerCloses => assert!(over),
            End::Quiesce => {
                consumer.quiesce();
                assert!(take_some!(consumer, taken, usize::MAX));
            }
            End::Close => taken.extend(consumer.close().map(Letter::returned)),
            End::Drop => drop(consumer),
        }
        taken
    }};
}

/// Eight producers, whose handles are cloned, dropped and made of weak ones; a consumer who takes
/// and ends as it likes. Each letter that was accepted is taken or returned once, in the order of
/// its producer.
fn many_producers() {
    let (ledger, end) = (Ledger::new(), End::random());
    let (producer, consumer) = mpsc::Builder::new(1 + roll(CAPACITY_MAX))
        .wait(parking)
        .build::<Letter>()
        .expect("a small ring");
    let closer = (end == End::ProducerCloses).then(|| roll(PRODUCERS));
    let producing: Vec<_> = (0..PRODUCERS)
        .map(|who| {
            let (mut producer, ledger) = (producer.clone(), ledger.clone());
            thread::spawn(move || {
                for _ in 0..roll(1 + POSTS_MAX) {
                    match roll(8) {
                        0 => producer = producer.clone(),
                        1 => producer.kick(),
                        2 => {
                            let weak = producer.downgrade();
                            producer = weak.upgrade().expect("it has a producer");
                        }
                        _ => post_once!(producer, ledger, who),
                    }
                }
                if closer == Some(who) {
                    producer.close();
                }
            })
        })
        .collect();
    drop(producer);
    ledger.assert_in_order(&consume!(consumer, end));
    for thread in producing {
        thread.join().expect("no producer fails");
    }
    ledger.settle(end.left());
}

/// One producer and one consumer of a ring made for them: letters are taken in order.
fn one_producer() {
    let (ledger, end) = (Ledger::new(), End::random());
    let (producer, consumer) = spsc::Builder::new(1 + roll(CAPACITY_MAX))
        .wait(parking)
        .build::<Letter>()
        .expect("a small ring");
    let producing = {
        let ledger = ledger.clone();
        let mut producer = producer;
        thread::spawn(move || {
            for _ in 0..roll(PRODUCERS * POSTS_MAX) {
                post_once!(producer, ledger, 0);
            }
            if end == End::ProducerCloses {
                producer.close();
            }
        })
    };
    ledger.assert_in_order(&consume!(consumer, end));
    producing.join().expect("the producer does not fail");
    ledger.settle(end.left());
}

#[test]
fn shuttle_many_producers() {
    check(10_000, many_producers);
}

#[test]
fn shuttle_one_producer() {
    check(10_000, one_producer);
}

/// See the README for the command.
#[test]
#[ignore = "takes minutes"]
fn long_rings() {
    check_anew(200_000, "many_producers", many_producers);
    check_anew(200_000, "one_producer", one_producer);
}

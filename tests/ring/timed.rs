//! Bounds on time: either the letter or the timeout, never both and never neither.

use crate::kind::{Kind, Strategy};
use crate::watchdog::{Dice, watched};
use mailring::ring::{
    Closed, Consumer, PostTimeoutError, Ring, TakeTimeoutError, Waited, mpsc, spsc,
};
use mailring::wait::{Spell, Step, WaitStrategy};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

on_both_kinds!(
    scenario_68_expiry_against_a_post,
    scenario_68_expiry_against_room,
    bounds_that_have_passed_still_look_once,
    bounds_past_the_end_of_time_are_none,
);

fn scenario_68_expiry_against_a_post<K: Kind>() {
    for strategy in [Strategy::ParkAtOnce, Strategy::Parking, Strategy::SpinHint] {
        watched(move || {
            const LETTERS: u64 = 500;
            let (producer, mut consumer) = K::waiting(4, strategy);
            thread::scope(|scope| {
                scope.spawn(move || {
                    let mut dice = Dice::new(68);
                    for letter in 0..LETTERS {
                        dice.dawdle(4_000);
                        producer.post(letter).unwrap();
                    }
                });
                let mut dice = Dice::new(86);
                let mut next = 0;
                loop {
                    match consumer.take_timeout(Duration::from_micros(dice.roll(60))) {
                        Ok(letter) => {
                            assert_eq!(letter, next, "none lost, none twice");
                            next += 1;
                        }
                        Err(TakeTimeoutError::Timeout) => {}
                        Err(TakeTimeoutError::Closed) => break,
                    }
                }
                assert_eq!(next, LETTERS);
            });
        });
    }
}

fn scenario_68_expiry_against_room<K: Kind>() {
    for strategy in [Strategy::ParkAtOnce, Strategy::Parking, Strategy::SpinHint] {
        watched(move || {
            const LETTERS: u64 = 500;
            let (producer, mut consumer) = K::waiting(1, strategy);
            thread::scope(|scope| {
                let posting = scope.spawn(move || {
                    let mut dice = Dice::new(68);
                    for letter in 0..LETTERS {
                        let bound = || Duration::from_micros(dice.roll(60));
                        let mut bound = bound;
                        while let Err(late) = producer.post_timeout(letter, bound()) {
                            assert_eq!(late, PostTimeoutError::Timeout(letter), "handed back");
                        }
                    }
                });
                let mut dice = Dice::new(86);
                for letter in 0..LETTERS {
                    dice.dawdle(4_000);
                    assert_eq!(consumer.take(), Ok(letter), "none lost, none twice");
                }
                posting.join().unwrap();
            });
            assert_eq!(
                consumer.take_timeout(Duration::ZERO),
                Err(TakeTimeoutError::Closed)
            );
        });
    }
}

fn bounds_that_have_passed_still_look_once<K: Kind>() {
    let (producer, mut consumer) = K::bounded(1);
    let past = Instant::now();
    assert_eq!(consumer.take_deadline(past), Err(TakeTimeoutError::Timeout));
    assert_eq!(
        consumer.take_timeout(Duration::ZERO),
        Err(TakeTimeoutError::Timeout)
    );
    assert_eq!(producer.post_deadline(1, past), Ok(()));
    assert_eq!(
        producer.post_deadline(2, past),
        Err(PostTimeoutError::Timeout(2))
    );
    assert_eq!(
        producer.post_timeout(2, Duration::ZERO),
        Err(PostTimeoutError::Timeout(2))
    );
    assert_eq!(consumer.take_deadline(past), Ok(1));
}

fn bounds_past_the_end_of_time_are_none<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::bounded(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                for letter in 0..3 {
                    producer.post_timeout(letter, Duration::MAX).unwrap();
                }
                let batch = producer.post_batch_timeout([3, 4], Duration::MAX);
                assert_eq!(batch.unwrap(), 2);
            });
            for letter in 0..5 {
                assert_eq!(consumer.take_timeout(Duration::MAX), Ok(letter));
            }
        });
    });
}

/// Takes a letter out of the ring at the step that `late_at` says, and lets the deadline pass
/// before it returns: room came in time, but the waiting producer learns of it late.
struct Meddler<R: Ring> {
    ring: Arc<Mutex<Option<Consumer<R>>>>,
    deadline: Instant,
    /// In yields: enough of them, and a producer stands in line.
    late_at: u32,
    /// The letter was taken before the deadline.
    is_in_time: Arc<AtomicBool>,
}

impl<R: Ring> std::fmt::Debug for Meddler<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl<R: Ring<ConsumerSide: Send> + Send + Sync> WaitStrategy for Meddler<R> {
    fn step(&self, spell: Spell) -> Step {
        if spell.yields == self.late_at {
            if let Some(consumer) = &mut *self.ring.lock().unwrap() {
                let _ = consumer.try_take();
            }
            let is_in_time = Instant::now() < self.deadline;
            self.is_in_time.store(is_in_time, SeqCst);
            while Instant::now() < self.deadline {
                thread::yield_now();
            }
        }
        Step::Yield
    }
}

macro_rules! post_as_room_comes {
    ($($ring:ident)*) => {$(
        /// What a post within `span` comes to whose room comes at yield `late_at`, and how often it
        /// stood in line; `None` where the yields took longer than that.
        fn $ring(late_at: u32, span: Duration) -> Option<(Posted, u64)> {
            let ring = Arc::new(Mutex::new(None));
            let is_in_time = Arc::new(AtomicBool::new(false));
            let deadline = Instant::now() + span;
            let meddler = Meddler {
                ring: Arc::clone(&ring),
                deadline,
                late_at,
                is_in_time: Arc::clone(&is_in_time),
            };
            let (producer, consumer) = $ring::Builder::new(1)
                .producer_wait(meddler)
                .build()
                .unwrap();
            *ring.lock().unwrap() = Some(consumer);
            producer.post(1).unwrap();
            let posted = producer.post_deadline(2, deadline);
            let waits = producer.counters().producer_waits;
            drop(ring.lock().unwrap().take());
            is_in_time.load(SeqCst).then_some((posted, waits))
        }
    )*};
}

type Posted = Result<(), PostTimeoutError<u32>>;

post_as_room_comes!(mpsc spsc);

#[test]
fn scenario_68_room_that_came_in_time_is_not_a_timeout() {
    /// Tries with longer and longer spans: a yield may last as long as others like.
    fn in_time(post: fn(u32, Duration) -> Option<(Posted, u64)>, late_at: u32) -> (Posted, u64) {
        let spans = (0..).map(|doublings| Duration::from_millis(100 << doublings));
        let mut tries = spans.filter_map(|span| post(late_at, span));
        tries.next().expect("there is no longest span")
    }
    // Before it stands in line, and in line: it spins for 400 yields before.
    for (late_at, waits) in [(1, 0), (500, 1)] {
        watched(move || assert_eq!(in_time(mpsc, late_at), (Ok(()), waits), "at {late_at}"));
        watched(move || assert_eq!(in_time(spsc, late_at).0, Ok(()), "at {late_at}"));
    }
}

/// Yields after every look, and at step `at` brings about what the wait is to end by.
struct Yielder<E> {
    steps: Arc<AtomicU32>,
    at: u32,
    end: E,
}

impl<E> std::fmt::Debug for Yielder<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Yielder")
    }
}

impl<E: Fn() + Send + Sync> WaitStrategy for Yielder<E> {
    fn step(&self, _spell: Spell) -> Step {
        if self.steps.fetch_add(1, SeqCst) + 1 == self.at {
            (self.end)();
        }
        Step::Yield
    }
}

/// A yield may last as long as others like: no wait goes on for more than one after its end.
macro_rules! a_wait_that_yields_sees_its_end_at_once {
    ($($ring:ident)*) => {$(
        mod $ring {
            use super::*;
            use mailring::ring::$ring as ring;

            // At once; spinning; standing in line, where there is one.
            const AT: [u32; 3] = [1, 7, 500];

            fn yielder<E: Fn() + Send + Sync>(at: u32, end: E) -> (Arc<AtomicU32>, Yielder<E>) {
                let steps = Arc::new(AtomicU32::new(0));
                (Arc::clone(&steps), Yielder { steps, at, end })
            }

            fn pass(deadline: Instant) {
                thread::sleep(deadline.saturating_duration_since(Instant::now()));
            }

            #[test]
            fn the_bound_of_a_take() {
                for at in AT {
                    let deadline = Instant::now() + Duration::from_millis(100);
                    let (steps, yielder) = yielder(at, move || pass(deadline));
                    let builder = ring::Builder::new(1).consumer_wait(yielder);
                    let (_producer, mut consumer) = builder.build::<()>().unwrap();
                    let taken = consumer.take_deadline(deadline);
                    assert_eq!(taken, Err(TakeTimeoutError::Timeout));
                    assert!(steps.load(SeqCst) <= at, "{steps:?} steps, over at {at}");
                    let waited = consumer.wait_deadline(deadline);
                    assert_eq!(waited, Waited::TimedOut);
                    assert!(steps.load(SeqCst) <= at + 1, "{steps:?} steps, over at {at}");
                }
            }

            #[test]
            fn the_bound_of_a_post() {
                for at in AT {
                    let deadline = Instant::now() + Duration::from_millis(100);
                    let (steps, yielder) = yielder(at, move || pass(deadline));
                    let builder = ring::Builder::new(1).producer_wait(yielder);
                    let (producer, _consumer) = builder.build().unwrap();
                    producer.post(0).unwrap();
                    let posted = producer.post_deadline(1, deadline);
                    assert_eq!(posted, Err(PostTimeoutError::Timeout(1)));
                    assert!(steps.load(SeqCst) <= at + 1, "{steps:?} steps, over at {at}");
                    let batch = producer.post_batch_timeout([1, 2], Duration::ZERO);
                    assert_eq!(batch.unwrap_err().posted, 0);
                    assert!(steps.load(SeqCst) <= at + 2, "{steps:?} steps, over at {at}");
                }
            }

            #[test]
            fn a_close_that_ends_a_take() {
                for at in AT {
                    watched(move || {
                        let closer = Arc::new(Mutex::new(None::<ring::Producer<()>>));
                        let closing = Arc::clone(&closer);
                        let (steps, yielder) = yielder(at, move || {
                            drop(closing.lock().unwrap().take());
                        });
                        let builder = ring::Builder::new(1).consumer_wait(yielder);
                        let (producer, mut consumer) = builder.build().unwrap();
                        *closer.lock().unwrap() = Some(producer);
                        assert_eq!(consumer.take(), Err(Closed(())));
                        assert_eq!(steps.load(SeqCst), at);
                    });
                }
            }

            #[test]
            fn a_close_that_ends_a_post() {
                for at in AT {
                    watched(move || {
                        let closer = Arc::new(Mutex::new(None::<ring::Consumer<u8>>));
                        let closing = Arc::clone(&closer);
                        let (steps, yielder) = yielder(at, move || {
                            drop(closing.lock().unwrap().take());
                        });
                        let builder = ring::Builder::new(1).producer_wait(yielder);
                        let (producer, consumer) = builder.build().unwrap();
                        *closer.lock().unwrap() = Some(consumer);
                        producer.post(0).unwrap();
                        assert_eq!(producer.post(1), Err(Closed(1)));
                        assert_eq!(steps.load(SeqCst), at);
                    });
                }
            }
        }
    )*};
}

mod a_wait_that_yields_sees_its_end_at_once {
    use super::*;

    a_wait_that_yields_sees_its_end_at_once!(mpsc spsc);

    #[test]
    fn a_kick() {
        use mailring::ring::mpsc as ring;
        for at in [1, 7, 500] {
            watched(move || {
                let kicker = Arc::new(Mutex::new(None::<ring::Producer<()>>));
                let kicking = Arc::clone(&kicker);
                let steps = Arc::new(AtomicU32::new(0));
                let yielder = Yielder {
                    steps: Arc::clone(&steps),
                    at,
                    end: move || kicking.lock().unwrap().as_ref().unwrap().kick(),
                };
                let builder = ring::Builder::new(1).consumer_wait(yielder);
                let (producer, mut consumer) = builder.build().unwrap();
                *kicker.lock().unwrap() = Some(producer);
                assert_eq!(consumer.wait(), Waited::Kicked);
                assert_eq!(steps.load(SeqCst), at);
                kicker.lock().unwrap().take();
            });
        }
    }
}

//! Panics in what callers bring: values, handlers, collections, drops, strategies.

use crate::counted::{Counted, Live, numbers};
use crate::kind::{Kind, Strategy};
use crate::watchdog::{until, watched};
use mailring::ring::{Budget, Refusal, TryPostError, mpsc};
use mailring::wait::{Spell, Step, WaitStrategy};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

on_both_kinds!(
    scenario_17_and_b07_a_value_that_cannot_be_made_claims_nothing,
    scenario_18_a_handler_that_panics_leaves_the_rest,
    scenario_18_a_collection_that_panics_leaves_the_rest,
    b15_the_ring_is_dropped_with_a_letter_that_panics,
    b15_a_drain_whose_sink_drops_a_letter_that_panics,
    b15_undelivered_letters_are_dropped_with_one_that_panics,
    a_waker_that_panics_reaches_whoever_wakes,
);

/// Whether `work` panicked, quietly enough for a test that expects it.
fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

fn scenario_17_and_b07_a_value_that_cannot_be_made_claims_nothing<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(4);
    producer.try_post_batch(live.letters(3)).unwrap();
    // The value is made before anything is claimed, alone or as the last of a batch.
    let unmade = || -> Counted { panic!("cannot be made") };
    assert!(panics(|| drop(producer.try_post(unmade()))));
    assert!(panics(|| drop(
        producer.try_post_batch(std::iter::once_with(unmade))
    )));
    assert!(panics(|| drop(
        producer.post_batch(std::iter::once_with(unmade))
    )));
    assert_eq!(producer.len(), 3);
    assert_eq!(numbers(consumer.try_iter()), [0, 1, 2]);
    for letter in live.letters(4) {
        assert!(producer.try_post(letter).is_ok());
    }
    assert_eq!(numbers(consumer.try_iter()), [0, 1, 2, 3]);
    assert_eq!(live.now(), 0);
}

fn scenario_18_a_handler_that_panics_leaves_the_rest<K: Kind>() {
    for panics_at in 0..5 {
        for timed in [false, true] {
            let live = Live::new();
            let (producer, mut consumer) = K::bounded(20);
            producer.try_post_batch(live.letters(5)).unwrap();
            let handler = |letter: Counted, _| assert_ne!(letter.number(), panics_at);
            assert!(panics(|| {
                if timed {
                    let budget = Budget::letters(5).and_time(std::time::Duration::MAX);
                    consumer.drain_until(budget, handler);
                } else {
                    consumer.drain(5, handler);
                }
            }));
            let left = 4 - panics_at;
            assert_eq!(
                live.now(),
                left as i64,
                "the letters up to the panic are gone"
            );
            assert_eq!(producer.len() as u64, left, "and their room is free");
            assert!(
                numbers(consumer.try_iter())
                    .into_iter()
                    .eq(panics_at + 1..5)
            );
            assert_eq!(producer.try_post_batch(live.letters(20)).unwrap(), 20);
            drop((producer, consumer));
            assert_eq!(live.now(), 0);
        }
    }
}

/// Drops what it is given; panics when it is given number `panics_at`.
struct Bin {
    panics_at: u64,
}

impl Extend<Counted> for Bin {
    fn extend<I: IntoIterator<Item = Counted>>(&mut self, letters: I) {
        for letter in letters {
            assert_ne!(letter.number(), self.panics_at, "the bin refuses");
        }
    }
}

fn scenario_18_a_collection_that_panics_leaves_the_rest<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(20);
    producer.try_post_batch(live.letters(5)).unwrap();
    assert!(panics(|| {
        consumer.drain_to(&mut Bin { panics_at: 2 }, 5);
    }));
    assert_eq!((live.now(), producer.len()), (2, 2));
    assert_eq!(numbers(consumer.try_iter()), [3, 4]);
    assert_eq!(live.now(), 0);
}

fn five_with_a_panicking_third(live: &Live) -> [Counted; 5] {
    [
        live.letter(0),
        live.letter(1),
        live.panicking_letter(2),
        live.letter(3),
        live.letter(4),
    ]
}

fn b15_the_ring_is_dropped_with_a_letter_that_panics<K: Kind>() {
    for producer_first in [false, true] {
        let live = Live::new();
        let (producer, consumer) = K::bounded(8);
        assert!(
            producer
                .try_post_batch(five_with_a_panicking_third(&live))
                .is_ok()
        );
        if producer_first {
            drop(producer);
            assert!(panics(|| drop(consumer)));
        } else {
            assert!(panics(|| drop(consumer)));
            assert_eq!(
                live.now(),
                0,
                "the others are dropped all the same, each once"
            );
            assert!(producer.is_closed());
            assert_eq!(producer.len(), 0);
            drop(producer);
        }
        assert_eq!(live.now(), 0);
    }
}

fn b15_a_drain_whose_sink_drops_a_letter_that_panics<K: Kind>() {
    for by_handler in [false, true] {
        let live = Live::new();
        let (producer, mut consumer) = K::bounded(8);
        assert!(
            producer
                .try_post_batch(five_with_a_panicking_third(&live))
                .is_ok()
        );
        assert!(panics(|| {
            if by_handler {
                consumer.drain(8, |letter, _| drop(letter));
            } else {
                consumer.drain_to(&mut Bin { panics_at: 99 }, 8);
            }
        }));
        assert_eq!((live.now(), producer.len()), (2, 2));
        // The ring still works, for the remaining letters and for new ones.
        assert!(producer.try_post_batch(live.letters(6)).is_ok());
        assert_eq!(numbers(consumer.try_iter()), [3, 4, 0, 1, 2, 3, 4, 5]);
        assert_eq!(live.now(), 0);
    }
}

fn b15_undelivered_letters_are_dropped_with_one_that_panics<K: Kind>() {
    let live = Live::new();
    let (producer, consumer) = K::bounded(8);
    assert!(
        producer
            .try_post_batch(five_with_a_panicking_third(&live))
            .is_ok()
    );
    let mut undelivered = consumer.close();
    assert_eq!(undelivered.next().unwrap().number(), 0);
    assert!(panics(|| drop(undelivered)));
    assert_eq!(live.now(), 0);
}

#[test]
fn b15_the_rest_of_a_batch_is_dropped_with_one_that_panics() {
    let live = Live::new();
    let (producer, consumer) = mpsc::bounded(1).unwrap();
    let refused = producer
        .try_post_batch(five_with_a_panicking_third(&live).into_iter())
        .unwrap_err();
    assert_eq!((refused.posted, refused.reason), (1, Refusal::Full));
    assert!(panics(|| drop(refused.rest)));
    // At worst the letters behind it are leaked; none is dropped twice.
    assert!((1..=3).contains(&live.now()), "{}", live.now());
    drop((producer, consumer));
    assert!((0..=2).contains(&live.now()), "{}", live.now());
}

/// Panics at its `n`-th step of all.
#[derive(Debug)]
struct Brittle {
    steps: Arc<AtomicU32>,
    panics_at: u32,
    inner: Strategy,
}

impl WaitStrategy for Brittle {
    fn step(&self, spell: Spell) -> Step {
        let step = self.steps.fetch_add(1, SeqCst) + 1;
        assert_ne!(step, self.panics_at, "the strategy gives up");
        self.inner.step(spell)
    }
}

#[test]
fn a_strategy_that_panics_gives_its_place_in_line_back() {
    // Late enough for either to stand in line; a yield may last as long as others like.
    for (inner, panics_at) in [(Strategy::Yielding, 1_000), (Strategy::BusySpin, 200_000)] {
        watched(move || {
            let steps = Arc::new(AtomicU32::new(0));
            let (producer, mut consumer) = mpsc::Builder::new(1)
                .producer_wait(Brittle {
                    steps: Arc::clone(&steps),
                    panics_at,
                    inner,
                })
                .build()
                .unwrap();
            producer.post(0).unwrap();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| producer.post(1));
                assert!(waiting.join().is_err(), "the strategy panicked");
            });
            assert_eq!(producer.counters().producer_waits, 1, "it stood in line");
            assert_eq!(producer.waiting_producers(), 0, "nobody is left in line");
            thread::scope(|scope| {
                let waiting = scope.spawn(|| producer.post(2));
                until(|| producer.waiting_producers() == 1);
                assert_eq!(consumer.take(), Ok(0));
                waiting.join().unwrap().unwrap();
            });
            assert_eq!(consumer.take(), Ok(2));
        });
    }
}

/// Counts its wakes, and panics at the first.
struct Grenade(AtomicU32);

impl Grenade {
    fn new() -> (Arc<Self>, Waker) {
        let grenade = Arc::new(Self(AtomicU32::new(0)));
        (Arc::clone(&grenade), Waker::from(grenade))
    }

    fn count(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

impl Wake for Grenade {
    fn wake(self: Arc<Self>) {
        assert_ne!(self.0.fetch_add(1, SeqCst), 0, "the waker gives up");
    }
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

fn a_waker_that_panics_reaches_whoever_wakes<K: Kind>() {
    let (grenade, waker) = Grenade::new();
    let (producer, mut consumer) = K::bounded(2);
    assert!(poll(&mut consumer.take_async(), &waker).is_pending());
    assert!(panics(|| producer.post(1).unwrap()));
    assert_eq!((consumer.try_take(), grenade.count()), (Ok(1), 1));
    let (grenade, waker) = Grenade::new();
    assert!(poll(&mut consumer.take_async(), &waker).is_pending());
    assert!(panics(|| assert!(producer.close())));
    assert!(producer.is_closed());
    assert_eq!(producer.try_post(2), Err(TryPostError::Closed(2)));
    assert!(consumer.is_finished());
    assert_eq!(grenade.count(), 1);
}

#[test]
fn a_hook_that_panics_reaches_whoever_ends_the_rest_and_no_thread_or_task() {
    watched(|| {
        let (producer, mut consumer) = mpsc::Builder::new(4)
            .wait(|| Strategy::ParkAtOnce)
            .wake_by(|| panic!("the hook gives up"))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let taking = scope.spawn(|| assert_eq!(consumer.take(), Ok(1)));
            until(|| producer.counters().parks > 0);
            producer.post(1).unwrap();
            taking.join().unwrap();
        });
        assert_eq!(consumer.rest(), mpsc::Rest::Resting);
        assert!(panics(|| producer.kick()));
        assert_eq!(consumer.rest(), mpsc::Rest::Kicked);
        let (grenade, waker) = Grenade::new();
        assert!(poll(&mut consumer.take_async(), &waker).is_pending());
        assert!(panics(|| producer.post(2).unwrap()));
        assert_eq!((consumer.take(), grenade.count()), (Ok(2), 1));
        assert_eq!(consumer.rest(), mpsc::Rest::Resting);
        assert!(panics(|| producer.post(3).unwrap()));
        assert_eq!(consumer.take(), Ok(3));
    });
}

#[test]
fn those_in_line_are_woken_behind_wakers_that_panic() {
    /// What makes room for those in line, or ends their wait.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Serves {
        Release,
        Leave,
        Close,
        Drop,
    }
    for serves in [Serves::Release, Serves::Leave, Serves::Close, Serves::Drop] {
        let live = Live::new();
        let (producer, mut consumer) = mpsc::bounded(8).unwrap();
        assert!(producer.try_post(live.letter(0)).is_ok());
        drop(consumer.try_take());
        // From here on a quarter of the ring is released at once: room for two of the four.
        assert!(producer.try_post_batch(live.letters(8)).is_ok());
        let grenades: Vec<_> = (0..4).map(|_| Grenade::new()).collect();
        let mut waiting: Vec<_> = grenades
            .iter()
            .map(|(_, waker)| {
                let mut future = producer.post_async(live.letter(9));
                assert!(poll(&mut future, waker).is_pending());
                future
            })
            .collect();
        let woken = || {
            grenades
                .iter()
                .map(|(grenade, _)| grenade.count())
                .sum::<u32>()
        };
        let release = |consumer: &mut mpsc::Consumer<Counted>| {
            consumer.drain(2, |letter, _| drop(letter));
        };
        match serves {
            Serves::Release => {
                assert!(panics(|| release(&mut consumer)));
                assert_eq!((woken(), producer.len()), (2, 6));
                assert!(panics(|| release(&mut consumer)));
                assert_eq!((woken(), producer.len()), (4, 4));
                drop(consumer);
            }
            Serves::Leave => {
                assert!(panics(|| release(&mut consumer)));
                let first = waiting.remove(0);
                assert!(panics(|| drop(first)));
                assert_eq!(woken(), 3, "the wake goes on to the next");
                assert!(panics(|| assert!(producer.close())));
                drop(consumer);
            }
            Serves::Close => {
                assert!(panics(|| assert!(producer.close())));
                assert_eq!(woken(), 4);
                drop(consumer);
            }
            Serves::Drop => {
                assert!(panics(|| drop(consumer)));
                assert_eq!((woken(), live.now()), (4, 4), "letters are dropped too");
            }
        }
        assert_eq!(woken(), 4, "each is woken once");
        drop(waiting);
        assert_eq!((live.now(), producer.waiting_producers()), (0, 0));
    }
}

#[test]
fn a_close_serves_the_line_also_where_the_consumers_waker_panics() {
    let (grenade, waker) = Grenade::new();
    let (producer, mut consumer) = mpsc::bounded(1).unwrap();
    producer.post(0).unwrap();
    let mut first = producer.post_async(1);
    let mut second = producer.post_async(2);
    assert!(poll(&mut first, Waker::noop()).is_pending());
    let (behind, behind_waker) = Grenade::new();
    assert!(poll(&mut second, &behind_waker).is_pending());
    // The first is woken and has not run: the consumer waits, and so does the second.
    assert_eq!(consumer.try_take(), Ok(0));
    assert!(poll(&mut consumer.take_async(), &waker).is_pending());
    assert!(panics(|| assert!(producer.close())));
    assert_eq!((grenade.count(), behind.count()), (1, 1));
}

#[test]
fn a_consumer_whose_strategy_panics_may_go_on() {
    let steps = Arc::new(AtomicU32::new(0));
    let (producer, mut consumer) = mpsc::Builder::new(1)
        .consumer_wait(Brittle {
            steps,
            panics_at: 3,
            inner: Strategy::BusySpin,
        })
        .build()
        .unwrap();
    assert!(panics(|| drop(consumer.take().map(Box::new))));
    producer.post(5).unwrap();
    assert_eq!(consumer.take(), Ok(5));
}

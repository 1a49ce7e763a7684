//! Every letter is dropped exactly once, on every path.

use crate::counted::{Live, numbers};
use crate::kind::Kind;
use mailring::ring::{mpsc, spsc};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Waker};
use std::time::Duration;

on_both_kinds!(
    scenario_19_letters_taken_one_by_one_or_drained,
    scenario_19_letters_of_iterators_that_are_dropped_midway,
    scenario_19_undelivered_letters_iterated_or_not,
    scenario_19_letters_refused,
    scenario_19_the_rest_of_a_batch,
    scenario_24_handles_dropped_with_letters_inside,
    scenario_25_a_lap_with_every_other_batch_unmade,
);

fn scenario_19_letters_taken_one_by_one_or_drained<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(8);
    producer.try_post_batch(live.letters(8)).unwrap();
    let first = consumer.try_take().unwrap();
    assert_eq!(live.now(), 8, "taken, and not dropped");
    drop(first);
    drop(consumer.take().unwrap());
    drop(consumer.take_timeout(Duration::ZERO).unwrap());
    assert_eq!(live.now(), 5);
    consumer.drain(1, |_, _| {});
    let mut kept = Vec::new();
    consumer.drain_to(&mut kept, 2);
    assert_eq!(live.now(), 4);
    drop(kept);
    assert_eq!(live.now(), 2);
    // Twice around, so that every slot has been written again.
    for _ in 0..3 {
        consumer.drain(8, |_, _| {});
        assert_eq!(live.now(), 0);
        producer.try_post_batch(live.letters(8)).unwrap();
    }
    drop((producer, consumer));
    assert_eq!(live.now(), 0);
}

fn scenario_19_letters_of_iterators_that_are_dropped_midway<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(8);
    producer.try_post_batch(live.letters(6)).unwrap();
    assert_eq!(consumer.iter().next().unwrap().number(), 0);
    assert_eq!(consumer.try_iter().next().unwrap().number(), 1);
    assert_eq!(consumer.by_ref_first(), 2);
    assert_eq!(live.now(), 3);
    let mut owned = consumer.into_iter();
    assert_eq!(owned.next().unwrap().number(), 3);
    drop(owned);
    assert_eq!(
        live.now(),
        0,
        "its consumer is gone, and so are the letters"
    );
    assert!(producer.is_closed());
}

/// The first letter of what a `for` loop would take from a borrowed consumer.
trait FirstOfLoop {
    fn by_ref_first(&mut self) -> u64;
}

impl<R: mailring::ring::Ring<Letter = crate::counted::Counted>> FirstOfLoop
    for mailring::ring::Consumer<R>
{
    fn by_ref_first(&mut self) -> u64 {
        self.into_iter().next().unwrap().number()
    }
}

fn scenario_19_undelivered_letters_iterated_or_not<K: Kind>() {
    for iterated in 0..=5 {
        let live = Live::new();
        let (producer, mut consumer) = K::bounded(8);
        producer.try_post_batch(live.letters(6)).unwrap();
        consumer.try_take().unwrap();
        let mut undelivered = consumer.close();
        assert!(producer.is_closed());
        let returned = numbers(undelivered.by_ref().take(iterated));
        assert!(returned.into_iter().eq(1..1 + iterated as u64));
        assert_eq!(live.now(), 5 - iterated as i64);
        drop(undelivered);
        assert_eq!(live.now(), 0);
    }
}

fn scenario_19_letters_refused<K: Kind>() {
    let live = Live::new();
    let (producer, consumer) = K::bounded(1);
    producer.try_post(live.letter(0)).unwrap();
    let full = producer.try_post(live.letter(1)).unwrap_err();
    let late = producer
        .post_timeout(live.letter(2), Duration::ZERO)
        .unwrap_err();
    assert_eq!(live.now(), 3);
    assert_eq!(
        (full.into_inner().number(), late.into_inner().number()),
        (1, 2)
    );
    assert_eq!(live.now(), 1);
    drop(consumer);
    assert_eq!(live.now(), 0);
    let closed = producer.try_post(live.letter(3)).unwrap_err();
    let refused = producer.post(live.letter(4)).unwrap_err();
    assert_eq!(live.now(), 2);
    drop((closed, refused));
    assert_eq!(live.now(), 0);
}

fn scenario_19_the_rest_of_a_batch<K: Kind>() {
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(3);
    let array = [
        live.letter(0),
        live.letter(1),
        live.letter(2),
        live.letter(3),
    ];
    let refused = producer.try_post_batch(array).unwrap_err();
    assert_eq!((refused.posted, live.now()), (3, 4));
    drop(refused);
    assert_eq!(live.now(), 3);

    let refused = producer.try_post_batch(live.letters(5)).unwrap_err();
    let mut rest = refused.rest;
    assert_eq!((refused.posted, rest.next().unwrap().number()), (0, 0));
    drop(rest);
    assert_eq!(live.now(), 3);

    consumer.try_take().unwrap();
    // Of an iterator, 32 are made ahead; the rest of it is not made at all unless asked for.
    let refused = producer
        .try_post_batch((0..100).map(|number| live.letter(number)))
        .unwrap_err();
    assert_eq!((refused.posted, live.now()), (1, 3 + 31));
    let mut rest = refused.rest;
    assert_eq!(numbers(rest.by_ref().take(40)).len(), 40);
    assert_eq!(live.now(), 3);
    assert_eq!(rest.next().unwrap().number(), 41);
    drop(rest);
    drop((producer, consumer));
    assert_eq!(live.now(), 0);
}

/// The stages of a post as a future, for a handle of either kind.
macro_rules! drop_post_futures {
    ($producer:ident, $consumer:ident) => {
        let live = Live::new();
        let mut cx = Context::from_waker(Waker::noop());
        drop($producer.post_async(live.letter(0)));
        assert_eq!(live.now(), 0, "never polled");
        assert!(
            pin!($producer.post_async(live.letter(1)))
                .poll(&mut cx)
                .is_ready()
        );
        assert_eq!(live.now(), 1, "posted");
        {
            let waiting = pin!($producer.post_async(live.letter(2)));
            assert!(waiting.poll(&mut cx).is_pending());
            assert_eq!(live.now(), 2, "waiting");
        }
        assert_eq!(
            (live.now(), $producer.waiting_producers()),
            (1, 0),
            "given up"
        );
        drop($consumer);
        let outcome = pin!($producer.post_async(live.letter(3))).poll(&mut cx);
        assert_eq!(live.now(), 1, "handed back");
        drop(outcome);
        assert_eq!(live.now(), 0);
    };
}

#[test]
fn scenario_19_a_post_future_dropped_at_any_stage() {
    #[allow(unused_mut)]
    let (mut producer, consumer) = mpsc::bounded(1).unwrap();
    drop_post_futures!(producer, consumer);
    #[allow(unused_mut)]
    let (mut producer, consumer) = spsc::bounded(1).unwrap();
    drop_post_futures!(producer, consumer);
}

fn scenario_24_handles_dropped_with_letters_inside<K: Kind>() {
    for taken in 0..=4 {
        for producer_first in [false, true] {
            let live = Live::new();
            let (producer, mut consumer) = K::bounded(5);
            producer.try_post_batch(live.letters(4)).unwrap();
            consumer.drain(taken, |_, _| {});
            producer.try_post(live.letter(4)).unwrap();
            if producer_first {
                drop(producer);
                assert_eq!(live.now(), 5 - taken as i64, "still to be taken");
                drop(consumer);
            } else {
                drop(consumer);
                assert_eq!(live.now(), 0, "B02: dropped while a producer lives");
                assert!(producer.try_post(live.letter(5)).unwrap_err().is_closed());
                drop(producer);
            }
            assert_eq!(live.now(), 0);
        }
    }
}

#[test]
fn scenario_24_other_handles_hold_no_letters() {
    let live = Live::new();
    let (producer, consumer) = mpsc::Builder::new(4).reserved(1).build().unwrap();
    let weak = producer.downgrade();
    let reservation = producer.reservation(0).unwrap();
    let clone = producer.clone();
    reservation.post(live.letter(7)).unwrap();
    clone.try_post_batch(live.letters(2)).unwrap();
    drop(consumer);
    assert_eq!(live.now(), 0);
    drop((producer, clone));
    assert!(reservation.post(live.letter(8)).is_err());
    assert_eq!(live.now(), 0);
    assert!(weak.upgrade().is_none());
}

fn scenario_25_a_lap_with_every_other_batch_unmade<K: Kind>() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let live = Live::new();
    let (producer, mut consumer) = K::bounded(7);
    for round in 0..20 {
        let unmade = (0..3).map(|number| {
            assert!(number < 2, "the third is not made");
            live.letter(number)
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| drop(producer.try_post_batch(unmade))));
        assert!(outcome.is_err());
        producer.try_post(live.letter(round)).unwrap();
        if round % 2 == 0 {
            assert_eq!(consumer.try_take().unwrap().number(), round);
        } else {
            assert_eq!(numbers(consumer.try_iter()), [round]);
        }
    }
    producer.try_post_batch(live.letters(5)).unwrap();
    drop((producer, consumer));
    assert_eq!(
        live.now(),
        0,
        "nothing is left between them, and nothing is dropped twice"
    );
}

/// Posts another letter as it is dropped.
struct Heir {
    ring: Option<mpsc::Producer<Heir>>,
    refused: Arc<AtomicUsize>,
}

impl Drop for Heir {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take() {
            let refused = Arc::clone(&self.refused);
            let heir = Heir {
                ring: None,
                refused,
            };
            let outcome = ring.try_post(heir);
            self.refused
                .fetch_add(usize::from(outcome.is_err()), SeqCst);
        }
    }
}

#[test]
fn scenario_19_letters_that_post_as_they_are_dropped() {
    for taken in 0..=3 {
        let refused = Arc::new(AtomicUsize::new(0));
        let (producer, mut consumer) = mpsc::bounded(3).unwrap();
        for _ in 0..3 {
            let heir = Heir {
                ring: Some(producer.clone()),
                refused: Arc::clone(&refused),
            };
            assert!(producer.try_post(heir).is_ok());
        }
        // Each makes room before it is dropped, so its heir gets in; later ones meet a closed ring.
        consumer.drain(taken, |letter, _| drop(letter));
        assert_eq!((consumer.len(), refused.load(SeqCst)), (3, 0));
        drop(consumer);
        assert_eq!(refused.load(SeqCst), 3 - taken);
        assert_eq!(Arc::strong_count(&refused), 1, "none is left");
        assert!(producer.is_closed());
    }
}

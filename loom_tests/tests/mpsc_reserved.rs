//! Many producers: reserved claims, which always fit.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::AtomicU32;
use mailring::ring::mpsc::{Consumer, ReservedPost};
use model::{Letter, assert_fails, check, ids, join, many, preemptions, unbounded, with};
use std::sync::Arc;

const RACE: &str = "Causality violation";

/// Makes reservation `index` free again: its letter was just taken. Returns how many posts it stood
/// for.
fn settle(consumer: &mut Consumer<Letter>, index: usize) -> u64 {
    // SAFETY: R10: every caller has just taken that reservation's letter.
    unsafe { consumer.settle(index) }
}

/// A reserved post, and one that may find it pending, against a close. One that was posted is
/// returned once; one that was refused comes back.
#[test]
fn m7b_reserved_post_against_close() {
    check(preemptions(5, 10_000), || {
        let (producer, consumer) = many(1).reserved(1).build().unwrap();
        let posting = [10, 20].map(|id| {
            let reservation = producer.reservation(0).unwrap();
            with(reservation, move |reservation| {
                matches!(reservation.post(Letter::new(id)), Ok(ReservedPost::Posted))
            })
        });
        let returned = ids(consumer.close());
        let posted = join(posting);
        assert!(posted != [true, true], "one of each is in the ring at most");
        assert_eq!(returned.len(), usize::from(posted != [false, false]));
        if let [id] = returned[..] {
            assert!(posted[usize::from(id == 20)]);
        }
    });
}

/// A reserved post while its letter is being taken: what the poster wrote before is seen by a run
/// after it, whether it was posted or found pending.
#[test]
fn m15_reserved_post_against_its_run() {
    check(unbounded(10), || {
        let work = Arc::new(AtomicU32::new(0));
        let (producer, mut consumer) = many(1).reserved(1).build().unwrap();
        let reservation = producer.reservation(0).unwrap();
        // A letter in slot 0, the marker in slot 1: the next marker goes to slot 0.
        producer.try_post(Letter::new(1)).unwrap();
        reservation.post(Letter::new(2)).unwrap();
        let worker = Arc::clone(&work);
        let posting = with(reservation, move |reservation| {
            // Relaxed: the pending word alone is to carry it.
            worker.store(1, Relaxed);
            reservation.post(Letter::new(3)).unwrap() == ReservedPost::Posted
        });
        assert_eq!(ids(consumer.try_iter().take(2)), [1, 2]);
        settle(&mut consumer, 0);
        let mut seen = work.load(Relaxed);
        let [posted] = join([posting]);
        let rest = ids(consumer.try_iter());
        assert_eq!(rest, if posted { &[3][..] } else { &[] });
        if posted {
            settle(&mut consumer, 0);
            seen = work.load(Relaxed);
        }
        assert_eq!(seen, 1, "a run after the post sees its work");
    });
}

/// A marker that posts itself again always finds room, at capacity 1 and against a producer that
/// fills what there is.
#[test]
fn m15b_posts_itself_again() {
    check(unbounded(20_000), || {
        let (producer, mut consumer) = many(1).reserved(1).build().unwrap();
        let reservation = producer.reservation(0).unwrap();
        reservation.post(Letter::new(1)).unwrap();
        let filling = with(producer, |producer| {
            [10, 11].map(|id| usize::from(producer.try_post(Letter::new(id)).is_ok()))
        });
        let mut letters = 0;
        for id in [1, 2] {
            loop {
                let letter = consumer.take().unwrap();
                if letter.id() == id {
                    break;
                }
                letters += 1;
            }
            settle(&mut consumer, 0);
            let again = reservation.post(Letter::new(id + 1)).unwrap();
            assert_eq!(again, ReservedPost::Posted);
        }
        let [accepted] = join([filling]);
        letters += ids(consumer.try_iter()).len() - 1;
        assert_eq!(letters, accepted.into_iter().sum());
    });
}

/// A marker that lands in a slot that another producer's claim found free: it reads no head.
#[test]
fn m15c_slot_reuse_by_a_marker() {
    check(unbounded(70), || {
        let (producer, mut consumer) = many(1).reserved(1).build().unwrap();
        let reservation = producer.reservation(0).unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = with(producer.clone(), |producer| {
            producer.try_post(Letter::new(2)).is_ok()
        });
        let marking = with(reservation, |reservation| {
            reservation.post(Letter::new(3)).unwrap();
        });
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        let [accepted] = join([posting]);
        join([marking]);
        let rest = ids(consumer.try_iter());
        assert_eq!(rest.len(), 1 + usize::from(accepted));
    });
}

/// Two markers, each with its own bit, posted and run at once.
#[test]
fn m15d_two_markers() {
    check(preemptions(4, 20_000), || {
        let work: Arc<[AtomicU32; 2]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let (producer, mut consumer) = many(1).reserved(2).build().unwrap();
        let reservations = [0, 1].map(|index| producer.reservation(index).unwrap());
        reservations[0].post(Letter::new(0)).unwrap();
        let mut id = 10;
        let posting = reservations.map(|reservation| {
            let work = Arc::clone(&work);
            id += 10;
            with(reservation, move |reservation| {
                let index = reservation.index();
                // Relaxed: the pending word alone is to carry it.
                work[index].store(1, Relaxed);
                let id = id + index as u32;
                reservation.post(Letter::new(id)).unwrap() == ReservedPost::Posted
            })
        });
        let mut seen = [0; 2];
        let mut run = |consumer: &mut Consumer<Letter>, letter: Letter| {
            let index = letter.id() as usize % 10;
            settle(consumer, index);
            seen[index] = work[index].load(Relaxed);
        };
        for _ in 0..2 {
            let letter = consumer.take().unwrap();
            run(&mut consumer, letter);
        }
        let posted = join(posting);
        assert!(posted[1]);
        while let Ok(letter) = consumer.try_take() {
            run(&mut consumer, letter);
        }
        assert_eq!(seen, [1, 1]);
    });
}

/// Two posters of one reservation while its letter is being taken: every post is counted by one
/// run, and each run sees the work of those it counts.
#[test]
fn m15e_posts_are_counted_once() {
    check(unbounded(20_000), || {
        let work: Arc<[AtomicU32; 2]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let (producer, mut consumer) = many(1).reserved(1).build().unwrap();
        let reservation = producer.reservation(0).unwrap();
        reservation.post(Letter::new(1)).unwrap();
        let posting = [0, 1].map(|index| {
            let work = Arc::clone(&work);
            with(reservation.clone(), move |reservation| {
                // Relaxed: the pending word alone is to carry it.
                work[index].store(1, Relaxed);
                let letter = Letter::new(10 + index as u32);
                reservation.post(letter).unwrap() == ReservedPost::Posted
            })
        });
        let seen = || [0, 1].map(|index| u64::from(work[index].load(Relaxed)));
        assert_eq!(consumer.try_take().unwrap().id(), 1);
        let mut counted = settle(&mut consumer, 0);
        assert!(
            seen().into_iter().sum::<u64>() + 1 >= counted,
            "a run after the post sees its work"
        );
        let posted = join(posting);
        assert!(posted != [true, true], "the second letter is taken later");
        if let Ok(letter) = consumer.try_take() {
            assert!(posted[letter.id() as usize - 10]);
            counted += settle(&mut consumer, 0);
            assert_eq!(seen(), [1, 1]);
        } else {
            assert_eq!(posted, [false, false]);
        }
        assert_eq!(counted, 3, "no post is counted twice or forgotten");
        assert!(consumer.try_take().is_err());
    });
}

#[test]
fn row_b_claims_hand_slots_on() {
    assert_fails("m15c_slot_reuse_by_a_marker", "b", Acquire, RACE);
}

const UNSEEN: &str = "a run after the post sees its work";

#[test]
fn row_m_post_releases_its_work() {
    assert_fails("m15_reserved_post_against_its_run", "m", Acquire, UNSEEN);
    assert_fails("m15e_posts_are_counted_once", "m", Acquire, UNSEEN);
}

#[test]
fn row_m1_settle_acquires_the_work() {
    assert_fails("m15_reserved_post_against_its_run", "m1", Release, UNSEEN);
    assert_fails("m15e_posts_are_counted_once", "m1", Release, UNSEEN);
}

#[test]
fn row_m1_settle_releases_the_slot() {
    assert_fails("m15_reserved_post_against_its_run", "m1", Acquire, RACE);
}

#[test]
fn row_m_post_acquires_the_slot() {
    assert_fails("m15_reserved_post_against_its_run", "m", Release, RACE);
}

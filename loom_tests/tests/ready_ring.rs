//! Many mailboxes, one owner: its ready ring, and rests whose calls are counted.

mod model;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::cell::UnsafeCell;
use mailring::model::{Ready, Rested, called, end_rest, rest_once};
use mailring::ring::mpsc::{Consumer, Producer, Rest};
use model::{
    Alarm, Letter, assert_fails, check, join, many, preemptions, unbounded, with, yield_now,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";
const UNCOUNTED: &str = "a call that nobody waits for, or none for a rest that was ended";
const TWICE: &str = "two calls for one mailbox";

/// Calls of one mailbox's hook that its owner was not told of: one at most. Plain: it orders nothing.
#[derive(Debug, Default)]
struct Calls {
    on_their_way: AtomicU32,
    all: AtomicU32,
}

impl Calls {
    fn call(&self) {
        self.all.fetch_add(1, Relaxed);
        assert_eq!(self.on_their_way.fetch_add(1, Relaxed), 0, "{TWICE}");
    }

    fn told(&self) {
        assert_eq!(
            self.on_their_way.fetch_sub(1, Relaxed),
            1,
            "told of no call"
        );
    }
}

/// One mailbox with a hook that counts, whose owner is a thread.
struct Counted {
    ring: Consumer<Letter>,
    calls: Arc<Calls>,
    alarm: Arc<Alarm>,
    taken: Vec<u32>,
    rests: u32,
    was_told: u32,
}

impl Counted {
    fn new(capacity: usize) -> (Producer<Letter>, Self) {
        let (calls, alarm) = (Arc::<Calls>::default(), Alarm::new());
        let (counts, rings) = (Arc::clone(&calls), alarm.waker());
        let hook = move || {
            counts.call();
            rings.wake_by_ref();
        };
        let (producer, ring) = many(capacity).wake_by(hook).build().unwrap();
        let counted = Self {
            ring,
            calls,
            alarm,
            taken: Vec::new(),
            rests: 0,
            was_told: 0,
        };
        (producer, counted)
    }

    fn take_all(&mut self) {
        while let Ok(letter) = self.ring.try_take() {
            self.taken.push(letter.id());
        }
    }

    /// Takes what is there and goes to rest, if it is not.
    fn turn(&mut self) -> Rested {
        loop {
            self.take_all();
            match rest_once(&mut self.ring, || false) {
                Rested::Look | Rested::Hole => yield_now(),
                rested => return rested,
            }
        }
    }

    /// Sleeps until it is called.
    fn sleep(&mut self) {
        self.alarm.wait();
        self.calls.told();
        self.was_told += 1;
        called(&mut self.ring);
    }
}

/// Each rest that was ended by another is called for once, also where the owner runs meanwhile for a
/// reason of its own: it rests again only when it was told.
#[test]
fn m17b_a_call_for_each_ended_rest() {
    check(preemptions(3, 4_000), || {
        let (producer, mut counted) = Counted::new(2);
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
            producer.try_post(Letter::new(2)).unwrap();
        });
        while counted.taken.len() < 2 {
            counted.rests += u32::from(counted.turn() == Rested::Resting);
            // For another reason.
            if counted.turn() == Rested::Owed || counted.taken.len() < 2 {
                counted.sleep();
            }
        }
        let owed = end_rest(&mut counted.ring);
        join([posting]);
        assert_eq!(counted.taken, [1, 2]);
        assert_eq!(
            counted.calls.all.load(Relaxed),
            counted.was_told + u32::from(owed),
            "{UNCOUNTED}"
        );
    });
}

/// What was made before a nudge, and is no letter, is seen by the look that follows the rest, or calls.
#[test]
fn m17n_nudge_against_a_rest() {
    check(unbounded(70), || {
        let (producer, mut counted) = Counted::new(1);
        let work = Arc::new(loom::sync::atomic::AtomicU32::new(0));
        let made = Arc::clone(&work);
        let nudging = with(producer.downgrade(), move |main| {
            made.store(1, Relaxed);
            main.nudge();
        });
        let mut calls = 0;
        loop {
            match rest_once(&mut counted.ring, || work.load(Relaxed) == 1) {
                Rested::Look => break,
                Rested::Resting | Rested::Owed => counted.sleep(),
                other => unreachable!("{other:?}"),
            }
            calls += 1;
        }
        assert!(calls <= 1);
        let owed = end_rest(&mut counted.ring);
        join([nudging]);
        assert_eq!(
            counted.calls.all.load(Relaxed),
            counted.was_told + u32::from(owed)
        );
        drop(producer);
    });
}

/// The end of an owner against a post: whether a call is to come is known.
#[test]
fn m17e_end_of_a_rest_against_a_post() {
    check(unbounded(2_500), || {
        let (producer, mut counted) = Counted::new(2);
        assert_eq!(counted.turn(), Rested::Resting);
        let posting = [1, 2].map(|id| {
            with(producer.clone(), move |producer| {
                producer.try_post(Letter::new(id)).unwrap();
            })
        });
        let owed = end_rest(&mut counted.ring);
        join(posting);
        assert_eq!(counted.calls.all.load(Relaxed), u32::from(owed));
    });
}

/// Mailboxes of one owner, and their ready ring.
struct Desk {
    ready: Ready,
    boxes: Vec<Desked>,
    taken: Vec<u32>,
    /// What the owner writes whenever it runs.
    runs: u32,
}

struct Desked {
    ring: Consumer<Letter>,
    calls: Arc<Calls>,
}

impl Desk {
    /// As many mailboxes of `capacity` letters, all at rest.
    fn new<const N: usize>(
        capacity: usize,
        hook: impl Fn() + Send + Sync + 'static,
    ) -> ([Producer<Letter>; N], Self) {
        let ready = Ready::new(N, hook);
        let mut desk = Self {
            ready,
            boxes: Vec::new(),
            taken: Vec::new(),
            runs: 0,
        };
        let producers = core::array::from_fn(|index| {
            let (call, told) = desk.ready.seat();
            let calls = Arc::<Calls>::default();
            let counts = Arc::clone(&calls);
            let hook = move || {
                counts.call();
                call();
            };
            let (producer, ring) = many(capacity).wake_by(hook).build().unwrap();
            desk.boxes.push(Desked { ring, calls });
            told(index as u32);
            desk.look_at(index);
            producer
        });
        (producers, desk)
    }

    /// Takes what is in a mailbox, which then rests.
    fn look_at(&mut self, index: usize) {
        let ring = &mut self.boxes[index].ring;
        loop {
            while let Ok(letter) = ring.try_take() {
                self.taken.push(letter.id());
            }
            match rest_once(ring, || false) {
                Rested::Look | Rested::Hole => yield_now(),
                Rested::Resting | Rested::Owed | Rested::Finished => return,
            }
        }
    }

    /// Looks at the mailboxes whose indices are in the ready ring.
    fn take_ready(&mut self) {
        while let Ok(index) = self.ready.ring.try_take() {
            let index = index as usize;
            let one = &mut self.boxes[index];
            one.calls.told();
            called(&mut one.ring);
            self.look_at(index);
        }
    }

    /// Runs until it has taken so many letters; sleeps where there is none.
    fn run(&mut self, letters: usize) {
        loop {
            self.take_ready();
            if self.taken.len() >= letters {
                return;
            }
            let _waited = self.ready.ring.wait();
        }
    }

    /// Ends the rests; who still owes a call is owed for by what was counted.
    fn end(&mut self) {
        for one in &mut self.boxes {
            let owed = end_rest(&mut one.ring);
            let on_their_way = one.calls.on_their_way.load(Relaxed);
            assert_eq!(on_their_way, u32::from(owed), "{UNCOUNTED}");
        }
    }
}

fn posting<const N: usize>(
    producers: [Producer<Letter>; N],
    letters: u32,
) -> [loom::thread::JoinHandle<(Producer<Letter>, ())>; N] {
    let mut next = 0;
    producers.map(|producer| {
        let first = next;
        next += letters;
        with(producer, move |producer| {
            for id in first..first + letters {
                producer.try_post(Letter::new(id)).unwrap();
            }
        })
    })
}

/// Two mailboxes, each with a post, while their owner's thread goes to sleep.
#[test]
fn m17_two_mailboxes_on_one_ready_ring() {
    check(preemptions(2, 9_000), || {
        let (producers, mut desk) = Desk::new::<2>(1, || ());
        let posting = posting(producers, 1);
        desk.run(2);
        join(posting);
        desk.taken.sort_unstable();
        assert_eq!(desk.taken, [0, 1]);
        desk.end();
    });
}

/// An owner that looks at one mailbox for a reason of its own meanwhile.
#[test]
fn m17b_a_look_for_another_reason() {
    check(preemptions(3, 12_000), || {
        let ([producer], mut desk) = Desk::new::<1>(2, || ());
        let posting = posting([producer], 2);
        desk.look_at(0);
        desk.run(2);
        join(posting);
        assert_eq!(desk.taken, [0, 1]);
        desk.end();
    });
}

/// The owner has no thread: who ends the ready ring's rest runs it. So no lock orders what the ready
/// ring and the mailboxes' tails must order.
struct Hosted(UnsafeCell<Option<Desk>>);

// SAFETY: loom checks that every access to the cell happens before or after every other; a model in
// which two could race fails before anything is touched.
unsafe impl Sync for Hosted {}
// SAFETY: as above.
unsafe impl Send for Hosted {}

impl Hosted {
    fn new<const N: usize>(capacity: usize) -> ([Producer<Letter>; N], Arc<Self>) {
        let hosted = Arc::new(Self(UnsafeCell::new(None)));
        let hook = Arc::clone(&hosted);
        let (producers, desk) = Desk::new(capacity, move || hook.run());
        // SAFETY: nobody else knows the cell yet.
        hosted.0.with_mut(|cell| unsafe { *cell = Some(desk) });
        hosted.run();
        (producers, hosted)
    }

    /// Runs the owner until the ready ring rests again. Only who has ended that rest may.
    fn run(&self) {
        loop {
            let desk = self.0.with_mut(|cell| {
                // SAFETY: loom checks that all other accesses happen before or after.
                let desk = unsafe { (*cell).as_mut() }?;
                desk.runs += 1;
                desk.take_ready();
                Some(core::ptr::from_mut(desk))
            });
            let Some(desk) = desk else {
                // It was taken out, and its mailboxes' ends have ended the last rests.
                return;
            };
            // SAFETY: this thread has ended the rest, or it is the first one, so nobody else touches
            // the owner before the exchange in `rest`, which touches nothing after it.
            match unsafe { (*desk).ready.ring.rest() } {
                Rest::Resting => return,
                // An index is not there yet.
                Rest::Look => yield_now(),
                other => unreachable!("{other:?}"),
            }
        }
    }

    /// Ends it. Only after all threads were joined.
    fn into_desk(self: Arc<Self>) -> Desk {
        // SAFETY: loom checks that all other accesses happen before.
        let desk = self.0.with_mut(|cell| unsafe { (*cell).take() });
        desk.expect("ended once")
    }
}

/// Waker cell: two mailboxes, each with a post.
#[test]
fn m17w_one_at_a_time() {
    check(preemptions(4, 3_500), || {
        let (producers, hosted) = Hosted::new::<2>(1);
        join(posting(producers, 1));
        let mut desk = hosted.into_desk();
        desk.taken.sort_unstable();
        assert_eq!(desk.taken, [0, 1]);
    });
}

/// Waker cell: indices go round the ready ring, whose slots are used again by others than before: a
/// post by right reads no head.
#[test]
fn m17c_slots_of_the_ready_ring_are_used_again() {
    check(preemptions(1, 6_000), || {
        let (producers, hosted) = Hosted::new::<2>(3);
        join(posting(producers, 3));
        let mut desk = hosted.into_desk();
        desk.taken.sort_unstable();
        assert_eq!(desk.taken, [0, 1, 2, 3, 4, 5]);
    });
}

/// An owner that never sleeps, so that no rest of the ready ring orders its slots: one mailbox's index
/// goes once round them, and another's, which has rested all the while, is put where the first was.
#[test]
fn m17c_slots_are_used_again_by_another() {
    check(preemptions(1, 1_800), || {
        let ([cycling, other], mut desk) = Desk::new::<2>(4, || ());
        let cycling = with(cycling, |cycling| {
            for id in 0..4 {
                cycling.try_post(Letter::new(id)).unwrap();
                yield_now();
            }
        });
        let other = with(other, |other| {
            yield_now();
            other.try_post(Letter::new(9)).unwrap();
        });
        while desk.taken.len() < 5 {
            desk.take_ready();
            yield_now();
        }
        join([cycling]);
        join([other]);
        desk.taken.retain(|id| *id != 9);
        assert_eq!(desk.taken, [0, 1, 2, 3]);
        desk.end();
    });
}

/// One mailbox's index goes round and round while another's comes.
#[test]
fn m17d_an_index_cycles_while_another_comes() {
    check(preemptions(2, 1_000), || {
        let ([cycling, other], mut desk) = Desk::new::<2>(4, || ());
        let posting = with(other, |other| other.try_post(Letter::new(9)).unwrap());
        for id in 0..4 {
            cycling.try_post(Letter::new(id)).unwrap();
            desk.take_ready();
        }
        desk.run(5);
        join([posting]);
        desk.taken.retain(|id| *id != 9);
        assert_eq!(desk.taken, [0, 1, 2, 3]);
        desk.end();
    });
}

/// No ordering, but the count of calls that are on their way.
#[test]
fn row_owed_left_out_of_a_rest() {
    assert_fails(
        "m17b_a_call_for_each_ended_rest",
        "owed",
        Relaxed,
        UNCOUNTED,
    );
    assert_fails("m17b_a_look_for_another_reason", "owed", Relaxed, UNCOUNTED);
}

/// The call itself.
#[test]
fn row_wake_left_out_of_a_rest() {
    assert_fails("m17b_a_call_for_each_ended_rest", "wake", Relaxed, DEADLOCK);
}

#[test]
fn row_n_nudge_releases_what_a_rest_looks_for() {
    assert_fails("m17n_nudge_against_a_rest", "n", Acquire, DEADLOCK);
}

#[test]
fn row_g_rest_acquires_what_was_nudged_for() {
    assert_fails("m17n_nudge_against_a_rest", "g", Release, DEADLOCK);
}

#[test]
fn row_g_rest_releases_the_owner() {
    assert_fails("m17w_one_at_a_time", "g", Acquire, RACE);
}

#[test]
fn row_b_index_hands_on_the_slots_that_were_taken() {
    assert_fails("m17c_slots_are_used_again_by_another", "b", Acquire, RACE);
}

//! The hand-off lock: one holder at a time, the next one by order of arrival, nobody stranded.
//!
//! The value lies in a cell that the checker watches: two holders at once, or one that does not see
//! what the holder before it did, fail the model.

mod model;

use core::sync::atomic::Ordering::Relaxed;
use loom::thread::JoinHandle;
use mailring::wait::Handoff;
use model::{Alarm, assert_fails, check, join, preemptions, unbounded, with};
use std::sync::Arc;
use std::task::Wake;

const RACE: &str = "Causality violation";

/// Who held the lock, in order.
type Turns = Arc<Handoff<Vec<u32>>>;

fn free() -> Turns {
    Arc::new(Handoff::new(Vec::new()))
}

/// A thread that locks once and says who it is.
fn locking(lock: &Turns, who: u32) -> JoinHandle<((), ())> {
    let lock = Arc::clone(lock);
    with((), move |()| lock.lock().push(who))
}

fn turns(lock: Turns) -> Vec<u32> {
    let lock = Arc::into_inner(lock).expect("all other threads are joined");
    assert!(!lock.has_waiters());
    lock.into_inner()
}

/// `who` came before `other`.
fn is_before(turns: &[u32], who: u32, other: u32) -> bool {
    let place = |who| turns.iter().position(|turn| *turn == who).unwrap();
    place(who) < place(other)
}

/// Two lock: each has its turn.
#[test]
fn m40_lock_against_unlock() {
    check(unbounded(20), || {
        let lock = free();
        let other = locking(&lock, 1);
        lock.lock().push(0);
        join([other]);
        assert_eq!(turns(lock).len(), 2);
    });
}

/// Three lock: each has its turn.
#[test]
fn m40_three_lock() {
    check(preemptions(3, 1_000), || {
        let lock = free();
        let others = [1, 2].map(|who| locking(&lock, who));
        lock.lock().push(0);
        join(others);
        assert_eq!(turns(lock).len(), 3);
    });
}

/// One that only tries, and one that waits.
#[test]
fn m41_try_lock_against_lock() {
    check(unbounded(10), || {
        let lock = free();
        let other = locking(&lock, 1);
        let tried = lock.try_lock().map(|mut guard| guard.push(0));
        join([other]);
        assert_eq!(turns(lock).len(), 1 + usize::from(tried.is_some()));
    });
}

/// One who waited before the release has it before the one that locks again (scenario 128).
#[test]
fn m42_waiter_comes_before_the_lock_again_scenario_128() {
    check(preemptions(5, 1_000), || {
        let lock = free();
        let mut guard = lock.lock();
        let other = locking(&lock, 1);
        guard.push(0);
        let waited = lock.has_waiters();
        drop(guard);
        lock.lock().push(2);
        join([other]);
        let turns = turns(lock);
        assert_eq!(turns.len(), 3);
        assert!(!waited || is_before(&turns, 1, 2), "overtaken: {turns:?}");
    });
}

/// Of two who wait the first comes first.
#[test]
fn m42_waiters_come_in_order() {
    check(preemptions(3, 500), || {
        let lock = free();
        let guard = lock.lock();
        let first = locking(&lock, 1);
        let waited = lock.has_waiters();
        let second = locking(&lock, 2);
        drop(guard);
        join([first, second]);
        let turns = turns(lock);
        assert_eq!(turns.len(), 2);
        assert!(!waited || is_before(&turns, 1, 2), "overtaken: {turns:?}");
    });
}

/// A holder that yields lets in who waits, and goes on afterwards.
#[test]
fn m43_yield_against_lock() {
    check(preemptions(5, 1_000), || {
        let lock = free();
        let mut guard = lock.lock();
        let other = locking(&lock, 1);
        let waited = lock.has_waiters();
        guard.yield_to_waiters();
        assert!(!waited || *guard == [1]);
        guard.push(0);
        drop(guard);
        join([other]);
        assert_eq!(turns(lock).len(), 2);
    });
}

/// Two yield to each other.
#[test]
fn m43_yield_against_yield() {
    check(preemptions(5, 500), || {
        let lock = free();
        let other = Arc::clone(&lock);
        let yielding = with((), move |()| {
            let mut guard = other.lock();
            guard.push(1);
            guard.yield_to_waiters();
            guard.push(2);
        });
        let mut guard = lock.lock();
        guard.push(3);
        guard.yield_to_waiters();
        guard.push(4);
        drop(guard);
        join([yielding]);
        let turns = turns(lock);
        assert_eq!(turns.len(), 4);
        assert!(is_before(&turns, 1, 2) && is_before(&turns, 3, 4));
    });
}

/// While it is unlocked another has it, without whom the one that unlocked would wait for ever.
#[test]
fn m44_unlocked_lets_in_who_is_waited_for() {
    check(unbounded(50), || {
        let lock = free();
        let mut guard = lock.lock();
        let (other, room) = (Arc::clone(&lock), Alarm::new());
        let making = with(Arc::clone(&room), move |room| {
            other.lock().push(1);
            Arc::clone(room).wake();
        });
        guard.unlocked(|| room.wait());
        guard.push(0);
        drop(guard);
        join([making]);
        assert_eq!(turns(lock), [1, 0]);
    });
}

#[test]
#[ignore = "must fail; run by a_lock_that_is_never_released"]
fn must_fail_nobody_releases() {
    check(unbounded(1), || {
        let lock = free();
        let _guard = lock.lock();
        let _again = lock.lock();
    });
}

#[test]
fn a_lock_that_is_never_released() {
    assert_fails("must_fail_nobody_releases", "none", Relaxed, "deadlock");
}

#[test]
fn row_h1_lock_acquires() {
    assert_fails("m41_try_lock_against_lock", "h1", Relaxed, RACE);
}

#[test]
fn row_h2_lock_in_line_acquires_what_was_released_meanwhile() {
    assert_fails("m40_lock_against_unlock", "h2", Relaxed, RACE);
}

#[test]
fn row_h3_unlock_releases() {
    assert_fails("m40_lock_against_unlock", "h3", Relaxed, RACE);
}

#[test]
fn row_h4_turn_releases() {
    assert_fails("m40_lock_against_unlock", "h4", Relaxed, RACE);
}

#[test]
fn row_h5_turn_acquires() {
    assert_fails("m40_lock_against_unlock", "h5", Relaxed, RACE);
}

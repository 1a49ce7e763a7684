//! Tests of the hand-off lock: one at a time, in the order they came, and nobody left waiting.

use super::*;
use crate::sync::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Yields until `holds`; for conditions that another thread is sure to bring about.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(240), "hangs");
        thread::yield_now();
    }
}

fn waiting<T>(lock: &Handoff<T>) -> usize {
    lock.line.lock().len()
}

#[test]
fn it_is_held_by_one_at_a_time() {
    let lock = Handoff::new(1);
    let mut guard = lock.lock();
    assert!(lock.try_lock().is_none());
    assert!(!lock.has_waiters());
    *guard += 1;
    drop(guard);
    *lock.try_lock().unwrap() += 1;
    assert_eq!(*lock.lock(), 3);
    assert_eq!(lock.into_inner(), 3);
}

#[test]
fn scenario_128_who_locks_again_goes_behind_who_waits() {
    let lock = Handoff::new(Vec::new());
    thread::scope(|scope| {
        let mut guard = lock.lock();
        scope.spawn(|| lock.lock().push("waited"));
        until(|| lock.has_waiters());
        guard.push("first");
        drop(guard);
        lock.lock().push("again");
    });
    assert_eq!(lock.into_inner(), ["first", "waited", "again"]);
}

#[test]
fn those_who_wait_come_in_order() {
    let lock = Handoff::new(Vec::new());
    thread::scope(|scope| {
        let guard = lock.lock();
        for place in 0..4 {
            let lock = &lock;
            scope.spawn(move || lock.lock().push(place));
            until(|| waiting(lock) > place);
        }
        drop(guard);
    });
    assert!(!lock.has_waiters());
    assert_eq!(lock.into_inner(), [0, 1, 2, 3]);
}

#[test]
fn a_holder_that_yields_goes_to_the_end_of_the_line() {
    let lock = Handoff::new(Vec::new());
    thread::scope(|scope| {
        let mut guard = lock.lock();
        guard.yield_to_waiters();
        for place in 0..2 {
            let lock = &lock;
            scope.spawn(move || lock.lock().push(place));
            until(|| waiting(lock) > place);
        }
        guard.yield_to_waiters();
        assert_eq!(*guard, [0, 1]);
    });
}

#[test]
fn others_have_it_while_it_is_unlocked() {
    let lock = Handoff::new(1);
    let mut guard = lock.lock();
    let seen = guard.unlocked(|| {
        *lock.lock() += 1;
        "what f returns"
    });
    assert_eq!((*guard, seen), (2, "what f returns"));
    assert!(lock.try_lock().is_none());
}

#[test]
fn a_panic_while_unlocked_locks_it_again_and_one_while_held_releases_it() {
    let lock = Handoff::new(1);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = lock.lock();
        let inner = catch_unwind(AssertUnwindSafe(|| guard.unlocked(|| panic!("unlocked"))));
        assert!(inner.is_err());
        assert!(lock.try_lock().is_none(), "it is locked again");
        *guard += 1;
        panic!("held");
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"held"));
    assert_eq!(*lock.try_lock().unwrap(), 2);
}

#[test]
fn no_turn_is_lost_and_none_is_taken_twice() {
    const THREADS: u64 = 4;
    let rounds: u64 = if cfg!(miri) { 20 } else { 1_000 };
    let lock = Handoff::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let lock = &lock;
            scope.spawn(move || {
                let mut guard = lock.lock();
                for round in 0..rounds {
                    let before = *guard;
                    *guard = before + 1;
                    match (round + thread) % 4 {
                        0 => guard.yield_to_waiters(),
                        1 => guard.unlocked(|| ()),
                        2 => {
                            drop(guard);
                            guard = lock.lock();
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    assert!(!lock.has_waiters());
    assert_eq!(lock.into_inner(), THREADS * rounds);
}

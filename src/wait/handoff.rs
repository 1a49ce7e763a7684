//! A hand-off lock: whoever waited first has it next, also where the holder wants it back at once.
//!
//! W9. The value is the holder's. A holder is made by whoever replaces `FREE`, or by being handed
//!     the lock by the holder before; so there is one at a time.
//! W10. `AWAITED` exactly while the line is not empty, seen under the line's lock, which also the
//!      change between `HELD` and `AWAITED` takes. `FREE` only where nobody waits, so that nobody
//!      overtakes: who releases an awaited lock hands it on.
//! W11. A turn comes once: its holder leaves only when it has come, and it comes only from a
//!      holder that took it out of the line.

use super::brief::spin;
use crate::sync::{Arc, AtomicU32, Mutex, Parker, UnsafeCell, order};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering::Relaxed;
use core::task::Poll;
use std::collections::VecDeque;

/// Nobody holds it, and nobody waits.
const FREE: u32 = 0;
/// Somebody holds it, and nobody waits.
const HELD: u32 = 1;
/// Somebody holds it, and somebody waits.
const AWAITED: u32 = 2;

/// A fair lock around a `T`: those who wait have it in the order they came.
///
/// A thread that releases it and locks it again at once goes behind everybody who was waiting
/// already. That costs a switch of threads where a barging lock would have gone on; take it where
/// each turn is worth that, as where two loops share one owner.
///
/// A panic while it is held releases it: there is no poisoning, and whoever comes next finds the
/// value as the panic left it.
///
/// ```
/// use mailring::wait::Handoff;
///
/// let shared = Handoff::new(1);
/// std::thread::scope(|scope| {
///     scope.spawn(|| *shared.lock() += 1);
///     let mut guard = shared.lock();
///     *guard += 1;
///     // While this thread has nothing to do with the value, others may.
///     guard.unlocked(|| ());
/// });
/// assert_eq!(shared.into_inner(), 3);
/// ```
pub struct Handoff<T> {
    state: AtomicU32,
    line: Mutex<VecDeque<Arc<Turn>>>,
    value: UnsafeCell<T>,
}

// SAFETY: W9: the value is passed from holder to holder, and is one thread's at a time.
unsafe impl<T: Send> Sync for Handoff<T> {}

/// A place in the line.
#[derive(Debug)]
struct Turn {
    come: AtomicU32,
    parker: Parker,
}

impl Turn {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            come: AtomicU32::new(0),
            parker: Parker::new(),
        })
    }

    /// Makes the one who waits the holder, and wakes it.
    fn come(&self) {
        // Release: pairs with Acquire in `look`; what all holders before did comes first.
        self.come.store(1, order!(h4, Release));
        self.parker.unpark();
    }

    fn look(&self) -> Poll<()> {
        // Acquire: pairs with Release in `come`.
        match self.come.load(order!(h5, Acquire)) {
            0 => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }

    /// Waits until it comes; `threads` take part.
    fn wait(&self, threads: usize) {
        if spin(threads, None, || self.look()).is_ready() {
            return;
        }
        while self.look().is_pending() {
            self.parker.park(None);
        }
    }
}

impl<T> Handoff<T> {
    /// A lock that is free.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            line: Mutex::new(VecDeque::new()),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks it, behind those who wait already. A thread that holds it already waits for ever.
    pub fn lock(&self) -> Guard<'_, T> {
        self.acquire();
        Guard::new(self)
    }

    /// Locks it if it is free.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.try_acquire().then(|| Guard::new(self))
    }

    /// Whether somebody waits for it: no promise that it still does.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        // Relaxed: a hint; whoever acts on it takes the line's lock.
        self.state.load(Relaxed) == AWAITED
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    fn try_acquire(&self) -> bool {
        // Acquire / Relaxed: pairs with Release in `release`; what the holder before did. A failure
        // tells nothing.
        self.state
            .compare_exchange(FREE, HELD, order!(h1, Acquire), Relaxed)
            .is_ok()
    }

    fn acquire(&self) {
        if !self.try_acquire() {
            self.acquire_in_line();
        }
    }

    #[cold]
    fn acquire_in_line(&self) {
        let turn = Turn::new();
        let mut line = self.line.lock();
        // Acquire: pairs with Release in `release`, where it was released meanwhile. Behind a
        // holder it is the line's lock and the turn that order.
        if self.state.swap(AWAITED, order!(h2, Acquire)) == FREE {
            // Relaxed: nobody else writes while it is awaited, but under the line's lock (W10).
            self.state.store(HELD, Relaxed);
            return;
        }
        line.push_back(Arc::clone(&turn));
        let threads = line.len() + 1;
        drop(line);
        turn.wait(threads);
    }

    fn release(&self) {
        // Release / Relaxed: pairs with Acquire in `try_acquire` and `acquire_in_line`; what was done
        // under the lock comes first. A failure is ordered by the line's lock.
        if self
            .state
            .compare_exchange(HELD, FREE, order!(h3, Release), Relaxed)
            .is_err()
        {
            self.hand_on(None);
        }
    }

    /// Hands an awaited lock to the first in line; `back` goes to its end.
    #[cold]
    fn hand_on(&self, back: Option<Arc<Turn>>) {
        let mut line = self.line.lock();
        let first = line.pop_front().expect("W10: an awaited lock has a line");
        line.extend(back);
        if line.is_empty() {
            // Relaxed: nobody else writes while it is awaited, but under the line's lock (W10); the
            // next holder releases after its turn has come.
            self.state.store(HELD, Relaxed);
        }
        drop(line);
        first.come();
    }

    /// Hands it on and goes to the end of the line, if there is one.
    fn yield_to_waiters(&self) {
        if !self.has_waiters() {
            return;
        }
        let turn = Turn::new();
        self.hand_on(Some(Arc::clone(&turn)));
        turn.wait(2);
    }
}

/// The holder's access to the value; dropped, it releases the lock.
#[must_use = "a guard that is dropped at once protects nothing"]
pub struct Guard<'a, T> {
    lock: &'a Handoff<T>,
    /// It can be sent and shared as a `&mut T` can.
    value: PhantomData<&'a mut T>,
}

impl<'a, T> Guard<'a, T> {
    /// For the one who has just acquired it.
    fn new(lock: &'a Handoff<T>) -> Self {
        Self {
            lock,
            value: PhantomData,
        }
    }

    /// Releases the lock while `f` runs, and locks it again, behind those who wait then; also where
    /// `f` panics.
    pub fn unlocked<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _again = LockAgain::after_release(self.lock);
        f()
    }

    /// Lets those who wait have the lock before it goes on; returns at once where nobody does.
    pub fn yield_to_waiters(&mut self) {
        self.lock.yield_to_waiters();
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: W9: a guard is the holder's, and lends it as long as it is borrowed.
        self.lock.value.with_mut(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: W9: a guard is the holder's, and lends it as long as it is borrowed.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.release();
    }
}

/// Locks a released lock again when it goes.
struct LockAgain<'a, T>(&'a Handoff<T>);

impl<'a, T> LockAgain<'a, T> {
    fn after_release(lock: &'a Handoff<T>) -> Self {
        lock.release();
        Self(lock)
    }
}

impl<T> Drop for LockAgain<'_, T> {
    fn drop(&mut self) {
        self.0.acquire();
    }
}

impl<T> fmt::Debug for Handoff<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff")
            .field("has_waiters", &self.has_waiters())
            .finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Guard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests;

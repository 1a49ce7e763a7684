//! Who had a timer: a run, or a cancel. What its handles and its owner share.
//!
//! TS1. A timer's word decides once who had it: the run that takes it from `WAITING`, the cancel, or
//!      the owner that drops it unrun.
//! TS2. A timer's place holds the key of its latest stay on the wheel, until its cancel puts `GONE`
//!      there for good. Both sides swap: if the cancel is first, the owner that puts the timer on
//!      the wheel finds `GONE` and takes it off again; if the owner is first, the cancel finds the
//!      key and tells the owner.

use super::wheel::Key;
use crate::sync::{Arc, AtomicU32, AtomicU64, Counter, Mutex, order};
use core::sync::atomic::Ordering::Relaxed;

/// Armed, or due and waiting to be run.
const WAITING: u32 = 0;
/// Its callback runs.
const RUNNING: u32 = 1;
/// It will not run again.
const CANCELLED: u32 = 2;
/// It has run, and was to run once.
const DONE: u32 = 3;

/// It has not been on the wheel.
const NOWHERE: u64 = 0;
/// It was cancelled, and is not wanted on the wheel. Only the last use of the last of 2^32 places
/// would have this key.
const GONE: u64 = u64::MAX;

/// A timer that was set; any thread may cancel it. Dropping the handle changes nothing.
#[derive(Clone, Debug)]
pub struct Timer {
    state: Arc<State>,
}

/// See above.
#[derive(Debug)]
pub(super) struct State {
    word: AtomicU32,
    is_periodic: bool,
    place: AtomicU64,
    cancelled: Arc<Cancelled>,
}

/// Timers that were cancelled and lie on the wheel still: for their owner to throw out.
#[derive(Debug, Default)]
pub(super) struct Cancelled {
    count: Counter,
    keys: Mutex<Vec<Key>>,
}

impl Timer {
    pub(super) fn new(is_periodic: bool, cancelled: &Arc<Cancelled>) -> (Self, Arc<State>) {
        let state = Arc::new(State {
            word: AtomicU32::new(WAITING),
            is_periodic,
            place: AtomicU64::new(NOWHERE),
            cancelled: Arc::clone(cancelled),
        });
        let timer = Self {
            state: Arc::clone(&state),
        };
        (timer, state)
    }

    /// Cancels it. Returns whether its callback will not run, or not run again: `false` says that a
    /// timer for one run has run or is running.
    ///
    /// What the callback has captured is dropped on the owner's thread, when the owner looks for
    /// timers next: that is soon while it has work, and where it sleeps, when its sleep ends.
    pub fn cancel(&self) -> bool {
        // Relaxed: a first guess for the exchange; whom it refuses learns no more.
        let mut word = self.state.word.load(Relaxed);
        loop {
            match word {
                CANCELLED => return true,
                DONE => return false,
                RUNNING if !self.state.is_periodic => return false,
                _ => {}
            }
            // AcqRel: pairs with Release in `end`: the runs that are over are seen here; and with
            // Acquire in `give_up` and `is_pending`: what came before the cancel is seen where it
            // is met.
            // Relaxed: as above.
            match self
                .state
                .word
                .compare_exchange_weak(word, CANCELLED, order!(v, AcqRel), Relaxed)
            {
                Ok(_) => {
                    self.state.leave_wheel();
                    return true;
                }
                Err(newer) => word = newer,
            }
        }
    }

    /// Whether it may still run: it is armed, due, or running and periodic.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        // Acquire: pairs with Release in `cancel`; who finds it cancelled sees what came before.
        match self.state.word.load(order!(v1, Acquire)) {
            WAITING => true,
            RUNNING => self.state.is_periodic,
            _ => false,
        }
    }
}

impl State {
    /// Takes the right to run it.
    pub(super) fn start(&self) -> bool {
        // Relaxed: the callback is the owner's own, and who finds it running learns no more. Where
        // it was cancelled, `give_up` acquires.
        self.word
            .compare_exchange(WAITING, RUNNING, Relaxed, Relaxed)
            .is_ok()
    }

    /// After a run; whether it goes on.
    pub(super) fn end(&self) -> bool {
        let next = if self.is_periodic { WAITING } else { DONE };
        // Release: pairs with Acquire in `cancel`; the run comes first.
        // Relaxed: `give_up` acquires.
        self.word
            .compare_exchange(RUNNING, next, order!(v3, Release), Relaxed)
            .is_ok()
            && self.is_periodic
    }

    /// The owner drops it: unrun, it will not run, and so it says.
    pub(super) fn give_up(&self) {
        // Relaxed: nothing was done that anybody could see.
        // Acquire: pairs with Release in `cancel`; what its callback has captured is dropped after
        // what came before the cancel.
        let _unless_it_has_run =
            self.word
                .compare_exchange(WAITING, CANCELLED, Relaxed, order!(v2, Acquire));
    }

    /// Its owner has put it on the wheel; whether it may stay there.
    #[must_use]
    pub(super) fn enter_wheel(&self, key: Key) -> bool {
        // Relaxed: TS2, of one word alone.
        let before = self.place.swap(key.to_bits(), Relaxed);
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("gone") {
            return true;
        }
        before != GONE
    }

    /// Has the owner throw it out.
    fn leave_wheel(&self) {
        // Relaxed: TS2, of one word alone. A stale key removes nothing.
        if let Some(key) = Key::from_bits(self.place.swap(GONE, Relaxed)) {
            self.cancelled.keys.lock().push(key);
            self.cancelled.count.increment();
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        // Relaxed: a hint; `give_up` acquires.
        self.word.load(Relaxed) == CANCELLED
    }
}

impl Cancelled {
    /// How many keys have been put here, all in all.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count.get()
    }

    /// Moves the keys to `taken`, which is empty.
    pub(super) fn take(&self, taken: &mut Vec<Key>) {
        core::mem::swap(&mut *self.keys.lock(), taken);
    }
}

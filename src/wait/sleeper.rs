//! Where the one owner of something sleeps: as a thread, as a task, or driven by a hook.
//!
//! W2. Who may call `wake` is decided elsewhere, by one word: a wake follows each park exactly
//!     once, or is harmless. A sleeper only delivers it.

use super::wakes::Wakes;
use crate::sync::{Counter, Mutex, Parker};
use core::task::Waker;
use std::time::Instant;

/// What to call to have the owner run, for owners driven by somebody else's loop.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// Wakes the owner, however it sleeps.
pub(crate) struct Sleeper {
    parker: Parker,
    /// The waker of an owner polled as a future; taken by the wake.
    waker: Mutex<Option<Waker>>,
    hook: Option<Hook>,
    parks: Counter,
    wakes: Counter,
}

impl Sleeper {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self {
            parker: Parker::new(),
            waker: Mutex::new(None),
            hook,
            parks: Counter::default(),
            wakes: Counter::default(),
        }
    }

    /// Puts the owner's thread to sleep; may return for no reason.
    pub(crate) fn park(&self, deadline: Option<Instant>) {
        self.parks.increment();
        self.parker.park(deadline);
    }

    /// A sleep that only naps: not counted as a park.
    pub(crate) fn nap(&self, deadline: Instant) {
        self.parker.park(Some(deadline));
    }

    /// The task to wake instead of a thread, from now until the next wake.
    pub(crate) fn register(&self, waker: &Waker) {
        // Cloned before the lock, and what it replaces is dropped after it: both are caller code.
        let waker = waker.clone();
        let _replaced = self.waker.lock().replace(waker);
    }

    /// Wakes an owner that is at rest: calls its hook, if it has one.
    pub(crate) fn call(&self) {
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("wake") {
            return;
        }
        if let Some(hook) = &self.hook {
            self.wakes.increment();
            hook();
        }
    }

    /// Wakes the owner (W2) as a thread and as a task, also where its waker panics.
    pub(crate) fn wake(&self) {
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("wake") {
            return;
        }
        Wakes::give_all(|wakes| {
            self.nudge();
            let waker = self.waker.lock().take();
            if let Some(waker) = waker {
                self.wakes.increment();
                wakes.give(|| waker.wake());
            }
        });
    }

    /// Wakes the owner's thread if it sleeps, and nobody else: harmless when not called for.
    pub(crate) fn nudge(&self) {
        if self.parker.unpark() {
            self.wakes.increment();
        }
    }

    /// How often the owner's thread went to sleep.
    pub(crate) fn parks(&self) -> u64 {
        self.parks.get()
    }

    /// How often somebody had to wake it: by a system call, a waker or the hook.
    pub(crate) fn wakes(&self) -> u64 {
        self.wakes.get()
    }
}

impl core::fmt::Debug for Sleeper {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sleeper")
            .field("parks", &self.parks.get())
            .field("wakes", &self.wakes.get())
            .finish_non_exhaustive()
    }
}

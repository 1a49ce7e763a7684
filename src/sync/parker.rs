//! A parker: puts one thread to sleep until another wakes it, at most one wake remembered.
//!
//! P1. The state is EMPTY, NOTIFIED or PARKED; only the parking thread leaves PARKED or NOTIFIED
//!     for EMPTY, only an unparker enters NOTIFIED.
//! P2. A wake before the park makes the park return at once; a park may return for no reason.
//!
//! Callers loop on their own condition: a return is a hint, never information. Linux sleeps on a
//! futex word of its own, so that somebody else's `Thread::unpark` cannot even be noticed; other
//! systems and the model use a mutex and a condition variable.

use std::time::Instant;

#[cfg(not(all(target_os = "linux", not(mailring_loom))))]
pub(crate) use on_condvar::Parker;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
pub(crate) use on_futex::Parker;

#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod on_futex {
    use super::super::{AtomicU32, futex};
    use super::Instant;
    use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    const EMPTY: u32 = 0;
    const NOTIFIED: u32 = 1;
    const PARKED: u32 = 2;

    /// Sleeps on a futex word.
    #[derive(Debug, Default)]
    pub(crate) struct Parker {
        state: AtomicU32,
    }

    impl Parker {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// Sleeps until unparked, or until `deadline` where there is one.
        pub(crate) fn park(&self, deadline: Option<Instant>) {
            // Acquire / Acquire: pairs with Release in `unpark`; what was written before the
            // wake is seen after it.
            if self
                .state
                .compare_exchange(EMPTY, PARKED, Acquire, Acquire)
                .is_ok()
            {
                futex::wait(&self.state, PARKED, deadline);
            }
            // Acquire: as above. The swap takes a wake that came meanwhile (P1).
            self.state.swap(EMPTY, Acquire);
        }

        /// Wakes the thread that parks here, or lets its next park return at once. Returns
        /// whether a system call was needed.
        pub(crate) fn unpark(&self) -> bool {
            // Release: pairs with Acquire in `park`.
            if self.state.swap(NOTIFIED, Release) == PARKED {
                futex::wake_one(&self.state);
                return true;
            }
            false
        }

        /// Whether a wake is waiting to be taken.
        pub(crate) fn is_notified(&self) -> bool {
            // Relaxed: the one that sees it goes on to `park`, which acquires.
            self.state.load(Relaxed) == NOTIFIED
        }
    }
}

#[cfg(not(all(target_os = "linux", not(mailring_loom))))]
mod on_condvar {
    use super::super::{Condvar, Mutex};
    use super::Instant;
    use std::sync::PoisonError;

    /// Sleeps on a condition variable.
    #[derive(Debug, Default)]
    pub(crate) struct Parker {
        notified: Mutex<bool>,
        changed: Condvar,
    }

    impl Parker {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// Sleeps until unparked, or until `deadline` where there is one. In the model a
        /// deadline has always passed: the wait gives up after another thread has run.
        pub(crate) fn park(&self, deadline: Option<Instant>) {
            let mut notified = self.notified.lock();
            while !*notified {
                match deadline {
                    None => {
                        notified = self
                            .changed
                            .wait(notified)
                            .unwrap_or_else(PoisonError::into_inner);
                    }
                    #[cfg(mailring_loom)]
                    Some(_) => {
                        drop(notified);
                        super::super::yield_now();
                        return;
                    }
                    #[cfg(not(mailring_loom))]
                    Some(deadline) => {
                        let left = deadline.saturating_duration_since(Instant::now());
                        if left.is_zero() {
                            return;
                        }
                        notified = self
                            .changed
                            .wait_timeout(notified, left)
                            .unwrap_or_else(PoisonError::into_inner)
                            .0;
                    }
                }
            }
            *notified = false;
        }

        /// Wakes the thread that parks here, or lets its next park return at once. Returns
        /// whether the wake was new.
        pub(crate) fn unpark(&self) -> bool {
            let mut notified = self.notified.lock();
            let new = !core::mem::replace(&mut *notified, true);
            drop(notified);
            self.changed.notify_one();
            new
        }

        /// Whether a wake is waiting to be taken.
        pub(crate) fn is_notified(&self) -> bool {
            *self.notified.lock()
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::Parker;
    use std::time::{Duration, Instant};

    #[test]
    fn a_wake_before_the_park_is_remembered_once() {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        parker.park(None);
        assert!(!parker.is_notified());
        let deadline = Instant::now() + Duration::from_millis(1);
        parker.park(Some(deadline));
    }

    #[test]
    fn a_parked_thread_is_woken() {
        let parker = Parker::new();
        std::thread::scope(|scope| {
            scope.spawn(|| parker.park(None));
            // Before the park or during it: either way it returns.
            parker.unpark();
        });
    }
}

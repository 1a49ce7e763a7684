//! Where the threads of a round wait for each other, so that all begin at once.

use crate::clock::{Clock, Ticks};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

/// It opens when all threads are at it. Whoever waits stays awake, for a thread that has to be woken
/// begins late.
#[derive(Debug)]
pub(crate) struct Gate<'a> {
    clock: &'a Clock,
    missing: AtomicUsize,
    /// The moment it opened; [`SHUT`] or [`CANCELLED`] else.
    opened: AtomicU64,
}

const SHUT: Ticks = 0;
const CANCELLED: Ticks = Ticks::MAX;

/// The threads of a round cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a thread cannot be started: {0}")]
pub struct NoThread(io::ErrorKind);

impl NoThread {
    /// For this reason.
    pub(crate) fn of(error: &io::Error) -> Self {
        Self(error.kind())
    }
}

/// Sends those home that wait at a gate, unless all have come to be started.
struct Starting<'a>(&'a Gate<'a>);

impl<'a> Gate<'a> {
    /// For so many threads.
    pub(crate) fn new(clock: &'a Clock, threads: usize) -> Self {
        Self {
            clock,
            missing: AtomicUsize::new(threads),
            opened: AtomicU64::new(SHUT),
        }
    }

    /// Starts threads, all those that will come to this gate, by a function that may fail to do so.
    pub(crate) fn start<T>(
        &self,
        threads: impl FnOnce() -> Result<T, NoThread>,
    ) -> Result<T, NoThread> {
        let starting = Starting(self);
        let started = threads()?;
        std::mem::forget(starting);
        Ok(started)
    }

    /// Waits for the others. Returns the moment the gate opened, the same for all; nothing if it
    /// never will.
    pub(crate) fn pass(&self) -> Option<Ticks> {
        // Relaxed: what the threads made before they were started needs no order here; the last of
        // them only says when.
        if self.missing.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.settle(self.clock.now().clamp(SHUT + 1, CANCELLED - 1));
        }
        loop {
            // Relaxed: the value is all there is to say.
            match self.opened.load(Ordering::Relaxed) {
                SHUT => thread::yield_now(),
                CANCELLED => return None,
                moment => return Some(moment),
            }
        }
    }

    fn settle(&self, state: Ticks) {
        // Relaxed: as above. Whoever comes first says how it is.
        let _ = self
            .opened
            .compare_exchange(SHUT, state, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.settle(CANCELLED);
    }
}

/// A thread of this scope, where the system can start one.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, NoThread> {
    let started = thread::Builder::new().spawn_scoped(scope, body);
    started.map_err(|error| NoThread::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn all_begin_at_the_moment_at_which_the_last_one_came() {
        let clock = Clock::shared();
        let gate = &Gate::new(clock, 3);
        thread::scope(|scope| {
            let start = || {
                let first = spawn(scope, || gate.pass())?;
                let second = spawn(scope, || gate.pass())?;
                Ok([first, second])
            };
            let others = gate.start(start).expect("two threads");
            let before = clock.now();
            let moment = gate.pass().expect("it opens");
            assert!(before <= moment && moment <= clock.now());
            for other in others {
                assert_eq!(other.join().expect("no panic"), Some(moment));
            }
        });
    }

    #[test]
    fn nobody_waits_for_threads_that_could_not_be_started() {
        let gate = &Gate::new(Clock::shared(), 2);
        let failure = NoThread(io::ErrorKind::WouldBlock);
        let started = thread::scope(|scope| {
            gate.start(|| {
                spawn(scope, || assert_eq!(gate.pass(), None))?;
                Err::<(), _>(failure)
            })
        });
        assert_eq!(started, Err(failure));
    }

    #[test]
    fn nobody_waits_for_one_that_panicked_while_it_started_them() {
        let gate = &Gate::new(Clock::shared(), 2);
        let scope = || {
            thread::scope(|scope| {
                gate.start::<()>(|| {
                    spawn(scope, || assert_eq!(gate.pass(), None))?;
                    panic!("on purpose");
                })
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(scope)).is_err());
    }
}

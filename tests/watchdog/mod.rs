//! Outer limits: a test that hangs fails instead.

#![allow(dead_code, reason = "each test crate takes what it needs")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What a hang is told by; all work here ends in a small part of it.
const LIMIT: Duration = Duration::from_secs(240);

/// Runs `work` on a thread of its own and hands on its panic; fails if it hangs.
pub(crate) fn watched<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    watched_for(LIMIT, work)
}

/// As `watched`, with a limit of one's own.
pub(crate) fn watched_for<R: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (done, outcome) = channel();
    let worker = thread::spawn(move || {
        // Nobody listens any more where the limit has passed.
        let _ = done.send(work());
    });
    match outcome.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("hangs: not done after {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Ok(()) => unreachable!("it sends before it ends"),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Yields until `holds`; for conditions that another thread is sure to bring about.
pub(crate) fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < LIMIT,
            "hangs: what was waited for is not so"
        );
        thread::yield_now();
    }
}

/// A number generator small enough to be obvious; the same numbers in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn roll(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// Spins for up to `bound` hints: shifts two threads against each other.
    pub(crate) fn dawdle(&mut self, bound: u64) {
        for _ in 0..self.roll(bound) {
            std::hint::spin_loop();
        }
    }
}

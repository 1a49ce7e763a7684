//! Relaxed numbers: event counters and learnt estimates, no part of any protocol.
//!
//! They are plain atomics in the model too: nothing is decided by them that a model could get
//! wrong, and the checker need not explore their values.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Counts events; readers see a value that may be stale.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        // Relaxed: a statistic; nothing is read because of it.
        self.0.fetch_add(1, Relaxed);
    }

    pub(crate) fn add(&self, count: u64) {
        // Relaxed: a statistic; nothing is read because of it.
        self.0.fetch_add(count, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: a statistic; nothing is read because of it.
        self.0.load(Relaxed)
    }
}

/// Counts events of one thread at a time, without a locked instruction; others only read it.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        // Relaxed: a statistic with one writer.
        self.0
            .store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// Keeps the larger of what it holds and `value`.
    #[inline]
    pub(crate) fn raise_to(&self, value: u64) {
        // Relaxed: a statistic with one writer.
        if value > self.0.load(Relaxed) {
            self.0.store(value, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        // Relaxed: a statistic with one writer.
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: a statistic; nothing is read because of it.
        self.0.load(Relaxed)
    }
}

/// A learnt number that any thread may correct; a lost correction does no harm.
#[derive(Debug)]
pub(crate) struct Estimate(AtomicU64);

impl Estimate {
    pub(crate) const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: an estimate; nothing is read because of it.
        self.0.load(Relaxed)
    }

    pub(crate) fn set(&self, value: u64) {
        // Relaxed: an estimate; nothing is read because of it.
        self.0.store(value, Relaxed);
    }
}

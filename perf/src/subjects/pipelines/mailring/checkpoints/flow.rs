//! Numbers that flow until they are told to end.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tells a source of numbers to end, and is told how many it made.
#[derive(Clone, Default)]
pub(super) struct Flow(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    made: AtomicU64,
}

impl Flow {
    /// Numbers from 0 on.
    pub(super) fn numbers(&self) -> Flowing {
        Flowing {
            next: 0,
            shared: Arc::clone(&self.0),
        }
    }

    /// Has the numbers end soon.
    pub(super) fn end(&self) {
        // Relaxed: it says when to stop and orders nothing.
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// How many there were, once the job has ended.
    pub(super) fn made(&self) -> u64 {
        // Relaxed: the job's end comes after it.
        self.0.made.load(Ordering::Relaxed)
    }
}

/// See above. The compiler knows none of them.
pub(super) struct Flowing {
    next: u64,
    shared: Arc<Shared>,
}

impl Iterator for Flowing {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.nth(0)
    }

    /// Without making those that are left out.
    #[inline]
    fn nth(&mut self, left_out: usize) -> Option<u64> {
        // Relaxed: as above.
        if self.shared.is_over.load(Ordering::Relaxed) {
            self.shared.made.store(self.next, Ordering::Relaxed);
            return None;
        }
        let number = self.next + left_out as u64;
        self.next = number + 1;
        Some(black_box(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_when_they_are_told_and_are_counted() {
        let flow = Flow::default();
        let mut numbers = flow.numbers();
        assert!(numbers.by_ref().take(3).eq(0..3));
        assert_eq!(numbers.nth(4), Some(7));
        flow.end();
        assert_eq!((numbers.next(), flow.made()), (None, 8));
    }
}

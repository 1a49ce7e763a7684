//! What this tool does between two looks where the subject is not to wait by itself.

use std::hint::spin_loop;
use std::thread;

/// The one policy of all *same waiting* runs, and that of subjects that leave waiting to their user:
/// some spin hints after each look that found nothing; where there are more threads than CPUs, a
/// yield after each such look from the 21st in a row on.
///
/// With one hint a consumer looks again as soon as it can: round trips are shortest, and a stream of
/// letters is slow, for it is looked at while it is being written. As shipped, subjects that leave
/// waiting to their user are given what streams best over all of them, of 1 to 64 hints.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    hints: u32,
    looks_before_yield: u32,
    looks: u32,
}

impl Pause {
    /// So many spin hints after a look. Yields where the threads are `crowded`, and never
    /// otherwise.
    #[must_use]
    pub fn new(hints: u32, crowded: bool) -> Self {
        Self {
            hints,
            looks_before_yield: if crowded {
                LOOKS_BEFORE_YIELD
            } else {
                u32::MAX
            },
            looks: 0,
        }
    }

    /// To be called after a look that found something.
    #[inline]
    pub fn found(&mut self) {
        self.looks = 0;
    }

    /// To be called after a look that found nothing.
    #[inline]
    pub fn wait(&mut self) {
        if self.looks < self.looks_before_yield {
            self.looks += 1;
            for _ in 0..self.hints {
                spin_loop();
            }
        } else {
            thread::yield_now();
        }
    }
}

const LOOKS_BEFORE_YIELD: u32 = 20;

/// Spin hints after a look where this tool waits, for all alike.
pub const SAME_HINTS: u32 = 1;

/// Spin hints after a look of subjects that leave waiting to their user: measured, letter by letter
/// and in batches of 16, the best of 1, 4, 8, 16, 32 and 64 for rtrb and both disruptors, and near
/// the best for the array queue.
pub const OWN_HINTS: u32 = 16;

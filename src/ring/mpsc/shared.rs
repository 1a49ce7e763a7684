//! What the handles of one ring share, each group of words on its own cache line.
//!
//! R1. A sequence below `head + capacity` has been released by the consumer: its slot holds no
//!     value, and nobody but its claimer writes there.
//! R9. When the last handle goes, nothing is claimed and unpublished: a claim borrows a handle.

use super::slots::Slots;
use super::words::{RELEASED, SEQUENCE};
use crate::ring::capacity::{self, CapacityError};
use crate::ring::leftovers::drop_in_slots;
use crate::ring::protocol::Config;
use crate::sync::{AtomicU64, AtomicUsize, Counter};
use crate::wait::{Line, Sleeper};
use crossbeam_utils::CachePadded;

/// The shared part of the ring.
pub struct Ring<T> {
    pub(super) tail: CachePadded<AtomicU64>,
    pub(super) head: CachePadded<AtomicU64>,
    pub(super) fixed: CachePadded<Fixed<T>>,
    pub(super) cold: CachePadded<Cold>,
}

/// Never written after creation; slots and the reservations' pending words lie elsewhere.
pub(super) struct Fixed<T> {
    pub(super) slots: Slots<T>,
    pub(super) config: Config,
    pub(super) pending: Pending,
}

/// The pending words of the reservations: each on lines of its own, or close together.
pub(super) struct Pending {
    words: Box<[AtomicU64]>,
    stride: usize,
}

impl Pending {
    const STRIDE: usize = size_of::<CachePadded<AtomicU64>>() / size_of::<AtomicU64>();

    pub(super) fn new(capacity: usize, count: usize, close: bool) -> Result<Self, CapacityError> {
        let stride = if close || cfg!(mailring_loom) {
            1
        } else {
            Self::STRIDE
        };
        let words = capacity::allocate(capacity, count.saturating_mul(stride), |_| {
            AtomicU64::new(0)
        })?;
        Ok(Self { words, stride })
    }

    pub(super) fn count(&self) -> usize {
        self.words.len() / self.stride
    }

    /// The word of reservation `index`.
    ///
    /// # Panics
    /// If there is no such reservation.
    pub(super) fn word(&self, index: usize) -> &AtomicU64 {
        &self.words[index * self.stride]
    }
}

/// Touched when handles come and go, and when somebody waits.
pub(super) struct Cold {
    pub(super) producers: AtomicUsize,
    pub(super) sleeper: Sleeper,
    pub(super) line: Line,
    pub(super) producer_waits: Counter,
}

// SAFETY: R1, R2 and R3: a value is written by the one claimer of its sequence, and moved out by the
// one consumer after it was published; values only move through, so `T: Send` is enough.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: R3: the ring owns the values it holds.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    #[inline(always)]
    pub(super) fn capacity(&self) -> u64 {
        self.fixed.config.capacity as u64
    }

    /// How far `tail` is ahead of `head`, both with their flags.
    pub(super) fn distance(tail: u64, head: u64) -> u64 {
        (tail & SEQUENCE).saturating_sub(head & RELEASED)
    }
}

impl<T> core::fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ring")
            .field("len", &self.letters())
            .finish_non_exhaustive()
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let head = crate::sync::get_mut(&mut self.head) & RELEASED;
        let end = crate::sync::get_mut(&mut self.tail) & SEQUENCE;
        let slots = &self.fixed.slots;
        drop_in_slots(head, end, |sequence| {
            let value = &slots.slot(sequence).value;
            // SAFETY: R3 and R9: every sequence from head to end is published and not taken, and
            // nobody else can reach it any more; each is dropped once.
            value.with_mut(|value| unsafe { (*value).assume_init_drop() });
        });
    }
}

//! What the two handles of a ring share, each writer's words on its own cache line.
//!
//! R11. Slots of sequences from head to tail hold a value; the producer alone writes the others,
//!      the consumer alone moves out of these. Tail and head only grow, each by its one writer,
//!      but for the letter that R12 takes back.
//! R12. The end of a closed ring is decided once, in `end`: by a post that published its letter
//!      and then saw CLOSED, as behind its letter; or by the consumer, as the tail that it sees
//!      after the heavy barrier of its close (a close by the producer comes after all posts). By
//!      that barrier one of the two sees the other. What the consumer saw of tail is never behind
//!      the end; a letter at or behind the end is not the consumer's: its post takes it back, and
//!      no caller code runs before it has. A batch cannot be taken back: `posting` is set from
//!      before it looks at CLOSED until after its store of tail, and while it is set the consumer
//!      decides nothing.
//! R13. A sleeper sets its flag, passes the heavy barrier, and looks once more before it sleeps;
//!      the other side stores, passes the light barrier, and looks at the flag: at least one of
//!      the two sees the other (S1). Whoever clears the flag owes one wake.

use crate::ring::ahead;
use crate::ring::leftovers::drop_in_slots;
use crate::ring::lines::Lines;
use crate::ring::protocol::Config;
use crate::sync::{AtomicU32, AtomicU64, Counter, StoreLoad, UnsafeCell, get_mut, order};
use crate::wait::{Sleeper, Wakes};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// In either side's word: that side sleeps.
pub(super) const SLEEPING: u32 = 1;
/// In the consumer's word: letters are refused.
pub(super) const CLOSED: u32 = 2;

/// In `end`: as long as the ring is open, and until the first who needs it has decided.
pub(super) const UNDECIDED: u64 = u64::MAX;

/// The shared part of the ring.
pub struct Ring<T> {
    /// The next sequence to publish; written by the producer.
    pub(super) tail: CachePadded<AtomicU64>,
    /// The next sequence to release; written by the consumer.
    pub(super) head: CachePadded<AtomicU64>,
    /// Whether a batch is going on; written by the producer, read by whoever ends the ring.
    pub(super) posting: CachePadded<AtomicU32>,
    /// SLEEPING and CLOSED; quiet, so it stays in the producer's cache.
    pub(super) consumer_word: CachePadded<AtomicU32>,
    /// SLEEPING; quiet, so it stays in the consumer's cache.
    pub(super) producer_word: CachePadded<AtomicU32>,
    pub(super) fixed: CachePadded<Fixed<T>>,
    pub(super) cold: CachePadded<Cold>,
}

/// Never written after creation.
pub(super) struct Fixed<T> {
    pub(super) slots: Lines<Slot<T>>,
    pub(super) config: Config,
    pub(super) barrier: StoreLoad,
}

/// Touched when somebody waits, and when the ring ends.
pub(super) struct Cold {
    /// Where the letters of a closed ring end, or UNDECIDED.
    pub(super) end: AtomicU64,
    pub(super) consumer: Sleeper,
    pub(super) producer: Sleeper,
    pub(super) producer_waits: Counter,
}

// SAFETY: R11: each slot has one side that may touch it at a time, handed over by tail and head;
// values only move through, so `T: Send` is enough.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: R11: the ring owns the values it holds.
unsafe impl<T: Send> Send for Ring<T> {}

/// A slot, which holds a value or not.
pub(super) type Slot<T> = UnsafeCell<MaybeUninit<T>>;

impl<T> Ring<T> {
    #[inline(always)]
    pub(super) fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.fixed.slots.len() - 1)
    }

    /// The slots of `count` sequences from `first` on: those until the end of the ring, and those
    /// from its start.
    #[inline(always)]
    pub(super) fn slots(&self, first: u64, count: usize) -> [&[Slot<T>]; 2] {
        let (before, from_first) = self.fixed.slots.split_at(self.index(first));
        let until_end = count.min(from_first.len());
        [&from_first[..until_end], &before[..count - until_end]]
    }

    /// Asks for cache lines that are to be written some posts after `count` from `first` on.
    #[inline(always)]
    pub(super) fn ask_ahead_of(&self, first: u64, count: u64) {
        let fixed = &self.fixed;
        ahead::ask_for(&fixed.slots, first + fixed.config.ahead(), count);
    }

    #[inline(always)]
    pub(super) fn slot(&self, sequence: u64) -> &Slot<T> {
        let slots = &*self.fixed.slots;
        let index = self.index(sequence);
        debug_assert!(index < slots.len());
        // SAFETY: R11: the number of slots is a power of two, at least one, so the masked index is
        // in bounds.
        unsafe { slots.get_unchecked(index) }
    }

    /// Clears SLEEPING in `word`; whether it was set, so that the caller owes the wake.
    #[cold]
    pub(super) fn end_sleep(word: &AtomicU32) -> bool {
        // Relaxed: one word decides which of several clears owes the wake; the barriers order it
        // with what the sleeper waits for (R13), and the wake brings its own order.
        word.fetch_and(!SLEEPING, Relaxed) & SLEEPING != 0
    }

    /// Sets CLOSED and ends the consumer's sleep in one exchange, then ends the producer's;
    /// whether this call closed.
    pub(super) fn close_ring(&self) -> bool {
        // Relaxed: a first guess for the exchange.
        let mut word = self.consumer_word.load(Relaxed);
        // Release / Relaxed: pairs with Acquire in looks at CLOSED; the last tail is seen after it.
        while let Err(newer) = self.consumer_word.compare_exchange_weak(
            word,
            (word | CLOSED) & !SLEEPING,
            order!(s5, Release),
            Relaxed,
        ) {
            word = newer;
        }
        Wakes::give_all(|wakes| {
            if word & SLEEPING != 0 {
                wakes.give(|| self.cold.consumer.wake());
            }
            // R12: a post that does not see CLOSED after its store of tail has stored it before this.
            self.fixed.barrier.heavy();
            if Self::end_sleep(&self.producer_word) {
                wakes.give(|| self.cold.producer.wake());
            }
        });
        word & CLOSED == 0
    }

    pub(super) fn closed(&self) -> bool {
        // Acquire: pairs with the exchange that closed; what came before it is seen.
        self.consumer_word.load(order!(s5, Acquire)) & CLOSED != 0
    }

    pub(super) fn letters(&self) -> usize {
        // Acquire: pairs with Release in `release`; head first, so the difference is never
        // negative.
        let head = self.head.load(order!(s2, Acquire));
        // Acquire: pairs with Release in `publish`.
        let tail = self.tail.load(order!(s1, Acquire));
        (tail.saturating_sub(head) as usize).min(self.fixed.config.capacity)
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
        let head = get_mut(&mut self.head);
        let end = get_mut(&mut self.tail);
        drop_in_slots(head, end, |sequence| {
            let slot = self.slot(sequence);
            // SAFETY: R11: slots from head to tail hold a value, and nobody else can reach them any
            // more; each is dropped once.
            slot.with_mut(|value| unsafe { (*value).assume_init_drop() });
        });
    }
}

//! What senders and owner of one mailbox share beside its rings.

use crate::sync::{AtomicU32, AtomicU64, Counter, Tally, order, this_thread};
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// There are urgent letters that the owner has not taken note of.
pub(super) const URGENT: u32 = 1 << 31;

/// Its address is the mailbox's identity: one is made for each mailbox and handed out with its
/// letter and owner types alone.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What the owner is to look at besides the main ring; on a line that is quiet, since nobody
    /// writes there but for what is rare. One flag is the mailbox's, the others are of whoever
    /// drives it.
    flags: CachePadded<AtomicU32>,
    /// The thread that drove the mailbox last; 0 before the first.
    owner: AtomicU64,
    pub(super) rejected: Counter,
    pub(super) blocked_ns: Counter,
    pub(super) depth: Tally,
    pub(super) depth_max: Tally,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            flags: CachePadded::new(AtomicU32::new(0)),
            owner: AtomicU64::new(0),
            rejected: Counter::default(),
            blocked_ns: Counter::default(),
            depth: Tally::default(),
            depth_max: Tally::default(),
        }
    }

    /// Raises a flag. Whoever does ends the owner's sleep after it (M4).
    pub(super) fn raise(&self, flag: u32) {
        // Release: pairs with Acquire in `take_flags`; what the flag stands for comes first.
        self.flags.fetch_or(flag, order!(c2, Release));
    }

    /// The flags: one look at a quiet word.
    #[inline(always)]
    pub(super) fn flags(&self) -> u32 {
        // Relaxed: a hint to `take_flags`, which acquires; and after a sleep was announced, the
        // nudge's read-modify-write has ordered it.
        self.flags.load(Relaxed)
    }

    /// Clears the flags of `mask`, before what they stand for is looked at; those that were raised.
    pub(super) fn take_flags(&self, mask: u32) -> u32 {
        // Acquire: pairs with Release in `raise`; what the flags stand for is seen.
        self.flags.fetch_and(!mask, order!(c3, Acquire)) & mask
    }

    /// The calling thread drives the mailbox from here on.
    #[inline]
    pub(crate) fn owned_by_this_thread(&self) {
        let this = this_thread().get();
        // Relaxed: asked by a thread of itself; what another thread reads here is no number of its
        // own.
        if self.owner.load(Relaxed) != this {
            self.owner.store(this, Relaxed);
        }
    }

    /// Whether the calling thread drove the mailbox last.
    pub(super) fn is_owned_by_this_thread(&self) -> bool {
        // Relaxed: a thread that stored its own number reads it back.
        self.owner.load(Relaxed) == this_thread().get()
    }
}

/// Events at a mailbox since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Letters in the mailbox when its owner last looked.
    pub depth: u64,
    /// The most letters its owner has met at once.
    pub depth_max: u64,
    /// Posts that were refused: full, closed, or late.
    pub rejected: u64,
    /// Time that senders have waited for room, summed over them, in nanoseconds.
    pub blocked_ns: u64,
    /// How often the owner's thread went to sleep.
    pub parks: u64,
    /// How often a sender had to wake it.
    pub wakes: u64,
}

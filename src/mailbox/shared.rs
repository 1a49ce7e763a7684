//! What senders and owner of one mailbox share beside its rings.

use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Counter, Tally, order, this_thread};
use crate::wait::Answering;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// There are urgent letters that the owner has not taken note of.
pub(super) const URGENT: u32 = 1 << 31;

/// Its address is the mailbox's identity: one is made for each mailbox and handed out with its
/// letter and owner types alone.
#[derive(Debug)]
pub(crate) struct Shared {
    quiet: CachePadded<Quiet>,
    /// For whoever waits for an answer and knows no mailbox.
    answering: Answering,
    pub(super) rejected: Counter,
    pub(super) blocked_ns: Counter,
    pub(super) depth: Tally,
    pub(super) depth_max: Tally,
}

/// On a line where nobody writes but for what is rare.
#[derive(Debug)]
struct Quiet {
    /// What the owner is to look at besides the main ring. One flag is the mailbox's, the others are
    /// of whoever drives it.
    flags: AtomicU32,
    /// The thread that drove the mailbox last; 0 before the first.
    owner: AtomicU64,
    /// What that thread has put here for itself, or null.
    home: AtomicPtr<()>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            quiet: CachePadded::new(Quiet {
                flags: AtomicU32::new(0),
                owner: AtomicU64::new(0),
                home: AtomicPtr::new(core::ptr::null_mut()),
            }),
            answering: Answering::nowhere(),
            rejected: Counter::default(),
            blocked_ns: Counter::default(),
            depth: Tally::default(),
            depth_max: Tally::default(),
        }
    }

    /// Raises a flag. Whoever does ends the owner's sleep after it (M4).
    pub(super) fn raise(&self, flag: u32) {
        // Release: pairs with Acquire in `take_flags`; what the flag stands for comes first.
        self.quiet.flags.fetch_or(flag, order!(c2, Release));
    }

    /// The flags: one look at a quiet word.
    #[inline(always)]
    pub(super) fn flags(&self) -> u32 {
        // Relaxed: a hint to `take_flags`, which acquires; and after a sleep was announced, the
        // nudge's read-modify-write has ordered it.
        self.quiet.flags.load(Relaxed)
    }

    /// Clears the flags of `mask`, before what they stand for is looked at; those that were raised.
    pub(super) fn take_flags(&self, mask: u32) -> u32 {
        // Acquire: pairs with Release in `raise`; what the flags stand for is seen.
        self.quiet.flags.fetch_and(!mask, order!(c3, Acquire)) & mask
    }

    /// The calling thread drives the mailbox from here on.
    #[inline]
    pub(crate) fn owned_by_this_thread(&self) {
        self.owned_by(this_thread().get());
    }

    /// Thread number `owner` drives the mailbox from here on.
    #[inline]
    pub(crate) fn owned_by(&self, owner: u64) {
        // Relaxed: asked by a thread of itself; what another thread reads here is no number of its
        // own.
        if self.quiet.owner.load(Relaxed) != owner {
            self.quiet.owner.store(owner, Relaxed);
        }
    }

    /// Which thread is busy with the mailbox, or bound to it, for whoever waits for an answer from
    /// there.
    pub(crate) fn answering(&self) -> &Answering {
        &self.answering
    }

    /// Puts something here for the calling thread, which drives the mailbox; returns what was there.
    #[inline]
    pub(crate) fn set_home(&self, home: *const ()) -> *const () {
        // Relaxed: this thread's alone.
        let before = self.quiet.home.load(Relaxed);
        // Release: pairs with Acquire in `home`; who reads this knows who owns the mailbox, too.
        self.quiet.home.store(home.cast_mut(), order!(x, Release));
        before
    }

    /// What the calling thread has put here, and not taken away since; null where it drives no such
    /// mailbox.
    #[inline(always)]
    pub(crate) fn home(&self) -> *const () {
        // Acquire: pairs with Release in `set_home`, in two cases. It is what another thread put
        // here: then that thread's number is in `owner` by now, or a later one's, and never again
        // ours, for we are here. Or it is ours.
        let home = self.quiet.home.load(order!(x1, Acquire));
        if home.is_null() || !self.is_owned_by_this_thread() {
            return core::ptr::null();
        }
        home
    }

    /// Whether the calling thread drove the mailbox last.
    #[inline(always)]
    pub(crate) fn is_owned_by_this_thread(&self) -> bool {
        // Relaxed: a thread that stored its own number reads it back.
        self.quiet.owner.load(Relaxed) == this_thread().get()
    }

    /// The number of the thread that drove the mailbox last; 0 before the first.
    pub(crate) fn owner(&self) -> u64 {
        // Relaxed: what a thread did before one has heard from it by other means is seen; else a
        // hint.
        self.quiet.owner.load(Relaxed)
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

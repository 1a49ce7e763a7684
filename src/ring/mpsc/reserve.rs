//! Reserved claims: letters that always fit, at most one of each in the ring.
//!
//! R10. Reservation `i` has at most one letter in the ring: its pending word is set before the
//!      claim and cleared by the consumer after that letter was taken and its room released. So
//!      `reserved` slots beyond the capacity are enough, and a claim for one reads no head.

use super::shared::Ring;
use super::{Consumer, Producer};
use crate::ring::error::Closed;
use crate::ring::protocol::Claim as _;
use crate::ring::protocol::Ring as _;
use crate::sync::{LineArc, order};

const IDLE: u64 = 0;

/// The right to one slot beyond the capacity: its letter always fits, and is in the ring at most
/// once. Posting while it is pending costs one read-modify-write and no room.
///
/// It does not keep the ring open.
pub struct Reservation<T> {
    ring: LineArc<Ring<T>>,
    index: usize,
}

/// What became of a reserved post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservedPost<T> {
    /// It is in the ring.
    Posted,
    /// An earlier one is still in the ring, or being taken, and stands for this one too: whoever
    /// settles it sees what was written before this call. The letter is handed back.
    AlreadyPending(T),
}

impl<T> Reservation<T> {
    fn of(ring: &LineArc<Ring<T>>, index: usize) -> Option<Self> {
        (index < ring.fixed.pending.count()).then(|| Self {
            ring: LineArc::clone(ring),
            index,
        })
    }
}

impl<T> Producer<T> {
    /// The ring's reservation number `index`, below what
    /// [`Builder::reserved`](super::Builder::reserved) set; `None` beyond it.
    #[must_use]
    pub fn reservation(&self, index: usize) -> Option<Reservation<T>> {
        Reservation::of(&self.ring, index)
    }
}

impl<T> Reservation<T> {
    /// Posts `letter` unless this reservation's letter is pending.
    ///
    /// # Errors
    /// [`Closed`], with the letter. A reservation whose post met the close stays pending; one that
    /// began after it leaves no trace.
    pub fn post(&self, letter: T) -> Result<ReservedPost<T>, Closed<T>> {
        if self.ring.is_closed() {
            return Err(Closed(letter));
        }
        let pending = self.ring.fixed.pending.word(self.index);
        // AcqRel: pairs with the clear in `settle`, also when it is pending already: what this
        // poster wrote is seen by the run that stands for it. Counted, never wrapping: 2^64 posts.
        if pending.fetch_add(1, order!(m, AcqRel)) != IDLE {
            return if self.ring.is_closed() {
                Err(Closed(letter))
            } else {
                Ok(ReservedPost::AlreadyPending(letter))
            };
        }
        match self.ring.claim_reserved() {
            Ok(claim) => match claim.publish(letter) {
                Ok(()) => Ok(ReservedPost::Posted),
                Err(letter) => Err(Closed(letter)),
            },
            Err(_) => Err(Closed(letter)),
        }
    }

    /// Its number.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }
}

impl<T> Consumer<T> {
    /// The ring's reservation number `index`; `None` where there is no such one.
    #[must_use]
    pub fn reservation(&self, index: usize) -> Option<Reservation<T>> {
        Reservation::of(&self.ring, index)
    }

    /// How many posts of reservation `index` are not settled yet. To be asked when the ring is closed
    /// and what was posted is taken; from then on none is told that it is pending.
    ///
    /// Two or more, though all letters of it are settled, say that a post may be owed a run: it was
    /// told [`ReservedPost::AlreadyPending`] of one that then met the close, before its letter was in
    /// the ring.
    ///
    /// # Panics
    /// If there is no such reservation.
    pub fn unsettled(&self, index: usize) -> u64 {
        // Release: pairs with the count in `post`. It writes what it reads, but it writes: a post is
        // counted before it and seen here, or comes after it and sees the close.
        self.ring
            .fixed
            .pending
            .word(index)
            .fetch_add(0, order!(m2, Release))
    }

    /// Makes reservation `index` free to be posted again: releases the room of what was taken,
    /// then clears its pending word. To be called *before* acting on the letter, so that a post
    /// during the action is not lost. Returns how many posts that letter stands for: each post is
    /// counted by one call, those that the close overtook while it was pending included.
    ///
    /// # Panics
    /// If there is no such reservation.
    ///
    /// # Safety
    /// The letter that was posted by reservation `index` has been taken since the last call for
    /// it, or the ring is finished. Else two letters of one reservation could be in the ring, which
    /// has room for one.
    pub unsafe fn settle(&mut self, index: usize) -> u64 {
        self.ring.release_taken(&mut self.side);
        // AcqRel: pairs with the count in `post`; the poster that finds it cleared reuses the slot,
        // and what earlier posters wrote is seen from here on.
        self.ring
            .fixed
            .pending
            .word(index)
            .swap(IDLE, order!(m1, AcqRel))
    }
}

impl<T> Clone for Reservation<T> {
    fn clone(&self) -> Self {
        Self {
            ring: LineArc::clone(&self.ring),
            index: self.index,
        }
    }
}

impl<T> core::fmt::Debug for Reservation<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reservation")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

//! Claim a sequence, then publish a value there.
//!
//! R2. A `Claim` is the only right to write its slots; `publish` spends it. No caller code runs
//!     while there is one.

use super::shared::Ring;
use super::slots::Slots;
use super::words::{ASLEEP, CLOSED, KICK, PARKED, RELEASED, SEQUENCE, WAITERS};
use crate::ring::batch::Batch;
use crate::ring::error::Refusal;
use crate::ring::protocol::{self, Turn};
use crate::sync::{AtomicU64, order};

/// What a producer handle remembers: sequences below it are free to claim (R1).
///
/// Handles may be shared between threads, so the limit is handed on with what was acquired for it.
#[derive(Debug, Default)]
pub struct Limit(AtomicU64);

impl Limit {
    #[inline(always)]
    fn get(&self) -> u64 {
        // Acquire: pairs with Release in `set`; another thread's look at head counts for us.
        self.0.load(order!(l, Acquire))
    }

    #[inline(always)]
    fn set(&self, limit: u64) {
        // Release: pairs with Acquire in `get`; our look at head comes first.
        self.0.store(limit, order!(l, Release));
    }
}

/// Slots claimed and not yet published.
#[derive(Debug)]
#[must_use = "an unpublished claim stalls the consumer"]
pub struct Claim<'a, T> {
    ring: &'a Ring<T>,
    first: u64,
    count: u64,
    /// What the claim cleared of a sleep: where any, the owner is to be woken after publishing.
    ended: u64,
}

impl<T> Ring<T> {
    #[inline(always)]
    pub(super) fn claim_slots(
        &self,
        known: &Limit,
        want: u64,
        turn: Turn,
    ) -> Result<Claim<'_, T>, Refusal> {
        debug_assert!(want > 0, "an empty claim has nothing to publish");
        let mut limit = known.get();
        // Acquire: pairs with the park exchange and set_flags; a fresh tail brings a fresh head.
        let mut tail = self.tail.load(order!(t, Acquire));
        loop {
            let (count, next) = if tail < limit && want <= limit - tail {
                // R7: open, awake, and room for all.
                (want, tail + want)
            } else {
                self.claim_slowly(known, &mut limit, tail, want, turn)?
            };
            // AcqRel / Acquire: pairs with the park exchange, set_flags and other claims; a
            // claim that reads no head reuses a slot by this chain, and a failed one knows a
            // fresh tail.
            match self.tail.compare_exchange_weak(
                tail,
                next,
                order!(b, AcqRel),
                order!(t1, Acquire),
            ) {
                Ok(_) => {
                    if want == 1 {
                        let ahead = tail + self.fixed.config.ahead();
                        // Not a line from which the consumer is about to take letters one by one.
                        if ahead < limit {
                            self.fixed.slots.ask_for(ahead, 1);
                        }
                    }
                    return Ok(Claim {
                        ring: self,
                        first: tail & SEQUENCE,
                        count,
                        ended: tail & ASLEEP,
                    });
                }
                Err(newer) => tail = newer,
            }
        }
    }

    /// Full or nearly so, closed, parked, kicked, or only an old limit: how many to claim, and the
    /// tail then.
    #[cold]
    fn claim_slowly(
        &self,
        known: &Limit,
        limit: &mut u64,
        tail: u64,
        want: u64,
        turn: Turn,
    ) -> Result<(u64, u64), Refusal> {
        if tail & CLOSED != 0 {
            return Err(Refusal::Closed);
        }
        let sequence = tail & SEQUENCE;
        // Also where the old limit has room for some: what fits is to take one claim.
        if want > limit.saturating_sub(sequence) {
            // Acquire: pairs with Release in `release`; values are moved out before their slots
            // are written again. After the tail, so that a fresh tail never meets an older head.
            let head = self.head.load(order!(a, Acquire));
            *limit = (head & RELEASED) + self.capacity();
            if head & WAITERS == 0 {
                // Else a later claim would ride on it past those in line. A limit from before the
                // line is at most the tail of then: they came because the ring was full.
                known.set(*limit);
            }
            let behind_others = turn == Turn::BehindOthers && head & WAITERS != 0;
            debug_assert!(
                sequence < *limit || tail & PARKED == 0,
                "R4: a ring whose owner sleeps is empty, so it is not full"
            );
            if sequence >= *limit || behind_others {
                return Err(Refusal::Full);
            }
        }
        let count = want.min(*limit - sequence);
        // The claim itself ends a park, in the same exchange; a kick stays for the owner.
        Ok((count, (tail + count) & !ASLEEP))
    }

    /// Claims one slot beyond the capacity, for one of the ring's reservations; reads no head.
    pub(super) fn claim_reserved(&self) -> Result<Claim<'_, T>, Refusal> {
        // Acquire: pairs with the park exchange and set_flags, as for any claim.
        let mut tail = self.tail.load(order!(t, Acquire));
        loop {
            if tail & CLOSED != 0 {
                return Err(Refusal::Closed);
            }
            // AcqRel / Acquire: pairs with other claims: this slot was last used by a letter whose
            // release some claim in this chain has acquired, or by a reservation of ours.
            match self.tail.compare_exchange_weak(
                tail,
                (tail + 1) & !ASLEEP,
                order!(b, AcqRel),
                order!(t1, Acquire),
            ) {
                Ok(_) => {
                    return Ok(Claim {
                        ring: self,
                        first: tail & SEQUENCE,
                        count: 1,
                        ended: tail & ASLEEP,
                    });
                }
                Err(newer) => tail = newer,
            }
        }
    }

    /// Ends a sleep and leaves no flag behind. Returns the tail before.
    pub(super) fn end_sleep(&self) -> u64 {
        // AcqRel: pairs with the park exchange; what the caller made before is seen by an owner
        // that goes to sleep after this.
        self.tail.fetch_and(!ASLEEP, order!(n, AcqRel))
    }

    /// Sets `flag` and ends a park, in one exchange: for closing and kicking. Returns the tail
    /// before.
    pub(super) fn set_flags(&self, flag: u64) -> u64 {
        debug_assert!(flag == CLOSED || flag == KICK);
        // Relaxed: a first guess for the exchange.
        let mut tail = self.tail.load(core::sync::atomic::Ordering::Relaxed);
        loop {
            let next = (tail | flag) & !ASLEEP;
            let exchanged = if flag == CLOSED {
                // AcqRel / Relaxed: pairs with claims (they see the end) and with the park
                // exchange (the sleeper's state).
                self.tail.compare_exchange_weak(
                    tail,
                    next,
                    order!(i, AcqRel),
                    core::sync::atomic::Ordering::Relaxed,
                )
            } else {
                // AcqRel / Relaxed: pairs with the owner's clear and the park exchange; the
                // work outside the ring comes first.
                self.tail.compare_exchange_weak(
                    tail,
                    next,
                    order!(q, AcqRel),
                    core::sync::atomic::Ordering::Relaxed,
                )
            };
            match exchanged {
                Ok(before) => return before,
                Err(newer) => tail = newer,
            }
        }
    }
}

impl<T> protocol::Claim<T> for Claim<'_, T> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.count as usize
    }

    #[inline(always)]
    fn publish(self, letter: T) -> Result<(), T> {
        debug_assert_eq!(self.count, 1, "a letter for each slot");
        let slots = &self.ring.fixed.slots;
        // SAFETY: by R1 and R2 no other thread touches the cell until it is published.
        slots.slot(self.first).value.with_mut(|cell| unsafe {
            (*cell).write(letter);
        });
        slots.publish_one(self.first);
        self.wake_owner();
        // A claim before the close is before it for good.
        Ok(())
    }

    #[inline(always)]
    fn publish_batch(self, batch: &mut impl Batch<Item = T>) -> Result<(), Refusal> {
        let all = &self.ring.fixed.slots;
        let mut first = self.first;
        let end = self.first + self.count;
        while first < end {
            let run = (end - first).min(Slots::<T>::RUN_MAX);
            all.ask_for(first + self.ring.fixed.config.ahead(), run);
            for slots in all.run(first, run) {
                let mut slots = slots.iter();
                batch.move_ready(slots.len(), |letter| {
                    let slot = slots.next().expect("R5: a slot for each letter");
                    // SAFETY: by R1 and R2 no other thread touches the cell until it is published.
                    slot.value.with_mut(|cell| unsafe {
                        (*cell).write(letter);
                    });
                });
            }
            all.publish_run(first, run);
            first += run;
        }
        self.wake_owner();
        Ok(())
    }
}

impl<T> Claim<'_, T> {
    /// Wakes the owner, if this claim ended its sleep.
    #[inline(always)]
    fn wake_owner(self) {
        if self.ended != 0 {
            self.ring.wake_sleeper(self.ended);
        }
    }
}

//! The producer's side: claim, publish, wait for room.

use super::Producer;
use super::shared::{Ring, SLEEPING, UNDECIDED};
use crate::ring::batch::Batch;
use crate::ring::error::Refusal;
use crate::ring::post_future::PostFuture;
use crate::ring::protocol::{self, TimedOut};
use crate::sync::order;
use crate::wait::{Idle, Next};
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Poll, Waker};
use std::time::Instant;

/// What only the producer knows.
#[derive(Debug)]
pub struct ProducerSide {
    /// The next sequence to write: the ring's tail, which is in the consumer's cache when it looks.
    pub(super) tail: Cell<u64>,
    /// Sequences below it are released.
    pub(super) limit: Cell<u64>,
}

impl ProducerSide {
    pub(super) fn new(start: u64) -> Self {
        Self {
            tail: Cell::new(start),
            limit: Cell::new(start),
        }
    }
}

/// Slots released and not yet published. What is not published has not been claimed.
#[derive(Debug)]
#[must_use = "a claim is there to be published"]
pub struct Claim<'a, T> {
    ring: &'a Ring<T>,
    side: &'a ProducerSide,
    first: u64,
    count: u64,
}

impl<T> Ring<T> {
    #[inline(always)]
    pub(super) fn claim_slots<'a>(
        &'a self,
        side: &'a ProducerSide,
        want: u64,
    ) -> Result<Claim<'a, T>, Refusal> {
        debug_assert!(want > 0, "an empty claim has nothing to publish");
        if self.closed() {
            return Err(Refusal::Closed);
        }
        let tail = side.tail.get();
        if !self.is_free(side, tail) {
            return Err(Refusal::Full);
        }
        Ok(Claim {
            ring: self,
            side,
            first: tail,
            count: want.min(side.limit.get() - tail),
        })
    }

    /// Whether the slot of `sequence`, to be written next, is released.
    #[inline(always)]
    pub(super) fn is_free(&self, side: &ProducerSide, sequence: u64) -> bool {
        if side.limit.get() > sequence {
            return true;
        }
        // Acquire: pairs with Release in `release`; values are moved out before their slots are
        // written again.
        let head = self.head.load(order!(s2, Acquire));
        side.limit.set(head + self.fixed.config.capacity as u64);
        side.limit.get() > sequence
    }

    /// Says that a batch is going on, unless the ring is closed.
    #[inline(always)]
    pub(super) fn begin_posting(&self) -> Result<(), Refusal> {
        // Relaxed: the barrier orders it before the look at CLOSED (R12).
        self.posting.store(1, Relaxed);
        self.fixed.barrier.light();
        if self.closed() {
            self.end_posting();
            return Err(Refusal::Closed);
        }
        Ok(())
    }

    #[inline(always)]
    fn end_posting(&self) {
        // Release: pairs with Acquire in `end`; the store of tail comes first (R12).
        self.posting.store(0, order!(s6, Release));
    }

    /// After a letter was published and the consumer's word was found to say something: at a closed
    /// ring, says whether the letter is before the end, and takes it back if not; wakes a sleeper.
    #[cold]
    fn after_publishing(&self, side: &ProducerSide, sequence: u64) -> Result<(), T> {
        // First: the wake may run caller code, which may post and close (R12).
        let outcome = self.settle(side, sequence);
        if Self::end_sleep(&self.consumer_word) {
            self.cold.consumer.wake();
        }
        outcome
    }

    /// Whether the letter just published is before the end; takes it back if not.
    fn settle(&self, side: &ProducerSide, sequence: u64) -> Result<(), T> {
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("settle") {
            return Ok(());
        }
        if !self.closed() {
            return Ok(());
        }
        // Two cases (R12). Ours is first: the end is behind the letter, and whoever finds it decided
        // sees the letter. The consumer's is first: the end is what it saw of tail.
        //
        // Release / Relaxed: pairs with Acquire in `end`; the value comes first.
        let decided =
            self.cold
                .end
                .compare_exchange(UNDECIDED, sequence + 1, order!(s7, Release), Relaxed);
        match decided {
            Err(end) if end <= sequence => {
                // SAFETY: R11, R12: the letter is behind the end, so the consumer does not touch
                // its slot; it is moved out once, as tail is set back before anybody can post.
                let letter = self
                    .slot(sequence)
                    .with_mut(|cell| unsafe { (*cell).assume_init_read() });
                // Relaxed: of a ring whose end is decided nobody reads it but us and who ends it.
                self.tail.store(sequence, Relaxed);
                side.tail.set(sequence);
                Err(letter)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn wait_for_room_as_thread(
        &self,
        idle: &mut Idle<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match idle.next() {
            Next::LookAround if is_late() => Err(TimedOut),
            Next::Look | Next::LookAround => Ok(()),
            Next::Park => {
                if self.begin_producer_sleep() {
                    // On the flag, never on the sleeper's token.
                    // Relaxed: the claim that follows acquires.
                    while self.producer_word.load(Relaxed) & SLEEPING != 0 {
                        if is_late() {
                            // A wake that is owed meanwhile comes for nothing.
                            Self::end_sleep(&self.producer_word);
                            return Err(TimedOut);
                        }
                        self.cold.producer.park(deadline);
                    }
                }
                Ok(())
            }
        }
    }

    pub(super) fn wait_for_room_as_task(&self, waker: &Waker) -> Poll<()> {
        Self::end_sleep(&self.producer_word);
        // Before the flag: whoever clears it must find the waker.
        self.cold.producer.register(waker);
        if self.begin_producer_sleep() {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    /// Sets the producer's flag, unless there is a reason not to sleep.
    fn begin_producer_sleep(&self) -> bool {
        self.cold.producer_waits.increment();
        // Relaxed: room and the close are for the barrier (R13), which both who release and who
        // close pass before they look at this flag.
        self.producer_word.swap(SLEEPING, Relaxed);
        self.fixed.barrier.heavy();
        // Relaxed: the claim that follows acquires.
        let head = self.head.load(Relaxed);
        // Relaxed: our own store.
        let tail = self.tail.load(Relaxed);
        let full = tail - head == self.fixed.config.capacity as u64;
        if full && !self.closed() {
            return true;
        }
        Self::end_sleep(&self.producer_word);
        false
    }
}

impl<T> Producer<T> {
    /// Posts `letter`, waiting for room as a task: the future is woken when there is some.
    /// Dropped before it is ready, it has posted nothing and the letter is dropped with it.
    ///
    /// The output is [`Closed`](crate::ring::Closed) with the letter when the ring is closed. The
    /// producer is lent to the future: its place is for one, and a second would take it away. So
    /// nobody waits behind a future that is not polled; one given to `mem::forget` leaves its waker,
    /// which may be woken for nothing.
    #[must_use = "a future does nothing until it is polled"]
    pub fn post_async(&mut self, letter: T) -> PostFuture<'_, Ring<T>> {
        PostFuture::new(self, letter)
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
        let ring = self.ring;
        ring.ask_ahead_of(self.first, 1);
        // SAFETY: R11: the slot is released and not published, so it is the producer's.
        ring.slot(self.first).with_mut(|cell| unsafe {
            (*cell).write(letter);
        });
        // Release: pairs with Acquire in `look`; the value comes first.
        ring.tail.store(self.first + 1, order!(s1, Release));
        self.side.tail.set(self.first + 1);
        ring.fixed.barrier.light();
        // Relaxed: the barrier orders it after the store of tail (R12, R13).
        if ring.consumer_word.load(Relaxed) != 0 {
            return ring.after_publishing(self.side, self.first);
        }
        Ok(())
    }

    #[inline(always)]
    fn publish_batch(self, batch: &mut impl Batch<Item = T>) -> Result<(), Refusal> {
        self.ring.begin_posting()?;
        self.publish_posting(batch);
        Ok(())
    }
}

impl<T> Claim<'_, T> {
    /// Publishes a batch that is going on, and so comes before any end.
    #[inline(always)]
    pub(super) fn publish_posting(self, batch: &mut impl Batch<Item = T>) {
        let ring = self.ring;
        ring.ask_ahead_of(self.first, self.count);
        for slots in ring.slots(self.first, self.count as usize) {
            let mut slots = slots.iter();
            batch.move_ready(slots.len(), |letter| {
                let slot = slots.next().expect("R5: a slot for each letter");
                // SAFETY: R11: the slot is released and not published, so it is the producer's.
                slot.with_mut(|cell| unsafe {
                    (*cell).write(letter);
                });
            });
        }
        ring.publish_until(self.side, self.first + self.count);
    }
}

impl<T> Ring<T> {
    /// The last of a batch that is going on: what was written to the slots before `sequence` is
    /// published.
    #[inline(always)]
    pub(super) fn publish_until(&self, side: &ProducerSide, sequence: u64) {
        // Release: pairs with Acquire in `look`; the values come first.
        self.tail.store(sequence, order!(s1, Release));
        side.tail.set(sequence);
        self.end_posting();
        self.fixed.barrier.light();
        // Relaxed: the barrier orders it after the store of tail (R13).
        if self.consumer_word.load(Relaxed) & SLEEPING != 0 && Self::end_sleep(&self.consumer_word)
        {
            self.cold.consumer.wake();
        }
    }
}

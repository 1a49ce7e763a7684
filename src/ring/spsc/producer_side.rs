//! The producer's side: claim, publish, wait for room.

use super::Producer;
use super::shared::{CLOSED, Ring, SLEEPING};
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
    /// The next sequence to write.
    tail: Cell<u64>,
    /// Sequences below it are released.
    limit: Cell<u64>,
}

impl ProducerSide {
    pub(super) fn new(start: u64) -> Self {
        Self {
            tail: Cell::new(start),
            limit: Cell::new(start),
        }
    }
}

/// Slots claimed and not yet published: `posting` is set.
#[derive(Debug)]
#[must_use = "an unpublished claim keeps the ring from ending"]
pub struct Claim<'a, T> {
    ring: &'a Ring<T>,
    side: &'a ProducerSide,
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
        // Relaxed: the barrier orders it before the look at CLOSED (R12).
        self.posting.store(1, Relaxed);
        self.fixed.barrier.light();
        // Acquire: pairs with the exchange that closed; what came before the close is seen.
        if self.consumer_word.load(order!(s5, Acquire)) & CLOSED != 0 {
            self.end_posting();
            return Err(Refusal::Closed);
        }
        let tail = side.tail.get();
        if side.limit.get() == tail {
            // Acquire: pairs with Release in `release`; values are moved out before their slots
            // are written again.
            let head = self.head.load(order!(s2, Acquire));
            side.limit.set(head + self.fixed.config.capacity as u64);
            if side.limit.get() == tail {
                self.end_posting();
                return Err(Refusal::Full);
            }
        }
        Ok(Claim {
            ring: self,
            side,
            count: want.min(side.limit.get() - tail),
        })
    }

    #[inline(always)]
    fn end_posting(&self) {
        // Release: pairs with Acquire in `judge_closed`; the store of tail comes first (R12).
        self.posting.store(0, order!(s6, Release));
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
    fn publish(self, letter: T) {
        debug_assert_eq!(self.count, 1, "a letter for each slot");
        let slot = self.ring.slot(self.side.tail.get());
        // SAFETY: R11: the slot is released and not published, so it is the producer's.
        slot.with_mut(|cell| unsafe {
            (*cell).write(letter);
        });
        self.publish_written();
    }

    #[inline(always)]
    fn publish_batch(self, batch: &mut impl Batch<Item = T>) {
        let [until_end, from_start] = self.ring.slots(self.side.tail.get(), self.count());
        for slots in [until_end, from_start] {
            let mut slots = slots.iter();
            batch.move_ready(slots.len(), |letter| {
                let slot = slots.next().expect("R5: a slot for each letter");
                // SAFETY: R11: the slot is released and not published, so it is the producer's.
                slot.with_mut(|cell| unsafe {
                    (*cell).write(letter);
                });
            });
        }
        self.publish_written();
    }
}

impl<T> Claim<'_, T> {
    /// All slots have been written.
    #[inline(always)]
    fn publish_written(self) {
        let ring = self.ring;
        let end = self.side.tail.get() + self.count;
        self.side.tail.set(end);
        // Release: pairs with Acquire in `look`; the values come first.
        ring.tail.store(end, order!(s1, Release));
        ring.end_posting();
        ring.fixed.barrier.light();
        // Relaxed: the barrier orders it after the store of tail (R13).
        if ring.consumer_word.load(Relaxed) & SLEEPING != 0
            && Ring::<T>::end_sleep(&ring.consumer_word)
        {
            ring.cold.consumer.wake();
        }
    }
}

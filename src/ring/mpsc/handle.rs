//! Producer handles: clones, weak ones, kicks; and the ring's side of both faces.

use super::claim::{Claim, Limit};
use super::owner::Owner;
use super::shared::Ring;
use super::words::{KICK, PARKED, RESTING};
use super::{Consumer, Producer};
use crate::ring::consumer::{Releasing, Waited};
use crate::ring::error::Refusal;
use crate::ring::post_future::PostFuture;
use crate::ring::protocol::{self, Config, Counters, OwnerState, TimedOut, Turn};
use crate::sync::{LineArc, order};
use crate::wait::{Idle, Place};
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll, Waker};
use std::time::Instant;

impl<T> protocol::Sealed for Ring<T> {}

impl<T> protocol::Ring for Ring<T> {
    type Letter = T;
    type ProducerSide = Limit;
    type ConsumerSide = Owner;
    type Claim<'a>
        = Claim<'a, T>
    where
        T: 'a;
    type Place = Place;

    #[inline(always)]
    fn config(&self) -> &Config {
        &self.fixed.config
    }

    fn handles(&self) -> usize {
        // Relaxed: for judging how crowded it is; nothing is read because of it.
        self.cold.producers.load(Relaxed) + 1
    }

    #[inline(always)]
    fn claim<'a>(
        &'a self,
        side: &'a Limit,
        want: usize,
        turn: Turn,
    ) -> Result<Claim<'a, T>, Refusal> {
        self.claim_slots(side, want as u64, turn)
    }

    fn wait_for_room(
        &self,
        place: &mut Option<Place>,
        idle: &mut Idle<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        self.wait_in_line(place, idle, deadline)
    }

    fn poll_for_room(&self, place: &mut Option<Place>, waker: &Waker) -> Poll<()> {
        self.poll_in_line(place, waker)
    }

    fn leave_line(&self, place: Place) {
        self.leave(place);
    }

    fn waiting_producers(&self) -> usize {
        self.cold.line.lock().len()
    }

    fn producer_gone(&self) {
        // AcqRel: pairs with other handles coming and going; the last one knows that all their
        // posts are done.
        if self.cold.producers.fetch_sub(1, order!(p, AcqRel)) == 1 {
            self.close_ring();
        }
    }

    fn close(&self) -> bool {
        self.close_ring()
    }

    fn is_closed(&self) -> bool {
        self.closed()
    }

    fn letters_held(&self) -> usize {
        self.letters()
    }

    fn counters(&self) -> Counters {
        Counters {
            parks: self.cold.sleeper.parks(),
            wakes: self.cold.sleeper.wakes(),
            producer_waits: self.cold.producer_waits.get(),
        }
    }

    #[inline(always)]
    fn has_letters(&self, side: &Owner) -> bool {
        self.is_published(side)
    }

    #[inline(always)]
    fn run_ahead(&self, side: &Owner) -> usize {
        self.ahead(side)
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn take_run(&self, side: &mut Owner, count: usize, each: impl FnMut(T) -> bool) {
        // SAFETY: R3: the caller knows how many are ahead.
        unsafe { self.take_ahead(side, count, each) }
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn pop_seen(&self, side: &mut Owner) -> T {
        // SAFETY: R3: the caller has looked.
        unsafe { self.take_seen(side) }
    }

    fn cursor(&self, side: &Owner) -> u64 {
        side.cursor
    }

    #[inline]
    fn release(&self, side: &mut Owner) {
        self.release_taken(side);
    }

    fn untaken(&self, side: &Owner) -> usize {
        self.untaken_by(side)
    }

    fn state(&self, side: &Owner) -> OwnerState {
        self.state_of(side)
    }

    fn is_finished(&self, side: &Owner) -> bool {
        self.is_finished_for(side)
    }

    fn take_kick(&self) {
        self.clear_kick();
    }

    fn park(
        &self,
        side: &mut Owner,
        deadline: Option<Instant>,
        unless: &mut dyn FnMut() -> bool,
    ) -> OwnerState {
        self.park_owner(side, deadline, unless)
    }

    fn poll_park(&self, side: &mut Owner, cx: &Context<'_>) -> OwnerState {
        self.sleep_as_task(side, cx)
    }
}

impl<T> Clone for Producer<T> {
    /// One more producer of the same ring.
    fn clone(&self) -> Self {
        // AcqRel: pairs with other handles coming and going.
        self.ring.cold.producers.fetch_add(1, order!(p, AcqRel));
        Self::new(LineArc::clone(&self.ring), Limit::default())
    }
}

impl<T> Producer<T> {
    /// Posts `letter`, waiting for room as a task: the future is woken when it is its turn.
    /// Dropped before it is ready, it has posted nothing and the letter is dropped with it.
    ///
    /// Once polled it holds its place in line until it is ready or dropped. One that is neither
    /// polled after its wake nor dropped, or was given to `mem::forget`, keeps room for its letter
    /// from all who wait behind it: in a ring with no more room than that they wait until it is
    /// closed. `try_` posts take that room all the same.
    ///
    /// The output is [`Closed`](crate::ring::Closed) with the letter when the ring is closed.
    #[must_use = "a future does nothing until it is polled"]
    pub fn post_async(&self, letter: T) -> PostFuture<'_, Ring<T>> {
        PostFuture::new(self, letter)
    }

    /// A handle that does not keep the ring open.
    #[must_use]
    pub fn downgrade(&self) -> WeakProducer<T> {
        WeakProducer {
            ring: LineArc::clone(&self.ring),
        }
    }

    /// Has the consumer's wait return [`Waited::Kicked`](crate::ring::Waited::Kicked): there is
    /// work for its thread that is not in this ring. What was written before the kick is seen
    /// after it; kicks that come before the consumer has seen one count as one. A kick does not end
    /// a wait for a letter (`take`, its like, iterators): the `wait` or `rest` after it reports it.
    ///
    /// ```
    /// use mailring::ring::{Waited, mpsc};
    ///
    /// let (producer, mut consumer) = mpsc::bounded::<()>(1)?;
    /// producer.kick();
    /// producer.kick();
    /// assert_eq!(consumer.wait(), Waited::Kicked);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    pub fn kick(&self) {
        let before = self.ring.set_flags(KICK);
        self.ring.wake_or_nudge(before);
    }
}

impl<T> Ring<T> {
    /// Wakes the owner after its sleep was ended, in the way in which it slept by the `tail` before.
    pub(super) fn wake_sleeper(&self, tail: u64) {
        if tail & RESTING != 0 {
            self.cold.sleeper.call();
        } else {
            self.cold.sleeper.wake();
        }
    }

    /// After something was made for the owner that is not in this ring, and a sleep was ended if
    /// there was one by the `tail` before.
    pub(super) fn wake_or_nudge(&self, tail: u64) {
        if tail & PARKED != 0 {
            self.wake_sleeper(tail);
        } else {
            // A claimer that ended the park may have been stopped before it woke the owner's
            // thread, which may sleep still.
            self.cold.sleeper.nudge();
        }
    }
}

impl<T> Consumer<T> {
    /// As [`drain_to`](Self::drain_to), for a `put` that runs no caller code: letters are copied less.
    ///
    /// On its own: within a loop that also runs letters from elsewhere it would slow those down.
    #[inline(never)]
    pub(crate) fn drain_by(&mut self, max: usize, mut put: impl FnMut(T)) -> usize {
        let taken = Releasing { consumer: self };
        let Consumer { ring, side, .. } = &mut *taken.consumer;
        let mut count = 0;
        while count < max && ring.is_published(side) {
            // SAFETY: R3: it was looked at just now.
            unsafe { ring.take_seen_by(side, &mut put) };
            count += 1;
        }
        count
    }

    /// Waits until there is a letter, a kick, the end, `deadline`, or until `unless` says that there
    /// is work elsewhere, which is reported as [`Waited::Kicked`]. `unless` is asked after each look
    /// that finds no letter, and once more when it has been announced that the consumer sleeps: work
    /// that was made before a [`nudge`](WeakProducer::nudge) is never slept through.
    ///
    /// Letters come first where there are both.
    pub fn wait_unless(
        &mut self,
        deadline: Option<Instant>,
        unless: impl FnMut() -> bool,
    ) -> Waited {
        if self.take_skipped_kick() {
            return Waited::Kicked;
        }
        if self.has_letters() {
            return Waited::Letters;
        }
        self.wait_until(deadline, unless)
    }
}

/// A producer handle that does not keep its ring open. It keeps the memory.
pub struct WeakProducer<T> {
    pub(super) ring: LineArc<Ring<T>>,
}

impl<T> WeakProducer<T> {
    /// How many letters the ring holds, as [`Producer::len`], but those of reservations included.
    #[must_use]
    pub fn held(&self) -> usize {
        self.ring.held()
    }

    /// As [`Producer::counters`].
    #[must_use]
    pub fn counters(&self) -> Counters {
        protocol::Ring::counters(&*self.ring)
    }

    /// Has a consumer that sleeps in [`Consumer::wait_unless`] look again: what was written before
    /// this is seen by what it looks for besides letters. Costs one locked instruction where the
    /// consumer is awake, and, unlike a [`kick`](Producer::kick), leaves no trace there.
    ///
    /// An owner at [`rest`](Consumer::rest), or asleep as a task, is woken too; one that is about to
    /// be misses it, for it has no such look: kick those.
    pub fn nudge(&self) {
        let before = self.ring.end_sleep();
        self.ring.wake_or_nudge(before);
    }

    /// A producer, unless the last one is gone already.
    #[must_use]
    pub fn upgrade(&self) -> Option<Producer<T>> {
        let producers = &self.ring.cold.producers;
        // Relaxed: a first guess for the exchange.
        let mut count = producers.load(Relaxed);
        while count > 0 {
            // AcqRel / Relaxed: pairs with other handles coming and going.
            match producers.compare_exchange_weak(count, count + 1, order!(p, AcqRel), Relaxed) {
                Ok(_) => {
                    return Some(Producer::new(LineArc::clone(&self.ring), Limit::default()));
                }
                Err(newer) => count = newer,
            }
        }
        None
    }
}

impl<T> Clone for WeakProducer<T> {
    fn clone(&self) -> Self {
        Self {
            ring: LineArc::clone(&self.ring),
        }
    }
}

impl<T> core::fmt::Debug for WeakProducer<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WeakProducer").finish_non_exhaustive()
    }
}

//! The consumer face of both rings: takes letters, alone or in batches, waiting or not.
//!
//! R6. The cursor moves before a letter leaves the ring, and room is released before anything that
//!     may wait and on every way out, also by a panic: a letter is never handed out twice, and a
//!     producer never waits for room that is free.

use super::budget::{Budget, Stopwatch};
use super::error::{Closed, TakeTimeoutError, TryTakeError};
use super::iter::{Iter, TryIter};
use super::leftovers::Published;
use super::protocol::{Counters, Ring};
use super::undelivered::Undelivered;
use super::waiting::wait_idle;
use crate::sync::{Clock, LineArc, SystemClock};
use crate::wait::{Chase, pause_for_ns};
use core::time::Duration;
use std::time::Instant;

/// Takes letters from a ring; [`super::mpsc::Consumer`] and [`super::spsc::Consumer`] are this.
///
/// There is one per ring. Dropping it closes the ring, wakes producers that wait for room, and
/// drops the letters that nobody can take any more.
pub struct Consumer<R: Ring> {
    pub(super) ring: LineArc<R>,
    pub(super) side: R::ConsumerSide,
    chase: Chase,
    /// The cursor at the end of the last spell of waiting.
    waited_at: u64,
    /// A kick came during a wait that no kick ends, and is still to be reported.
    pub(super) kicked: bool,
    /// Time spent in spells of waiting.
    waited: Duration,
}

/// Why a wait for letters ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waited {
    /// There is a letter to take.
    Letters,
    /// Somebody kicked the consumer: there is work elsewhere.
    Kicked,
    /// The deadline has passed.
    TimedOut,
    /// All letters have been taken and none can follow.
    Finished,
}

impl<R: Ring> Consumer<R> {
    pub(super) fn new(ring: LineArc<R>, side: R::ConsumerSide) -> Self {
        let waited_at = ring.cursor(&side);
        Self {
            ring,
            side,
            chase: Chase::default(),
            waited_at,
            kicked: false,
            waited: Duration::ZERO,
        }
    }

    /// Whether there is a letter to take: one look at one slot, no locked instruction.
    /// `false` says nothing about letters claimed and not yet published, nor about the future.
    #[inline]
    #[must_use]
    pub fn has_letters(&self) -> bool {
        self.ring.has_letters(&self.side)
    }

    /// Takes a letter if there is one, and releases its room.
    ///
    /// # Errors
    /// [`TryTakeError::Empty`] or [`TryTakeError::Closed`]. After `Closed` no letter comes.
    #[inline]
    pub fn try_take(&mut self) -> Result<R::Letter, TryTakeError> {
        if let Some(letter) = self.take_published() {
            return Ok(letter);
        }
        self.try_take_again()
    }

    #[cold]
    fn try_take_again(&mut self) -> Result<R::Letter, TryTakeError> {
        if self.ring.is_finished(&self.side) {
            return Err(TryTakeError::Closed);
        }
        // It may have come between the two looks.
        self.take_published().ok_or(TryTakeError::Empty)
    }

    /// Takes a letter, waiting for one. A kick does not end this wait: the next
    /// [`wait`](Self::wait) reports it.
    ///
    /// # Errors
    /// [`Closed`] when all letters have been taken and none can follow.
    #[inline]
    pub fn take(&mut self) -> Result<R::Letter, Closed> {
        loop {
            if let Some(letter) = self.take_published() {
                return Ok(letter);
            }
            match self.wait_until(None, || false) {
                Waited::Finished => return Err(Closed(())),
                Waited::Kicked => self.kicked = true,
                Waited::Letters | Waited::TimedOut => {}
            }
        }
    }

    /// Takes a letter, waiting for one for at most `timeout`.
    ///
    /// # Errors
    /// [`TakeTimeoutError::Timeout`] or [`TakeTimeoutError::Closed`].
    pub fn take_timeout(&mut self, timeout: Duration) -> Result<R::Letter, TakeTimeoutError> {
        if let Some(letter) = self.take_published() {
            return Ok(letter);
        }
        // A deadline past the end of time is none.
        self.take_until(Instant::now().checked_add(timeout))
    }

    /// Takes a letter, waiting for one until `deadline`.
    ///
    /// # Errors
    /// [`TakeTimeoutError::Timeout`] or [`TakeTimeoutError::Closed`].
    pub fn take_deadline(&mut self, deadline: Instant) -> Result<R::Letter, TakeTimeoutError> {
        self.take_until(Some(deadline))
    }

    fn take_until(&mut self, deadline: Option<Instant>) -> Result<R::Letter, TakeTimeoutError> {
        loop {
            if let Some(letter) = self.take_published() {
                return Ok(letter);
            }
            match self.wait_until(deadline, || false) {
                Waited::TimedOut => return Err(TakeTimeoutError::Timeout),
                Waited::Finished => return Err(TakeTimeoutError::Closed),
                Waited::Kicked => self.kicked = true,
                Waited::Letters => {}
            }
        }
    }

    /// Moves up to `max` letters to the end of `sink`, in order; returns how many. Stops where a
    /// letter is not published yet, and never waits. All their room is free on return.
    ///
    /// # Panics
    /// If `sink` does: letters it was given are gone, the others stay in the ring.
    ///
    /// ```
    /// let (producer, mut consumer) = mailring::ring::mpsc::bounded(8)?;
    /// producer.post_batch([1, 2, 3]).unwrap();
    /// let mut letters = Vec::with_capacity(8);
    /// assert_eq!(consumer.drain_to(&mut letters, 8), 3);
    /// assert_eq!(letters, [1, 2, 3]);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    pub fn drain_to(&mut self, sink: &mut impl Extend<R::Letter>, max: usize) -> usize {
        let taken = Releasing { consumer: self };
        let start = taken.consumer.cursor();
        sink.extend(core::iter::from_fn(|| taken.consumer.pop()).take(max));
        (taken.consumer.cursor() - start) as usize
    }

    /// Calls `handler` with up to `max` letters, in order, and with whether the letter is the
    /// last of this batch: time to flush what was gathered. Returns how many. Stops where a
    /// letter is not published yet, and never waits.
    ///
    /// Room is released every quarter of the ring and at the end; before the handler sees the
    /// last letter of a quarter, its room is free.
    ///
    /// # Panics
    /// If `handler` does: the letter it was given counts as taken, later ones stay in the ring.
    ///
    /// ```
    /// let (producer, mut consumer) = mailring::ring::spsc::bounded(8)?;
    /// producer.post_batch(["a", "b"]).unwrap();
    /// let mut line = String::new();
    /// consumer.drain(8, |letter, end_of_batch| {
    ///     line += letter;
    ///     line += if end_of_batch { "." } else { "," };
    /// });
    /// assert_eq!(line, "a,b.");
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[inline]
    pub fn drain(&mut self, max: usize, handler: impl FnMut(R::Letter, bool)) -> usize {
        self.drain_while(max, handler, || true)
    }

    /// As [`drain`](Self::drain), until `handler` says that it takes no more: the letter for which it
    /// returns `false` is the last. Returns how many it was given.
    ///
    /// # Panics
    /// As [`drain`](Self::drain).
    ///
    /// ```
    /// let (producer, mut consumer) = mailring::ring::spsc::bounded(8)?;
    /// producer.post_batch([1, 2, 3, 4]).unwrap();
    /// assert_eq!(consumer.drain_some(8, |letter| letter != 2), 2);
    /// assert_eq!(consumer.try_take(), Ok(3));
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[inline]
    pub fn drain_some(&mut self, max: usize, handler: impl FnMut(R::Letter) -> bool) -> usize {
        let taken = Releasing { consumer: self };
        let Consumer { ring, side, .. } = &mut *taken.consumer;
        ring.take_while(side, max, handler)
    }

    /// As [`drain`](Self::drain), within a budget of letters and time; the letter handed out when
    /// the time is over is the last, and is told so. If there is a letter, at least one is handled.
    pub fn drain_until(&mut self, budget: Budget, handler: impl FnMut(R::Letter, bool)) -> usize {
        self.drain_until_by(&SystemClock, budget, handler)
    }

    /// As [`drain_until`](Self::drain_until), by a clock of one's own.
    pub fn drain_until_by(
        &mut self,
        clock: &impl Clock,
        budget: Budget,
        handler: impl FnMut(R::Letter, bool),
    ) -> usize {
        let max = budget.letters_max();
        match Stopwatch::start(clock, budget) {
            None => self.drain(max, handler),
            Some(mut stopwatch) => self.drain_while(max, handler, || !stopwatch.is_over()),
        }
    }

    #[inline]
    fn drain_while(
        &mut self,
        max: usize,
        mut handler: impl FnMut(R::Letter, bool),
        mut go_on: impl FnMut() -> bool,
    ) -> usize {
        let taken = Releasing { consumer: self };
        let Consumer { ring, side, .. } = &mut *taken.consumer;
        let mut count = 0;
        let mut next = if max > 0 { ring.look(side) } else { None };
        while let Some(seen) = next {
            // Those that have another one behind them for sure, then that one.
            let mut is_over = false;
            let seen = seen.take_run(max - count - 1, |letter| {
                count += 1;
                is_over = !go_on();
                handler(letter, is_over);
                !is_over
            });
            if is_over {
                break;
            }
            let letter = seen.take();
            count += 1;
            next = if count < max { ring.look(side) } else { None };
            // Before the letter is handed out: the handler is told truly whether it is the last.
            let end_of_batch = next.is_none() || !go_on();
            handler(letter, end_of_batch);
            if end_of_batch {
                break;
            }
        }
        count
    }

    /// Waits until there is a letter, a kick, or the end. Releases the room of everything taken
    /// first. A kick that came while a letter was waited for by [`take`](Self::take) or its like is
    /// reported at once, before letters and the end.
    ///
    /// ```
    /// use mailring::ring::{Waited, mpsc};
    ///
    /// let (producer, mut consumer) = mpsc::bounded(8)?;
    /// producer.post_batch(1..=3).unwrap();
    /// drop(producer);
    /// let mut sum = 0;
    /// while consumer.wait() != Waited::Finished {
    ///     consumer.drain(64, |letter, _end_of_batch| sum += letter);
    /// }
    /// assert_eq!(sum, 6);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[inline]
    pub fn wait(&mut self) -> Waited {
        if self.take_skipped_kick() {
            return Waited::Kicked;
        }
        if self.has_letters() {
            return Waited::Letters;
        }
        self.wait_until(None, || false)
    }

    /// As [`wait`](Self::wait), but no longer than until `deadline`.
    pub fn wait_deadline(&mut self, deadline: Instant) -> Waited {
        if self.take_skipped_kick() {
            return Waited::Kicked;
        }
        if self.has_letters() {
            return Waited::Letters;
        }
        self.wait_until(Some(deadline), || false)
    }

    /// Takes a kick that a wait for a letter has skipped.
    #[inline]
    pub(super) fn take_skipped_kick(&mut self) -> bool {
        core::mem::take(&mut self.kicked)
    }

    #[cold]
    pub(super) fn wait_until(
        &mut self,
        deadline: Option<Instant>,
        unless: impl FnMut() -> bool,
    ) -> Waited {
        let Self {
            ring,
            side,
            chase,
            waited_at,
            waited: all_waited,
            ..
        } = self;
        ring.release(side);
        let batch = ring.cursor(side) - *waited_at;
        let pause_ns = chase.pause_ns(batch, ring.config().capacity as u64);
        if pause_ns > 0 {
            pause_for_ns(pause_ns);
        }
        let mut idle = ring.config().consumer_idle(ring.handles());
        let mut slept = Duration::ZERO;
        let waited = wait_idle(&**ring, side, &mut idle, &mut slept, deadline, unless);
        let spun_ns = idle.waited_ns();
        *all_waited += slept + Duration::from_nanos(spun_ns + pause_ns);
        chase.gap_was(spun_ns);
        *waited_at = ring.cursor(side);
        waited
    }

    /// Takes letters until the ring is closed and empty, waiting for each.
    pub fn iter(&mut self) -> Iter<'_, R> {
        Iter { consumer: self }
    }

    /// Takes the letters that are there; ends where one is missing, and may go on later.
    pub fn try_iter(&mut self) -> TryIter<'_, R> {
        TryIter { consumer: self }
    }

    /// Refuses new letters; those accepted are still to be taken, and then the ring is finished.
    /// Producers that wait for room get `Closed`.
    pub fn quiesce(&mut self) {
        self.ring.close();
    }

    /// Refuses new letters and returns those accepted and not taken, in order, each exactly once.
    ///
    /// The iterator waits for letters whose post has begun and not ended (of an spsc ring: for a
    /// batch): a few instructions, unless that producer was preempted between them.
    #[must_use = "undelivered letters are dropped with it"]
    pub fn close(self) -> Undelivered<R> {
        self.ring.close();
        Undelivered { consumer: self }
    }

    /// Whether the ring refuses letters; some may still be there to take.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// Whether all letters have been taken and none can follow.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.has_letters() && self.ring.is_finished(&self.side)
    }

    /// How many letters were accepted and not yet taken, those not yet published and those of
    /// reservations included; at most the capacity and the reservations together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.untaken(&self.side)
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many letters the ring holds: exactly what was asked for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.config().capacity
    }

    /// How long this consumer has waited since the ring was made: sleeps by the clock, and what was
    /// spun by the known cost of a step, which is off by some tens of percent.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Events counted since the ring was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.ring.counters()
    }

    /// Takes the letter at the cursor if it is published, and releases its room.
    #[inline]
    pub(super) fn take_published(&mut self) -> Option<R::Letter> {
        let letter = self.pop()?;
        self.ring.release(&mut self.side);
        Some(letter)
    }

    #[inline]
    fn pop(&mut self) -> Option<R::Letter> {
        self.ring.pop(&mut self.side)
    }

    fn cursor(&self) -> u64 {
        self.ring.cursor(&self.side)
    }
}

/// R6: releases the room of what was taken, on every way out.
pub(super) struct Releasing<'a, R: Ring> {
    pub(super) consumer: &'a mut Consumer<R>,
}

impl<R: Ring> Drop for Releasing<'_, R> {
    fn drop(&mut self) {
        self.consumer.ring.release(&mut self.consumer.side);
    }
}

impl<R: Ring> Drop for Consumer<R> {
    fn drop(&mut self) {
        let mut published = Published {
            ring: &*self.ring,
            side: &mut self.side,
        };
        self.ring.close();
        published.drop_all();
    }
}

impl<R: Ring> core::fmt::Debug for Consumer<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Consumer")
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

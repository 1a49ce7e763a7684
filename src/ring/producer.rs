//! The producer face of both rings: posts letters, alone or in batches, waiting or not.

use super::batch::{Batch, IntoBatch};
use super::error::{BatchError, Closed, PostTimeoutError, Refusal, TryPostError};
use super::protocol::{Claim, Counters, Ring, TimedOut, Turn};
use crate::sync::LineArc;
use core::time::Duration;
use std::time::Instant;

/// Posts letters to a ring; [`super::mpsc::Producer`] and [`super::spsc::Producer`] are this.
///
/// `try_` methods never wait, not even for a peer that was stopped halfway through a post. The
/// others wait as the ring's producer-side [`WaitStrategy`](crate::wait::WaitStrategy) says; those
/// that wait long enough to stand in line are served in the order they came, and whoever comes to
/// wait later queues behind them. A `try_` post takes room where there is any. A ring whose last producer is dropped is closed: what was posted is still
/// taken.
pub struct Producer<R: Ring> {
    pub(super) ring: LineArc<R>,
    pub(super) side: R::ProducerSide,
}

impl<R: Ring> Producer<R> {
    pub(super) fn new(ring: LineArc<R>, side: R::ProducerSide) -> Self {
        Self { ring, side }
    }

    /// Posts `letter` if there is room.
    ///
    /// # Errors
    /// [`TryPostError::Full`] or [`TryPostError::Closed`], with the letter.
    ///
    /// ```
    /// use mailring::ring::{TryPostError, spsc};
    ///
    /// let (producer, _consumer) = spsc::bounded(1)?;
    /// assert_eq!(producer.try_post('a'), Ok(()));
    /// assert_eq!(producer.try_post('b'), Err(TryPostError::Full('b')));
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[inline]
    pub fn try_post(&self, letter: R::Letter) -> Result<(), TryPostError<R::Letter>> {
        self.post_one(letter, Turn::Now)
    }

    #[inline(always)]
    fn post_one(&self, letter: R::Letter, turn: Turn) -> Result<(), TryPostError<R::Letter>> {
        match self.ring.claim(&self.side, 1, turn) {
            Ok(claim) => claim.publish(letter).map_err(TryPostError::Closed),
            Err(Refusal::Closed) => Err(TryPostError::Closed(letter)),
            Err(_) => Err(TryPostError::Full(letter)),
        }
    }

    /// Posts `letter`, waiting for room.
    ///
    /// # Errors
    /// [`Closed`], with the letter, as soon as the ring is closed.
    #[inline]
    pub fn post(&self, letter: R::Letter) -> Result<(), Closed<R::Letter>> {
        match self.post_one(letter, Turn::BehindOthers) {
            Ok(()) => Ok(()),
            Err(TryPostError::Closed(letter)) => Err(Closed(letter)),
            Err(TryPostError::Full(letter)) => match self.post_waiting(letter, None) {
                Ok(()) => Ok(()),
                Err((_, letter)) => Err(Closed(letter)),
            },
        }
    }

    /// Posts `letter`, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`PostTimeoutError::Timeout`] or [`PostTimeoutError::Closed`], with the letter.
    pub fn post_timeout(
        &self,
        letter: R::Letter,
        timeout: Duration,
    ) -> Result<(), PostTimeoutError<R::Letter>> {
        // A deadline past the end of time is none.
        self.post_until(letter, || Instant::now().checked_add(timeout))
    }

    /// Posts `letter`, waiting for room until `deadline`.
    ///
    /// # Errors
    /// [`PostTimeoutError::Timeout`] or [`PostTimeoutError::Closed`], with the letter.
    pub fn post_deadline(
        &self,
        letter: R::Letter,
        deadline: Instant,
    ) -> Result<(), PostTimeoutError<R::Letter>> {
        self.post_until(letter, || Some(deadline))
    }

    /// Posts as many letters of `batch` as there is room for: an array, a `Vec` or an iterator.
    /// Letters of one claim lie side by side; an array or `Vec` that fits takes one claim, an
    /// iterator one for each 32. Returns how many were posted, which is all of them.
    ///
    /// # Errors
    /// [`BatchError`] with how many were posted, the rest, and [`Refusal::Full`] or
    /// [`Refusal::Closed`].
    ///
    /// # Panics
    /// If the iterator does: the letters it had made and that were not posted yet are dropped,
    /// those posted stay posted.
    ///
    /// ```
    /// use mailring::ring::{Refusal, mpsc};
    ///
    /// let (producer, mut consumer) = mpsc::bounded(4)?;
    /// let refused = producer.try_post_batch(0..6).unwrap_err();
    /// assert_eq!((refused.posted, refused.reason), (4, Refusal::Full));
    /// assert!(refused.rest.eq([4, 5]));
    /// let mut letters = Vec::new();
    /// assert_eq!(consumer.drain_to(&mut letters, 16), 4);
    /// assert_eq!(letters, [0, 1, 2, 3]);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[inline]
    pub fn try_post_batch<B, K>(&self, batch: B) -> Result<usize, BatchError<B::Batch>>
    where
        B: IntoBatch<R::Letter, K>,
    {
        let mut rest = batch.into_batch();
        let mut posted = 0;
        match self.post_what_fits(&mut rest, &mut posted, Turn::Now) {
            Ok(()) => Ok(posted),
            Err(reason) => Err(BatchError {
                posted,
                rest,
                reason,
            }),
        }
    }

    /// Goes on with a batch that an error handed back, in place: posts as many letters of `rest` as
    /// there is room for, and leaves the others in it.
    ///
    /// # Errors
    /// [`Refusal::Full`] or [`Refusal::Closed`]; what was posted is gone from `rest`.
    ///
    /// # Panics
    /// As [`try_post_batch`](Self::try_post_batch).
    ///
    /// ```
    /// let (producer, mut consumer) = mailring::ring::mpsc::bounded(2)?;
    /// let mut taken = Vec::new();
    /// if let Err(refused) = producer.try_post_batch(vec![1, 2, 3, 4, 5]) {
    ///     let mut rest = refused.rest;
    ///     while producer.try_post_rest(&mut rest).is_err() {
    ///         consumer.drain_to(&mut taken, 16);
    ///     }
    /// }
    /// consumer.drain_to(&mut taken, 16);
    /// assert_eq!(taken, [1, 2, 3, 4, 5]);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    pub fn try_post_rest<B>(&self, rest: &mut B) -> Result<(), Refusal>
    where
        B: Batch<Item = R::Letter>,
    {
        self.post_what_fits(rest, &mut 0, Turn::Now)
    }

    /// Posts all letters of `batch`, waiting for room; takes what room there is meanwhile, so
    /// that a batch may be larger than the ring. Returns how many were posted: all.
    ///
    /// # Errors
    /// [`BatchError`] with how many were posted, the rest, and [`Refusal::Closed`].
    ///
    /// # Panics
    /// As [`try_post_batch`](Self::try_post_batch).
    #[inline]
    pub fn post_batch<B, K>(&self, batch: B) -> Result<usize, BatchError<B::Batch>>
    where
        B: IntoBatch<R::Letter, K>,
    {
        self.post_batch_until(batch, None)
    }

    /// As [`post_batch`](Self::post_batch), waiting for at most `timeout` in all.
    ///
    /// # Errors
    /// [`BatchError`] with how many were posted, the rest, and [`Refusal::Closed`] or
    /// [`Refusal::Timeout`].
    ///
    /// # Panics
    /// As [`try_post_batch`](Self::try_post_batch).
    pub fn post_batch_timeout<B, K>(
        &self,
        batch: B,
        timeout: Duration,
    ) -> Result<usize, BatchError<B::Batch>>
    where
        B: IntoBatch<R::Letter, K>,
    {
        self.post_batch_until(batch, Instant::now().checked_add(timeout))
    }

    /// Whether the ring refuses letters. `false` may be out of date when it arrives.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// Refuses letters from now on, from every producer; those accepted are still taken. Returns
    /// whether this call did it.
    pub fn close(&self) -> bool {
        self.ring.close()
    }

    /// How many letters lie in the ring (on an mpsc ring with those claimed and not yet published):
    /// between 0 and the capacity, and possibly out of date when it arrives. Room is counted as the
    /// consumer gives it back, at the latest after a quarter of the ring.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.letters_held()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether [`len`](Self::len) is the capacity.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many letters the ring holds: exactly what was asked for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.config().capacity
    }

    /// How many producers stand in line for room at present.
    #[must_use]
    pub fn waiting_producers(&self) -> usize {
        self.ring.waiting_producers()
    }

    /// Events counted since the ring was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.ring.counters()
    }

    fn post_until(
        &self,
        letter: R::Letter,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Result<(), PostTimeoutError<R::Letter>> {
        match self.post_one(letter, Turn::BehindOthers) {
            Ok(()) => Ok(()),
            Err(TryPostError::Closed(letter)) => Err(PostTimeoutError::Closed(letter)),
            Err(TryPostError::Full(letter)) => match self.post_waiting(letter, deadline()) {
                Ok(()) => Ok(()),
                Err((Refusal::Closed, letter)) => Err(PostTimeoutError::Closed(letter)),
                Err((_, letter)) => Err(PostTimeoutError::Timeout(letter)),
            },
        }
    }

    #[cold]
    fn post_waiting(
        &self,
        letter: R::Letter,
        deadline: Option<Instant>,
    ) -> Result<(), (Refusal, R::Letter)> {
        match self.claim_waiting(deadline, 1) {
            Ok(Claimed { claim, line }) => {
                let published = claim.publish(letter);
                drop(line);
                published.map_err(|letter| (Refusal::Closed, letter))
            }
            Err(refusal) => Err((refusal, letter)),
        }
    }

    fn post_batch_until<B, K>(
        &self,
        batch: B,
        deadline: Option<Instant>,
    ) -> Result<usize, BatchError<B::Batch>>
    where
        B: IntoBatch<R::Letter, K>,
    {
        let mut rest = batch.into_batch();
        let mut posted = 0;
        let reason = loop {
            match self.post_what_fits(&mut rest, &mut posted, Turn::BehindOthers) {
                Ok(()) => return Ok(posted),
                Err(Refusal::Full) => {}
                Err(reason) => break reason,
            }
            match self.claim_waiting(deadline, rest.ready()) {
                Ok(Claimed { claim, line }) => {
                    let count = claim.count();
                    let published = claim.publish_batch(&mut rest);
                    drop(line);
                    if let Err(reason) = published {
                        break reason;
                    }
                    posted += count;
                }
                Err(reason) => break reason,
            }
        };
        Err(BatchError {
            posted,
            rest,
            reason,
        })
    }

    #[inline]
    fn post_what_fits<B>(
        &self,
        batch: &mut B,
        posted: &mut usize,
        turn: Turn,
    ) -> Result<(), Refusal>
    where
        B: Batch<Item = R::Letter>,
    {
        loop {
            let ready = batch.ready();
            if ready == 0 {
                return Ok(());
            }
            let claim = self.ring.claim(&self.side, ready, turn)?;
            let count = claim.count();
            claim.publish_batch(batch)?;
            *posted += count;
        }
    }

    /// Waits until at least one slot is claimed. The place in line, if one was taken, is given
    /// back by the caller after it has published.
    #[cold]
    fn claim_waiting(
        &self,
        deadline: Option<Instant>,
        want: usize,
    ) -> Result<Claimed<'_, R>, Refusal> {
        let ring = &*self.ring;
        let mut idle = ring.config().producer_idle(ring.handles());
        let mut line = InLine { ring, place: None };
        let mut is_late = false;
        loop {
            let turn = match line.place {
                Some(_) => Turn::Now,
                None => Turn::BehindOthers,
            };
            // Once more where the time is over: room that came in time is not a timeout.
            match ring.claim(&self.side, want, turn) {
                Ok(claim) => return Ok(Claimed { claim, line }),
                Err(Refusal::Full) => {}
                Err(refusal) => return Err(refusal),
            }
            if is_late {
                return Err(Refusal::Timeout);
            }
            let waited = ring.wait_for_room(&mut line.place, &mut idle, deadline);
            is_late = matches!(waited, Err(TimedOut));
            if is_late && line.place.is_some() {
                // The line has judged that it is not its turn.
                return Err(Refusal::Timeout);
            }
        }
    }
}

/// A claim got by waiting, and the place in line to give back after it is published.
struct Claimed<'a, R: Ring + 'a> {
    claim: R::Claim<'a>,
    line: InLine<'a, R>,
}

/// A place in line, if one was taken; given back on every way out, also by a panicking strategy.
struct InLine<'a, R: Ring> {
    ring: &'a R,
    place: Option<R::Place>,
}

impl<R: Ring> Drop for InLine<'_, R> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.ring.leave_line(place);
        }
    }
}

impl<R: Ring> Drop for Producer<R> {
    fn drop(&mut self) {
        self.ring.producer_gone();
    }
}

impl<R: Ring> core::fmt::Debug for Producer<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

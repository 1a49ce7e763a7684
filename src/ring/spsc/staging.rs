//! A producer that writes letters one by one and publishes them together.
//!
//! R17. What is staged lies in slots from tail on that are released and not published: it is the
//!      producer's (R11), and is published by the one store that ends a batch, or dropped by the
//!      producer where the ring was closed before.

use super::Producer;
use crate::ring::error::{Closed, TryPostError};
use crate::ring::leftovers::drop_in_slots;
use crate::ring::protocol::Ring as _;
use core::task::{Context, Poll};

/// The producer of a ring whose letters are written into their slots at once, and seen by the
/// consumer when they are [published](Self::publish): one store and one look at the consumer's
/// sleep for all of them, and no letter moved twice.
///
/// Dropping it publishes what is staged, and closes the ring.
///
/// ```
/// use mailring::ring::spsc;
///
/// let (producer, mut consumer) = spsc::bounded(4)?;
/// let mut staging = spsc::Staging::new(producer);
/// staging.try_stage('a').unwrap();
/// staging.try_stage('b').unwrap();
/// assert!(!consumer.has_letters());
/// staging.publish().unwrap();
/// assert_eq!(consumer.try_take(), Ok('a'));
/// # Ok::<(), mailring::ring::CapacityError>(())
/// ```
pub struct Staging<T> {
    producer: Producer<T>,
    /// The next sequence to stage.
    cursor: u64,
    /// Sequences from the cursor to before it can be staged without another look.
    reserved: u64,
    batch_max: u64,
    is_held: bool,
}

impl<T> Staging<T> {
    /// Nothing is staged yet.
    #[must_use]
    pub fn new(producer: Producer<T>) -> Self {
        let cursor = producer.side.tail.get();
        Self {
            producer,
            cursor,
            reserved: cursor,
            batch_max: u64::MAX,
            is_held: false,
        }
    }

    /// Publishes by itself before more than `letters`, and at least one, would be staged.
    #[must_use]
    pub fn in_batches(mut self, letters: usize) -> Self {
        self.batch_max = letters.max(1) as u64;
        self
    }

    /// Writes `letter` behind those staged before, if there is room.
    ///
    /// # Errors
    /// [`TryPostError::Full`], with the letter. That the ring is closed is told by
    /// [`publish`](Self::publish).
    #[inline(always)]
    pub fn try_stage(&mut self, letter: T) -> Result<(), TryPostError<T>> {
        if self.cursor == self.reserved && !self.reserve() {
            return Err(TryPostError::Full(letter));
        }
        let ring = &*self.producer.ring;
        ring.ask_ahead_of(self.cursor, 1);
        // SAFETY: R17: the slot is released and not published, so it is the producer's.
        ring.slot(self.cursor).with_mut(|cell| unsafe {
            (*cell).write(letter);
        });
        self.cursor += 1;
        Ok(())
    }

    /// Looks how far can be staged; whether any.
    #[cold]
    fn reserve(&mut self) -> bool {
        if self.is_held {
            return false;
        }
        if self.staged() as u64 >= self.batch_max {
            // Of a closed ring they are dropped, and what follows will be.
            let _closed = self.publish();
        }
        let side = &self.producer.side;
        if !self.producer.ring.is_free(side, self.cursor) {
            return false;
        }
        let batch_end = side.tail.get().saturating_add(self.batch_max);
        self.reserved = side.limit.get().min(batch_end);
        true
    }

    /// How many letters were ever staged.
    #[cfg_attr(not(feature = "stream"), expect(dead_code, reason = "for who counts"))]
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Nothing is staged until [`go_on`](Self::go_on): there is no room for it.
    #[cfg_attr(
        not(feature = "stream"),
        expect(dead_code, reason = "for what has an order to keep")
    )]
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
        self.reserved = self.cursor;
    }

    /// Ends a [`hold`](Self::hold).
    #[cfg_attr(not(feature = "stream"), expect(dead_code, reason = "as above"))]
    pub(crate) fn go_on(&mut self) {
        self.is_held = false;
    }

    /// Publishes what is staged; returns how many letters that were.
    ///
    /// # Errors
    /// [`Closed`] with how many letters were staged, all of which are dropped.
    #[inline]
    pub fn publish(&mut self) -> Result<usize, Closed<usize>> {
        let first = self.producer.side.tail.get();
        let end = self.cursor;
        if first == end {
            return Ok(0);
        }
        let count = (end - first) as usize;
        let ring = &*self.producer.ring;
        if ring.begin_posting().is_err() {
            self.cursor = first;
            self.reserved = first;
            drop_in_slots(first, end, |sequence| {
                // SAFETY: R17: the slot holds a staged letter, which is dropped once, as nothing is
                // staged any more.
                ring.slot(sequence)
                    .with_mut(|value| unsafe { (*value).assume_init_drop() });
            });
            return Err(Closed(count));
        }
        ring.publish_until(&self.producer.side, end);
        Ok(count)
    }

    /// How many letters are staged.
    #[must_use]
    pub fn staged(&self) -> usize {
        (self.cursor - self.producer.side.tail.get()) as usize
    }

    /// Whether there is room for another letter. Where there is none, the task is woken when there
    /// is some, at the latest when the consumer has taken a quarter of the ring.
    ///
    /// Publish first: what nobody sees is not taken.
    ///
    /// # Errors
    /// [`Closed`] as soon as the ring is closed.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let ring = &*self.producer.ring;
        let side = &self.producer.side;
        if ring.is_closed() {
            return Poll::Ready(Err(Closed(())));
        }
        if ring.is_free(side, self.cursor) {
            return Poll::Ready(Ok(()));
        }
        if self.staged() == 0 && ring.poll_for_room(&mut None, cx.waker()).is_pending() {
            return Poll::Pending;
        }
        if ring.is_closed() {
            return Poll::Ready(Err(Closed(())));
        }
        if ring.is_free(side, self.cursor) {
            Poll::Ready(Ok(()))
        } else {
            // What is staged keeps the consumer from making room: it is for the caller to publish.
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }

    /// Whether there is room for another letter; no more than a look.
    #[inline]
    #[must_use]
    pub fn has_room(&self) -> bool {
        let side = &self.producer.side;
        self.producer.ring.is_free(side, self.cursor)
    }

    /// How many letters are staged or lie in the ring.
    #[must_use]
    pub fn len(&self) -> usize {
        self.producer.len() + self.staged()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many letters the ring holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    /// Whether the ring refuses letters.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.producer.is_closed()
    }
}

impl<T> Drop for Staging<T> {
    fn drop(&mut self) {
        // Where the ring was closed, nobody would have taken them.
        let _closed = self.publish();
    }
}

impl<T> core::fmt::Debug for Staging<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Staging")
            .field("staged", &self.staged())
            .field("producer", &self.producer)
            .finish()
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::Staging;
    use crate::ring::{Closed, TryPostError, TryTakeError, spsc};
    use crate::sync::Arc;
    use core::task::{Context, Poll, Waker};

    #[test]
    fn what_is_staged_is_seen_when_it_is_published_at_every_start() {
        for start in (0..9).chain([(1 << 32) - 3, u64::MAX - 400]) {
            let ring = spsc::Builder::new(5).start(start).build().unwrap();
            let (producer, mut consumer) = ring;
            let mut staging = Staging::new(producer);
            let mut next = 0;
            for lap in 0..60 {
                let count = lap % 6;
                for letter in next..next + count {
                    staging.try_stage(letter).unwrap();
                }
                if count == 5 {
                    assert_eq!(staging.try_stage(0), Err(TryPostError::Full(0)));
                }
                assert_eq!((staging.staged(), consumer.len()), (count as usize, 0));
                assert_eq!(staging.publish(), Ok(count as usize));
                assert!(consumer.try_iter().eq(next..next + count));
                next += count;
            }
        }
    }

    #[test]
    fn a_closed_ring_has_what_is_staged_dropped_once() {
        let (producer, consumer) = spsc::bounded(4).unwrap();
        let mut staging = Staging::new(producer);
        let letter = Arc::new(());
        staging.try_stage(Arc::clone(&letter)).unwrap();
        staging.publish().unwrap();
        staging.try_stage(Arc::clone(&letter)).unwrap();
        staging.try_stage(Arc::clone(&letter)).unwrap();
        drop(consumer);
        assert_eq!(Arc::strong_count(&letter), 3);
        assert_eq!(staging.publish(), Err(Closed(2)));
        assert_eq!(Arc::strong_count(&letter), 1);
        assert_eq!(staging.publish(), Ok(0));
    }

    #[test]
    fn a_producer_that_goes_publishes_what_is_staged() {
        let (producer, mut consumer) = spsc::bounded(4).unwrap();
        let mut staging = Staging::new(producer);
        staging.try_stage('a').unwrap();
        drop(staging);
        assert_eq!(consumer.try_take(), Ok('a'));
        assert_eq!(consumer.try_take(), Err(TryTakeError::Closed));
    }

    #[test]
    fn room_is_told_when_the_consumer_makes_it() {
        let (producer, mut consumer) = spsc::bounded(2).unwrap();
        let mut staging = Staging::new(producer);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(staging.poll_room(&mut cx), Poll::Ready(Ok(())));
        staging.try_stage('a').unwrap();
        staging.try_stage('b').unwrap();
        staging.publish().unwrap();
        assert_eq!(staging.poll_room(&mut cx), Poll::Pending);
        assert!(!staging.has_room());
        assert_eq!(consumer.try_take(), Ok('a'));
        assert_eq!(staging.poll_room(&mut cx), Poll::Ready(Ok(())));
        drop(consumer);
        assert_eq!(staging.poll_room(&mut cx), Poll::Ready(Err(Closed(()))));
    }
}

//! Waiting for room as a task, without a letter in hand.

use super::error::Closed;
use super::mpsc;
use super::protocol::Ring;
use crate::sync::LineArc;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

/// Resolves when it is its turn and there is room for a letter, or the ring is closed; made by
/// [`mpsc::Producer::room`].
///
/// It stands in line from its first poll until it is dropped: poll it by reference, and drop it when
/// what was to be posted is posted. Until then nobody behind it in line gets that room; a `try_` post
/// of somebody else takes it all the same, and then the next poll waits again, in the same place. It
/// does not keep the ring open.
#[must_use = "a future does nothing until it is polled"]
pub struct RoomFuture<R: Ring> {
    ring: LineArc<R>,
    place: Option<R::Place>,
}

/// Nothing in it is pinned: the place in line is a ticket, not an address.
impl<R: Ring> Unpin for RoomFuture<R> {}

impl<T> mpsc::Producer<T> {
    /// Waits for room as a task, and holds its place in line until it is dropped; see [`RoomFuture`].
    ///
    /// The output is [`Closed`] when the ring is closed.
    ///
    /// ```
    /// use mailring::ring::mpsc;
    /// use std::pin::Pin;
    /// use std::task::{Context, Waker};
    ///
    /// let (producer, mut consumer) = mpsc::bounded(1)?;
    /// let mut cx = Context::from_waker(Waker::noop());
    /// producer.try_post('a').unwrap();
    /// let mut room = producer.room();
    /// assert!(Pin::new(&mut room).poll(&mut cx).is_pending());
    /// assert_eq!(consumer.try_take(), Ok('a'));
    /// assert!(Pin::new(&mut room).poll(&mut cx).is_ready());
    /// producer.try_post('b').unwrap();
    /// drop(room);
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    pub fn room(&self) -> RoomFuture<mpsc::Ring<T>> {
        RoomFuture {
            ring: LineArc::clone(&self.ring),
            place: None,
        }
    }
}

impl<R: Ring> Future for RoomFuture<R> {
    type Output = Result<(), Closed<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { ring, place } = self.get_mut();
        ready!(ring.poll_for_room(place, cx.waker()));
        Poll::Ready(if ring.is_closed() {
            Err(Closed(()))
        } else {
            Ok(())
        })
    }
}

impl<R: Ring> Drop for RoomFuture<R> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.ring.leave_line(place);
        }
    }
}

impl<R: Ring> core::fmt::Debug for RoomFuture<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RoomFuture")
            .field("waiting", &self.place.is_some())
            .finish_non_exhaustive()
    }
}

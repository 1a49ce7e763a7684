//! Posting a letter as a task.
//!
//! Each kind of ring has a `post_async` of its own: where there is one producer, one future at a
//! time waits for room, and the borrow says so.

use super::error::{Closed, Refusal};
use super::producer::Producer;
use super::protocol::Claim as _;
use super::protocol::{Ring, Turn};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Resolves when the letter is posted; made by `post_async` of either kind of producer.
///
/// Cancel-safe: dropped before it is ready, it has posted nothing, gives its place in line back,
/// and passes on a wake it was given. Kept and not polled after its wake, or forgotten, it goes on
/// holding that place, and keeps one letter's room from those behind it: see `post_async`.
#[must_use = "a future does nothing until it is polled"]
pub struct PostFuture<'a, R: Ring> {
    producer: &'a Producer<R>,
    /// `None` once it is posted or handed back.
    letter: Option<R::Letter>,
    place: Option<R::Place>,
}

/// Nothing in it is pinned: the place in line is a ticket, not an address.
impl<R: Ring> Unpin for PostFuture<'_, R> {}

impl<'a, R: Ring> PostFuture<'a, R> {
    pub(super) fn new(producer: &'a Producer<R>, letter: R::Letter) -> Self {
        Self {
            producer,
            letter: Some(letter),
            place: None,
        }
    }
}

impl<R: Ring> Future for PostFuture<'_, R> {
    type Output = Result<(), Closed<R::Letter>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let letter = this
            .letter
            .take()
            .expect("a PostFuture is not polled after it was ready");
        let ring = &this.producer.ring;
        // In line it claims only when it is its turn, however often it is polled.
        let mut turn = match this.place {
            Some(_) => None,
            None => Some(Turn::BehindOthers),
        };
        let output = loop {
            if let Some(turn) = turn {
                match ring.claim(&this.producer.side, 1, turn) {
                    Ok(claim) => break claim.publish(letter).map_err(Closed),
                    Err(Refusal::Closed) => break Err(Closed(letter)),
                    Err(_) => {}
                }
            }
            if ring.poll_for_room(&mut this.place, cx.waker()).is_pending() {
                this.letter = Some(letter);
                return Poll::Pending;
            }
            turn = Some(Turn::Now);
        };
        this.leave_line();
        Poll::Ready(output)
    }
}

impl<R: Ring> PostFuture<'_, R> {
    fn leave_line(&mut self) {
        if let Some(place) = self.place.take() {
            self.producer.ring.leave_line(place);
        }
    }
}

impl<R: Ring> Drop for PostFuture<'_, R> {
    fn drop(&mut self) {
        self.leave_line();
    }
}

impl<R: Ring> core::fmt::Debug for PostFuture<'_, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PostFuture")
            .field("waiting", &self.place.is_some())
            .finish_non_exhaustive()
    }
}

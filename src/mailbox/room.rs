//! Waiting for room in a mailbox as a task, without a letter in hand.

use super::envelope::Envelope;
use super::sender::Sender;
use crate::letter::{Letter, Mail};
use crate::ring::{self, Closed, mpsc};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Resolves when it is its turn and there is room for an ordinary letter, or the mailbox takes none any
/// more; made by [`Sender::room`].
///
/// It stands in line from its first poll until it is dropped, and does not keep the mailbox open; see
/// [`ring::RoomFuture`]. Here posts that wait, too, take room that they find when they come, as `try_`
/// posts do.
#[must_use = "a future does nothing until it is polled"]
pub struct RoomFuture<O, L = Mail<O>> {
    inner: ring::RoomFuture<mpsc::Ring<Envelope<O, L>>>,
}

impl<O, L: Letter<O>> Sender<O, L> {
    /// Waits for room for an ordinary letter as a task, and holds its place in line until it is
    /// dropped; see [`RoomFuture`].
    ///
    /// The output is [`Closed`] when the mailbox takes no more letters.
    pub fn room(&self) -> RoomFuture<O, L> {
        RoomFuture {
            inner: self.main.room(),
        }
    }
}

impl<O, L> Future for RoomFuture<O, L> {
    type Output = Result<(), Closed<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().inner).poll(cx)
    }
}

impl<O, L> core::fmt::Debug for RoomFuture<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.inner.fmt(f)
    }
}

//! Taking letters as a task: where there is none, it is woken.

use super::consumer::Consumer;
use super::error::Closed;
use super::protocol::{OwnerState, Ring};
use super::take_future::TakeFuture;
use core::task::{Context, Poll, ready};

impl<R: Ring> Consumer<R> {
    /// Takes a letter, or has the task woken when there is one. A kick does not end this wait:
    /// the next [`wait`](Self::wait) reports it.
    ///
    /// Where a letter is claimed and not yet published, the task is woken at once, to look again.
    pub fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Result<R::Letter, Closed>> {
        loop {
            if let Some(letter) = self.take_published() {
                return Poll::Ready(Ok(letter));
            }
            ready!(self.poll_letters(cx))?;
        }
    }

    /// Whether there is a letter to take, or the end ([`Closed`]). Where there is neither, the task is
    /// woken when there is; a kick wakes it too.
    pub fn poll_letters(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        loop {
            if self.has_letters() {
                return Poll::Ready(Ok(()));
            }
            match self.ring.poll_park(&mut self.side, cx) {
                OwnerState::Look => {}
                OwnerState::Kicked => {
                    self.ring.take_kick();
                    self.kicked = true;
                }
                OwnerState::Hole => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                OwnerState::Finished => return Poll::Ready(Err(Closed(()))),
                OwnerState::Asleep => return Poll::Pending,
            }
        }
    }

    /// Takes a letter, waiting for one as a task. Dropped before it is ready, it has taken
    /// nothing.
    #[must_use = "a future does nothing until it is polled"]
    pub fn take_async(&mut self) -> TakeFuture<'_, R> {
        TakeFuture { consumer: self }
    }
}

//! Taking a letter as a task.

use super::consumer::Consumer;
use super::error::Closed;
use super::protocol::Ring;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Resolves to the next letter. See [`Consumer::take_async`].
#[must_use = "a future does nothing until it is polled"]
pub struct TakeFuture<'a, R: Ring> {
    pub(super) consumer: &'a mut Consumer<R>,
}

impl<R: Ring> Future for TakeFuture<'_, R> {
    type Output = Result<R::Letter, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.consumer.poll_take(cx)
    }
}

impl<R: Ring> core::fmt::Debug for TakeFuture<'_, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("TakeFuture").field(&self.consumer).finish()
    }
}

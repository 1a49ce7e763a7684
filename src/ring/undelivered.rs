//! What a closed ring still held: accepted and never taken.

use super::consumer::Consumer;
use super::error::TryTakeError;
use super::protocol::Ring;

/// The letters accepted and not taken, in order, each exactly once; what is not iterated is
/// dropped. See [`Consumer::close`].
pub struct Undelivered<R: Ring> {
    pub(super) consumer: Consumer<R>,
}

impl<R: Ring> Consumer<R> {
    /// Of a ring that was closed: takes a letter that was accepted, waiting for one whose post has
    /// begun and not ended. `None`: none are left.
    ///
    /// As a rule none is waited for, so the end is looked for first.
    pub(crate) fn take_left(&mut self) -> Option<R::Letter> {
        match self.try_take() {
            Ok(letter) => Some(letter),
            Err(TryTakeError::Closed) => None,
            Err(TryTakeError::Empty) => self.take().ok(),
        }
    }
}

impl<R: Ring> Iterator for Undelivered<R> {
    type Item = R::Letter;

    fn next(&mut self) -> Option<R::Letter> {
        self.consumer.take_left()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Of one producer's ring a post that still goes on is not counted.
        (self.consumer.len(), None)
    }
}

impl<R: Ring> core::fmt::Debug for Undelivered<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Undelivered")
            .field("left", &self.consumer.len())
            .finish()
    }
}

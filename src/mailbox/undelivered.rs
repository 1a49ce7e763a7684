//! What a closed mailbox still held: accepted and never run.

use super::envelope::{Envelope, MarkerId, Taken, Token};
use super::fifo::Fifo;

/// The letters accepted and not taken: urgent ones first, then the others in order, each once.
/// Those that are not iterated are dropped with it, and the replies they owe are told.
#[must_use = "undelivered letters are dropped with it"]
pub struct Undelivered<O, L> {
    pub(super) left: Fifo<Envelope<O, L>>,
}

impl<O, L> Undelivered<O, L> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Leaves out what only a processor could run, but for what stands for a marker: that takes its
    /// place.
    pub(crate) fn without_tokens(self, marker_of: impl Fn(Token) -> Option<MarkerId>) -> Self {
        let letters = self.left.filter_map(|envelope| match envelope {
            Envelope::Token(token, _) => marker_of(token).map(Envelope::Marker),
            letter => Some(letter),
        });
        let mut left = Fifo::default();
        left.extend(letters);
        Self { left }
    }
}

impl<O, L> Iterator for Undelivered<O, L> {
    type Item = Taken<O, L>;

    fn next(&mut self) -> Option<Taken<O, L>> {
        self.left.pop()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl<O, L> ExactSizeIterator for Undelivered<O, L> {}

impl<O, L> core::fmt::Debug for Undelivered<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Undelivered")
            .field("left", &self.left.len())
            .finish()
    }
}

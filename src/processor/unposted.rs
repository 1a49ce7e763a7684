//! An action that was refused, handed back.

use crate::letter::{Letter, Outcome};
use crate::mailbox::{Envelope, Taken};

/// An action that was not posted, in the form in which it would have travelled: to be posted again
/// by [`Executor::post_again`](super::Executor::post_again), run in place, or dropped. Where it owes
/// a reply, dropping it tells.
pub struct Unposted<O, L> {
    taken: Taken<O, L>,
}

impl<O, L: Letter<O>> Unposted<O, L> {
    pub(super) fn new(envelope: Envelope<O, L>) -> Self {
        Self { taken: envelope }
    }

    pub(super) fn into_envelope(self) -> Envelope<O, L> {
        self.taken
    }

    /// Runs it here and now.
    ///
    /// # Errors
    /// What the action returns.
    pub fn run(self, owner: &mut O) -> Outcome {
        match self.taken {
            Taken::Mail(mail) => mail.run(owner),
            Taken::Letter(letter) => letter.run(owner),
            Taken::Marker(_) | Taken::Token(..) => unreachable!("actions alone are handed back"),
        }
    }
}

impl<O, L> core::fmt::Debug for Unposted<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Unposted").finish_non_exhaustive()
    }
}

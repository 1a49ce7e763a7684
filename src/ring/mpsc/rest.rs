//! Rest: the sleep of an owner that somebody else's loop drives, and that a hook calls.
//!
//! R14. While a rest is on, the tail says so. Whoever ends it, and nobody else, calls the hook, once;
//!      an owner that ends its own rest has nobody call.

use super::Consumer;
use super::owner::Owed;
use crate::ring::protocol::OwnerState;

/// What became of an attempt to rest; see [`Consumer::rest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rest {
    /// At rest: the hook will be called once.
    Resting,
    /// A letter is there or is being posted: look again.
    Look,
    /// Kicked: there is work outside the ring.
    Kicked,
    /// All letters have been taken and none can follow.
    Finished,
}

/// What became of an attempt to rest, for who counts the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rested {
    /// At rest: the hook will be called once.
    Resting,
    /// There is something to look at.
    Look,
    /// A letter is claimed and not published.
    Hole,
    /// An earlier rest was ended, and its call is still to come.
    Owed,
    /// All letters have been taken and none can follow.
    Finished,
}

impl<T> Consumer<T> {
    /// For an owner driven by a hook ([`Builder::wake_by`](super::Builder::wake_by)): goes to rest
    /// and returns at once. [`Rest::Resting`] means that the hook will be called exactly once, by
    /// whoever makes the next letter, kick, nudge or close. What is taken meanwhile ends no rest.
    /// Resting again ends an earlier rest; where somebody else had ended that before, its call may
    /// come later still, besides that of the new one. On a ring without a hook nobody is called.
    #[must_use = "an owner that does not rest must look again"]
    pub fn rest(&mut self) -> Rest {
        self.rest_unless(|| false)
    }

    /// As [`rest`](Self::rest), unless `unless` says that there is work elsewhere, which is reported
    /// as [`Rest::Kicked`]. It is asked once more after the rest has begun: work that was made before
    /// a [`nudge`](super::WeakProducer::nudge) is never slept through.
    #[must_use = "an owner that does not rest must look again"]
    pub fn rest_unless(&mut self, mut unless: impl FnMut() -> bool) -> Rest {
        if self.take_skipped_kick() {
            return Rest::Kicked;
        }
        loop {
            let state = self.ring.rest_owner(&mut self.side, &mut unless);
            return match state {
                Ok(OwnerState::Asleep) => Rest::Resting,
                Ok(OwnerState::Kicked) => {
                    self.ring.clear_kick();
                    Rest::Kicked
                }
                Ok(OwnerState::Finished) => Rest::Finished,
                Ok(OwnerState::Look | OwnerState::Hole) if unless() => Rest::Kicked,
                Ok(OwnerState::Look | OwnerState::Hole) => Rest::Look,
                Err(Owed) => {
                    self.ring.called(&mut self.side);
                    continue;
                }
            };
        }
    }

    /// As [`rest_unless`](Self::rest_unless), for an owner that is told of each call by
    /// [`called`](Self::called): so there is one call at most on its way.
    #[inline]
    pub(crate) fn rest_once(&mut self, unless: impl FnOnce() -> bool) -> Rested {
        if self.take_skipped_kick() {
            return Rested::Look;
        }
        match self.ring.rest_owner(&mut self.side, unless) {
            Ok(OwnerState::Asleep) => Rested::Resting,
            Ok(OwnerState::Finished) => Rested::Finished,
            Ok(OwnerState::Kicked) => {
                self.ring.clear_kick();
                Rested::Look
            }
            Ok(OwnerState::Hole) => Rested::Hole,
            Ok(OwnerState::Look) => Rested::Look,
            Err(Owed) => Rested::Owed,
        }
    }

    /// The hook was called.
    #[inline]
    pub(crate) fn called(&mut self) {
        self.ring.called(&mut self.side);
    }

    /// Whether a call of the hook is still to come for a rest that was ended. Ends a rest that is on.
    pub(crate) fn end_rest(&mut self) -> bool {
        self.ring.end_rest(&mut self.side)
    }

    /// Whether all that was claimed is taken.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.ring.is_quiet(&self.side)
    }
}

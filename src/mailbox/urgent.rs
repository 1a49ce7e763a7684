//! The owner's side of the urgent lane: what was posted is noted before it is taken.
//!
//! The owner clears the flag, then moves what lies in the ring to its own queue. A letter that is
//! published after that raises the flag anew.

use super::envelope::Envelope;
use super::owner::Mailbox;
use super::shared::URGENT;
use crate::letter::Letter;

impl<O, L: Letter<O>> Mailbox<O, L> {
    /// Puts an urgent envelope of the owner's own behind the urgent ones that there are, in any state.
    pub(crate) fn keep_urgent(&mut self, envelope: Envelope<O, L>) {
        // Q1: what was posted before this stays before it, while there is room for so many.
        self.note_urgent(Self::urgent_room);
        self.queues.urgent.push(envelope);
        self.queues.judge_urgent();
    }

    /// Whether there is an urgent letter to take.
    #[inline]
    #[must_use]
    pub fn has_urgent(&self) -> bool {
        self.queues.has_urgent || self.weak.shared.flags() & URGENT != 0
    }

    /// Takes note of urgent letters that others have posted.
    #[cold]
    pub(crate) fn note_flag(&mut self) {
        if self.weak.shared.flags() & URGENT != 0 {
            self.weak.shared.take_flags(URGENT);
            self.queues.more_urgent = true;
            self.queues.judge_urgent();
        }
    }

    #[inline]
    pub(super) fn pop_urgent(&mut self) -> Option<Envelope<O, L>> {
        if self.queues.urgent.is_empty() {
            self.note_urgent(Self::urgent_room);
        }
        let envelope = self.queues.urgent.pop();
        self.queues.judge_urgent();
        envelope
    }

    /// How many urgent letters the owner's queue has room for without growing.
    pub(super) fn urgent_room(&self) -> usize {
        let most = self.urgent.capacity() + self.markers.urgent_max();
        most.saturating_sub(self.queues.urgent.len())
    }

    /// Moves up to `most` letters of the urgent ring to the owner's queue. One that is not published
    /// yet raises the flag when it is.
    #[cold]
    pub(super) fn note_urgent(&mut self, most: impl FnOnce(&Self) -> usize) {
        self.note_flag();
        if self.queues.more_urgent {
            // Counted after the flag was cleared: whatever it stood for is among them.
            let most = most(self);
            self.urgent.drain_to(&mut self.queues.urgent, most);
            self.queues.more_urgent = self.urgent.has_letters();
            self.queues.judge_urgent();
        }
    }
}

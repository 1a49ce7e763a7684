//! The end of a mailbox's life: both lanes end, and what was accepted is taken or returned.
//!
//! M6. A marker's first post may meet the close when others were already told that it is pending. So
//!     when both lanes have ended, the owner asks each reservation for what is not settled, and a
//!     marker that is owed a run is kept for it.

use super::envelope::{Deferrable, Envelope, Taken};
use super::error::TakeError;
use super::fifo::Fifo;
use super::owner::{Mailbox, State};
use super::shared::URGENT;
use super::undelivered::Undelivered;
use crate::letter::{Letter, Priority};

impl<O, L: Letter<O>> Mailbox<O, L> {
    /// Why there was no letter to take.
    pub(super) fn nothing_to_take(
        &mut self,
        least: Priority,
        deferrable: Deferrable,
    ) -> Result<Taken<O, L>, TakeError> {
        if self.state == State::Closed {
            return Err(TakeError::Closed);
        }
        if !self.is_finished() {
            return Err(TakeError::Empty);
        }
        if self.keep_owed() {
            return self.try_take_shown(least, deferrable);
        }
        Err(TakeError::Quiesced)
    }

    /// Whether all letters have been taken and none can follow, but the owner's own.
    fn is_finished(&self) -> bool {
        self.queues.is_empty() && self.main.is_finished() && self.urgent.is_finished()
    }

    /// Where it is finished: keeps the markers that are owed a run (M6); whether there were any.
    #[cold]
    fn keep_owed(&mut self) -> bool {
        let owed = self.markers.owed_at_end([&self.main, &self.urgent], &[]);
        let any = !owed.is_empty();
        let owed = owed.into_iter().map(Envelope::Marker);
        self.queues.queue.extend(owed);
        any
    }

    /// Whether it takes no more letters, and all that were accepted have been taken: also those
    /// whose posts have begun and not ended.
    #[cold]
    pub(crate) fn is_over(&mut self) -> bool {
        self.state != State::Open && self.is_finished() && !self.keep_owed()
    }

    /// Refuses new letters, the owner's own too; those accepted are still to be taken.
    pub fn quiesce(&mut self) {
        if self.state == State::Open {
            self.state = State::Quiesced;
            self.refuse_senders();
        }
    }

    /// Refuses what others post; the owner may still post to itself.
    pub(crate) fn refuse_senders(&mut self) {
        self.main.quiesce();
        self.urgent.quiesce();
    }

    /// Refuses new letters and returns those accepted and not taken: urgent ones, then the others in
    /// order. Closing again returns none.
    ///
    /// It waits for posts that have begun and not ended: a few instructions, unless that sender was
    /// preempted between them.
    pub fn close(&mut self) -> Undelivered<O, L> {
        self.quiesce();
        self.state = State::Closed;
        let Self {
            main,
            urgent,
            queues,
            markers,
            ..
        } = self;
        let mut returned = Vec::new();
        let all = core::mem::take(&mut queues.urgent)
            .chain(core::iter::from_fn(|| urgent.take_left()))
            .chain(core::iter::from_fn(|| queues.pop()))
            .chain(core::iter::from_fn(|| main.take_left()))
            .inspect(|envelope| {
                if let Envelope::Marker(id) = envelope {
                    returned.push(*id);
                }
            });
        let mut left = Fifo::default();
        left.extend(all);
        let owed = markers.owed_at_end([main, urgent], &returned);
        left.extend(owed.into_iter().map(Envelope::Marker));
        self.weak.shared.take_flags(URGENT);
        self.queues.more_urgent = false;
        self.queues.judge_urgent();
        self.weak.shared.depth.set(0);
        Undelivered { left }
    }
}

impl<O, L> Drop for Mailbox<O, L> {
    /// Both lanes refuse before a letter is dropped: one that posts then must not wait for room. As
    /// `close`, it waits for posts that have begun and not ended: who asks holds a handle, which keeps
    /// the ring, and would never be told that its letter was dropped there.
    fn drop(&mut self) {
        for lane in [&mut self.main, &mut self.urgent] {
            // As a rule they were before: then not again, for that is more than a look.
            if !lane.is_closed() {
                lane.quiesce();
            }
        }
        let mut left = Fifo::default();
        left.extend(core::iter::from_fn(|| self.urgent.take_left()));
        left.extend(core::iter::from_fn(|| self.main.take_left()));
    }
}

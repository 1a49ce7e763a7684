//! Neighbours: processors that one thread drives, and how they reach each other without the rings.

use super::action::DefaultAction;
use super::core::Core;
use super::run::MailboxProcessor;
use super::step::Rest;
use crate::letter::Letter;
use crate::mailbox::{Envelope, State};
use crate::ring::mpsc::Rested;

/// How whoever drives a processor together with others is told, on its own thread, that a neighbour
/// has posted there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) list: fn(u32),
    pub(crate) index: u32,
}

impl<O, L: Letter<O>> Core<O, L> {
    /// Posts for a neighbour, to the owner's private queue; hands the input back where that would
    /// overtake a letter in the ring, where there is no room, or the mailbox is not plainly open.
    #[inline(always)]
    pub(super) fn post_near<T>(
        &self,
        input: T,
        seal: impl FnOnce(T) -> Envelope<O, L>,
    ) -> Result<(), T> {
        match self.mailbox.try_borrow_mut() {
            Ok(mut mailbox)
                if mailbox.state() == State::Open && mailbox.takes_from_near() == Some(true) =>
            {
                let vacant = mailbox.vacant();
                vacant.fill(seal(input));
            }
            _ => return Err(input),
        }
        if !self.is_listed.replace(true)
            && let Some(near) = self.near.get()
        {
            (near.list)(near.index);
        }
        Ok(())
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static, A: DefaultAction<O>> MailboxProcessor<O, L, A> {
    /// From here on the calling thread drives this processor, until it drops it, and neighbours post
    /// to it by `near`.
    pub(crate) fn settle(&mut self, near: Near) {
        let core = &*self.core;
        core.near.set(Some(near));
        core.sender.owned_by_this_thread();
        core.sender.shared().answering().move_here();
        core.sender.shared().set_home((&raw const *core).cast());
    }

    /// It was taken off the list of those with something to do: neighbours' posts list it again.
    #[inline]
    pub(crate) fn taken_off_list(&mut self) {
        self.core.is_listed.set(false);
    }

    /// It is on that list.
    #[inline]
    pub(crate) fn put_on_list(&mut self) -> bool {
        !self.core.is_listed.replace(true)
    }

    /// Whether there is anything to step for, timers aside.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        let core = &*self.core;
        core.has_noted_letters() || core.sender.has_flags()
    }

    /// After an idle step: goes to rest if there is nothing to step for, and returns at once whether
    /// it did. While it rests, the hook ([`Builder::wake_by`](super::Builder::wake_by)) is called
    /// once, by whoever brings something: a letter, a marker, a timer from another thread, a resume.
    /// Timers that are armed call nobody: sleep until [`next_timer`](Self::next_timer) at most.
    ///
    /// Where an earlier rest was ended, its call may come later still, besides that of this one.
    ///
    /// ```
    /// use mailring::mailbox;
    /// use mailring::processor::{MailboxProcessor, Rest, Step};
    ///
    /// let (called, calls) = std::sync::mpsc::channel();
    /// let mut processor = MailboxProcessor::<i32>::builder()
    ///     .wake_by(move || called.send(()).unwrap())
    ///     .build(0)?;
    /// let executor = processor.executor();
    /// assert_eq!(processor.run_until_idle()?, Step::Idle);
    /// assert_eq!(processor.rest(), Rest::Resting);
    /// let other = std::thread::spawn(move || executor.execute(|sum| *sum += 1).is_ok());
    /// calls.recv()?;
    /// assert_eq!(processor.run_until_idle()?, Step::Idle);
    /// assert_eq!(processor.with_owner(|sum| *sum), 1);
    /// # assert!(other.join().unwrap());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "an owner that does not rest must be stepped again"]
    pub fn rest(&mut self) -> Rest {
        self.core.sender.owned_by_this_thread();
        if self.is_wanted() || !self.core.mailbox.borrow_mut().rest() {
            return Rest::Look;
        }
        Rest::Resting
    }

    /// As [`rest`](Self::rest), for who tells it of each call.
    #[inline]
    pub(crate) fn rest_once(&mut self) -> Rested {
        if self.is_wanted() {
            return Rested::Look;
        }
        self.core.mailbox.borrow_mut().rest_once()
    }

    fn is_wanted(&self) -> bool {
        self.has_work() || self.core.phase.is_available.get() || self.core.phase.is_stopping.get()
    }

    /// The hook was called.
    #[inline]
    pub(crate) fn called(&mut self) {
        self.core.mailbox.borrow_mut().called();
    }

    /// Ends a rest; whether a call of the hook is still to come.
    pub(crate) fn end_rest(&mut self) -> bool {
        self.core.mailbox.borrow_mut().end_rest()
    }
}

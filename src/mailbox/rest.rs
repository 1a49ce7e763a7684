//! Rest: the sleep of an owner that somebody else's loop drives.

use super::owner::Mailbox;
use crate::letter::Letter;
use crate::ring::mpsc::{self, Rested};

impl<O, L: Letter<O>> Mailbox<O, L> {
    /// For an owner that somebody else's loop drives: goes to rest if there is nothing to look at, and
    /// returns at once whether it did. Then the hook ([`Builder::wake_by`](super::Builder::wake_by))
    /// is called once, by whoever brings something. Where this owner rested before and that was ended,
    /// the call for that may still come, besides.
    ///
    /// ```
    /// use mailring::letter::Mail;
    /// use mailring::mailbox;
    ///
    /// let (called, calls) = std::sync::mpsc::channel();
    /// let builder = mailbox::Builder::new(8).wake_by(move || called.send(()).unwrap());
    /// let (sender, mut mailbox) = builder.build::<u32, Mail<u32>>()?;
    /// assert!(mailbox.rest());
    /// sender.post(Mail::new(|sum: &mut u32| *sum += 1)).unwrap();
    /// sender.post(Mail::new(|sum: &mut u32| *sum += 1)).unwrap();
    /// assert_eq!(calls.try_iter().count(), 1);
    /// assert!(!mailbox.rest());
    /// # Ok::<(), mailring::ring::CapacityError>(())
    /// ```
    #[must_use = "an owner that does not rest must look again"]
    pub fn rest(&mut self) -> bool {
        let Self {
            main, queues, weak, ..
        } = self;
        weak.shared.owned_by_this_thread();
        if !queues.is_empty() {
            return false;
        }
        main.rest_unless(|| weak.shared.flags() != 0) == mpsc::Rest::Resting
    }

    /// As [`rest`](Self::rest), for who tells it of each call.
    #[inline]
    pub(crate) fn rest_once(&mut self) -> Rested {
        let Self { main, weak, .. } = self;
        main.rest_once(|| weak.shared.flags() != 0)
    }

    /// The hook was called.
    #[inline]
    pub(crate) fn called(&mut self) {
        self.main.called();
    }

    /// Ends a rest; whether a call of the hook is still to come.
    pub(crate) fn end_rest(&mut self) -> bool {
        self.main.end_rest()
    }

    /// Whether a letter may be put behind those of the owner's own queue: no ordinary letter of others
    /// is between its post and that queue, and there is room by the mailbox's capacity.
    #[inline]
    pub(crate) fn takes_from_near(&self) -> Option<bool> {
        self.main
            .is_quiet()
            .then(|| self.queues.queue.len() < self.main.capacity())
    }
}

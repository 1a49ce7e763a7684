//! The posting side: ordinary and urgent letters, from any thread.

use super::bell::Bell;
use super::envelope::Envelope;
use super::error::PostError;
use super::shared::{Counters, Shared, URGENT};
use crate::letter::{Letter, Mail};
use crate::ring::{Closed, PostTimeoutError, Refusal, TryPostError, mpsc};
use crate::sync::LineArc;
use core::time::Duration;
use std::time::Instant;

/// Posts letters to a mailbox; clone it for more senders, or share it between threads.
///
/// When the last one is dropped no letter can follow: what was posted is still taken.
///
/// ```
/// use mailring::letter::Mail;
/// use mailring::mailbox::{self, PostError, TakeError};
///
/// let (sender, mut mailbox) = mailbox::bounded::<u32, Mail<u32>>(1)?;
/// let add = |n| Mail::new(move |sum: &mut u32| *sum += n);
/// sender.post(add(1)).unwrap();
/// // What is refused comes back.
/// let refused = sender.try_post(add(2)).unwrap_err();
/// assert!(refused.is_full());
/// let again = refused.into_inner();
///
/// let mut sum = 0;
/// let taken = mailbox.take()?;
/// mailbox.run(taken, &mut sum).unwrap();
/// sender.post(again).unwrap();
/// drop(sender);
/// let taken = mailbox.take()?;
/// mailbox.run(taken, &mut sum).unwrap();
/// assert_eq!(sum, 3);
/// assert!(matches!(mailbox.take(), Err(TakeError::Quiesced)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sender<O, L = Mail<O>> {
    pub(super) main: mpsc::Producer<Envelope<O, L>>,
    urgent: mpsc::Producer<Envelope<O, L>>,
    /// To end the owner's sleep for what is not in the main ring.
    bell: Bell<O, L>,
}

/// A sender that does not keep its mailbox open.
pub struct WeakSender<O, L = Mail<O>> {
    pub(super) main: mpsc::WeakProducer<Envelope<O, L>>,
    urgent: mpsc::WeakProducer<Envelope<O, L>>,
    pub(super) shared: LineArc<Shared>,
}

impl<O, L: Letter<O>> Sender<O, L> {
    pub(super) fn new(
        main: mpsc::Producer<Envelope<O, L>>,
        urgent: mpsc::Producer<Envelope<O, L>>,
        shared: LineArc<Shared>,
    ) -> Self {
        let bell = Bell::new(shared, main.downgrade());
        Self { main, urgent, bell }
    }

    /// Posts `letter` if there is room.
    ///
    /// # Errors
    /// [`PostError::Full`] or [`PostError::Closed`], with the letter.
    #[inline]
    pub fn try_post(&self, letter: L) -> Result<(), PostError<L>> {
        self.try_post_envelope(Envelope::Letter(letter))
            .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts `letter`, waiting for room.
    ///
    /// # Errors
    /// [`PostError::Closed`], or [`PostError::WouldDeadlock`] where there is no room and the calling
    /// thread is the owner's: the one that was the last to take from this mailbox, or to run its
    /// processor; with the letter.
    #[inline]
    pub fn post(&self, letter: L) -> Result<(), PostError<L>> {
        self.post_envelope(Envelope::Letter(letter))
            .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts `letter`, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// As [`post`](Self::post), and [`PostError::Timeout`].
    pub fn post_timeout(&self, letter: L, timeout: Duration) -> Result<(), PostError<L>> {
        self.post_envelope_timeout(Envelope::Letter(letter), timeout)
            .map_err(|error| error.map(Envelope::into_letter))
    }

    pub(crate) fn post_envelope_timeout(
        &self,
        envelope: Envelope<O, L>,
        timeout: Duration,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        match self.main.try_post(envelope) {
            Ok(()) => Ok(()),
            Err(TryPostError::Closed(envelope)) => Err(PostError::Closed(envelope)),
            Err(TryPostError::Full(envelope)) if self.bell.shared.is_owned_by_this_thread() => {
                Err(PostError::WouldDeadlock(envelope))
            }
            Err(TryPostError::Full(envelope)) => self
                .blocked(|| self.main.post_timeout(envelope, timeout))
                .map_err(|error| match error {
                    PostTimeoutError::Timeout(envelope) => PostError::Timeout(envelope),
                    PostTimeoutError::Closed(envelope) => PostError::Closed(envelope),
                }),
        }
        .map_err(|error| self.rejected(error))
    }

    /// Posts `letter`, waiting for room as a task. Dropped before it is ready, it has posted nothing and
    /// the letter is dropped with it.
    ///
    /// # Errors
    /// [`PostError::Closed`], with the letter. It does not know of its thread: on the owner's it is
    /// ready when the owner has made room, which it does between polls.
    pub async fn post_async(&self, letter: L) -> Result<(), PostError<L>> {
        self.post_envelope_async(Envelope::Letter(letter))
            .await
            .map_err(|error| error.map(Envelope::into_letter))
    }

    pub(crate) async fn post_envelope_async(
        &self,
        envelope: Envelope<O, L>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        match self.main.post_async(envelope).await {
            Ok(()) => Ok(()),
            Err(Closed(envelope)) => Err(self.rejected(PostError::Closed(envelope))),
        }
    }

    /// Posts letters in order, waiting for room; returns how many: all. They are claimed 32 at a time,
    /// or as many as there is room for, for one locked instruction; those of one claim lie together.
    ///
    /// # Errors
    /// [`PostError::Closed`] or [`PostError::WouldDeadlock`], with the letters that were not posted,
    /// in order; those before them were. They are gathered to the iterator's end, which must come.
    ///
    /// # Panics
    /// If the iterator does: what it had made and was not posted yet is dropped.
    pub fn post_batch(
        &self,
        letters: impl IntoIterator<Item = L>,
    ) -> Result<usize, PostError<Vec<L>>> {
        let back = |rest: &mut dyn Iterator<Item = Envelope<O, L>>| {
            rest.map(Envelope::into_letter).collect()
        };
        let envelopes = letters.into_iter().map(Envelope::Letter);
        let mut refused = match self.main.try_post_batch(envelopes) {
            Ok(posted) => return Ok(posted),
            Err(refused) => refused,
        };
        if refused.reason == Refusal::Closed {
            return Err(self.rejected(PostError::Closed(back(&mut refused.rest))));
        }
        if self.bell.shared.is_owned_by_this_thread() {
            return Err(self.rejected(PostError::WouldDeadlock(back(&mut refused.rest))));
        }
        match self.blocked(|| self.main.post_batch(refused.rest)) {
            Ok(posted) => Ok(refused.posted + posted),
            Err(mut refused) => Err(self.rejected(PostError::Closed(back(&mut refused.rest)))),
        }
    }

    /// Posts an urgent letter if there is room in the urgent lane: it overtakes all ordinary letters.
    ///
    /// # Errors
    /// [`PostError::Full`] or [`PostError::Closed`], with the letter.
    pub fn try_post_urgent(&self, letter: L) -> Result<(), PostError<L>> {
        self.try_post_urgent_envelope(Envelope::Letter(letter))
            .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts an urgent letter, waiting for room in the urgent lane.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub fn post_urgent(&self, letter: L) -> Result<(), PostError<L>> {
        self.post_urgent_envelope(Envelope::Letter(letter))
            .map_err(|error| error.map(Envelope::into_letter))
    }

    #[inline]
    pub(crate) fn try_post_envelope(
        &self,
        envelope: Envelope<O, L>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        self.main
            .try_post(envelope)
            .map_err(|error| self.rejected(error.into()))
    }

    #[inline]
    pub(crate) fn post_envelope(
        &self,
        envelope: Envelope<O, L>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        match self.main.try_post(envelope) {
            Ok(()) => Ok(()),
            Err(error) => self.post_after(error, &self.main),
        }
    }

    pub(crate) fn try_post_urgent_envelope(
        &self,
        envelope: Envelope<O, L>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        self.urgent
            .try_post(envelope)
            .map_err(|error| self.rejected(error.into()))?;
        self.raise(URGENT);
        Ok(())
    }

    pub(crate) fn post_urgent_envelope(
        &self,
        envelope: Envelope<O, L>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        match self.urgent.try_post(envelope) {
            Ok(()) => {}
            Err(error) => self.post_after(error, &self.urgent)?,
        }
        self.raise(URGENT);
        Ok(())
    }

    /// Raises a flag, and has an owner that sleeps look (M4).
    fn raise(&self, flag: u32) {
        self.bell.ring(flag);
    }

    /// Waits for room after a post was refused, if that is any use.
    #[cold]
    fn post_after(
        &self,
        error: TryPostError<Envelope<O, L>>,
        lane: &mpsc::Producer<Envelope<O, L>>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        match error {
            TryPostError::Closed(envelope) => Err(PostError::Closed(envelope)),
            TryPostError::Full(envelope) if self.bell.shared.is_owned_by_this_thread() => {
                Err(PostError::WouldDeadlock(envelope))
            }
            TryPostError::Full(envelope) => self
                .blocked(|| lane.post(envelope))
                .map_err(|Closed(envelope)| PostError::Closed(envelope)),
        }
        .map_err(|error| self.rejected(error))
    }

    fn blocked<R>(&self, wait: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let done = wait();
        let waited = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.bell.shared.blocked_ns.add(waited);
        done
    }

    #[cold]
    pub(crate) fn rejected<T>(&self, error: PostError<T>) -> PostError<T> {
        self.bell.shared.rejected.increment();
        error
    }
}

impl<O, L> Sender<O, L> {
    /// Whether the mailbox takes no more letters. `false` may be out of date when it arrives.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.main.is_closed()
    }

    /// How many ordinary letters and markers lie in the ring, those the owner has taken into its
    /// batch not counted; possibly out of date when it arrives.
    #[must_use]
    pub fn len(&self) -> usize {
        self.main.len()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many ordinary letters the ring holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.main.capacity()
    }

    /// Whether both post to the same mailbox.
    #[must_use]
    pub fn same_mailbox(&self, other: &Self) -> bool {
        LineArc::ptr_eq(&self.bell.shared, &other.bell.shared)
    }

    /// A sender that does not keep the mailbox open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<O, L> {
        WeakSender {
            main: self.main.downgrade(),
            urgent: self.urgent.downgrade(),
            shared: LineArc::clone(&self.bell.shared),
        }
    }

    /// Events counted since the mailbox was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let ring = self.main.counters();
        Counters {
            depth: self.bell.shared.depth.get(),
            depth_max: self.bell.shared.depth_max.get(),
            rejected: self.bell.shared.rejected.get(),
            blocked_ns: self.bell.shared.blocked_ns.get(),
            parks: ring.parks,
            wakes: ring.wakes,
        }
    }

    /// What its owner's thread and everybody else share beside the rings.
    #[inline(always)]
    pub(crate) fn shared(&self) -> &Shared {
        &self.bell.shared
    }

    /// The calling thread drives the mailbox from here on.
    #[inline]
    pub(crate) fn owned_by_this_thread(&self) {
        self.bell.shared.owned_by_this_thread();
    }

    /// What raises flags for whoever drives the mailbox, of those but the topmost.
    pub(crate) fn raiser(&self) -> impl Fn(u32) + Clone + Send + Sync + 'static
    where
        O: 'static,
        L: Send + 'static,
    {
        let bell = self.bell.clone();
        move |flag| {
            debug_assert_eq!(flag & URGENT, 0, "the mailbox's own");
            bell.ring(flag);
        }
    }

    /// Whether there is a flag of any kind: one look at a quiet word.
    #[inline(always)]
    pub(crate) fn has_flags(&self) -> bool {
        self.bell.shared.flags() != 0
    }

    /// Whether any flag of whoever drives the mailbox is raised.
    #[inline(always)]
    pub(crate) fn is_raised(&self) -> bool {
        self.bell.shared.flags() & !URGENT != 0
    }

    /// Takes those flags, before what they stand for is looked at.
    pub(crate) fn take_flags(&self) -> u32 {
        self.bell.shared.take_flags(!URGENT)
    }
}

impl<T> From<TryPostError<T>> for PostError<T> {
    fn from(error: TryPostError<T>) -> Self {
        match error {
            TryPostError::Full(letter) => Self::Full(letter),
            TryPostError::Closed(letter) => Self::Closed(letter),
        }
    }
}

impl<O, L> WeakSender<O, L> {
    pub(super) fn bell(&self) -> Bell<O, L> {
        Bell::new(LineArc::clone(&self.shared), self.main.clone())
    }
}

impl<O, L: Letter<O>> WeakSender<O, L> {
    /// A sender, unless the last one is gone already.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<O, L>> {
        let main = self.main.upgrade()?;
        let urgent = self.urgent.upgrade()?;
        Some(Sender::new(main, urgent, LineArc::clone(&self.shared)))
    }
}

impl<O, L> Clone for Sender<O, L> {
    fn clone(&self) -> Self {
        Self {
            main: self.main.clone(),
            urgent: self.urgent.clone(),
            bell: self.bell.clone(),
        }
    }
}

impl<O, L> Clone for WeakSender<O, L> {
    fn clone(&self) -> Self {
        Self {
            main: self.main.clone(),
            urgent: self.urgent.clone(),
            shared: LineArc::clone(&self.shared),
        }
    }
}

impl<O, L> core::fmt::Debug for Sender<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sender")
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<O, L> core::fmt::Debug for WeakSender<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

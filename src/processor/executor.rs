//! The handle by which collaborators, on any thread, have the owner do things.

use super::arrivals::Arrivals;
use super::control::Link;
use super::core::{Core, OwnPost};
use super::current;
use super::failure::{Failure, Unheard};
use super::stats::Counters;
use super::unposted::Unposted;
use crate::letter::{BoxError, IntoOutcome, Letter, Mail, Outcome, Priority};
use crate::mailbox::{Envelope, PostError, Sender};
use crate::sync::{Arc, Clock};
use crate::wait::{Reply, reply};
use core::time::Duration;
#[cfg(all(feature = "stream", not(mailring_loom)))]
use std::time::Instant;

/// Has a processor's owner do things, from any thread; `Clone + Send + Sync`.
///
/// On the thread that runs the processor, while it runs, what is posted goes to the owner's private
/// queue: it never waits and always fits. On other threads it goes through the mailbox. An executor
/// has a [`Priority`]: mails get it, and its yields run only letters of that priority or higher.
///
/// Executors keep no processor alive, and dropping the last one ends none: see
/// [`all_done`](Self::all_done).
///
/// ```
/// use mailring::processor::{MailboxProcessor, Step};
///
/// let mut processor = MailboxProcessor::new(String::new())?;
/// let executor = processor.executor();
/// executor.execute(|text| text.push_str("42"))?;
/// let length = executor.ask(|text| text.len())?;
/// let number = executor.submit(|text| text.parse::<u32>())?;
/// executor.execute_urgent(|text| text.push('1'))?;
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// assert_eq!(length.wait()?, 3);
/// assert_eq!(number.wait()??, 142);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Executor<O, L = Mail<O>> {
    pub(super) sender: Sender<O, L>,
    pub(super) link: Arc<Link>,
    pub(super) arrivals: Arc<Arrivals<O>>,
    pub(super) priority: Priority,
}

/// Which way a post goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Ordinary,
    Urgent,
}

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    pub(super) fn new(sender: Sender<O, L>, link: Arc<Link>, arrivals: Arc<Arrivals<O>>) -> Self {
        Self {
            sender,
            link,
            arrivals,
            priority: Priority::MIN,
        }
    }

    /// The same with another priority, for a collaborator's mails and yields.
    #[must_use]
    pub fn with_priority(&self, priority: Priority) -> Self {
        Self {
            priority,
            ..self.clone()
        }
    }

    /// Its priority.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Has the owner run `action`, in turn; waits for room on other threads than the owner's.
    ///
    /// # Errors
    /// [`PostError::Closed`]; or [`PostError::WouldDeadlock`] where the mailbox is full and this
    /// thread is the one that ran the processor last, but does not just now. Both with the mail. A
    /// processor that was never run is known to no thread as its own: there a post waits for room
    /// until some thread runs it.
    #[inline(always)]
    pub fn execute<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.send_ordinary(action, Mail::new)
    }

    /// As [`execute`](Self::execute), and does not compile where the action would be boxed.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    #[inline(always)]
    pub fn post_inline<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.send_ordinary(action, Mail::inline)
    }

    /// As [`execute`](Self::execute), but never waits.
    ///
    /// # Errors
    /// [`PostError::Full`] or [`PostError::Closed`], with the mail.
    pub fn try_execute<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let mail = Mail::new(action).with_priority(self.priority);
        self.here(
            Envelope::mail(mail),
            Lane::Ordinary,
            Sender::try_post_envelope,
        )
        .map_err(|error| error.map(Unposted::new))
    }

    /// Has the owner run `action` before all that is not urgent, also in the middle of a batch.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_urgent<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.send(Mail::new(action).with_priority(self.priority), Lane::Urgent)
    }

    /// As [`execute_urgent`](Self::execute_urgent), but never waits.
    ///
    /// # Errors
    /// As [`try_execute`](Self::try_execute).
    pub fn try_execute_urgent<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let mail = Mail::new(action).with_priority(self.priority);
        self.here(
            Envelope::mail(mail),
            Lane::Urgent,
            Sender::try_post_urgent_envelope,
        )
        .map_err(|error| error.map(Unposted::new))
    }

    /// Has the owner run `action` from its loop, and not in a yield of a priority above
    /// [`Priority::MIN`]: for work that re-posts itself.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_deferrable<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let mail = Mail::new(action).with_priority(self.priority).deferrable();
        self.send(mail, Lane::Ordinary)
    }

    /// Posts a letter, in turn.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), with the letter.
    #[inline(always)]
    pub fn post(&self, letter: L) -> Result<(), PostError<L>> {
        self.here(
            Envelope::Letter(letter),
            Lane::Ordinary,
            Sender::post_envelope,
        )
        .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts a letter if there is room.
    ///
    /// # Errors
    /// As [`try_execute`](Self::try_execute), with the letter.
    #[inline]
    pub fn try_post(&self, letter: L) -> Result<(), PostError<L>> {
        self.here(
            Envelope::Letter(letter),
            Lane::Ordinary,
            Sender::try_post_envelope,
        )
        .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts letters in turn, as [`Sender::post_batch`] does.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), with the letters that were not posted.
    ///
    /// # Panics
    /// If the iterator does; see [`Sender::post_batch`].
    pub fn post_batch(
        &self,
        letters: impl IntoIterator<Item = L>,
    ) -> Result<usize, PostError<Vec<L>>> {
        let mut letters = letters.into_iter();
        match self.on_owner((), |_, ()| ()) {
            Err(()) => self.sender.post_batch(letters),
            Ok(()) => {
                let mut posted = 0;
                while let Some(letter) = letters.next() {
                    if let Err(error) = self.post(letter) {
                        return Err(error.map(|letter| {
                            let first = core::iter::once(letter);
                            first.chain(letters).collect()
                        }));
                    }
                    posted += 1;
                }
                Ok(posted)
            }
        }
    }

    /// Posts an urgent letter.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), with the letter.
    pub fn post_urgent(&self, letter: L) -> Result<(), PostError<L>> {
        self.here(
            Envelope::Letter(letter),
            Lane::Urgent,
            Sender::post_urgent_envelope,
        )
        .map_err(|error| error.map(Envelope::into_letter))
    }

    /// Posts again what an error handed back; as an ordinary letter, whatever it was before.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn post_again(&self, unposted: Unposted<O, L>) -> Result<(), PostError<Unposted<O, L>>> {
        self.here(
            unposted.into_envelope(),
            Lane::Ordinary,
            Sender::post_envelope,
        )
        .map_err(|error| error.map(Unposted::new))
    }

    /// Has the owner run `action` and answer with what it returns.
    ///
    /// Where the action panics or is never run, the reply says so. A reply that is dropped harms
    /// nobody.
    ///
    /// To wait in a letter of this processor for an answer that has not come, or on the engine's
    /// thread that drives it, is an error at once
    /// ([`ReplyError::WouldDeadlock`](crate::wait::ReplyError::WouldDeadlock)): nobody else answers.
    /// A host that waits between its own steps waits for ever.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn ask<F, T>(&self, action: F) -> Result<Reply<T>, PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> T + Send + 'static,
        T: Send + 'static,
    {
        let (answer, reply) = reply();
        self.execute(move |owner: &mut O| {
            // Nobody may wait for it any more; that is theirs to decide.
            let _unwanted = answer.send(action(owner));
        })?;
        Ok(reply.answered_by(self.sender.shared().answering().clone()))
    }

    /// As [`ask`](Self::ask), and waits for room until `deadline` at most.
    ///
    /// # Errors
    /// As `ask`, and [`PostError::Timeout`].
    #[cfg(all(feature = "stream", not(mailring_loom)))]
    pub(crate) fn ask_deadline<F, T>(
        &self,
        deadline: Instant,
        action: F,
    ) -> Result<Reply<T>, PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> T + Send + 'static,
        T: Send + 'static,
    {
        let (answer, reply) = reply();
        // As above.
        let mail = Mail::new(move |owner: &mut O| {
            let _unwanted = answer.send(action(owner));
        });
        let mail = Envelope::mail(mail.with_priority(self.priority));
        let post = |sender: &Sender<O, L>, envelope| {
            let timeout = deadline.saturating_duration_since(Instant::now());
            sender.post_envelope_timeout(envelope, timeout)
        };
        self.here(mail, Lane::Ordinary, post)
            .map_err(|error| error.map(Unposted::new))?;
        Ok(reply.answered_by(self.sender.shared().answering().clone()))
    }

    /// Has the owner run `action`, and gives its result to whoever holds the reply. An error that
    /// nobody waits for any more is told to the
    /// [`failure_hook`](super::Builder::failure_hook) and counted among the failures, and fails
    /// nothing: who gives up waiting does not take the processor down. A panic does, as any.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    #[expect(clippy::type_complexity, reason = "the reply's result, and the post's")]
    pub fn submit<F, T, E>(
        &self,
        action: F,
    ) -> Result<Reply<Result<T, E>>, PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        let (answer, reply) = reply();
        self.execute(move |owner: &mut O| -> Outcome {
            match answer.send(action(owner)) {
                Err(Err(error)) => Err(Box::new(Unheard(error.into()))),
                Ok(()) | Err(Ok(_)) => Ok(()),
            }
        })?;
        Ok(reply.answered_by(self.sender.shared().answering().clone()))
    }

    /// The loop returns after the letter that runs; letters that are left stay. Run again, it goes
    /// on. Each call ends one run.
    pub fn suspend_loop(&self) {
        self.link.ask_suspend();
    }

    /// There is nothing more to do: the loop returns after the letter that runs, and whenever it is
    /// run again. Letters that are left stay, and more are accepted:
    /// [`finish`](super::MailboxProcessor::finish) runs them and refuses others.
    pub fn all_done(&self) {
        self.link.ask_all_done();
    }

    /// Has the owner refuse letters and timers from now on; those accepted are run, and a loop without
    /// a default action to run ends then. What is posted before the owner gets to it is accepted
    /// still.
    pub fn quiesce(&self) {
        self.link.ask_quiesce();
    }

    /// Fails the processor from outside, ahead of all letters, whatever its policy. The first
    /// failure counts.
    ///
    /// # Errors
    /// The error as a failure, where another was reported before.
    pub fn report_failure(&self, error: impl Into<BoxError>) -> Result<(), Failure> {
        self.link.report(Failure::error("reported", error.into()))
    }

    /// Posts a probe, which measures how long a letter is in the mailbox; see
    /// [`Counters::in_mailbox_last`]. The reply tells this one's time.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn probe(&self) -> Result<Reply<Duration>, PostError<Unposted<O, L>>> {
        let posted = self.link.clock.now();
        let link = Arc::clone(&self.link);
        self.ask(move |_| {
            let in_mailbox = link.clock.now().saturating_duration_since(posted);
            link.stats.probed(in_mailbox);
            in_mailbox
        })
    }

    /// What has happened since the processor was built.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let now = self.link.clock.now();
        self.link.stats.read(now, self.sender.counters())
    }

    /// Ordinary letters that wait in the mailbox's ring just now.
    pub(crate) fn waiting(&self) -> usize {
        self.sender.len()
    }

    /// Whether the mailbox takes no more letters.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// A sender of the mailbox, for hot loops on other threads: it always goes through the ring.
    #[must_use]
    pub fn sender(&self) -> Sender<O, L> {
        self.sender.clone()
    }

    /// Sends an ordinary action: made where it will lie, if this is the owner's thread.
    #[inline(always)]
    fn send_ordinary<F>(
        &self,
        action: F,
        mail: impl Fn(F) -> Mail<O>,
    ) -> Result<(), PostError<Unposted<O, L>>> {
        let seal = |action| Envelope::mail(mail(action).with_priority(self.priority));
        match self.on_owner(action, |core, action| core.post_own_sealed(action, seal)) {
            Ok(Ok(())) => Ok(()),
            // The owner's, and not open: to be told why.
            Ok(Err(action)) => self
                .here(seal(action), Lane::Ordinary, Sender::post_envelope)
                .map_err(|error| error.map(Unposted::new)),
            Err(action) => match self.near(action, seal) {
                Ok(()) => Ok(()),
                Err(action) => self
                    .sender
                    .post_envelope(seal(action))
                    .map_err(|error| error.map(Unposted::new)),
            },
        }
    }

    /// To the owner's queue where its thread is this one, but not inside of it.
    #[inline(always)]
    fn near<T>(&self, input: T, seal: impl FnOnce(T) -> Envelope<O, L>) -> Result<(), T> {
        current::at_home(&self.sender, input, |core, input| {
            core.post_near(input, seal)
        })
        .and_then(|done| done)
    }

    #[inline(always)]
    fn send(&self, mail: Mail<O>, lane: Lane) -> Result<(), PostError<Unposted<O, L>>> {
        let post = match lane {
            Lane::Ordinary => Sender::post_envelope,
            Lane::Urgent => Sender::post_urgent_envelope,
        };
        self.here(Envelope::mail(mail), lane, post)
            .map_err(|error| error.map(Unposted::new))
    }

    /// To the owner's own queue where this is its thread and it runs, else by `post`.
    #[inline(always)]
    pub(super) fn here(
        &self,
        envelope: Envelope<O, L>,
        lane: Lane,
        post: impl FnOnce(&Sender<O, L>, Envelope<O, L>) -> Result<(), PostError<Envelope<O, L>>>,
    ) -> Result<(), PostError<Envelope<O, L>>> {
        let envelope = match self.on_owner(envelope, |core, envelope| {
            core.post_own(envelope, lane == Lane::Urgent)
        }) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(refused @ OwnPost::Closed(_))) => {
                return Err(self.sender.rejected(refused.into()));
            }
            Ok(Err(OwnPost::InUse(envelope))) => envelope,
            Err(envelope) if lane == Lane::Ordinary => match self.near(envelope, |same| same) {
                Ok(()) => return Ok(()),
                Err(envelope) => envelope,
            },
            Err(envelope) => envelope,
        };
        post(&self.sender, envelope)
    }

    #[inline(always)]
    pub(super) fn on_owner<T, R>(
        &self,
        input: T,
        here: impl FnOnce(&Core<O, L>, T) -> R,
    ) -> Result<R, T> {
        current::with(&self.sender, input, here)
    }
}

impl<O, L> Clone for Executor<O, L> {
    fn clone(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            link: Arc::clone(&self.link),
            arrivals: Arc::clone(&self.arrivals),
            priority: self.priority,
        }
    }
}

impl<O, L> core::fmt::Debug for Executor<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Executor")
            .field("priority", &self.priority)
            .field("mailbox", &self.sender)
            .finish_non_exhaustive()
    }
}

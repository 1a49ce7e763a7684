//! Running other letters in the middle of one: what a collaborator does that must wait.

use super::executor::Executor;
use super::yield_error::YieldError;
use super::{Reason, Suspension};
use crate::letter::Letter;
use crate::mailbox::Deferrable;
use crate::ring::Waited;

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    /// Runs one letter of this executor's priority or higher, if there is one; to be called from a
    /// letter or the default action, with their owner. `Ok(false)`: there was none.
    ///
    /// Deferrable letters are passed over, but not with [`Priority::MIN`](crate::letter::Priority::MIN), which
    /// sees all letters.
    ///
    /// ```
    /// use mailring::letter::Priority;
    /// use mailring::processor::{MailboxProcessor, Step};
    ///
    /// let mut processor = MailboxProcessor::new(Vec::new())?;
    /// let head = processor.executor().with_priority(Priority::new(0));
    /// let sink = head.with_priority(Priority::new(1));
    /// let yielding = sink.clone();
    /// sink.execute(move |log: &mut Vec<_>| {
    ///     log.push("the sink waits for room");
    ///     // What stands before it in the chain is passed over.
    ///     yielding.yield_now(log)?;
    ///     log.push("the sink goes on");
    ///     Ok::<(), mailring::processor::YieldError>(())
    /// })?;
    /// head.execute(|log| log.push("a record"))?;
    /// sink.execute(|log| log.push("there is room"))?;
    /// assert_eq!(processor.run_until_idle()?, Step::Idle);
    /// processor.with_owner(|log| {
    ///     let order = ["the sink waits for room", "there is room", "the sink goes on", "a record"];
    ///     assert_eq!(*log, order);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`YieldError`]; also where the loop was told to stop, so that who yields until something
    /// happens never does so for ever.
    #[inline]
    pub fn try_yield(&self, owner: &mut O) -> Result<bool, YieldError> {
        self.yield_once(Deferrable::Hidden, owner)
    }

    /// As [`try_yield`](Self::try_yield), but deferrable letters count with the priority they were
    /// given: for the end of a life, when they must run.
    ///
    /// # Errors
    /// As [`try_yield`](Self::try_yield).
    pub fn try_yield_deferrable(&self, owner: &mut O) -> Result<bool, YieldError> {
        self.yield_once(Deferrable::AsGiven, owner)
    }

    #[inline]
    fn yield_once(&self, deferrable: Deferrable, owner: &mut O) -> Result<bool, YieldError> {
        self.on_owner(owner, |core, owner| {
            core.run_one_for(self.priority, deferrable, owner)
        })
        .unwrap_or(Err(YieldError::NotOwner))
    }

    /// Runs one letter of this executor's priority or higher, waiting for one: of others, of a
    /// timer, or one that is there.
    ///
    /// In a processor whose owner is [shared](super::Exclusive) it sleeps with the owner in hand: a
    /// source that posts what is waited for must do so without locking first. On a thread of an engine
    /// it holds up all tasks there, so what is waited for must come from elsewhere: a neighbour does not
    /// get to posting it.
    ///
    /// # Errors
    /// As [`try_yield`](Self::try_yield); [`YieldError::Cancelled`] ends the wait as well.
    pub fn yield_now(&self, owner: &mut O) -> Result<(), YieldError> {
        self.on_owner(owner, |core, owner| {
            loop {
                if core.run_one_for(self.priority, Deferrable::Hidden, owner)? {
                    return Ok(());
                }
                match core.wait() {
                    Waited::Finished if !core.phase.has_timers.get() => {
                        return Err(YieldError::Closed);
                    }
                    _ => {}
                }
            }
        })
        .unwrap_or(Err(YieldError::NotOwner))
    }

    /// Whether long work should give way: there is a letter, or something was asked of the loop. On
    /// other threads than the owner's, always `false`.
    #[inline]
    #[must_use]
    pub fn should_interrupt(&self) -> bool {
        self.on_owner((), |core, ()| {
            core.sender.is_raised() || core.phase.is_cancelled() || core.has_letters()
        })
        .unwrap_or(false)
    }

    /// Whether very long work should give way at once: there is an urgent letter, or the loop was
    /// told to stop. On other threads than the owner's, always `false`.
    #[inline]
    #[must_use]
    pub fn has_urgent(&self) -> bool {
        self.on_owner((), |core, ()| {
            core.sender.is_raised() || core.phase.is_cancelled() || core.has_urgent()
        })
        .unwrap_or(false)
    }

    /// Whether the default action is suspended, there is no letter, and the mailbox is open; `None`
    /// on other threads than the owner's.
    #[must_use]
    pub fn is_idle(&self) -> Option<bool> {
        self.on_owner((), |core, ()| core.is_idle()).ok()
    }

    /// Suspends the default action, as its [`Controller`](super::Controller) does: for a default
    /// action that is a letter, or lies deep in the owner. `None` on other threads than the
    /// owner's.
    pub fn suspend_action(&self, reason: Reason) -> Option<Suspension> {
        self.on_owner((), |core, ()| {
            if core.sender.is_raised() {
                // What was resumed before this call is not resumed after it.
                core.meet_control();
            }
            Suspension::new(core.phase.suspend_action(reason), &self.link)
        })
        .ok()
    }
}

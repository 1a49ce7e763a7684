//! The loop: letters first, then the default action; or a sleep.

use super::action::{DefaultAction, NoAction};
use super::builder::Builder;
use super::core::{Core, Work};
use super::current::{self, Kept};
use super::exclusive::Holder;
use super::executor::Executor;
use super::failure::{Failure, OnFailure};
use super::step::{Ended, Step};
use super::turn::{Allowed, Turn, act, batch, idle, is_over, stopping};
use crate::letter::{IntoOutcome, Letter, Mail};
use crate::mailbox::{Marker, MarkerCounters, MarkerOptions, State, TooManyMarkers, Undelivered};
use crate::ring::{Budget, CapacityError, Stopwatch, Waited};
use crate::sync::Clock;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// Runs one owner's letters and its default action, on whichever thread calls
/// [`run`](Self::run) or [`step`](Self::step).
///
/// Dropping it closes its mailbox: letters that were not run are dropped, and whoever waits for a
/// reply to one is told.
pub struct MailboxProcessor<O, L = Mail<O>, A = NoAction> {
    pub(super) core: Kept<O, L>,
    pub(super) owner: Holder<O>,
    action: A,
    on_failure: OnFailure,
    /// What it has failed by, once and for all.
    pub(super) failed: Option<Failure>,
    pub(super) follow_ups_max: usize,
    /// How many letters it has run while it finishes by steps.
    pub(super) finishing: Option<usize>,
}

impl<O: 'static> MailboxProcessor<O> {
    /// A processor of mails without a default action, with the [`Builder`]'s settings: room for
    /// 1024 letters, and [`OnFailure::Stop`].
    ///
    /// # Errors
    /// [`CapacityError`] where memory is short.
    pub fn new(owner: O) -> Result<Self, CapacityError> {
        Self::builder().build(owner)
    }

    /// A processor of mails that runs `action` between letters.
    ///
    /// # Errors
    /// [`CapacityError`] where memory is short.
    pub fn with_action<A: DefaultAction<O>>(
        owner: O,
        action: A,
    ) -> Result<MailboxProcessor<O, Mail<O>, A>, CapacityError> {
        Builder::<O>::new().build_with(owner, action)
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static> MailboxProcessor<O, L> {
    /// Settings of a processor.
    pub fn builder() -> Builder<O, L> {
        Builder::new()
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static, A: DefaultAction<O>> MailboxProcessor<O, L, A> {
    pub(super) fn from_parts(
        core: Core<O, L>,
        owner: Holder<O>,
        action: A,
        on_failure: OnFailure,
        follow_ups_max: usize,
    ) -> Self {
        Self {
            core: Kept::new(core),
            owner,
            action,
            on_failure,
            failed: None,
            follow_ups_max,
            finishing: None,
        }
    }

    /// A handle by which any thread has the owner do things.
    #[must_use]
    pub fn executor(&self) -> Executor<O, L> {
        let Core {
            sender,
            link,
            arrivals,
            ..
        } = &*self.core;
        Executor::new(sender.clone(), link.clone(), arrivals.clone())
    }

    /// Registers a marker: a letter that always fits and is pending at most once.
    ///
    /// # Errors
    /// [`TooManyMarkers`] beyond what the mailbox was built for.
    pub fn marker<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.marker_with(name, MarkerOptions::new(), action)
    }

    /// Registers a marker that is urgent, or has a priority.
    ///
    /// # Errors
    /// As [`marker`](Self::marker).
    pub fn marker_with<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        let mut mailbox = self.core.mailbox.borrow_mut();
        mailbox.marker_with(name, options, action)
    }

    /// Posts and runs of each marker, in the order in which they were registered.
    #[must_use]
    pub fn marker_counters(&self) -> Vec<MarkerCounters> {
        self.core.mailbox.borrow().marker_counters().collect()
    }

    /// Calls `f` with the owner; in exclusive mode, when it is its turn.
    ///
    /// Meanwhile this is the owner's thread: what `f` posts goes to the owner's own queue.
    pub fn with_owner<R>(&mut self, f: impl FnOnce(&mut O) -> R) -> R {
        self.core.sender.owned_by_this_thread();
        current::enter(&*self.core, || self.owner.with(f))
    }

    /// Runs letters and the default action until the loop is suspended or all is done; sleeps where
    /// there is nothing to do.
    ///
    /// Each turn runs a batch of letters, at most as many as were there when it began, and then the
    /// default action once. So a letter that posts itself again runs once a turn.
    ///
    /// # Errors
    /// The [`Failure`] of a letter, a timer, the default action, or one that was reported, unless it
    /// is skipped. The mailbox is quiesced then: what is left is returned by
    /// [`close`](Self::close). A processor that has failed fails again at once.
    ///
    /// # Panics
    /// With [`OnFailure::Propagate`], if the letter or the default action does.
    pub fn run(&mut self) -> Result<Ended, Failure> {
        loop {
            match self.guarded(|this| this.turns::<false>(Budget::letters(usize::MAX)))? {
                Some(Step::Ended(ended)) => return Ok(ended),
                Some(Step::More | Step::Idle) => unreachable!("a loop without a budget ends"),
                None => {}
            }
        }
    }

    /// Runs letters and the default action within a budget, and never sleeps. Letters and calls of
    /// the default action count alike: `Budget::letters(1)` runs one letter or, if there is none,
    /// the default action once. Time is looked at about once a microsecond, as [`Budget`] says.
    ///
    /// A turn goes on in the next step: where a budget ends with a batch, that step begins with the
    /// default action, so that no flood of letters keeps it from being called.
    ///
    /// ```
    /// use mailring::processor::{MailboxProcessor, Step};
    /// use mailring::ring::Budget;
    ///
    /// let mut processor = MailboxProcessor::new(Vec::new())?;
    /// processor.executor().execute(|log: &mut Vec<_>| log.push("letter"))?;
    /// assert_eq!(processor.step(Budget::letters(100))?, Step::Idle);
    /// processor.with_owner(|log| assert_eq!(*log, ["letter"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn step(&mut self, budget: Budget) -> Result<Step, Failure> {
        let step = self.guarded(|this| this.turns::<true>(budget))?;
        // Where it skipped a failure, the rest of the budget is given back.
        Ok(step.unwrap_or(Step::More))
    }

    /// Runs until there is no letter and the default action is suspended, and never sleeps. With a
    /// default action that is never suspended, it returns when the loop ends.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_until_idle(&mut self) -> Result<Step, Failure> {
        loop {
            match self.step(Budget::letters(usize::MAX))? {
                // It skipped a failure.
                Step::More => {}
                step => return Ok(step),
            }
        }
    }

    /// Runs `body` as the owner's thread, and deals with what fails in it. `Ok(None)`: that was
    /// skipped.
    pub(super) fn guarded<R>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<R, Failure>,
    ) -> Result<Option<R>, Failure> {
        if let Some(failure) = &self.failed {
            return Err(failure.clone());
        }
        self.core.sender.owned_by_this_thread();
        self.core
            .link
            .stats
            .started
            .get_or_init(|| self.core.link.clock.now());
        // What was half done is put right by guards on the way out, and a letter that panicked is
        // gone.
        let failure = match catch_unwind(AssertUnwindSafe(|| body(self))) {
            Ok(Ok(done)) => {
                self.core.link.running.rest();
                return Ok(Some(done));
            }
            Ok(Err(failure)) => failure,
            Err(payload) => Failure::panic(self.core.link.running.what().text(), payload),
        };
        self.fail(&failure).map(|()| None)
    }

    /// Counts and reports a failure; `Ok` if the processor goes on.
    #[cold]
    pub(super) fn fail(&mut self, failure: &Failure) -> Result<(), Failure> {
        let goes_on = self.on_failure == OnFailure::Skip && !self.core.phase.has_failed.get();
        if !goes_on {
            self.core.phase.fail();
            self.core.mailbox.borrow_mut().quiesce();
            self.failed = Some(failure.clone());
        }
        // Its panic goes out, when all else is settled.
        let core = &*self.core;
        let hooked = catch_unwind(AssertUnwindSafe(|| {
            current::enter(core, || core.tell(failure));
        }));
        self.core.link.running.rest();
        if self.on_failure == OnFailure::Abort {
            std::process::abort();
        }
        hooked.unwrap_or_else(|payload| resume_unwind(payload));
        if goes_on {
            return Ok(());
        }
        if self.on_failure == OnFailure::Propagate
            && let Some(payload) = failure.take_panic()
        {
            resume_unwind(payload);
        }
        Err(failure.clone())
    }

    /// Turns of the loop, until it ends; or, where that is heeded, the budget is used up.
    fn turns<const HEED: bool>(&mut self, budget: Budget) -> Result<Step, Failure> {
        let Self {
            core,
            owner,
            action,
            ..
        } = self;
        let core = &**core;
        current::enter(core, || {
            let clock = &core.link.clock;
            core.link.running.set_action();
            let mut allowed = HEED.then(|| Allowed {
                left: budget.letters_max(),
                stopwatch: Stopwatch::start(clock, budget),
            });
            loop {
                if core.has_news() && core.meet_news() {
                    return stopping(core).map(Step::Ended);
                }
                core.fire_timers();
                let owes_action =
                    HEED && core.phase.owes_action.get() && core.phase.is_available.get();
                if !owes_action && core.has_noted_letters() {
                    let turn = batch::<_, _, HEED>(core, owner, allowed.as_mut())?;
                    core.link.running.set_action();
                    if let Turn::Ended(ended) = turn {
                        return Ok(Step::Ended(ended));
                    }
                    if HEED {
                        let is_worked_off = core.mailbox.borrow().batch() == 0;
                        core.phase.owes_action.set(is_worked_off);
                    }
                }
                if HEED && allowed.as_mut().is_some_and(Allowed::is_used_up) {
                    return Ok(Step::More);
                }
                if core.phase.is_available.get() {
                    if HEED && let Some(allowed) = &mut allowed {
                        allowed.left -= 1;
                        core.phase.owes_action.set(false);
                    }
                    act(core, owner, action)?;
                } else if HEED {
                    if let Some(step) = idle(core) {
                        return Ok(step);
                    }
                } else if !core.has_letters()
                    && core.wait_at_rest() == Waited::Finished
                    && is_over(core)
                {
                    return Ok(Step::Ended(Ended::Quiesced));
                }
            }
        })
    }

    /// Whether the default action is suspended, there is no letter, and the mailbox is open.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.core.is_idle()
    }

    /// How many timers are armed, or due and not run yet.
    pub fn timers_pending(&mut self) -> usize {
        let mut timers = self.core.timers.borrow_mut();
        let mut over = timers.take_in();
        over.extend(timers.throw_out());
        let pending = timers.pending();
        self.core.phase.has_timers.set(timers.next_look().is_some());
        // Caller code may run where they are dropped.
        drop(timers);
        drop(over);
        pending
    }

    /// When to step again at the latest, for a host that sleeps while the processor is idle: the
    /// moment the next timer is due by the processor's clock, or somewhat before it; `None` where no
    /// timer is armed.
    #[must_use]
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        if !self.core.phase.has_timers.get() {
            return None;
        }
        self.core.timers.borrow().next_look()
    }

    /// Where the mailbox is in its life.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.mailbox.borrow().state()
    }

    /// The owner, when the processor is done with; what the mailbox still holds is dropped. `None`
    /// where another thread shares the owner, and has a way to it still.
    #[must_use]
    pub fn into_owner(self) -> Option<O> {
        let Self { core, owner, .. } = self;
        drop(core);
        owner.into_inner()
    }

    /// Refuses new letters and timers, the owner's own too. Letters that were accepted run on, when
    /// the loop is run; timers that are not due are dropped.
    pub fn quiesce(&mut self) {
        self.core.mailbox.borrow_mut().quiesce();
        self.core.quiesce_timers();
    }

    /// Refuses new letters and timers, and returns the letters that were accepted and not run.
    /// Closing again returns none.
    #[must_use = "undelivered letters are dropped with it"]
    pub fn close(&mut self) -> Undelivered<O, L> {
        let (undelivered, timers) = self.close_apart();
        drop(timers);
        undelivered
    }

    /// As `close`, with the timers that will not run: dropping one may panic.
    pub(crate) fn close_apart(&mut self) -> (Undelivered<O, L>, Vec<impl Sized + use<O, L, A>>) {
        let timers = self.core.timers.borrow_mut().close();
        self.core.phase.has_timers.set(false);
        let undelivered = self.core.mailbox.borrow_mut().close();
        self.core.phase.close();
        (undelivered.without_tokens(Work::owed_marker), timers)
    }
}

impl<O, L, A> core::fmt::Debug for MailboxProcessor<O, L, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MailboxProcessor")
            .field("mailbox", &self.core.sender)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

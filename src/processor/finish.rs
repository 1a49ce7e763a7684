//! The end of a processor's life: everything that was accepted is run, or handed back.

use super::action::DefaultAction;
use super::current;
use super::failure::Failure;
use super::run::MailboxProcessor;
use super::turn::Allowed;
use crate::letter::Letter;
use crate::mailbox::{TakeError, Undelivered};
use crate::ring::{Budget, Stopwatch};
use crate::sync::spin_hint;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a finished processor.
#[derive(Debug)]
#[must_use = "the failure and the letters that were not run are told to nobody else"]
pub struct Finished<O, L> {
    /// How many letters were run on the way, markers and timers included.
    pub ran: usize,
    /// Accepted and not run, because a letter before them failed or the processor had failed
    /// before; else none.
    pub undelivered: Undelivered<O, L>,
    /// The failure that ended it early.
    pub failure: Option<Failure>,
}

impl<O: 'static, L: Letter<O> + Send + 'static, A: DefaultAction<O>> MailboxProcessor<O, L, A> {
    /// Ends well: refuses what others post, runs every letter that was accepted and every timer that
    /// is due, deferrable ones too and what they post to their own owner, up to
    /// [`Builder::follow_ups_max`](super::Builder::follow_ups_max) of that; then closes. The default
    /// action is not called.
    ///
    /// A letter that fails ends it by the policy; what is left is returned then. It waits for posts
    /// that have begun and not ended: a few instructions, unless that sender was preempted.
    ///
    /// ```
    /// use mailring::processor::{Ended, MailboxProcessor};
    ///
    /// let mut processor = MailboxProcessor::new(0)?;
    /// let executor = processor.executor();
    /// executor.execute(|sum| *sum += 1)?;
    /// executor.all_done();
    /// assert_eq!(processor.run()?, Ended::AllDone);
    /// assert_eq!(processor.finish().ran, 1);
    /// assert_eq!(processor.with_owner(|sum| *sum), 1);
    /// assert!(executor.execute(|sum| *sum += 1).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// With [`OnFailure::Propagate`](super::OnFailure::Propagate), if a letter does.
    pub fn finish(&mut self) -> Finished<O, L> {
        let mut ran = 0;
        let begun = self.guarded(|this| {
            // Caller code may run where timers are dropped.
            this.begin_finish();
            Ok(())
        });
        let mut failure = begun.err();
        while failure.is_none() {
            match self.guarded(|this| this.run_out(&mut ran)) {
                Ok(Some(())) => break,
                Ok(None) => {}
                Err(failed) => failure = Some(failed),
            }
        }
        self.finished(ran, failure)
    }

    /// As [`finish`](Self::finish), within a budget of letters and time, and never waits. `None`: there
    /// is more, so call it again; other letters than the finish's own are run by nothing else then.
    ///
    /// ```
    /// use mailring::processor::MailboxProcessor;
    /// use mailring::ring::Budget;
    ///
    /// let mut processor = MailboxProcessor::new(0)?;
    /// for _ in 0..3 {
    ///     processor.executor().execute(|sum| *sum += 1)?;
    /// }
    /// assert!(processor.finish_within(Budget::letters(2)).is_none());
    /// let finished = processor.finish_within(Budget::letters(2)).expect("one is left");
    /// assert_eq!(finished.ran, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As [`finish`](Self::finish).
    pub fn finish_within(&mut self, budget: Budget) -> Option<Finished<O, L>> {
        if self.finishing.is_none() {
            self.finishing = Some(0);
            let begun = self.guarded(|this| {
                this.begin_finish();
                Ok(())
            });
            if let Err(failure) = begun {
                return Some(self.finished_within(Some(failure)));
            }
        }
        match self.guarded(|this| this.run_out_within(budget)) {
            Ok(Some(true)) => Some(self.finished_within(None)),
            Ok(Some(false) | None) => None,
            Err(failure) => Some(self.finished_within(Some(failure))),
        }
    }

    fn finished_within(&mut self, failure: Option<Failure>) -> Finished<O, L> {
        let ran = self.finishing.unwrap_or(0);
        let finished = self.finished(ran, failure);
        self.finishing = None;
        finished
    }

    fn finished(&mut self, ran: usize, mut failure: Option<Failure>) -> Finished<O, L> {
        // First those timers whose letters were not run: where one panics in its drop, and the failure
        // hook with it, the letters are in the mailbox still.
        let timers = self.core.timers.borrow_mut().close();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(timers))) {
            let failed = self.fail(&Failure::panic("timer", payload));
            failure = failure.or(failed.err());
        }
        Finished {
            ran,
            undelivered: self.close(),
            failure,
        }
    }

    /// Runs letters as far as the budget goes; whether none can follow.
    fn run_out_within(&mut self, budget: Budget) -> Result<bool, Failure> {
        let Self {
            core,
            owner,
            finishing,
            ..
        } = self;
        let core = &**core;
        current::enter(core, || {
            let mut allowed = Allowed {
                left: budget.letters_max(),
                stopwatch: Stopwatch::start(&core.link.clock, budget),
            };
            loop {
                if core.is_stopping() && core.phase.has_failed.get() {
                    return Err(core.take_failure().unwrap_or_else(Failure::again));
                }
                if allowed.is_used_up() {
                    return Ok(false);
                }
                let taken = core.mailbox.borrow_mut().try_take();
                let taken = match taken {
                    Ok(taken) => taken,
                    // A post has begun and not ended.
                    Err(TakeError::Empty) => {
                        spin_hint();
                        return Ok(false);
                    }
                    Err(_) => return Ok(true),
                };
                allowed.left -= 1;
                *finishing = finishing.map(|ran| ran + 1);
                owner.with(|owner| core.run(taken, owner))?;
            }
        })
    }

    fn begin_finish(&mut self) {
        self.core.mailbox.borrow_mut().refuse_senders();
        self.core
            .phase
            .follow_ups_left
            .set(Some(self.follow_ups_max));
        self.core.quiesce_timers();
    }

    /// Runs letters until none can follow.
    fn run_out(&mut self, ran: &mut usize) -> Result<(), Failure> {
        let Self { core, owner, .. } = self;
        let core = &**core;
        current::enter(core, || {
            loop {
                // That all is done, or the loop suspended, is no reason to end sooner.
                if core.is_stopping() && core.phase.has_failed.get() {
                    return Err(core.take_failure().unwrap_or_else(Failure::again));
                }
                let taken = core.mailbox.borrow_mut().take();
                // Quiesced: nothing is left, and what was being posted has come.
                let Ok(taken) = taken else { return Ok(()) };
                *ran += 1;
                owner.with(|owner| core.run(taken, owner))?;
            }
        })
    }
}

//! Setting timers, from any thread.

use super::core::Core;
use super::executor::Executor;
use super::timer_state::Timer;
use super::timers::{Entry, Repeat};
use crate::letter::{IntoOutcome, Letter, Outcome};
use crate::sync::Clock;
use core::time::Duration;
use std::time::Instant;

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    /// Has `action` run at `due`, as a letter of this executor's priority; never before. It never
    /// waits: on other threads than the owner's the timer is left for the owner, who takes it in
    /// before its next letter, and whose sleep it ends.
    ///
    /// A mailbox that takes no more letters takes no timers either: the timer is cancelled from the
    /// start. Setting one allocates.
    ///
    /// Timers are looked for between batches, and by yields: about once a microsecond while work is
    /// even, and at the latest when 64 calls of the default action, or 16 letters, have passed since
    /// the last look. So one is late by the batch that runs when it is due, and by those calls; where
    /// the owner sleeps, by what the system needs to wake it. Its letter comes in the next batch,
    /// behind what the owner has posted to itself and before what still lies in the ring.
    pub fn run_at<F, R>(&self, due: Instant, action: F) -> Timer
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let mut action = Some(action);
        self.set(due, None, move |owner, _due| match action.take() {
            Some(action) => action(owner).into_outcome(),
            None => Ok(()),
        })
    }

    /// Has `action` run after `delay`, by the processor's clock; see [`run_at`](Self::run_at).
    pub fn run_after<F, R>(&self, delay: Duration, action: F) -> Timer
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.run_at(self.after(delay), action)
    }

    /// Has `action` run at `first` and then again and again, with the moment that it was due; see
    /// [`run_at`](Self::run_at). Where a run fails and the policy is
    /// [`Skip`](super::OnFailure::Skip), it goes on all the same.
    ///
    /// ```
    /// use mailring::ManualClock;
    /// use mailring::processor::{MailboxProcessor, Repeat, Step};
    /// use std::time::Duration;
    ///
    /// let (clock, second) = (ManualClock::new(), Duration::from_secs(1));
    /// let builder = MailboxProcessor::<u32>::builder().clock(clock.clone());
    /// let mut processor = builder.build(0)?;
    /// let executor = processor.executor();
    /// let first = executor.now() + second;
    /// let timer = executor.run_every(first, Repeat::FixedRate(second), |runs, _due| *runs += 1);
    /// // Moments that have passed are left out: one run stands for three.
    /// for passed in [1, 3, 1] {
    ///     clock.advance(passed * second);
    ///     assert_eq!(processor.run_until_idle()?, Step::Idle);
    /// }
    /// assert_eq!(processor.with_owner(|runs| *runs), 3);
    /// assert!(timer.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_every<F, R>(&self, first: Instant, repeat: Repeat, mut action: F) -> Timer
    where
        F: FnMut(&mut O, Instant) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.set(first, Some(repeat), move |owner, due| {
            action(owner, due).into_outcome()
        })
    }

    /// The present moment by the processor's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.link.clock.now()
    }

    fn after(&self, delay: Duration) -> Instant {
        let now = self.link.clock.now();
        // Past the end of time: a century is as good as never.
        now.checked_add(delay)
            .unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3600))
    }

    fn set(
        &self,
        due: Instant,
        repeat: Option<Repeat>,
        callback: impl FnMut(&mut O, Instant) -> Outcome + Send + 'static,
    ) -> Timer {
        let (entry, timer) = Entry::new(
            due,
            repeat,
            self.priority,
            &self.link.cancelled,
            Box::new(callback),
        );
        let entry = match self.on_owner(entry, Core::arm) {
            Ok(Ok(())) => return timer,
            Ok(Err(entry)) | Err(entry) => entry,
        };
        if !self.is_closed() && self.arrivals.bring(entry).is_ok() {
            self.link.ask_to_take_in_timers();
        }
        // Refused, it is dropped, and so is cancelled.
        timer
    }
}

//! The owner's timers, as its loop and its handles on the owner's thread reach them: armed, fired, run,
//! quiesced. C1 holds throughout: what a timer has captured is dropped where nothing is borrowed.

use super::core::{Core, Work};
use super::failure::Failure;
use super::timers::{Entry, Place, Running};
use crate::letter::{Describe, Letter};
use crate::mailbox::{Envelope, MarkerId, Token};
use crate::sync::Clock;
use std::time::Instant;

impl<O, L: Letter<O>> Core<O, L> {
    /// Arms a timer; where timers or mailbox are in use (C1) it is handed back: who uses the mailbox
    /// may be about to sleep until a moment that was judged without it.
    pub(super) fn arm(&self, entry: Entry<O>) -> Result<(), Entry<O>> {
        if self.mailbox.try_borrow_mut().is_err() {
            return Err(entry);
        }
        let Ok(mut timers) = self.timers.try_borrow_mut() else {
            return Err(entry);
        };
        let refused = timers.arm(entry);
        let cancelled = timers.has_cancelled().then(|| timers.throw_out());
        self.phase.has_timers.set(timers.next_look().is_some());
        // Caller code may run where it is dropped.
        drop(timers);
        drop((refused, cancelled));
        Ok(())
    }

    /// Arms the timers that were set on other threads.
    pub(super) fn take_in_timers(&self) {
        let Ok(mut timers) = self.timers.try_borrow_mut() else {
            // C1: they are met when nothing is held.
            return self.link.ask_to_take_in_timers();
        };
        let refused = timers.take_in();
        self.phase.has_timers.set(timers.next_look().is_some());
        drop(timers);
        drop(refused);
    }

    /// Takes no more timers, makes letters of those that are due, and drops the others.
    pub(super) fn quiesce_timers(&self) {
        let refused = self.timers.borrow_mut().take_in_last();
        self.fire_timers_at(self.link.clock.now());
        let dropped = self.timers.borrow_mut().quiesce();
        self.phase.has_timers.set(false);
        drop((refused, dropped));
    }

    /// Makes letters of the timers that are due at `now`, and drops those that were cancelled.
    /// Whether there may be letters for it: caller code in a drop may have posted some.
    pub(super) fn fire_timers_at(&self, now: Instant) -> bool {
        let (Ok(mut timers), Ok(mut mailbox)) =
            (self.timers.try_borrow_mut(), self.mailbox.try_borrow_mut())
        else {
            return false;
        };
        let mut cancelled = timers.has_cancelled().then(|| timers.throw_out());
        let mut has_fired = false;
        if timers.next_look().is_some_and(|look| look <= now) {
            let late = timers.fire(now, |place, priority| {
                has_fired = true;
                mailbox.keep(Envelope::Token(Work::Timer(place).token(), priority));
            });
            cancelled.get_or_insert_default().extend(late);
        }
        self.phase.has_timers.set(timers.next_look().is_some());
        drop((timers, mailbox));
        // What a cancelled timer had captured is dropped where nothing is held.
        has_fired | cancelled.is_some_and(|cancelled| !cancelled.is_empty())
    }

    /// Runs a timer that has fired, unless it was cancelled meanwhile.
    pub(super) fn run_timer(&self, place: Place, owner: &mut O) -> Result<(), Failure> {
        // A borrow that ends here: what was cancelled is dropped where nothing is held.
        let started = self.timers.borrow_mut().start(place);
        let Some(Ok((entry, callback))) = started else {
            return Ok(());
        };
        self.link.stats.timers.add(1);
        self.link.running.set(Describe::Known("timer"));
        let due = entry.due;
        let mut running = RunningTimer {
            core: self,
            timer: Some((entry, callback)),
        };
        let outcome = match &mut running.timer {
            Some((_, run)) => run(owner, due),
            None => Ok(()),
        };
        outcome.map_err(|error| Failure::error("timer", error))
    }
}

impl Work {
    /// The marker whose run is owed. A timer that has fired owes none: it is dropped with the others.
    pub(super) fn owed_marker(token: Token) -> Option<MarkerId> {
        match Self::of(token) {
            Self::MarkerAgain(id) => Some(id),
            Self::Timer(_) => None,
        }
    }
}

/// Ends a timer's run, also on a panic.
struct RunningTimer<'a, O, L: Letter<O>> {
    core: &'a Core<O, L>,
    timer: Option<Running<O>>,
}

impl<O, L: Letter<O>> Drop for RunningTimer<'_, O, L> {
    fn drop(&mut self) {
        if let Some((entry, callback)) = self.timer.take() {
            let now = entry.is_periodic().then(|| self.core.link.clock.now());
            let mut timers = self.core.timers.borrow_mut();
            let over = timers.end(entry, callback, now);
            self.core.phase.has_timers.set(timers.next_look().is_some());
            // What a timer that will not run again had captured is dropped where nothing is held.
            drop(timers);
            drop(over);
        }
    }
}

//! The owner's side of a processor, as its loop and its handles on the owner's thread reach it.
//!
//! C1. No borrow of the mailbox or the timers is held while caller code runs, but for what runs in
//!     a wait strategy or a letter's own description of itself; a handle that finds one held goes
//!     the way of other threads.
//! C3. A letter that is run in place was given up by the queue it lies in. The mailbox stays borrowed
//!     while it is asked what it is, and it is moved out, or dropped where that panics, before any
//!     caller code runs that could change the queue.
//! C2. A look for letters runs no caller code and changes nothing; so while it lasts nobody on this
//!     thread, which alone has the core, begins to change the mailbox.

use super::arrivals::Arrivals;
use super::control::{self, Link};
use super::failure::{Failure, Hook, Unheard};
use super::near::Near;
use super::pace::Pace;
use super::phase::{Phase, Reason};
use super::stats::nanos;
use super::timers::{Place, Timers};
use super::yield_error::YieldError;
use crate::letter::{BoxError, Describe, Letter, Outcome, Priority};
use crate::mailbox::{
    Deferrable, Envelope, Mailbox, MarkerId, PostError, Sender, State, TakeError, Taken, Token,
};
use crate::ring::Waited;
use crate::sync::{Arc, Clock};
use core::cell::{Cell, RefCell, RefMut};
use core::mem::ManuallyDrop;
use std::time::Instant;

/// See above.
pub(super) struct Core<O, L> {
    pub(super) mailbox: RefCell<Mailbox<O, L>>,
    pub(super) timers: RefCell<Timers<O>>,
    pub(super) arrivals: Arc<Arrivals<O>>,
    pub(super) sender: Sender<O, L>,
    pub(super) link: Arc<Link>,
    pub(super) phase: Phase,
    pub(super) pace: Pace,
    /// A failure met in a yield, for the loop.
    pub(super) failed_in_yield: RefCell<Option<Failure>>,
    /// Sees each failure; out while it does.
    pub(super) hook: RefCell<Option<Hook>>,
    /// Markers that came up while they run, which happens in their own yields.
    pub(super) again: RefCell<Vec<MarkerId>>,
    /// Its thread is inside of it.
    pub(super) inside: Cell<bool>,
    /// Whoever drives it together with others, if anybody, and whether it is on the list there.
    pub(super) near: Cell<Option<Near>>,
    pub(super) is_listed: Cell<bool>,
}

impl<O, L> Drop for Core<O, L> {
    fn drop(&mut self) {
        if self.near.get().is_some() {
            self.sender.shared().set_home(core::ptr::null());
        }
    }
}

/// What a token of ours stands for.
#[derive(Clone, Copy)]
pub(super) enum Work {
    Timer(Place),
    /// A marker that came up while it was running: once more.
    MarkerAgain(MarkerId),
}

impl Work {
    pub(super) fn token(self) -> Token {
        Token(match self {
            Self::Timer(place) => place.to_bits() << 1,
            Self::MarkerAgain(id) => u64::from(id.to_bits()) << 1 | 1,
        })
    }
    pub(super) fn of(token: Token) -> Self {
        if token.0 & 1 == 0 {
            Self::Timer(Place::from_bits(token.0 >> 1))
        } else {
            Self::MarkerAgain(MarkerId::from_bits((token.0 >> 1) as u32))
        }
    }
}

impl<O, L: Letter<O>> Core<O, L> {
    /// Posts for the owner itself what is sealed where it will lie; hands the input back where the
    /// mailbox is not plainly open.
    #[inline(always)]
    pub(super) fn post_own_sealed<T>(
        &self,
        input: T,
        seal: impl FnOnce(T) -> Envelope<O, L>,
    ) -> Result<(), T> {
        match self.mailbox.try_borrow_mut() {
            Ok(mut mailbox)
                if mailbox.state() == State::Open && self.phase.follow_ups_left.get().is_none() =>
            {
                let vacant = mailbox.vacant();
                vacant.fill(seal(input));
                Ok(())
            }
            _ => Err(input),
        }
    }

    /// Posts for the owner itself: to its own queue, which never waits. Hands the envelope back
    /// where the mailbox takes none, or is in use (C1).
    #[inline(always)]
    pub(super) fn post_own(
        &self,
        envelope: Envelope<O, L>,
        urgent: bool,
    ) -> Result<(), OwnPost<Envelope<O, L>>> {
        let Ok(mut mailbox) = self.mailbox.try_borrow_mut() else {
            return Err(OwnPost::InUse(envelope));
        };
        if mailbox.state() != State::Open {
            return Err(OwnPost::Closed(envelope));
        }
        if let Some(left) = self.phase.follow_ups_left.get() {
            if left == 0 {
                return Err(OwnPost::Closed(envelope));
            }
            self.phase.follow_ups_left.set(Some(left - 1));
        }
        if urgent {
            mailbox.keep_urgent(envelope);
        } else {
            mailbox.keep(envelope);
        }
        Ok(())
    }

    /// Whether there is a letter: the look of every turn, which does not even count a borrow.
    #[inline(always)]
    pub(super) fn has_letters(&self) -> bool {
        // SAFETY: C2: no mutable borrow begins while this one is used, and none is going on.
        unsafe { self.mailbox.try_borrow_unguarded() }.is_ok_and(Mailbox::has_letters)
    }

    /// As `has_letters`, when there is no news that was not met.
    #[inline(always)]
    pub(super) fn has_noted_letters(&self) -> bool {
        // SAFETY: C2, as above.
        unsafe { self.mailbox.try_borrow_unguarded() }.is_ok_and(Mailbox::has_noted_letters)
    }

    /// Whether there is an urgent letter, in the same way.
    #[inline(always)]
    pub(super) fn has_urgent(&self) -> bool {
        // SAFETY: C2, as above.
        unsafe { self.mailbox.try_borrow_unguarded() }.is_ok_and(Mailbox::has_urgent)
    }

    /// Meets what was asked for from any thread; where the mailbox is in use (C1), when it is let go:
    /// until then the flags stay, for whoever uses it to see.
    #[cold]
    pub(super) fn meet_control(&self) {
        if self.mailbox.try_borrow_mut().is_err() {
            return;
        }
        let flags = self.sender.take_flags();
        let phase = &self.phase;
        if flags & control::SUSPEND != 0 {
            phase.add_suspends(self.link.take_suspends());
        }
        if flags & control::ALL_DONE != 0 {
            phase.is_done.set(true);
        }
        if flags & control::FAILED != 0 {
            phase.has_failed.set(true);
        }
        if flags & control::QUIESCE != 0 {
            self.mailbox.borrow_mut().quiesce();
            self.quiesce_timers();
        }
        if flags & control::CLOCK_MOVED != 0 {
            self.pace.time_has_passed();
        }
        if flags & control::TIMERS != 0 {
            self.take_in_timers();
        }
        if self.link.resumed_up_to() >= phase.generation.get() && phase.generation.get() > 0 {
            phase.is_available.set(true);
        }
        phase.judge();
    }

    /// Whether the loop is to return, by the latest that was asked for.
    #[inline]
    pub(super) fn is_stopping(&self) -> bool {
        if self.sender.is_raised() {
            self.meet_control();
        }
        self.phase.is_stopping.get()
    }

    /// Whether anything was asked for, an urgent letter was posted, or the loop is to return.
    #[inline(always)]
    pub(super) fn has_news(&self) -> bool {
        self.sender.has_flags() || self.phase.is_stopping.get()
    }

    /// Meets the news; whether the loop is to return.
    #[cold]
    pub(super) fn meet_news(&self) -> bool {
        self.mailbox.borrow_mut().note_flag();
        self.is_stopping()
    }

    /// Makes letters of the timers that are due, if it is time to look.
    #[inline]
    pub(super) fn fire_timers(&self) {
        if self.phase.has_timers.get()
            && let Some(now) = self.pace.now_if_due(&self.link.clock)
        {
            self.fire_timers_at(now);
        }
    }

    /// Runs what was taken.
    #[inline(always)]
    pub(super) fn run(&self, taken: Taken<O, L>, owner: &mut O) -> Result<(), Failure> {
        match taken {
            Taken::Letter(letter) => self.run_letter(letter, owner),
            other => self.run_other(other, owner),
        }
    }

    /// Runs the next letter of the batch, where nothing is urgent and the owner is the processor's
    /// alone. A letter goes from where it was written to its run without a move between: this is the
    /// path of most. `Ok(false)`: the batch is worked off.
    #[inline(always)]
    pub(super) fn run_front(
        &self,
        mut mailbox: RefMut<'_, Mailbox<O, L>>,
        owner: &mut O,
    ) -> Result<bool, Failure> {
        let Some(front) = mailbox.front_of_batch() else {
            return Ok(false);
        };
        let Taken::Letter(letter) = front else {
            let other = mailbox.pop_batch().map(|other| mailbox.hand_out(other));
            drop(mailbox);
            if let Some(other) = other {
                self.run_other(other, owner)?;
            }
            return Ok(true);
        };
        let letter = InPlace(letter);
        // SAFETY: C3: it was shown, and is run or dropped in its place.
        unsafe { mailbox.give_up_front() };
        // SAFETY: C3: it is there until the mailbox is let go.
        let (what, timed) = self.before_letter(unsafe { &*letter.0 });
        drop(mailbox);
        let place = letter.into_place();
        // SAFETY: C3: nothing changes the mailbox between its drop above and the letter's move out of
        // its place, which is the first that is done here.
        let outcome = unsafe { L::run_in_place(place, owner) };
        self.after_letter(timed, what, outcome).map(|()| true)
    }

    /// Counts a letter that is about to run; the time, if it is to be timed.
    #[inline(always)]
    fn before_letter(&self, letter: &impl Letter<O>) -> (Describe, Option<Instant>) {
        let what = letter.describe();
        self.link.running.set(what);
        self.link.stats.letters[letter.kind().index()].add(1);
        (what, self.pace.start_of_letter(&self.link.clock))
    }

    #[inline(always)]
    fn after_letter(
        &self,
        timed: Option<Instant>,
        what: Describe,
        outcome: Outcome,
    ) -> Result<(), Failure> {
        if let Some(start) = timed {
            self.end_of_letter(start);
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(error) => self.letter_failed(what, error),
        }
    }

    #[cold]
    fn letter_failed(&self, what: Describe, error: BoxError) -> Result<(), Failure> {
        match error.downcast::<Unheard>() {
            Ok(unheard) => {
                self.tell(&Failure::error(what.text(), unheard.0));
                Ok(())
            }
            Err(error) => Err(Failure::error(what.text(), error)),
        }
    }

    /// Counts a failure, and tells the hook, whose panic goes out.
    pub(super) fn tell(&self, failure: &Failure) {
        self.link.stats.failures.add(1);
        // A hook that fails in a yield of its own, or so, is not told of that.
        let Some(hook) = self.hook.borrow_mut().take() else {
            return;
        };
        let mut telling = Telling {
            core: self,
            hook: Some(hook),
        };
        if let Some(hook) = &mut telling.hook {
            hook(failure);
        }
    }

    fn run_letter(&self, letter: impl Letter<O>, owner: &mut O) -> Result<(), Failure> {
        let (what, timed) = self.before_letter(&letter);
        let outcome = letter.run(owner);
        self.after_letter(timed, what, outcome)
    }

    #[cold]
    fn end_of_letter(&self, start: Instant) {
        let took = self.link.clock.now().saturating_duration_since(start);
        self.pace.letter_took(took);
        self.link.stats.longest_ns.raise_to(nanos(took));
    }

    #[cold]
    pub(super) fn run_other(&self, taken: Taken<O, L>, owner: &mut O) -> Result<(), Failure> {
        match taken {
            Taken::Letter(letter) => self.run_letter(letter, owner),
            Taken::Mail(mail) => self.run_letter(*mail, owner),
            Taken::Marker(id) => self.run_marker(id, owner),
            Taken::Token(token, _) => match Work::of(token) {
                Work::Timer(place) => self.run_timer(place, owner),
                Work::MarkerAgain(id) => self.run_marker(id, owner),
            },
        }
    }

    /// Runs one letter that a collaborator of this priority may see. `Ok(false)`: there is none.
    #[inline]
    pub(super) fn run_one_for(
        &self,
        least: Priority,
        deferrable: Deferrable,
        owner: &mut O,
    ) -> Result<bool, YieldError> {
        if self.is_stopping() && self.phase.is_cancelled() {
            return Err(YieldError::Cancelled);
        }
        self.fire_timers();
        let taken = match self.mailbox.try_borrow_mut() {
            // Most yields find nothing: without a look at what senders share.
            Ok(mailbox) if !mailbox.has_letters() && mailbox.state() == State::Open => {
                return Ok(false);
            }
            Ok(mut mailbox) => mailbox.try_take_shown(least, deferrable),
            Err(_) => return Err(YieldError::NotOwner),
        };
        match taken {
            Ok(taken) => {
                let outer = self.link.running.what();
                match self.run(taken, owner) {
                    Ok(()) => {
                        self.link.running.set(outer);
                        Ok(true)
                    }
                    Err(failure) => {
                        self.link.running.set(outer);
                        Err(self.fail_in_yield(failure))
                    }
                }
            }
            Err(TakeError::Empty) => Ok(false),
            Err(TakeError::Crowded) => Err(YieldError::Crowded),
            Err(_) => Err(YieldError::Closed),
        }
    }

    /// A letter that failed in a yield fails the processor too, whatever the yielding one does with
    /// the error.
    #[cold]
    fn fail_in_yield(&self, failure: Failure) -> YieldError {
        self.phase.fail();
        self.failed_in_yield
            .borrow_mut()
            .get_or_insert_with(|| failure.clone());
        YieldError::Failed(failure)
    }

    /// Waits for a letter from others, a timer, or what anybody asks for; counts the time. What the
    /// owner has in its own queues ends no wait: a yield may not be able to see it.
    pub(super) fn wait(&self) -> Waited {
        let clock = &self.link.clock;
        let deadline = self.timers.borrow().next_look();
        let deadline = match deadline {
            None => None,
            Some(deadline) => {
                let now = clock.now();
                if self.fire_timers_at(now) {
                    return Waited::Letters;
                }
                // In the system's time, whatever the clock: one that is moved by hand rings the
                // bell when it moves.
                Instant::now().checked_add(deadline.saturating_duration_since(now))
            }
        };
        let mut mailbox = self.mailbox.borrow_mut();
        let before = mailbox.waited();
        let waited = mailbox.wait_until(deadline, || {
            // Caller code since the last look may have met what was asked for.
            self.sender.is_raised() || self.phase.is_cancelled()
        });
        let took = nanos(mailbox.waited().saturating_sub(before));
        drop(mailbox);
        let stats = &self.link.stats;
        let is_idle = self.phase.is_available.get() || self.phase.reason.get() == Reason::NoInput;
        let spent = if is_idle {
            &stats.idle_ns
        } else {
            &stats.back_pressured_ns
        };
        spent.add(took);
        self.pace.time_has_passed();
        waited
    }

    /// Whether the default action is suspended, there is no letter, and the mailbox is open.
    pub(super) fn is_idle(&self) -> bool {
        if self.sender.is_raised() {
            self.meet_control();
        }
        // In use (C1), it is not idle.
        let Ok(mailbox) = self.mailbox.try_borrow() else {
            return false;
        };
        !self.phase.is_available.get()
            && !mailbox.has_letters()
            && mailbox.state() == State::Open
            && self.phase.follow_ups_left.get().is_none()
    }

    /// A failure that was reported from outside or met in a yield, once.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        let in_yield = self.failed_in_yield.borrow_mut().take();
        in_yield.or_else(|| self.link.failure())
    }
}

/// Why the owner's own post was not taken.
pub(super) enum OwnPost<T> {
    Closed(T),
    InUse(T),
}

impl<T> From<OwnPost<T>> for PostError<T> {
    fn from(refused: OwnPost<T>) -> Self {
        match refused {
            OwnPost::Closed(envelope) | OwnPost::InUse(envelope) => Self::Closed(envelope),
        }
    }
}

/// C3: a letter that was given up and not run yet.
struct InPlace<L>(*mut L);

impl<L> InPlace<L> {
    #[inline(always)]
    fn into_place(self) -> *mut L {
        ManuallyDrop::new(self).0
    }
}

impl<L> Drop for InPlace<L> {
    fn drop(&mut self) {
        // SAFETY: C3: it was not run, and nobody else has it.
        unsafe { self.0.drop_in_place() };
    }
}

/// Puts the hook back, also on a panic.
struct Telling<'a, O, L> {
    core: &'a Core<O, L>,
    hook: Option<Hook>,
}

impl<O, L> Drop for Telling<'_, O, L> {
    fn drop(&mut self) {
        *self.core.hook.borrow_mut() = self.hook.take();
    }
}

//! The consumer's side: look, take, release, park.
//!
//! R4. Only the owner moves the cursor, releases head, and sets PARKED; it sets it only where
//!     head is released up to the cursor.

use super::shared::Ring;
use super::words::{ASLEEP, CLOSED, KICK, PARKED, RELEASED, RESTING, SEQUENCE, WAITERS};
use crate::ring::protocol::OwnerState;
use crate::sync::order;
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use core::task::Context;
use core::time::Duration;
use std::time::Instant;

/// A rest was ended by somebody who owes a call of the hook: there is no other rest before it.
#[derive(Debug)]
pub(super) struct Owed;

/// What only the consumer knows.
#[derive(Debug)]
pub struct Owner {
    pub(super) cursor: u64,
    /// Sequences below it have been seen published.
    published: Cell<u64>,
    /// Head as the owner released it last.
    pub(super) released: u64,
    /// The cursor at which a quarter of the ring is unreleased.
    release_at: u64,
    /// What was set of a sleep that this owner has not seen the end of: as a task, at rest, or left by
    /// a panic.
    asleep: u64,
    /// A rest was ended by somebody else, who owes a call of the hook that this owner was not told of.
    owed: bool,
    /// The hole it napped at last, and how long to nap there next time.
    hole: u64,
    nap: Duration,
}

impl Owner {
    const FIRST_NAP: Duration = Duration::from_micros(50);
    const LONGEST_NAP: Duration = Duration::from_millis(1);

    pub(super) fn new(start: u64) -> Self {
        Self {
            cursor: start,
            published: Cell::new(start),
            released: start,
            // Right from the first release on; until then sooner than needed.
            release_at: start,
            asleep: 0,
            owed: false,
            hole: start,
            nap: Self::FIRST_NAP,
        }
    }

    fn owed(&self) -> bool {
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("owed") {
            return false;
        }
        self.owed
    }
}

impl<T> Ring<T> {
    #[inline(always)]
    pub(super) fn is_published(&self, owner: &Owner) -> bool {
        let cursor = owner.cursor;
        if cursor < owner.published.get() {
            return true;
        }
        let run = self.fixed.slots.published_from(cursor);
        if run == 0 {
            return false;
        }
        owner.published.set(cursor + run);
        true
    }

    /// # Safety
    /// `is_published` has said so since the last letter was taken.
    #[inline(always)]
    pub(super) unsafe fn take_seen(&self, owner: &mut Owner) -> T {
        // SAFETY: R3: as the caller says.
        unsafe { self.take_seen_by(owner, |letter| letter) }
    }

    /// Takes it by `put`, before its room is released: so it need not be kept elsewhere meanwhile.
    ///
    /// # Safety
    /// `is_published` has said so since the last letter was taken.
    #[inline(always)]
    pub(super) unsafe fn take_seen_by<R>(&self, owner: &mut Owner, put: impl FnOnce(T) -> R) -> R {
        debug_assert!(self.is_published(owner), "taken before it was published");
        let cell = &self.fixed.slots.slot(owner.cursor).value;
        owner.cursor += 1;
        // SAFETY: R3: the caller has seen the stamp, so the value is there; the cursor has passed
        // it, so it is moved out once.
        let done = put(cell.with_mut(|cell| unsafe { (*cell).assume_init_read() }));
        if owner.cursor >= owner.release_at {
            self.release_taken(owner);
        }
        done
    }

    #[inline(always)]
    pub(super) fn ahead(&self, owner: &Owner) -> usize {
        let known = owner.published.get() - owner.cursor;
        if known < 2 {
            // Letters published one by one are known one by one.
            return 0;
        }
        let until_release = owner.release_at.saturating_sub(owner.cursor);
        let count = known.min(until_release).saturating_sub(1);
        self.fixed.slots.until_end(owner.cursor, count)
    }

    /// # Safety
    /// `count` is at most what `ahead` says now.
    #[inline(always)]
    pub(super) unsafe fn take_ahead(
        &self,
        owner: &mut Owner,
        count: usize,
        mut each: impl FnMut(T) -> bool,
    ) {
        debug_assert!(count <= self.ahead(owner), "taken before it was published");
        let [slots, _] = self.fixed.slots.run(owner.cursor, count as u64);
        for slot in slots {
            owner.cursor += 1;
            // SAFETY: R3: the caller knows it published, so the value is there; the cursor has
            // passed it, so it is moved out once.
            let letter = slot
                .value
                .with_mut(|cell| unsafe { (*cell).assume_init_read() });
            if !each(letter) {
                break;
            }
        }
    }

    /// Releases head up to the cursor, and serves the line where somebody stands in it.
    #[inline]
    pub(super) fn release_taken(&self, owner: &mut Owner) {
        let count = owner.cursor - owner.released;
        if count == 0 {
            return;
        }
        owner.released = owner.cursor;
        owner.release_at = owner.cursor + self.fixed.config.release_every();
        // Release: pairs with Acquire in a claim's look at head; values are moved out first.
        let head = self.head.fetch_add(count, order!(f, Release));
        if head & WAITERS != 0 {
            self.serve_line();
        }
    }

    pub(super) fn state_of(&self, owner: &Owner) -> OwnerState {
        // Acquire: pairs with set_flags; what came before the close or the kick is seen.
        let tail = self.tail.load(order!(o, Acquire));
        self.judge(owner, tail)
    }

    pub(super) fn is_finished_for(&self, owner: &Owner) -> bool {
        // Acquire: pairs with set_flags; what came before the close is seen.
        let tail = self.tail.load(order!(o, Acquire));
        tail & CLOSED != 0 && tail & SEQUENCE == owner.cursor
    }

    /// Takes a kick, before the owner looks at the work it stands for.
    pub(super) fn clear_kick(&self) {
        // Acquire: pairs with the kick; the work outside the ring is seen.
        self.tail.fetch_and(!KICK, order!(q1, Acquire));
    }

    /// What a tail means to an owner that found no letter.
    fn judge(&self, owner: &Owner, tail: u64) -> OwnerState {
        if tail & KICK != 0 {
            return OwnerState::Kicked;
        }
        if tail & SEQUENCE != owner.cursor {
            return if self.is_published(owner) {
                OwnerState::Look
            } else {
                OwnerState::Hole
            };
        }
        if tail & CLOSED != 0 {
            OwnerState::Finished
        } else {
            OwnerState::Look
        }
    }

    /// Begins a sleep: from here until PARKED is cleared, whoever clears it owes a wake; by the hook
    /// where RESTING is among the `flags`.
    fn begin_park(&self, owner: &mut Owner, flags: u64) -> Result<(), OwnerState> {
        self.release_taken(owner);
        let cursor = owner.cursor;
        // Two cases. A claim, close or kick before this exchange: it fails, and we look again. One
        // after it: its author sees PARKED, clears it, and wakes us.
        //
        // AcqRel / Acquire: pairs with claims, set_flags and end_sleep; what the owner did is seen
        // by whoever wakes it; what was made before an end_sleep is seen by the owner, and on
        // failure the reason is.
        match self.tail.compare_exchange(
            cursor,
            cursor | flags,
            order!(g, AcqRel),
            order!(g1, Acquire),
        ) {
            Ok(_) => Ok(()),
            Err(tail) => Err(self.judge(owner, tail)),
        }
    }

    /// Ends a sleep that nobody else has ended. Returns whether it was still on; if not, somebody
    /// owes a wake, which will come for nothing.
    fn end_park(&self, owner: &mut Owner) -> bool {
        let begun = core::mem::take(&mut owner.asleep);
        // Relaxed: one word decides who ends it; nobody is handed anything here.
        let was_on = self.tail.fetch_and(!ASLEEP, Relaxed) & PARKED != 0;
        owner.owed |= !was_on && begun & RESTING != 0;
        was_on
    }

    pub(super) fn park_owner(
        &self,
        owner: &mut Owner,
        deadline: Option<Instant>,
        unless: &mut dyn FnMut() -> bool,
    ) -> OwnerState {
        if owner.asleep != 0 {
            self.end_park(owner);
        }
        match self.begin_park(owner, PARKED) {
            // Two cases. What `unless` looks for was made, and its author's look at tail was before
            // the exchange: it is seen here. After it: the author sees PARKED and wakes us.
            Ok(()) => {
                // It is caller code: if it panics, the next park finds this one and ends it.
                owner.asleep = PARKED;
                if unless() {
                    self.end_park(owner);
                    return OwnerState::Look;
                }
                owner.asleep = 0;
            }
            Err(OwnerState::Hole) => return self.nap_at_hole(owner, deadline),
            Err(state) => return state,
        }
        loop {
            // Relaxed: why it was cleared is in words that are acquired before they are believed. On
            // the bit, never on the sleeper's token: a wake for nothing is no event.
            if self.tail.load(Relaxed) & PARKED == 0 {
                return OwnerState::Look;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return if self.end_park(owner) {
                    OwnerState::Asleep
                } else {
                    OwnerState::Look
                };
            }
            self.cold.sleeper.park(deadline);
        }
    }

    /// A claimed slot is not published, and its claimer may not know that somebody waits: sleeps
    /// for a bounded time.
    fn nap_at_hole(&self, owner: &mut Owner, deadline: Option<Instant>) -> OwnerState {
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return OwnerState::Asleep;
        }
        if owner.hole != owner.cursor {
            owner.hole = owner.cursor;
            owner.nap = Owner::FIRST_NAP;
        }
        let end = now + owner.nap;
        owner.nap = (owner.nap * 2).min(Owner::LONGEST_NAP);
        self.cold
            .sleeper
            .nap(deadline.map_or(end, |deadline| deadline.min(end)));
        OwnerState::Hole
    }

    /// Begins a sleep and returns at once: for an owner that is woken as a task.
    pub(super) fn sleep_as_task(&self, owner: &mut Owner, cx: &Context<'_>) -> OwnerState {
        if owner.asleep != 0 {
            self.end_park(owner);
        }
        // Before the exchange: whoever ends the sleep must find it.
        self.cold.sleeper.register(cx.waker());
        self.begin_at_once(owner, PARKED)
    }

    fn begin_at_once(&self, owner: &mut Owner, flags: u64) -> OwnerState {
        // Before the exchange: whoever ends the sleep may run the owner at once, on its own thread.
        owner.asleep = flags;
        match self.begin_park(owner, flags) {
            Ok(()) => OwnerState::Asleep,
            Err(state) => {
                owner.asleep = 0;
                state
            }
        }
    }

    /// Goes to rest, or stays at rest: for an owner that is called by the hook, which it has been told
    /// of by `called`, since the last rest that was ended. `unless` is asked once the rest has begun.
    pub(super) fn rest_owner(
        &self,
        owner: &mut Owner,
        unless: impl FnOnce() -> bool,
    ) -> Result<OwnerState, Owed> {
        if owner.asleep & RESTING != 0 {
            // Relaxed: who ends the rest from here on calls the hook, and what it made is seen then.
            if self.tail.load(Relaxed) & RESTING != 0 {
                return Ok(OwnerState::Asleep);
            }
            owner.asleep = 0;
            owner.owed = true;
        }
        if owner.owed() {
            return Err(Owed);
        }
        if owner.asleep != 0 {
            self.end_park(owner);
        }
        let state = self.begin_at_once(owner, ASLEEP);
        // Two cases, as for a sleep: what `unless` looks for was made before its author's look at tail
        // met the exchange, and is seen here; or the author sees the rest, ends it and calls.
        if state == OwnerState::Asleep && unless() {
            return if self.end_park(owner) {
                Ok(OwnerState::Look)
            } else {
                Err(Owed)
            };
        }
        Ok(state)
    }

    /// The hook was called for the rest of this owner that was ended last.
    pub(super) fn called(&self, owner: &mut Owner) {
        debug_assert!(
            owner.owed || owner.asleep & RESTING != 0,
            "R14: called for no rest"
        );
        owner.owed = false;
        if owner.asleep & RESTING != 0 {
            owner.asleep = 0;
        }
    }

    /// Ends a rest; whether somebody else had, whose call is still to come.
    pub(super) fn end_rest(&self, owner: &mut Owner) -> bool {
        if owner.asleep != 0 {
            self.end_park(owner);
        }
        owner.owed()
    }

    /// Whether nothing was posted that is not taken: nobody's letter is between claim and take.
    #[inline]
    pub(super) fn is_quiet(&self, owner: &Owner) -> bool {
        // Relaxed: posts of this thread's, and those it knows of, come before this look.
        self.tail.load(Relaxed) & !ASLEEP == owner.cursor
    }

    /// Letters accepted and not taken by `owner`.
    pub(super) fn untaken_by(&self, owner: &Owner) -> usize {
        // Relaxed: a count, for the eye; after a close that this thread has seen it is the last.
        let tail = self.tail.load(Relaxed);
        ((tail & SEQUENCE) - owner.cursor) as usize
    }

    pub(super) fn closed(&self) -> bool {
        // Acquire: pairs with set_flags; what came before the close is seen.
        self.tail.load(order!(o, Acquire)) & CLOSED != 0
    }

    pub(super) fn letters(&self) -> usize {
        self.held().min(self.capacity() as usize)
    }

    /// Letters accepted and not released, those of reservations included.
    pub(super) fn held(&self) -> usize {
        // Acquire: pairs with Release in `release`, head first: the tail read after it is not
        // older, so the difference is never negative.
        let head = self.head.load(order!(a, Acquire)) & RELEASED;
        // Acquire: pairs with claims, so that this thread's own posts count.
        let tail = self.tail.load(order!(t, Acquire));
        Self::distance(tail, head) as usize
    }
}

//! Waiting for room, in line, and closing.
//!
//! Two cases. We set WAITERS before the release: the release returns the flag, and its author
//! serves the line once we have left the lock. We set it after: we see the released head and do
//! not wait. The flag is cleared only under the lock, with an empty line.

use super::shared::Ring;
use super::words::{CLOSED, PARKED, RELEASED, SEQUENCE, WAITERS};
use crate::ring::protocol::TimedOut;
use crate::sync::order;
use crate::wait::{Idle, Next, Place, Places, Target, Wakes};
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Poll, Waker};
use std::time::Instant;

/// What somebody in line should do.
#[derive(PartialEq)]
enum Judgement {
    TryAgain,
    Wait,
}

/// How long a producer whose strategy never parks spins before it stands in line.
const SPIN_BEFORE_LINE_NS: u64 = 100_000;

impl<T> Ring<T> {
    pub(super) fn wait_in_line(
        &self,
        place: &mut Option<Place>,
        idle: &mut Idle<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut first_step = Some(idle.next());
        if place.is_none() && !self.has_line() && idle.waited_ns() < SPIN_BEFORE_LINE_NS {
            match first_step {
                Some(Next::LookAround) if is_late() => return Err(TimedOut),
                Some(Next::Look | Next::LookAround) => return Ok(()),
                _ => {}
            }
        }
        loop {
            if self.stand_in_line(place, None) == Judgement::TryAgain {
                return Ok(());
            }
            if is_late() {
                return Err(TimedOut);
            }
            let Some(parker) = place.as_ref().and_then(Place::parker) else {
                return Ok(());
            };
            let mut next = first_step.take().unwrap_or_else(|| idle.next());
            while next != Next::Park
                && !parker.is_notified()
                && !(next == Next::LookAround && is_late())
            {
                next = idle.next();
            }
            // Takes the wake where there is one already. It may return for nothing, so that only
            // the line says whose turn it is.
            parker.park(deadline);
        }
    }

    pub(super) fn poll_in_line(&self, place: &mut Option<Place>, waker: &Waker) -> Poll<()> {
        match self.stand_in_line(place, Some(waker)) {
            Judgement::TryAgain => Poll::Ready(()),
            Judgement::Wait => Poll::Pending,
        }
    }

    /// Whether somebody stands in line.
    fn has_line(&self) -> bool {
        // Relaxed: a hint to join them; the line itself is under its lock.
        self.head.load(Relaxed) & WAITERS != 0
    }

    /// Takes a place, or keeps the one there is, and judges under the lock.
    fn stand_in_line(&self, place: &mut Option<Place>, waker: Option<&Waker>) -> Judgement {
        // W5: cloned before the lock, and what it replaces is dropped after it.
        let waker = waker.cloned();
        let _replaced;
        let mut places = self.cold.line.lock();
        let place = match place {
            Some(place) => {
                _replaced = places.wait_again(place, waker);
                place
            }
            None => {
                self.cold.producer_waits.increment();
                place.insert(places.enter(waker))
            }
        };
        // Relaxed: the lock orders the flag; a release is before this or after it (above).
        let head = self.head.fetch_or(WAITERS, order!(k, Relaxed));
        // Acquire: pairs with set_flags and claims; closed and full are judged by a fresh tail.
        let tail = self.tail.load(order!(t, Acquire));
        if self.room(tail, head) > places.ahead(place) {
            places.goes_on(place);
            Judgement::TryAgain
        } else {
            Judgement::Wait
        }
    }

    /// How many in line may go on; all, where the ring is closed.
    fn room(&self, tail: u64, head: u64) -> usize {
        if tail & CLOSED != 0 {
            return usize::MAX;
        }
        self.capacity()
            .saturating_sub(Self::distance(tail & SEQUENCE, head & RELEASED)) as usize
    }

    /// Wakes as many in line as there is room for, in order, also where a waker panics.
    #[cold]
    pub(super) fn serve_line(&self) {
        #[cfg(mailring_loom)]
        if crate::sync::order::is_weakened("serve") {
            return;
        }
        let next = || {
            let mut places = self.cold.line.lock();
            self.next_in_line(&mut places)
        };
        Wakes::give_all(|wakes| {
            while let Some(target) = next() {
                wakes.give(|| target.wake());
            }
        });
    }

    fn next_in_line(&self, places: &mut Places) -> Option<Target> {
        if places.is_empty() {
            return None;
        }
        // Relaxed: only this lock's holders and the owner write head; a release that is missed
        // here returns the flag to its author, who serves the line again.
        let head = self.head.load(Relaxed);
        // Acquire: pairs with set_flags: after a close everybody goes on.
        let tail = self.tail.load(order!(t, Acquire));
        places.next_to_wake(self.room(tail, head))
    }

    pub(super) fn leave(&self, place: Place) {
        // W5: dropped after the lock, and last: others are served also where the drop panics.
        let _left;
        {
            let mut places = self.cold.line.lock();
            _left = places.leave(place);
            if places.is_empty() {
                // Relaxed: the lock orders the flag.
                self.head.fetch_and(!WAITERS, order!(k, Relaxed));
                return;
            }
        }
        self.serve_line();
    }

    /// Closes; whether this call did it. Always serves the line: whoever judges before this lock
    /// is found there, whoever judges after it sees CLOSED.
    pub(super) fn close_ring(&self) -> bool {
        let before = self.set_flags(CLOSED);
        Wakes::give_all(|wakes| {
            if before & PARKED != 0 {
                wakes.give(|| self.wake_sleeper(before));
            }
            wakes.give(|| self.serve_line());
        });
        before & CLOSED == 0
    }
}

//! The waiting line: those who wait for room, served in the order they came.
//!
//! W3. A place is held from arrival until its holder succeeds or gives up; only the holder gives
//!     it back. So nobody who came later is woken before it.
//! W4. Where there is room for `n`, the first `n` places are notified. A holder that leaves,
//!     for whatever reason, has the line served again: no wake is lost with it.
//!
//! W5. No caller code runs under the lock: a waker is cloned before it is taken, and dropped or
//!     called after it is left. A waker may own anything, also a place in this very line.
//!
//! The line judges nothing: what room means, and when to serve, is its user's, who does both
//! under the lock.

use crate::sync::{Arc, Mutex, MutexGuard, Parker};
use core::task::Waker;
use std::collections::VecDeque;

/// Whom to wake.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Thread(Arc<Parker>),
    Task(Waker),
}

impl Target {
    /// Wakes it; not under the line's lock (W5).
    pub(crate) fn wake(self) {
        match self {
            Self::Thread(parker) => {
                parker.unpark();
            }
            Self::Task(waker) => waker.wake(),
        }
    }
}

/// A place in the line; give it back with [`Places::leave`].
#[derive(Debug)]
#[must_use = "a place that is not given back holds up the line"]
pub struct Place {
    ticket: u64,
    /// The thread's parker, for places held by a thread.
    parker: Option<Arc<Parker>>,
}

impl Place {
    /// The parker on which the holder of this place sleeps.
    pub(crate) fn parker(&self) -> Option<&Parker> {
        self.parker.as_deref()
    }
}

#[derive(Debug)]
struct Waiting {
    ticket: u64,
    notified: bool,
    /// `None`: a task's waker was taken by its wake.
    target: Option<Target>,
}

/// The places, under the lock.
#[derive(Debug)]
pub(crate) struct Places {
    queue: VecDeque<Waiting>,
    spare: Vec<Arc<Parker>>,
    next_ticket: u64,
}

impl Places {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Takes the last place, for a task where there is a waker, else for a thread.
    pub(crate) fn enter(&mut self, waker: Option<Waker>) -> Place {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let (target, parker) = match waker {
            Some(waker) => (Target::Task(waker), None),
            None => {
                let parker = self.spare.pop().unwrap_or_else(|| Arc::new(Parker::new()));
                (Target::Thread(Arc::clone(&parker)), Some(parker))
            }
        };
        self.queue.push_back(Waiting {
            ticket,
            notified: false,
            target: Some(target),
        });
        Place { ticket, parker }
    }

    /// How many stand before `place`.
    pub(crate) fn ahead(&self, place: &Place) -> usize {
        self.index(place.ticket)
    }

    /// Waits again in the same place, after a wake that brought nothing; with the task's present
    /// waker where there is one. Returns what that replaces.
    #[must_use = "not to be dropped under the lock (W5)"]
    pub(crate) fn wait_again(&mut self, place: &Place, waker: Option<Waker>) -> Option<Target> {
        let index = self.index(place.ticket);
        let waiting = &mut self.queue[index];
        waiting.notified = false;
        match waker {
            Some(waker) => waiting.target.replace(Target::Task(waker)),
            None => None,
        }
    }

    /// The holder goes on without being woken: it has seen room itself.
    pub(crate) fn goes_on(&mut self, place: &Place) {
        let index = self.index(place.ticket);
        self.queue[index].notified = true;
    }

    /// Gives the place back. Returns whom it would have woken.
    #[must_use = "not to be dropped under the lock (W5)"]
    pub(crate) fn leave(&mut self, place: Place) -> Option<Target> {
        let index = self.index(place.ticket);
        let left = self.queue.remove(index);
        if let Some(parker) = place.parker {
            // A wake still on its way to this parker is a wake for nothing to its next user.
            self.spare.push(parker);
        }
        left?.target
    }

    /// The next one to wake where there is room for `room` (W4).
    pub(crate) fn next_to_wake(&mut self, room: usize) -> Option<Target> {
        let waiting = self
            .queue
            .iter_mut()
            .take(room)
            .find(|waiting| !waiting.notified)?;
        waiting.notified = true;
        match &waiting.target {
            Some(Target::Thread(parker)) => Some(Target::Thread(Arc::clone(parker))),
            _ => waiting.target.take(),
        }
    }

    fn index(&self, ticket: u64) -> usize {
        // Tickets ascend along the queue (W3), and a holder's place is in it.
        self.queue
            .binary_search_by_key(&ticket, |waiting| waiting.ticket)
            .expect("W3: a place stays in the line until its holder leaves")
    }
}

/// The line, shared by those who wait and those who make room.
#[derive(Debug)]
pub(crate) struct Line {
    places: Mutex<Places>,
}

impl Line {
    /// How many places are made in advance as a rule.
    pub(crate) const READY: usize = if cfg!(mailring_loom) { 0 } else { 16 };

    /// A line with so many places made in advance; more who wait at once allocate theirs.
    pub(crate) fn with_places(ready: usize) -> Self {
        Self {
            places: Mutex::new(Places {
                queue: VecDeque::with_capacity(ready),
                spare: (0..ready).map(|_| Arc::new(Parker::new())).collect(),
                next_ticket: 0,
            }),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock()
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    fn tickets_woken(places: &mut Places, room: usize) -> usize {
        core::iter::from_fn(|| places.next_to_wake(room)).count()
    }

    #[test]
    fn the_first_n_places_are_notified_once() {
        let line = Line::with_places(2);
        let mut places = line.lock();
        let first = places.enter(None);
        let second = places.enter(None);
        let third = places.enter(None);
        assert_eq!(tickets_woken(&mut places, 2), 2);
        assert_eq!(tickets_woken(&mut places, 2), 0);
        assert_eq!(places.ahead(&third), 2);
        drop(places.leave(first));
        assert_eq!(tickets_woken(&mut places, 2), 1, "the third moved up");
        drop(places.leave(third));
        drop(places.leave(second));
        assert!(places.is_empty());
    }

    #[test]
    fn a_wake_that_brought_nothing_keeps_the_place() {
        let line = Line::with_places(2);
        let mut places = line.lock();
        let first = places.enter(None);
        let second = places.enter(None);
        assert_eq!(tickets_woken(&mut places, 1), 1);
        drop(places.wait_again(&first, None));
        assert_eq!(places.ahead(&first), 0);
        assert_eq!(tickets_woken(&mut places, 1), 1);
        drop(places.leave(first));
        drop(places.leave(second));
    }

    #[test]
    fn one_who_leaves_passes_its_wake_on() {
        let line = Line::with_places(2);
        let mut places = line.lock();
        let first = places.enter(None);
        let second = places.enter(None);
        assert_eq!(tickets_woken(&mut places, 1), 1);
        drop(places.leave(first));
        assert_eq!(tickets_woken(&mut places, 1), 1, "B20: the baton goes on");
        drop(places.leave(second));
    }
}

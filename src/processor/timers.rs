//! Timers of one owner: callbacks kept until they are due, then run as letters.
//!
//! T1. A timer's state decides once who had it: the run that takes it from `WAITING`, or the cancel.
//! T2. A periodic timer has at most one letter: it is put back on the wheel after its run.

use super::wheel::{Key, Wheel};
use crate::letter::{Outcome, Priority};
use crate::sync::{Arc, AtomicU32, AtomicU64, Counter, Mutex, order};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use std::time::Instant;

/// Armed, or due and waiting to be run.
const WAITING: u32 = 0;
/// Its callback runs.
const RUNNING: u32 = 1;
/// It will not run again.
const CANCELLED: u32 = 2;
/// It has run, and was to run once.
const DONE: u32 = 3;

/// How often a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repeat {
    /// At its first moment and every period after it. Moments that have passed when a run ends are
    /// left out: there is never more than one letter of a timer. A period of zero counts as a
    /// nanosecond.
    FixedRate(Duration),
    /// At its first moment, and then each time a period after the end of a run.
    FixedDelay(Duration),
}

/// A timer that was set; any thread may cancel it. Dropping the handle changes nothing.
#[derive(Clone, Debug)]
pub struct Timer {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    word: AtomicU32,
    is_periodic: bool,
    /// Where it is on the wheel; 0 where it has not been there.
    place: AtomicU64,
    cancelled: Arc<Cancelled>,
}

/// Timers that were cancelled and may lie on the wheel still: for their owner to throw out.
#[derive(Debug, Default)]
pub(super) struct Cancelled {
    count: Counter,
    keys: Mutex<Vec<Key>>,
}

impl Timer {
    /// Cancels it. Returns whether its callback will not run, or not run again: `false` says that a
    /// timer for one run has run or is running.
    pub fn cancel(&self) -> bool {
        // Relaxed: a first guess for the exchange.
        let mut word = self.state.word.load(Relaxed);
        loop {
            match word {
                CANCELLED => return true,
                DONE => return false,
                RUNNING if !self.state.is_periodic => return false,
                _ => {}
            }
            // AcqRel / Relaxed: pairs with `start` and `end`; what the canceller did is seen by
            // an owner that finds it cancelled, and the other way round.
            match self
                .state
                .word
                .compare_exchange_weak(word, CANCELLED, order!(v, AcqRel), Relaxed)
            {
                Ok(_) => {
                    self.state.leave_wheel();
                    return true;
                }
                Err(newer) => word = newer,
            }
        }
    }

    /// Whether it may still run: it is armed, due, or running and periodic.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        // Acquire: pairs with `end`; what the run did is seen once it is over.
        match self.state.word.load(order!(v1, Acquire)) {
            WAITING => true,
            RUNNING => self.state.is_periodic,
            _ => false,
        }
    }
}

impl State {
    /// Takes the right to run it.
    fn start(&self) -> bool {
        // AcqRel / Relaxed: pairs with `cancel`.
        self.word
            .compare_exchange(WAITING, RUNNING, order!(v, AcqRel), Relaxed)
            .is_ok()
    }

    /// After a run; whether it goes on.
    fn end(&self) -> bool {
        let next = if self.is_periodic { WAITING } else { DONE };
        // AcqRel / Relaxed: pairs with `cancel` and `is_pending`.
        self.word
            .compare_exchange(RUNNING, next, order!(v, AcqRel), Relaxed)
            .is_ok()
            && self.is_periodic
    }

    /// Has the owner throw it out. One that is only now put on the wheel lies there until it is due.
    fn leave_wheel(&self) {
        // Relaxed: a key is valid or stale for its own reasons; a stale one removes nothing.
        if let Some(key) = Key::from_bits(self.place.load(Relaxed)) {
            self.cancelled.keys.lock().push(key);
            self.cancelled.count.increment();
        }
    }

    fn is_cancelled(&self) -> bool {
        // Relaxed: what is thrown away for it is the owner's own.
        self.word.load(Relaxed) == CANCELLED
    }
}

/// What a timer does, with the moment it was due.
pub(super) type Callback<O> = Box<dyn FnMut(&mut O, Instant) -> Outcome + Send>;

/// A timer on its way to its owner.
pub(super) struct Entry<O> {
    pub(super) due: Instant,
    repeat: Option<Repeat>,
    priority: Priority,
    state: Arc<State>,
    /// Out while it runs.
    callback: Option<Callback<O>>,
}

impl<O> Entry<O> {
    pub(super) fn new(
        due: Instant,
        repeat: Option<Repeat>,
        priority: Priority,
        cancelled: &Arc<Cancelled>,
        callback: Callback<O>,
    ) -> (Self, Timer) {
        let state = Arc::new(State {
            word: AtomicU32::new(WAITING),
            is_periodic: repeat.is_some(),
            place: AtomicU64::new(0),
            cancelled: Arc::clone(cancelled),
        });
        let timer = Timer {
            state: Arc::clone(&state),
        };
        let entry = Self {
            due,
            repeat,
            priority,
            state,
            callback: Some(callback),
        };
        (entry, timer)
    }
}

impl<O> Drop for Entry<O> {
    fn drop(&mut self) {
        // A timer that is dropped unrun will not run: so it says.
        // AcqRel / Relaxed: pairs with `cancel`.
        let _has_run =
            self.state
                .word
                .compare_exchange(WAITING, CANCELLED, order!(v, AcqRel), Relaxed);
    }
}

/// A due timer, by which its letter finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    index: u32,
    generation: u32,
}

impl Place {
    /// A place is not used a billion times while one letter waits.
    const GENERATIONS: u32 = (1 << 30) - 1;

    /// In 62 bits.
    pub(super) fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }
    pub(super) fn from_bits(bits: u64) -> Self {
        Self {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

/// All timers of one owner.
pub(super) struct Timers<O> {
    wheel: Wheel<Entry<O>>,
    /// Those whose letter waits to be run.
    due: Vec<(u32, Option<Entry<O>>)>,
    free: Vec<u32>,
    cancelled: Arc<Cancelled>,
    /// How many of those have been thrown out.
    thrown_out: u64,
    is_open: bool,
}

impl<O> Timers<O> {
    pub(super) fn new(start: Instant, cancelled: Arc<Cancelled>) -> Self {
        Self {
            wheel: Wheel::new(start),
            due: Vec::new(),
            free: Vec::new(),
            cancelled,
            thrown_out: 0,
            is_open: true,
        }
    }

    /// Arms a timer; where timers are quiesced it is handed back, to be dropped and so cancelled.
    #[must_use]
    pub(super) fn arm(&mut self, entry: Entry<O>) -> Option<Entry<O>> {
        if !self.is_open || entry.state.is_cancelled() {
            return Some(entry);
        }
        let state = Arc::clone(&entry.state);
        let key = self.wheel.insert(entry.due, entry);
        // Relaxed: see `leave_wheel`.
        state.place.store(key.to_bits(), Relaxed);
        None
    }
}

impl<O> Timers<O> {
    /// When to look for due timers at the latest; `None` where there are none to come.
    #[inline]
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.wheel.next_look()
    }

    /// Takes what is due at `now`, in due order; each is to be run by a letter with its priority.
    pub(super) fn fire(&mut self, now: Instant, mut post: impl FnMut(Place, Priority)) {
        while let Some((_, _, entry)) = self.wheel.pop_due(now) {
            if entry.state.is_cancelled() {
                continue;
            }
            let priority = entry.priority;
            post(self.keep(entry), priority);
        }
    }

    fn keep(&mut self, entry: Entry<O>) -> Place {
        if let Some(index) = self.free.pop() {
            let (generation, kept) = &mut self.due[index as usize];
            *kept = Some(entry);
            return Place {
                index,
                generation: *generation,
            };
        }
        let index = u32::try_from(self.due.len()).expect("fewer than 2^32 timers are due");
        self.due.push((0, Some(entry)));
        Place {
            index,
            generation: 0,
        }
    }

    fn take(&mut self, place: Place) -> Option<Entry<O>> {
        let (generation, kept) = self.due.get_mut(place.index as usize)?;
        if *generation != place.generation {
            return None;
        }
        let entry = kept.take()?;
        *generation = generation.wrapping_add(1) & Place::GENERATIONS;
        self.free.push(place.index);
        Some(entry)
    }

    /// Begins the run of a due timer; `None` where it was cancelled meanwhile.
    pub(super) fn start(&mut self, place: Place) -> Option<(Entry<O>, Callback<O>)> {
        let mut entry = self.take(place)?;
        if !entry.state.start() {
            return None;
        }
        let callback = entry.callback.take()?;
        Some((entry, callback))
    }

    /// Ends a run: a periodic timer is armed again; one that is over is handed back, to be dropped.
    #[must_use]
    pub(super) fn end(
        &mut self,
        mut entry: Entry<O>,
        callback: Callback<O>,
        now: impl FnOnce() -> Instant,
    ) -> Option<Entry<O>> {
        entry.callback = Some(callback);
        if !entry.state.end() {
            return Some(entry);
        }
        let next = match entry.repeat {
            Some(Repeat::FixedRate(period)) => next_of_rate(entry.due, period, now()),
            Some(Repeat::FixedDelay(period)) => now().checked_add(period),
            None => None,
        };
        match next {
            Some(due) => {
                entry.due = due;
                self.arm(entry)
            }
            // A moment past the end of time never comes.
            None => Some(entry),
        }
    }

    /// Whether cancelled timers may lie on the wheel.
    #[inline]
    pub(super) fn has_cancelled(&self) -> bool {
        self.cancelled.count.get() != self.thrown_out
    }

    /// Takes cancelled timers off the wheel, to be dropped.
    #[cold]
    pub(super) fn throw_out(&mut self) -> Vec<Entry<O>> {
        let keys = core::mem::take(&mut *self.cancelled.keys.lock());
        self.thrown_out += keys.len() as u64;
        keys.into_iter()
            .filter_map(|key| self.wheel.remove(key))
            .collect()
    }

    /// How many timers are armed or due, those that were cancelled not counted.
    pub(super) fn pending(&self) -> usize {
        let due = self.due.iter().filter_map(|(_, entry)| entry.as_ref());
        self.wheel.len() + due.filter(|entry| !entry.state.is_cancelled()).count()
    }

    /// Takes no more timers and drops those that are not due; what is due is run still.
    pub(super) fn quiesce(&mut self) -> Vec<Entry<O>> {
        self.is_open = false;
        self.wheel.drain().collect()
    }

    /// Takes no more timers, and takes all out: they will not run.
    pub(super) fn close(&mut self) -> Vec<Entry<O>> {
        let mut all = self.quiesce();
        all.extend(self.due.iter_mut().filter_map(|(_, entry)| entry.take()));
        all
    }
}

/// The first moment of `due + n × period`, n at least 1, that is after `now`.
fn next_of_rate(due: Instant, period: Duration, now: Instant) -> Option<Instant> {
    let period = period.max(Duration::from_nanos(1));
    let passed = now.saturating_duration_since(due).as_nanos() / period.as_nanos();
    let ns = (passed + 1).checked_mul(period.as_nanos())?;
    let secs = u64::try_from(ns / 1_000_000_000).ok()?;
    let rest = (ns % 1_000_000_000) as u32;
    due.checked_add(Duration::new(secs, rest))
}

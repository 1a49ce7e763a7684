//! Timers of one owner: callbacks kept until they are due, then run as letters.
//!
//! T1. A periodic timer has at most one letter: it is put back on the wheel after its run.
//! T2. What a callback has captured is dropped where no timers are borrowed: whoever may drop a timer
//!     here hands it back instead.

use super::arrivals::Arrivals;
use super::timer_state::{Cancelled, State, Timer};
use super::wheel::{Key, Wheel};
use crate::letter::{Outcome, Priority};
use crate::sync::Arc;
use core::time::Duration;
use std::time::Instant;

/// A period of zero counts as this, so that a moment has one run at most.
const SHORTEST: Duration = Duration::from_nanos(1);

/// How often a timer fires. A period of zero counts as a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repeat {
    /// At its first moment and every period after it. Moments that have passed when a run ends are
    /// left out: there is never more than one letter of a timer.
    FixedRate(Duration),
    /// At its first moment, and then each time a period after the end of a run.
    FixedDelay(Duration),
}

/// What a timer does, with the moment it was due.
pub(super) type Callback<O> = Box<dyn FnMut(&mut O, Instant) -> Outcome + Send>;

/// A timer that runs, and what it does.
pub(super) type Running<O> = (Entry<O>, Callback<O>);

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
    pub(super) fn is_periodic(&self) -> bool {
        self.repeat.is_some()
    }

    pub(super) fn new(
        due: Instant,
        repeat: Option<Repeat>,
        priority: Priority,
        cancelled: &Arc<Cancelled>,
        callback: Callback<O>,
    ) -> (Self, Timer) {
        let (timer, state) = Timer::new(repeat.is_some(), cancelled);
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
        self.state.give_up();
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
    arrivals: Arc<Arrivals<O>>,
    cancelled: Arc<Cancelled>,
    /// How many of those have been thrown out.
    thrown_out: u64,
    /// Empty; kept for its memory.
    keys: Vec<Key>,
    is_open: bool,
}

impl<O> Timers<O> {
    pub(super) fn new(
        start: Instant,
        arrivals: Arc<Arrivals<O>>,
        cancelled: Arc<Cancelled>,
    ) -> Self {
        Self {
            wheel: Wheel::new(start),
            due: Vec::new(),
            free: Vec::new(),
            arrivals,
            cancelled,
            thrown_out: 0,
            keys: Vec::new(),
            is_open: true,
        }
    }

    /// Arms a timer; where timers are quiesced it is handed back, to be dropped and so cancelled.
    #[must_use]
    pub(super) fn arm(&mut self, entry: Entry<O>) -> Option<Entry<O>> {
        if !self.is_open || entry.state.is_cancelled() {
            return Some(entry);
        }
        let key = self.wheel.insert(entry.due, entry);
        let stays = self.wheel.get(key)?.state.enter_wheel(key);
        if stays { None } else { self.wheel.remove(key) }
    }

    /// Arms what was set on other threads; hands back what is not armed.
    #[must_use]
    pub(super) fn take_in(&mut self) -> Vec<Entry<O>> {
        let arrivals = self.arrivals.take();
        self.arm_all(arrivals)
    }

    /// Takes in what was set on other threads, for the last time.
    #[must_use]
    pub(super) fn take_in_last(&mut self) -> Vec<Entry<O>> {
        let arrivals = self.arrivals.close();
        self.arm_all(arrivals)
    }

    fn arm_all(&mut self, entries: Vec<Entry<O>>) -> Vec<Entry<O>> {
        let entries = entries.into_iter();
        entries.filter_map(|entry| self.arm(entry)).collect()
    }
}

impl<O> Timers<O> {
    /// When to look for due timers at the latest; `None` where there are none to come.
    #[inline]
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.wheel.next_look()
    }

    /// Takes what is due at `now`, in due order; each is to be run by a letter with its priority.
    /// Hands back what was cancelled meanwhile.
    #[must_use]
    pub(super) fn fire(
        &mut self,
        now: Instant,
        mut post: impl FnMut(Place, Priority),
    ) -> Vec<Entry<O>> {
        let mut cancelled = Vec::new();
        while let Some((_, _, entry)) = self.wheel.pop_due(now) {
            if entry.state.is_cancelled() {
                cancelled.push(entry);
                continue;
            }
            let priority = entry.priority;
            post(self.keep(entry), priority);
        }
        cancelled
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

    /// Begins the run of a due timer. Where it was cancelled meanwhile it is handed back; `None` where
    /// it is gone.
    pub(super) fn start(&mut self, place: Place) -> Option<Result<Running<O>, Entry<O>>> {
        let mut entry = self.take(place)?;
        if !entry.state.start() {
            return Some(Err(entry));
        }
        let callback = entry.callback.take()?;
        Some(Ok((entry, callback)))
    }

    /// Ends a run that ended at `now`: a periodic timer is armed again; one that is over is handed
    /// back.
    #[must_use]
    pub(super) fn end(
        &mut self,
        mut entry: Entry<O>,
        callback: Callback<O>,
        now: Option<Instant>,
    ) -> Option<Entry<O>> {
        entry.callback = Some(callback);
        if !entry.state.end() {
            return Some(entry);
        }
        let next = now.and_then(|now| match entry.repeat? {
            Repeat::FixedRate(period) => next_of_rate(entry.due, period, now),
            Repeat::FixedDelay(period) => now.checked_add(period.max(SHORTEST)),
        });
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
        self.cancelled.count() != self.thrown_out
    }

    /// Takes cancelled timers off the wheel, to be dropped.
    #[cold]
    pub(super) fn throw_out(&mut self) -> Vec<Entry<O>> {
        self.cancelled.take(&mut self.keys);
        self.thrown_out += self.keys.len() as u64;
        let keys = self.keys.drain(..);
        keys.filter_map(|key| self.wheel.remove(key)).collect()
    }

    /// How many timers are armed or due, those that were cancelled not counted.
    pub(super) fn pending(&self) -> usize {
        let due = self.due.iter().filter_map(|(_, entry)| entry.as_ref());
        self.wheel.len() + due.filter(|entry| !entry.state.is_cancelled()).count()
    }

    /// Takes no more timers and hands back those that have not fired; what has is run still.
    #[must_use]
    pub(super) fn quiesce(&mut self) -> Vec<Entry<O>> {
        self.is_open = false;
        let mut all = self.take_in_last();
        all.extend(self.wheel.drain());
        all
    }

    /// Takes no more timers, and takes all out: they will not run.
    #[must_use]
    pub(super) fn close(&mut self) -> Vec<Entry<O>> {
        let mut all = self.quiesce();
        all.extend(self.due.iter_mut().filter_map(|(_, entry)| entry.take()));
        all
    }
}

/// The first moment of `due + n × period`, n at least 1, that is after `now`.
fn next_of_rate(due: Instant, period: Duration, now: Instant) -> Option<Instant> {
    let period = period.max(SHORTEST);
    let passed = now.saturating_duration_since(due).as_nanos() / period.as_nanos();
    let ns = (passed + 1).checked_mul(period.as_nanos())?;
    let secs = u64::try_from(ns / 1_000_000_000).ok()?;
    let rest = (ns % 1_000_000_000) as u32;
    due.checked_add(Duration::new(secs, rest))
}

impl<O> Drop for Timers<O> {
    fn drop(&mut self) {
        // What is set from here on is cancelled from the start.
        drop(self.arrivals.close());
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    struct Bench {
        start: Instant,
        cancelled: Arc<Cancelled>,
        timers: Timers<u32>,
    }

    impl Bench {
        fn new() -> Self {
            let (start, cancelled) = (Instant::now(), Arc::new(Cancelled::default()));
            let timers = Timers::new(start, Arc::new(Arrivals::new()), Arc::clone(&cancelled));
            Self {
                start,
                cancelled,
                timers,
            }
        }

        /// A timer that is due at once, and what its callback keeps alive.
        fn arm(&mut self) -> (Timer, Arc<()>) {
            let captured = Arc::new(());
            let own = Arc::clone(&captured);
            let callback = move |_: &mut u32, _| {
                assert!(Arc::strong_count(&own) > 1);
                Ok(())
            };
            let callback = Box::new(callback);
            let priority = Priority::MIN;
            let (entry, timer) = Entry::new(self.start, None, priority, &self.cancelled, callback);
            assert!(self.timers.arm(entry).is_none());
            (timer, captured)
        }

        fn fire(&mut self) -> (Vec<Place>, Vec<Entry<u32>>) {
            let mut places = Vec::new();
            let late = self.timers.fire(self.start, |place, _| places.push(place));
            (places, late)
        }
    }

    /// T2: whoever borrows the timers drops it later.
    #[test]
    fn what_is_cancelled_just_before_it_fires_is_handed_back() {
        let mut bench = Bench::new();
        let (timer, captured) = bench.arm();
        assert!(timer.cancel());
        let (places, late) = bench.fire();
        assert!(places.is_empty());
        assert_eq!((late.len(), Arc::strong_count(&captured)), (1, 2));
        drop(late);
        assert_eq!(Arc::strong_count(&captured), 1);
        assert!(bench.timers.has_cancelled());
        assert!(bench.timers.throw_out().is_empty(), "its key is stale");
        assert!(!bench.timers.has_cancelled());
    }

    /// T2, and a place leads to one timer alone.
    #[test]
    fn what_is_cancelled_just_before_it_runs_is_handed_back() {
        let mut bench = Bench::new();
        let (timer, captured) = bench.arm();
        let (places, late) = bench.fire();
        assert!(late.is_empty() && timer.cancel());
        let started = bench.timers.start(places[0]);
        assert!(matches!(started, Some(Err(_))));
        assert_eq!(Arc::strong_count(&captured), 2);
        drop(started);
        assert_eq!(Arc::strong_count(&captured), 1);
        let (_other, _captured) = bench.arm();
        let (again, _) = bench.fire();
        assert!(
            bench.timers.start(places[0]).is_none(),
            "the place of another"
        );
        assert!(matches!(bench.timers.start(again[0]), Some(Ok(_))));
    }

    #[test]
    fn the_next_moment_of_a_rate_is_after_now_and_in_phase() {
        let due = Instant::now();
        let at = |ns| due + Duration::from_nanos(ns);
        let next = |period, now| next_of_rate(due, Duration::from_nanos(period), at(now));
        assert_eq!(next(10, 0), Some(at(10)));
        assert_eq!(next(10, 9), Some(at(10)));
        assert_eq!(next(10, 10), Some(at(20)));
        assert_eq!(next(10, 10_000_000_009), Some(at(10_000_000_010)));
        assert_eq!(next(0, 7), Some(at(8)), "a period of zero");
        assert_eq!(next_of_rate(due, Duration::MAX, due), None);
        assert_eq!(
            next_of_rate(at(5), Duration::from_nanos(3), due),
            Some(at(8))
        );
    }
}

//! Deadlines in due order: a hierarchical timing wheel without clock, thread or callback.
//!
//! Scheme 7 of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the
//! Efficient Implementation of a Timer Facility" (SOSP 1987), with a bitmap of the occupied slots
//! of each level, so that a leap of any length meets only slots that hold something. A slot says
//! only roughly when; each timer keeps its exact deadline, by which those are sorted whose tick is
//! reached.
//!
//! TW1. A tick is 2^16 ns, counted from `start`: what comes before is in the first tick, what is
//!      beyond 584 years in the last. `elapsed`, the tick reached, never goes back.
//! TW2. A timer whose tick is `elapsed` or before is in `due`. Any other is at the level of the
//!      highest of its tick's base-64 digits that differs from `elapsed`, in that digit's slot. So
//!      whatever is due comes before all slots, a level before the levels above, and within a level
//!      a slot before the next: no level wraps.
//! TW3. A slot's `earliest` is at or before each deadline in it, and not before the slot's start.
//! TW4. No key is given twice: see `slab`.

mod due;
mod slab;
#[cfg(all(test, not(mailring_loom)))]
mod tests;

use due::Due;
use slab::{NONE, Place, Slab};
use std::time::Instant;

/// A thread sleeps about 50 µs too long as it is, so a finer tick would tell nothing apart; and
/// with this one, eight levels reach exactly as far as 64 bits of nanoseconds.
const TICK_BITS: u32 = 16;
const LEVEL_BITS: u32 = 6;
const LEVELS: usize = 8;
const SLOTS: usize = 1 << LEVEL_BITS;

const _: () = assert!(TICK_BITS + LEVEL_BITS * LEVELS as u32 == u64::BITS);
const _: () = assert!(SLOTS == u64::BITS as usize);

/// Names one timer of a wheel, for good: never a later one in the same place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) struct Key {
    index: u32,
    generation: u32,
}

impl Key {
    /// Never 0.
    pub(super) fn to_bits(self) -> u64 {
        (u64::from(self.generation) << 32 | u64::from(self.index)) + 1
    }

    /// `None` for 0.
    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        let bits = bits.checked_sub(1)?;
        Some(Self {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        })
    }
}

/// Timers, each with a deadline and a value.
///
/// Setting and removing one takes constant time. The levels, and a level's slots, are allocated when
/// the first timer needs them, 1.5 KiB each; after that only more timers at once than ever before allocate.
pub(super) struct Wheel<T> {
    start: Instant,
    elapsed: u64,
    /// The next timer's number, which decides between equal deadlines.
    sequence: u64,
    /// Bit `n` of a level: slot `n` has a timer.
    occupied: [u64; LEVELS],
    /// None before the first timer: most owners have none, and are smaller so.
    levels: Box<[Box<[Slot]>]>,
    due: Due,
    slab: Slab<T>,
}

/// A list of timers, the latest insertion first; `earliest` is meaningless where there is none.
#[derive(Clone, Copy)]
struct Slot {
    head: u32,
    earliest: Instant,
}

impl<T> Wheel<T> {
    /// An empty wheel that allocates nothing; `start` is at or before most deadlines to come.
    pub(super) fn new(start: Instant) -> Self {
        Self {
            start,
            elapsed: 0,
            sequence: 0,
            occupied: [0; LEVELS],
            levels: Box::default(),
            due: Due::new(),
            slab: Slab::new(),
        }
    }

    /// Sets a timer; one whose deadline is past is due at once.
    ///
    /// # Panics
    /// With 2^32 timers.
    pub(super) fn insert(&mut self, deadline: Instant, value: T) -> Key {
        let key = self.slab.insert(deadline, self.sequence, value);
        self.sequence += 1;
        let tick = self.tick(deadline);
        if tick <= self.elapsed {
            self.due.add_late(&mut self.slab, key.index);
        } else {
            self.link(key.index, deadline, tick);
        }
        key
    }

    /// Takes a timer out; `None` where it has been taken before.
    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        self.slab.contains(key).then(|| self.take(key.index))
    }

    /// The value of a timer that has not been taken yet.
    pub(super) fn get(&self, key: Key) -> Option<&T> {
        self.slab.get(key)
    }

    /// The same, to be changed.
    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.slab.get_mut(key)
    }

    /// Takes out the first timer that is due at `now`, with its exact deadline: by deadline, and
    /// among equal ones by insertion. Never one that is due later than `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Instant, Key, T)> {
        loop {
            if let Some((deadline, index)) = self.due.first() {
                // By TW2 the slots have nothing earlier.
                return (deadline <= now).then(|| {
                    let key = self.slab.key(index);
                    (deadline, key, self.take(index))
                });
            }
            if !self.turn(self.tick(now)) {
                return None;
            }
        }
    }

    /// When to call [`Self::pop_due`] again: at the next deadline, or before it where the timer
    /// that had the earliest was removed. `None` where there is no timer.
    ///
    /// After a look at that time for nothing, the next one is later.
    pub(super) fn next_look(&self) -> Option<Instant> {
        let due = self.due.first().map(|(deadline, _)| deadline);
        // By TW2 and TW3.
        due.or_else(|| {
            let (level, slot) = self.first_slot()?;
            Some(self.levels[level][slot].earliest)
        })
    }

    /// How many timers are set.
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Whether no timer is set.
    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out all timers in no particular order, due or not; what is not iterated over stays.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> {
        core::iter::from_fn(|| {
            let index = self.due.any().or_else(|| {
                let (level, slot) = self.first_slot()?;
                Some(self.levels[level][slot].head)
            })?;
            Some(self.take(index))
        })
    }

    fn tick(&self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.start);
        let ns = since.as_secs().saturating_mul(1_000_000_000);
        ns.saturating_add(since.subsec_nanos().into()) >> TICK_BITS
    }

    fn first_slot(&self) -> Option<(usize, usize)> {
        let level = self.occupied.iter().position(|bits| *bits != 0)?;
        Some((level, self.occupied[level].trailing_zeros() as usize))
    }

    /// The first tick of a slot that is occupied.
    fn slot_start(&self, level: usize, slot: usize) -> u64 {
        let shift = LEVEL_BITS * level as u32;
        let above = shift + LEVEL_BITS;
        // By TW2 it has the digits of `elapsed` above its own.
        self.elapsed >> above << above | (slot as u64) << shift
    }

    /// Where nothing is due: empties the first slot that begins by `tick`. What is due by then goes
    /// to `due` whatever its level was, the rest to lower levels. Where there is no such slot, goes
    /// on to `tick` and says `false`.
    fn turn(&mut self, tick: u64) -> bool {
        let first = self.first_slot();
        let first = first.map(|(level, slot)| (level, slot, self.slot_start(level, slot)));
        let Some((level, slot, start)) = first.filter(|(_, _, start)| *start <= tick) else {
            // By TW2 every slot stays where it is: the digits of `tick` and `elapsed` first differ
            // at or below the first slot's level, and there `tick` is still the smaller.
            self.elapsed = self.elapsed.max(tick);
            return false;
        };
        debug_assert!(start > self.elapsed, "an occupied slot was passed");
        let end = start | ((1 << (LEVEL_BITS * level as u32)) - 1);
        self.elapsed = tick.min(end);
        self.occupied[level] &= !(1 << slot);
        let mut index = core::mem::replace(&mut self.levels[level][slot].head, NONE);
        while index != NONE {
            let next = self.slab.next(index);
            let deadline = self.slab.deadline(index);
            match self.tick(deadline) {
                tick if tick <= self.elapsed => self.due.add(&self.slab, index),
                tick => self.link(index, deadline, tick),
            }
            index = next;
        }
        self.due.sort(&mut self.slab);
        true
    }

    /// Links a timer whose tick is to come into the slot of TW2.
    fn link(&mut self, index: u32, deadline: Instant, tick: u64) {
        let level = (tick ^ self.elapsed).ilog2() / LEVEL_BITS;
        let number = (tick >> (LEVEL_BITS * level)) as usize % SLOTS;
        let place = Place::Slot {
            level: level as u8,
            slot: number as u8,
        };
        let level = level as usize;
        if self.levels.is_empty() {
            self.levels = (0..LEVELS).map(|_| Box::default()).collect();
        }
        if self.levels[level].is_empty() {
            let slot = Slot {
                head: NONE,
                earliest: self.start,
            };
            self.levels[level] = vec![slot; SLOTS].into_boxed_slice();
        }
        let slot = &mut self.levels[level][number];
        if slot.head == NONE {
            self.occupied[level] |= 1 << number;
            slot.earliest = deadline;
        } else {
            slot.earliest = slot.earliest.min(deadline);
        }
        self.slab.link(index, place, slot.head);
        slot.head = index;
    }

    /// Takes a timer from wherever it is.
    fn take(&mut self, index: u32) -> T {
        match self.slab.place(index) {
            Place::Due { position } => self.due.remove(position),
            Place::Late { position } => self.due.remove_late(&mut self.slab, position),
            Place::Slot { level, slot } => {
                let (level, number) = (usize::from(level), usize::from(slot));
                let next = self.slab.unlink(index);
                let slot = &mut self.levels[level][number];
                if slot.head == index {
                    slot.head = next;
                    self.occupied[level] &= !(u64::from(next == NONE) << number);
                }
            }
        }
        self.slab.remove(index)
    }
}

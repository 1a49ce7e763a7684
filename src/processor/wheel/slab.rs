//! Where timers are kept: places in one vector, reused, and linked into lists by index.
//!
//! A place counts its uses; its key names the place and the use. A place that has been used 2^32
//! times is left out for good, at the price of its memory, so that no key is given twice.

use super::Key;
use std::time::Instant;

/// No place: the end of a list.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Slab<T> {
    timers: Vec<Timer<T>>,
    /// The first place of the free list, which goes on by `next`.
    free: u32,
    len: u32,
}

struct Timer<T> {
    deadline: Instant,
    sequence: u64,
    place: Place,
    next: u32,
    previous: u32,
    generation: u32,
    /// `None` where the place is free.
    value: Option<T>,
}

const _: () = assert!(size_of::<Timer<()>>() <= 48);

/// Where in the wheel a timer is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Due {
        position: u32,
    },
    /// Among those that were due when they were inserted.
    Late {
        position: u32,
    },
    Slot {
        level: u8,
        slot: u8,
    },
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            timers: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Keeps a timer, which is nowhere in the wheel yet.
    pub(super) fn insert(&mut self, deadline: Instant, sequence: u64, value: T) -> Key {
        let mut timer = Timer {
            deadline,
            sequence,
            place: Place::Due { position: NONE },
            next: NONE,
            previous: NONE,
            generation: 0,
            value: Some(value),
        };
        let index = self.free;
        if index == NONE {
            let index = u32::try_from(self.timers.len()).unwrap_or(NONE);
            assert_ne!(index, NONE, "2^32 timers");
            self.timers.push(timer);
            self.len += 1;
            return self.key(index);
        }
        let place = self.timer_mut(index);
        timer.generation = place.generation;
        let next = place.next;
        *place = timer;
        self.free = next;
        self.len += 1;
        self.key(index)
    }

    /// Gives a timer's value back; it is nowhere in the wheel any more.
    pub(super) fn remove(&mut self, index: u32) -> T {
        let free = self.free;
        let timer = self.timer_mut(index);
        let value = timer.value.take().expect("a timer that is set");
        if let Some(generation) = timer.generation.checked_add(1) {
            timer.generation = generation;
            timer.next = free;
            self.free = index;
        }
        self.len -= 1;
        value
    }

    /// Whether the timer that was given `key` is still kept.
    pub(super) fn contains(&self, key: Key) -> bool {
        let timer = self.timers.get(key.index as usize);
        timer.is_some_and(|timer| timer.generation == key.generation && timer.value.is_some())
    }

    pub(super) fn get(&self, key: Key) -> Option<&T> {
        let timer = self.timers.get(key.index as usize);
        let timer = timer.filter(|timer| timer.generation == key.generation)?;
        timer.value.as_ref()
    }

    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let timer = self.timers.get_mut(key.index as usize);
        let timer = timer.filter(|timer| timer.generation == key.generation)?;
        timer.value.as_mut()
    }

    pub(super) fn key(&self, index: u32) -> Key {
        let generation = self.timer(index).generation;
        Key { index, generation }
    }

    pub(super) fn deadline(&self, index: u32) -> Instant {
        self.timer(index).deadline
    }

    pub(super) fn sequence(&self, index: u32) -> u64 {
        self.timer(index).sequence
    }

    pub(super) fn place(&self, index: u32) -> Place {
        self.timer(index).place
    }

    pub(super) fn set_place(&mut self, index: u32, place: Place) {
        self.timer_mut(index).place = place;
    }

    /// The one behind `index` in its list, or `NONE`.
    pub(super) fn next(&self, index: u32) -> u32 {
        self.timer(index).next
    }

    /// Puts a timer before `head`, which is the first of its list, or `NONE`.
    pub(super) fn link(&mut self, index: u32, place: Place, head: u32) {
        let timer = self.timer_mut(index);
        timer.place = place;
        timer.next = head;
        timer.previous = NONE;
        if head != NONE {
            self.timer_mut(head).previous = index;
        }
    }

    /// Takes a timer out of its list; says who was behind it, or `NONE`.
    pub(super) fn unlink(&mut self, index: u32) -> u32 {
        let &Timer { next, previous, .. } = self.timer(index);
        if previous != NONE {
            self.timer_mut(previous).next = next;
        }
        if next != NONE {
            self.timer_mut(next).previous = previous;
        }
        next
    }

    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn places(&self) -> usize {
        self.timers.len()
    }

    /// Makes this use of a place its last.
    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn wear_out(&mut self, index: u32) {
        self.timer_mut(index).generation = u32::MAX;
    }

    fn timer(&self, index: u32) -> &Timer<T> {
        &self.timers[index as usize]
    }

    fn timer_mut(&mut self, index: u32) -> &mut Timer<T> {
        &mut self.timers[index as usize]
    }
}

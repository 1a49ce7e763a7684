//! The timers whose tick is reached, in order.
//!
//! TD1. What a slot gave is sorted once and taken from the end. One that is removed leaves a gap,
//!      never at the end; only when all are taken does the next slot give.
//! TD2. What was due when it was inserted is in a binary heap, where each timer's place tells its
//!      position, so that one can be removed.

use super::slab::{NONE, Place, Slab};
use std::time::Instant;

pub(super) struct Due {
    /// The last is the first that is due.
    sorted: Vec<Entry>,
    late: Vec<Entry>,
}

/// In order of due: by deadline, then by insertion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: Instant,
    sequence: u64,
    /// `NONE` for a gap.
    index: u32,
}

impl Entry {
    fn new<T>(slab: &Slab<T>, index: u32) -> Self {
        Self {
            deadline: slab.deadline(index),
            sequence: slab.sequence(index),
            index,
        }
    }
}

impl Due {
    pub(super) const fn new() -> Self {
        Self {
            sorted: Vec::new(),
            late: Vec::new(),
        }
    }

    /// The first in order of due.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        let entry = match (self.sorted.last(), self.late.first()) {
            (Some(sorted), Some(late)) => sorted.min(late),
            (sorted, late) => sorted.or(late)?,
        };
        Some((entry.deadline, entry.index))
    }

    /// The one that is removed most cheaply.
    pub(super) fn any(&self) -> Option<u32> {
        let entry = self.sorted.last().or(self.late.last());
        entry.map(|entry| entry.index)
    }

    /// Adds a timer that a slot gave; `sort` is called after the last.
    pub(super) fn add<T>(&mut self, slab: &Slab<T>, index: u32) {
        self.sorted.push(Entry::new(slab, index));
    }

    pub(super) fn sort<T>(&mut self, slab: &mut Slab<T>) {
        self.sorted.sort_unstable_by(|one, other| other.cmp(one));
        for (entry, position) in self.sorted.iter().zip(0..) {
            slab.set_place(entry.index, Place::Due { position });
        }
    }

    pub(super) fn remove(&mut self, position: u32) {
        self.sorted[position as usize].index = NONE;
        // TD1: no gap at the end.
        while self.sorted.last().is_some_and(|last| last.index == NONE) {
            self.sorted.pop();
        }
    }

    /// Adds a timer that was due when it was inserted.
    pub(super) fn add_late<T>(&mut self, slab: &mut Slab<T>, index: u32) {
        let entry = Entry::new(slab, index);
        self.late.push(entry);
        self.sift_up(slab, self.late.len() - 1, entry);
    }

    pub(super) fn remove_late<T>(&mut self, slab: &mut Slab<T>, position: u32) {
        let position = position as usize;
        let last = self.late.pop().expect("an entry at the position");
        if position < self.late.len() {
            self.sift_down(slab, position, last);
        }
    }

    #[cfg(all(test, not(mailring_loom)))]
    pub(super) fn len(&self) -> usize {
        let sorted = self.sorted.iter().filter(|entry| entry.index != NONE);
        sorted.count() + self.late.len()
    }

    /// Fills the hole at `position` with `entry`, or moves it towards the first.
    fn sift_up<T>(&mut self, slab: &mut Slab<T>, mut position: usize, entry: Entry) {
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.late[parent] <= entry {
                break;
            }
            self.put(slab, position, self.late[parent]);
            position = parent;
        }
        self.put(slab, position, entry);
    }

    /// Moves the hole at `position` to the end, then `entry` up from there: it was last, so it
    /// seldom goes far.
    fn sift_down<T>(&mut self, slab: &mut Slab<T>, mut position: usize, entry: Entry) {
        loop {
            let mut child = 2 * position + 1;
            if child >= self.late.len() {
                break;
            }
            if child + 1 < self.late.len() && self.late[child + 1] < self.late[child] {
                child += 1;
            }
            self.put(slab, position, self.late[child]);
            position = child;
        }
        self.sift_up(slab, position, entry);
    }

    fn put<T>(&mut self, slab: &mut Slab<T>, position: usize, entry: Entry) {
        self.late[position] = entry;
        let place = Place::Late {
            position: position as u32,
        };
        slab.set_place(entry.index, place);
    }
}

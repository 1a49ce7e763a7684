//! The timers of the tick that is reached, and of those before: a binary heap that knows where each
//! timer is, so that one can be removed.

use super::slab::{Place, Slab};
use std::time::Instant;

pub(super) struct Due {
    heap: Vec<Entry>,
}

/// In order of due: by deadline, then by insertion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: Instant,
    sequence: u64,
    index: u32,
}

impl Due {
    pub(super) const fn new() -> Self {
        Self { heap: Vec::new() }
    }

    /// The first in order of due.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().map(|entry| (entry.deadline, entry.index))
    }

    /// The one that is removed most cheaply.
    pub(super) fn last(&self) -> Option<u32> {
        self.heap.last().map(|entry| entry.index)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn push<T>(&mut self, slab: &mut Slab<T>, index: u32) {
        let entry = Entry {
            deadline: slab.deadline(index),
            sequence: slab.sequence(index),
            index,
        };
        self.heap.push(entry);
        self.sift_up(slab, self.heap.len() - 1, entry);
    }

    pub(super) fn remove<T>(&mut self, slab: &mut Slab<T>, position: u32) {
        let position = position as usize;
        let last = self.heap.pop().expect("an entry at the position");
        if position < self.heap.len() {
            self.sift_down(slab, position, last);
        }
    }

    /// Fills the hole at `position` with `entry`, or moves it towards the first.
    fn sift_up<T>(&mut self, slab: &mut Slab<T>, mut position: usize, entry: Entry) {
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(slab, position, self.heap[parent]);
            position = parent;
        }
        self.put(slab, position, entry);
    }

    /// Moves the hole at `position` to the end, then `entry` up from there: it was last, so it
    /// seldom goes far.
    fn sift_down<T>(&mut self, slab: &mut Slab<T>, mut position: usize, entry: Entry) {
        loop {
            let mut child = 2 * position + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            self.put(slab, position, self.heap[child]);
            position = child;
        }
        self.sift_up(slab, position, entry);
    }

    fn put<T>(&mut self, slab: &mut Slab<T>, position: usize, entry: Entry) {
        self.heap[position] = entry;
        let place = Place::Due {
            position: position as u32,
        };
        slab.set_place(entry.index, place);
    }
}

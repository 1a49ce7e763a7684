//! The timers of one key group: a heap by time, and an index to find each.

use super::super::key_group::hash_of;
use core::hash::Hash;
use hashbrown::HashTable;

/// A timer.
#[derive(Clone, Debug)]
pub(super) struct Timer<K, N> {
    pub(super) at_ms: i64,
    pub(super) key: K,
    /// The key's hash.
    pub(super) hash: u64,
    pub(super) namespace: N,
}

impl<K: Eq, N: Hash + Eq> Timer<K, N> {
    fn index_hash(&self) -> u64 {
        hash_of(&(self.hash, self.at_ms, &self.namespace))
    }

    fn is(&self, other: &Self) -> bool {
        self.at_ms == other.at_ms && self.key == other.key && self.namespace == other.namespace
    }
}

/// A timer's node in the heap. Of timers at one time, the one that was registered first is first.
#[derive(Clone, Copy, Debug)]
struct Node {
    at_ms: i64,
    sequence: u64,
    /// Where the timer is.
    index: usize,
}

impl Node {
    fn is_before(&self, other: &Self) -> bool {
        (self.at_ms, self.sequence) < (other.at_ms, other.sequence)
    }
}

/// The timers of one key group.
#[derive(Clone, Debug)]
pub(super) struct GroupTimers<K, N> {
    /// Each with its node's place in the heap.
    timers: Vec<(Timer<K, N>, usize)>,
    heap: Vec<Node>,
    /// Where the timers are, by what they are.
    index: HashTable<usize>,
    sequence: u64,
}

impl<K, N> Default for GroupTimers<K, N> {
    fn default() -> Self {
        Self {
            timers: Vec::new(),
            heap: Vec::new(),
            index: HashTable::new(),
            sequence: 0,
        }
    }
}

impl<K, N> GroupTimers<K, N> {
    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }

    /// When the first is due.
    pub(super) fn next_ms(&self) -> Option<i64> {
        self.heap.first().map(|node| node.at_ms)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Timer<K, N>> {
        self.timers.iter().map(|(timer, _)| timer)
    }

    /// In the order in which they fire.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Timer<K, N>> {
        let mut nodes: Vec<&Node> = self.heap.iter().collect();
        nodes.sort_unstable_by_key(|node| (node.at_ms, node.sequence));
        nodes.into_iter().map(|node| &self.timers[node.index].0)
    }

    /// None, with room for so many.
    pub(super) fn with_capacity(timers: usize) -> Self {
        Self {
            timers: Vec::with_capacity(timers),
            heap: Vec::with_capacity(timers),
            index: HashTable::with_capacity(timers),
            sequence: 0,
        }
    }
}

impl<K: Eq, N: Hash + Eq> GroupTimers<K, N> {
    pub(super) fn contains(&self, timer: &Timer<K, N>) -> bool {
        self.find(timer).is_some()
    }

    /// Puts in a timer; false where it is there already.
    pub(super) fn insert(&mut self, timer: Timer<K, N>) -> bool {
        let hash = timer.index_hash();
        let timers = &self.timers;
        let entry = self.index.entry(
            hash,
            |&index| timers[index].0.is(&timer),
            |&index| timers[index].0.index_hash(),
        );
        let hashbrown::hash_table::Entry::Vacant(vacant) = entry else {
            return false;
        };
        let index = self.timers.len();
        vacant.insert(index);
        let place = self.heap.len();
        self.heap.push(Node {
            at_ms: timer.at_ms,
            sequence: self.sequence,
            index,
        });
        self.sequence += 1;
        self.timers.push((timer, place));
        self.sift_up(place);
        true
    }

    /// Takes a timer out; false where it is not there.
    pub(super) fn remove(&mut self, timer: &Timer<K, N>) -> bool {
        match self.find(timer) {
            Some(index) => {
                self.take(index);
                true
            }
            None => false,
        }
    }

    /// Takes the first one out.
    pub(super) fn pop(&mut self) -> Option<Timer<K, N>> {
        let index = self.heap.first()?.index;
        Some(self.take(index))
    }

    fn find(&self, timer: &Timer<K, N>) -> Option<usize> {
        let found = self
            .index
            .find(timer.index_hash(), |&index| self.timers[index].0.is(timer));
        found.copied()
    }

    /// Takes out the timer at `index`; the last one moves there.
    fn take(&mut self, index: usize) -> Timer<K, N> {
        let last = self.timers.len() - 1;
        self.point(index, None);
        if last != index {
            self.point(last, Some(index));
        }
        let (timer, place) = self.timers.swap_remove(index);
        if let Some(&(_, moved)) = self.timers.get(index) {
            self.heap[moved].index = index;
        }
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.timers[self.heap[place].index].1 = place;
            self.sift_up(place);
            self.sift_down(place);
        }
        timer
    }

    /// Has the index say that the timer at `index` is at `to`, or nowhere.
    fn point(&mut self, index: usize, to: Option<usize>) {
        let hash = self.timers[index].0.index_hash();
        if let Ok(mut entry) = self.index.find_entry(hash, |&found| found == index) {
            match to {
                Some(to) => *entry.get_mut() = to,
                None => {
                    entry.remove();
                }
            }
        }
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.heap[place].is_before(&self.heap[parent]) {
                break;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let Some(first) = children.min_by_key(|&child| {
                let node = &self.heap[child];
                (node.at_ms, node.sequence)
            }) else {
                break;
            };
            if !self.heap[first].is_before(&self.heap[place]) {
                break;
            }
            self.swap(place, first);
            place = first;
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for place in [one, other] {
            self.timers[self.heap[place].index].1 = place;
        }
    }
}

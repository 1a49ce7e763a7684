//! The timers of a subtask in one kind of time, in parts by key group that a snapshot shares.

use super::super::key_group::{Key, KeyGroupRange, hash_of, key_group_of};
use super::super::state::{
    CurrentKey, Description, Entries, Freezable, FrozenPart, FrozenState, RestoredKeyed,
    StateError, StateValue, Unreadable, encode_entries,
};
use super::group::{GroupTimers, Timer};
use super::order::GroupOrder;
use crate::sync::PlainArc;
use core::hash::Hash;

/// A timer whose time has come.
#[derive(Debug)]
pub(crate) struct DueTimer<K, N> {
    pub(crate) at_ms: i64,
    pub(crate) key: CurrentKey<K>,
    pub(crate) namespace: N,
}

/// Timers in one kind of time.
#[derive(Debug)]
pub(crate) struct TimerQueue<K, N> {
    key_groups: KeyGroupRange,
    groups: Box<[Freezable<GroupTimers<K, N>>]>,
    order: GroupOrder,
}

impl<K: Key, N: StateValue + Hash + Eq> TimerQueue<K, N> {
    pub(crate) fn new(key_groups: KeyGroupRange) -> Self {
        Self {
            key_groups,
            groups: (0..key_groups.len())
                .map(|_| Freezable::default())
                .collect(),
            order: GroupOrder::new(key_groups.len()),
        }
    }

    /// Registers a timer; false where there is one like it (TM1).
    pub(crate) fn register(&mut self, key: &CurrentKey<K>, namespace: N, at_ms: i64) -> bool {
        let timer = timer_of(key, namespace, at_ms);
        let group = &mut self.groups[key.place()];
        if let Freezable::Frozen(shared) = group
            && shared.contains(&timer)
        {
            return false;
        }
        let is_new = group.get_mut().insert(timer);
        self.order_again(key.place());
        is_new
    }

    /// Deletes a timer; false where there is none like it.
    pub(crate) fn delete(&mut self, key: &CurrentKey<K>, namespace: N, at_ms: i64) -> bool {
        let timer = timer_of(key, namespace, at_ms);
        let group = &mut self.groups[key.place()];
        if let Freezable::Frozen(shared) = group
            && !shared.contains(&timer)
        {
            return false;
        }
        let was_there = group.get_mut().remove(&timer);
        self.order_again(key.place());
        was_there
    }

    /// When the first is due.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.order.first().map(|(_, at_ms)| at_ms)
    }

    /// Whether one is due by `until_ms`.
    pub(crate) fn is_due(&self, until_ms: i64) -> bool {
        self.next_ms().is_some_and(|at_ms| at_ms <= until_ms)
    }

    /// Takes out the first one, if it is due by `until_ms`.
    pub(crate) fn pop_due(&mut self, until_ms: i64) -> Option<DueTimer<K, N>> {
        let (place, _) = self.order.first().filter(|&(_, at_ms)| at_ms <= until_ms)?;
        let timer = self.groups[place].get_mut().pop()?;
        self.order_again(place);
        Some(DueTimer {
            at_ms: timer.at_ms,
            key: CurrentKey::from_parts(timer.key, timer.hash, place),
            namespace: timer.namespace,
        })
    }

    /// Drops all timers.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.key_groups);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.get().len()).sum()
    }

    /// The timers as they are now, shared until they change.
    pub(crate) fn snapshot(&mut self) -> TimersSnapshot<K, N> {
        let groups = self.key_groups.groups().zip(&mut self.groups);
        let filled = groups.filter(|(_, group)| group.get().len() > 0);
        let frozen = filled.map(|(key_group, group)| FrozenTimers {
            key_group,
            timers: group.freeze(),
        });
        TimersSnapshot {
            groups: frozen.collect(),
        }
    }

    /// What is restored of the timers that `description` declares.
    pub(crate) fn restored(
        description: &Description,
        restored: &mut RestoredKeyed,
        key_groups: KeyGroupRange,
    ) -> Result<Self, StateError> {
        let mut queue = Self::new(key_groups);
        restored.take(description, |place, key_group, part| {
            let group = decoded(part, key_group, key_groups.max_parallelism())?;
            queue.groups[place] = Freezable::Owned(group);
            queue.order_again(place);
            Ok(())
        })?;
        Ok(queue)
    }

    fn order_again(&mut self, place: usize) {
        self.order.set(place, self.groups[place].get().next_ms());
    }
}

fn timer_of<K: Key, N>(key: &CurrentKey<K>, namespace: N, at_ms: i64) -> Timer<K, N> {
    Timer {
        at_ms,
        key: K::clone(key),
        hash: key.hash(),
        namespace,
    }
}

/// Timers as they were at one moment, by key group. It can be read on another thread.
#[derive(Debug)]
pub struct TimersSnapshot<K, N> {
    groups: Vec<FrozenTimers<K, N>>,
}

impl<K, N> TimersSnapshot<K, N> {
    /// The key groups that have timers, in order.
    #[must_use]
    pub fn groups(&self) -> &[FrozenTimers<K, N>] {
        &self.groups
    }
}

impl<K: Key, N: StateValue + Hash + Eq> FrozenState for TimersSnapshot<K, N> {
    fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn into_parts(self: Box<Self>) -> Vec<Box<dyn FrozenPart>> {
        let groups = self.groups.into_iter();
        groups.map(|group| Box::new(group) as _).collect()
    }
}

/// The timers of one key group, as they were at one moment.
#[derive(Debug)]
pub struct FrozenTimers<K, N> {
    key_group: u32,
    timers: PlainArc<GroupTimers<K, N>>,
}

impl<K, N> FrozenTimers<K, N> {
    /// Which key group.
    #[must_use]
    pub fn key_group(&self) -> u32 {
        self.key_group
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their times in milliseconds since 1970-01-01 00:00, their keys and their namespaces, in no
    /// order to rely on.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &K, &N)> {
        let timers = self.timers.iter();
        timers.map(|timer| (timer.at_ms, &timer.key, &timer.namespace))
    }
}

impl<K: Key, N: StateValue + Hash + Eq> FrozenPart for FrozenTimers<K, N> {
    fn key_group(&self) -> u32 {
        self.key_group
    }

    /// In the order in which they fire: so they are put back without being moved.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unreadable> {
        let timers = self.timers.in_order();
        let plain = timers.map(|timer| (timer.at_ms, &timer.key, &timer.namespace));
        let is_same = |timer: &(i64, &K, &N), (at_ms, key, namespace): &Plain<K, N>| {
            *timer == (*at_ms, key, namespace)
        };
        encode_entries(self.len(), plain, is_same, out)
    }
}

/// A time, a key and a namespace: a timer as it is stored.
type Plain<K, N> = (i64, K, N);

/// Reads one key group's timers.
fn decoded<K: Key, N: StateValue + Hash + Eq>(
    part: &[u8],
    key_group: u32,
    max_parallelism: u32,
) -> Result<GroupTimers<K, N>, Unreadable> {
    let mut entries = Entries::of(part)?;
    let mut group = GroupTimers::with_capacity(entries.capacity::<Timer<K, N>>());
    while let Some((at_ms, key, namespace)) = entries.next::<Plain<K, N>>()? {
        let hash = hash_of(&key);
        let found = key_group_of(hash, max_parallelism);
        if found != key_group {
            return Err(Unreadable::OtherKeyGroup(found));
        }
        let is_new = group.insert(Timer {
            at_ms,
            key,
            hash,
            namespace,
        });
        if !is_new {
            return Err(Unreadable::Twice);
        }
    }
    Ok(group)
}

//! The timers of a subtask in one kind of time, in parts by key group that a snapshot shares.

use super::super::key_group::{Key, KeyGroupRange, hash_of, key_group_of};
use super::super::state::{CurrentKey, Freezable, StateValue};
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

    /// Takes over those groups of a snapshot that are in this one's range, in the place of what it
    /// has there.
    pub(crate) fn restore(&mut self, snapshot: &TimersSnapshot<K, N>) {
        for group in &snapshot.groups {
            if let Some(place) = self.key_groups.place(group.key_group) {
                self.groups[place] = Freezable::Frozen(PlainArc::clone(&group.timers));
                self.order_again(place);
            }
        }
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

impl<K: Key, N: Hash + Eq> TimersSnapshot<K, N> {
    /// A snapshot of what was read back from where it was stored: times, keys and namespaces.
    #[must_use]
    pub fn from_timers(
        timers: impl IntoIterator<Item = (i64, K, N)>,
        max_parallelism: u32,
    ) -> Self {
        let mut groups: Vec<GroupTimers<K, N>> = Vec::new();
        groups.resize_with(max_parallelism as usize, GroupTimers::default);
        for (at_ms, key, namespace) in timers {
            let hash = hash_of(&key);
            groups[key_group_of(hash, max_parallelism) as usize].insert(Timer {
                at_ms,
                key,
                hash,
                namespace,
            });
        }
        let filled = (0..).zip(groups).filter(|(_, group)| group.len() > 0);
        let frozen = filled.map(|(key_group, timers)| FrozenTimers {
            key_group,
            timers: PlainArc::new(timers),
        });
        Self {
            groups: frozen.collect(),
        }
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

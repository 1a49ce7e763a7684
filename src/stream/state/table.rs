//! One state's values by key, in parts by key group.

use super::super::key_group::{Key, KeyGroupRange, hash_of, key_group_of};
use super::{CurrentKey, Freezable};
use crate::sync::PlainArc;
use hashbrown::HashTable;

/// A key and its value.
type Slot<K, V> = (K, V);

/// One key group's values.
type Group<K, V> = HashTable<Slot<K, V>>;

/// The hash a key is found by within its group. All keys of a group have the upper bits of their
/// hash in common, which is where a table looks first to tell two keys apart; others are put there.
#[inline]
fn hash_in_group(hash: u64) -> u64 {
    hash ^ (hash << 38)
}

fn hash_of_slot<K: Key, V>(slot: &Slot<K, V>) -> u64 {
    hash_in_group(hash_of(&slot.0))
}

/// A state's values by key.
#[derive(Debug)]
pub(crate) struct KeyedTable<K, V> {
    key_groups: KeyGroupRange,
    groups: Box<[Freezable<Group<K, V>>]>,
}

impl<K: Key, V: Clone> KeyedTable<K, V> {
    pub(crate) fn new(key_groups: KeyGroupRange) -> Self {
        Self {
            key_groups,
            groups: (0..key_groups.len())
                .map(|_| Freezable::default())
                .collect(),
        }
    }

    pub(crate) fn key_groups(&self) -> &KeyGroupRange {
        &self.key_groups
    }

    #[inline]
    pub(crate) fn get(&self, key: &CurrentKey<K>) -> Option<&V> {
        let table = self.groups[key.place()].get();
        let slot = table.find(hash_in_group(key.hash()), |slot| slot.0 == **key);
        slot.map(|slot| &slot.1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: &CurrentKey<K>) -> Option<&mut V> {
        let group = &mut self.groups[key.place()];
        let hash = hash_in_group(key.hash());
        if let Freezable::Frozen(shared) = group
            && shared.find(hash, |slot| slot.0 == **key).is_none()
        {
            // Nothing would be written, so nothing is copied.
            return None;
        }
        let slot = group.get_mut().find_mut(hash, |slot| slot.0 == **key);
        slot.map(|slot| &mut slot.1)
    }

    /// The key's value: the one there, which `update` is done to, or a new one.
    #[inline]
    pub(crate) fn upsert<C>(
        &mut self,
        key: &CurrentKey<K>,
        context: C,
        update: impl FnOnce(&mut V, C),
        create: impl FnOnce(C) -> V,
    ) -> &mut V {
        let hash = hash_in_group(key.hash());
        let table = self.groups[key.place()].get_mut();
        match table.find_entry(hash, |slot| slot.0 == **key) {
            Ok(found) => {
                let value = &mut found.into_mut().1;
                update(value, context);
                value
            }
            Err(absent) => {
                let slot = (K::clone(key), create(context));
                let table = absent.into_table();
                &mut table.insert_unique(hash, slot, hash_of_slot).into_mut().1
            }
        }
    }

    #[inline]
    pub(crate) fn get_or_insert_with(
        &mut self,
        key: &CurrentKey<K>,
        create: impl FnOnce() -> V,
    ) -> &mut V {
        self.upsert(key, (), |_, ()| {}, |()| create())
    }

    pub(crate) fn insert(&mut self, key: &CurrentKey<K>, value: V) {
        self.upsert(key, value, |there, value| *there = value, |value| value);
    }

    pub(crate) fn remove(&mut self, key: &CurrentKey<K>) -> Option<V> {
        self.get(key)?;
        let table = self.groups[key.place()].get_mut();
        let entry = table.find_entry(hash_in_group(key.hash()), |slot| slot.0 == **key);
        entry.ok().map(|entry| entry.remove().0.1)
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let tables = self.groups.iter().map(Freezable::get);
        tables.flat_map(|table| table.iter().map(|(key, value)| (key, value)))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.get().len()).sum()
    }

    /// The values as they are now, shared until they are written.
    pub(crate) fn snapshot(&mut self) -> TableSnapshot<K, V> {
        let groups = self.key_groups.groups().zip(&mut self.groups);
        let filled = groups.filter(|(_, group)| !group.get().is_empty());
        let frozen = filled.map(|(key_group, group)| FrozenGroup {
            key_group,
            table: group.freeze(),
        });
        TableSnapshot {
            groups: frozen.collect(),
        }
    }

    /// Takes over those groups of a snapshot that are in this table's range, in the place of what
    /// it has there. The snapshot goes on being shared.
    pub(crate) fn restore(&mut self, snapshot: &TableSnapshot<K, V>) {
        for group in &snapshot.groups {
            if let Some(place) = self.key_groups.place(group.key_group) {
                self.groups[place] = Freezable::Frozen(PlainArc::clone(&group.table));
            }
        }
    }
}

/// A table as it was at one moment, by key group. It can be read on another thread.
#[derive(Debug)]
pub struct TableSnapshot<K, V> {
    groups: Vec<FrozenGroup<K, V>>,
}

impl<K, V> TableSnapshot<K, V> {
    /// The key groups that hold anything, in order.
    #[must_use]
    pub fn groups(&self) -> &[FrozenGroup<K, V>] {
        &self.groups
    }
}

impl<K: Key, V> TableSnapshot<K, V> {
    /// A snapshot of what was read back from where it was stored.
    #[must_use]
    pub fn from_entries(entries: impl IntoIterator<Item = (K, V)>, max_parallelism: u32) -> Self {
        let mut tables: Vec<Group<K, V>> = Vec::new();
        tables.resize_with(max_parallelism as usize, HashTable::new);
        for (key, value) in entries {
            let hash = hash_of(&key);
            let table = &mut tables[key_group_of(hash, max_parallelism) as usize];
            match table.find_mut(hash_in_group(hash), |slot| slot.0 == key) {
                Some(slot) => slot.1 = value,
                None => {
                    table.insert_unique(hash_in_group(hash), (key, value), hash_of_slot);
                }
            }
        }
        let filled = (0..).zip(tables).filter(|(_, table)| !table.is_empty());
        let groups = filled.map(|(key_group, table)| FrozenGroup {
            key_group,
            table: PlainArc::new(table),
        });
        Self {
            groups: groups.collect(),
        }
    }
}

/// One key group of a table, as it was at one moment.
#[derive(Debug)]
pub struct FrozenGroup<K, V> {
    key_group: u32,
    table: PlainArc<Group<K, V>>,
}

impl<K, V> FrozenGroup<K, V> {
    /// Which key group.
    #[must_use]
    pub fn key_group(&self) -> u32 {
        self.key_group
    }

    /// How many keys it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Its keys and values, in no order to rely on.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.table.iter().map(|(key, value)| (key, value))
    }
}

//! One state's values by key, in parts by key group.

use super::super::key_group::{Key, KeyGroupRange, hash_of, key_group_of};
use super::super::setting::Setting;
use super::description::Description;
use super::entries::{Entries, Unreadable, encode_entries};
use super::error::StateError;
use super::restored::RestoredKeyed;
use super::snapshot::{FrozenPart, FrozenState};
use super::{CurrentKey, Freezable, KeyedSnapshot, StateValue};
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
}

impl<K: Key, V: StateValue> KeyedTable<K, V> {
    /// The only state of the operator of `setting`, as it is restored.
    pub(crate) fn only(setting: &Setting, description: &Description) -> Result<Self, StateError> {
        let mut restored = RestoredKeyed::of(setting)?;
        let key_groups = setting.subtask().key_groups();
        let table = Self::restored(description, &mut restored, key_groups)?;
        restored.finish()?;
        Ok(table)
    }

    /// Of an operator without other state, all of it as it is now.
    pub(crate) fn alone(&mut self, description: Description) -> KeyedSnapshot {
        let mut snapshot = KeyedSnapshot::new(self.key_groups.max_parallelism());
        snapshot.push(description, self.snapshot());
        snapshot
    }

    /// What is restored of the state that `description` declares.
    pub(crate) fn restored(
        description: &Description,
        restored: &mut RestoredKeyed,
        key_groups: KeyGroupRange,
    ) -> Result<Self, StateError> {
        let mut table = Self::new(key_groups);
        restored.take(description, |place, key_group, part| {
            let group = decoded(part, key_group, key_groups.max_parallelism())?;
            table.groups[place] = Freezable::Owned(group);
            Ok(())
        })?;
        Ok(table)
    }
}

/// Reads one key group's values.
fn decoded<K: Key, V: StateValue>(
    part: &[u8],
    key_group: u32,
    max_parallelism: u32,
) -> Result<Group<K, V>, Unreadable> {
    let mut entries = Entries::of(part)?;
    let mut group: Group<K, V> = HashTable::with_capacity(entries.capacity::<Slot<K, V>>());
    while let Some(slot) = entries.next::<Slot<K, V>>()? {
        let hash = hash_of(&slot.0);
        let found = key_group_of(hash, max_parallelism);
        if found != key_group {
            return Err(Unreadable::OtherKeyGroup(found));
        }
        group.insert_unique(hash_in_group(hash), slot, hash_of_slot);
    }
    Ok(group)
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

impl<K: Key, V: StateValue> FrozenState for TableSnapshot<K, V> {
    fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn into_parts(self: Box<Self>) -> Vec<Box<dyn FrozenPart>> {
        let groups = self.groups.into_iter();
        groups.map(|group| Box::new(group) as _).collect()
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

impl<K: Key, V: StateValue> FrozenPart for FrozenGroup<K, V> {
    fn key_group(&self) -> u32 {
        self.key_group
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unreadable> {
        let is_same = |(key, _): &(&K, &V), (same, _): &Slot<K, V>| *key == same;
        encode_entries(self.len(), self.iter(), is_same, out)
    }
}

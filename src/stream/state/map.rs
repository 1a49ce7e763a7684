//! State of a map per key.

use super::super::key_group::Key;
use super::{CurrentKey, KeyedTable, StateValue};
use core::hash::Hash;
use rustc_hash::FxBuildHasher;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::rc::Rc;

pub(super) type MapEntries<E, V> = HashMap<E, V, FxBuildHasher>;

/// A map per key, from entries' keys of type `E` to values. [`KeyedStates::map`](super::KeyedStates::map)
/// makes it.
#[derive(Debug)]
pub struct MapState<K, E, V> {
    table: Rc<RefCell<KeyedTable<K, MapEntries<E, V>>>>,
}

impl<K: Key, E: StateValue + Hash + Eq, V: StateValue> MapState<K, E, V> {
    pub(super) fn new(table: Rc<RefCell<KeyedTable<K, MapEntries<E, V>>>>) -> Self {
        Self { table }
    }

    /// The entry's value, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &CurrentKey<K>, entry: &E) -> Option<Ref<'_, V>> {
        Ref::filter_map(self.table.borrow(), |table| table.get(key)?.get(entry)).ok()
    }

    /// The entry's value to change, if there is one.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, key: &CurrentKey<K>, entry: &E) -> Option<RefMut<'_, V>> {
        RefMut::filter_map(self.table.borrow_mut(), |table| {
            table.get(key)?.get(entry)?;
            table.get_mut(key)?.get_mut(entry)
        })
        .ok()
    }

    /// The entry's value to change; `create` makes one where there is none.
    #[inline]
    pub fn get_or_insert_with(
        &mut self,
        key: &CurrentKey<K>,
        entry: E,
        create: impl FnOnce() -> V,
    ) -> RefMut<'_, V> {
        RefMut::map(self.table.borrow_mut(), |table| {
            let entries = table.get_or_insert_with(key, MapEntries::default);
            entries.entry(entry).or_insert_with(create)
        })
    }

    /// Sets the entry's value, and gives the one it had.
    #[inline]
    pub fn insert(&mut self, key: &CurrentKey<K>, entry: E, value: V) -> Option<V> {
        let mut table = self.table.borrow_mut();
        let entries = table.get_or_insert_with(key, MapEntries::default);
        entries.insert(entry, value)
    }

    /// Takes the entry away.
    #[inline]
    pub fn remove(&mut self, key: &CurrentKey<K>, entry: &E) -> Option<V> {
        let mut table = self.table.borrow_mut();
        table.get(key)?.get(entry)?;
        let entries = table.get_mut(key)?;
        let removed = entries.remove(entry);
        if entries.is_empty() {
            table.remove(key);
        }
        removed
    }

    /// Whether the key has no entries.
    #[must_use]
    pub fn is_empty(&self, key: &CurrentKey<K>) -> bool {
        self.table.borrow().get(key).is_none()
    }

    /// Looks at each of the key's entries, in no order to rely on.
    pub fn for_each(&self, key: &CurrentKey<K>, mut look: impl FnMut(&E, &V)) {
        if let Some(entries) = self.table.borrow().get(key) {
            entries.iter().for_each(|(entry, value)| look(entry, value));
        }
    }

    /// Takes all of the key's entries away.
    pub fn clear(&mut self, key: &CurrentKey<K>) {
        self.table.borrow_mut().remove(key);
    }
}

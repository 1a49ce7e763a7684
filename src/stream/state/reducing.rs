//! State of one value per key that others are added to.

use super::super::key_group::Key;
use super::{CurrentKey, KeyedTable, StateValue};
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// One value per key, which `R` adds others to. [`KeyedStates::reducing`](super::KeyedStates::reducing)
/// makes it.
pub struct ReducingState<K, T, R> {
    table: Rc<RefCell<KeyedTable<K, T>>>,
    reduce: R,
}

impl<K: Key, T: StateValue, R: FnMut(&mut T, T)> ReducingState<K, T, R> {
    pub(super) fn new(table: Rc<RefCell<KeyedTable<K, T>>>, reduce: R) -> Self {
        Self { table, reduce }
    }

    /// Adds `value` to the key's; the first is the key's value itself.
    #[inline]
    pub fn add(&mut self, key: &CurrentKey<K>, value: T) {
        let mut table = self.table.borrow_mut();
        table.upsert(key, value, &mut self.reduce, |value| value);
    }

    /// The key's value, if any was added.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &CurrentKey<K>) -> Option<Ref<'_, T>> {
        Ref::filter_map(self.table.borrow(), |table| table.get(key)).ok()
    }

    /// Takes the key's value away.
    #[inline]
    pub fn remove(&mut self, key: &CurrentKey<K>) -> Option<T> {
        self.table.borrow_mut().remove(key)
    }
}

impl<K, T, R> core::fmt::Debug for ReducingState<K, T, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReducingState").finish_non_exhaustive()
    }
}

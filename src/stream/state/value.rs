//! State of one value per key.

use super::super::key_group::Key;
use super::{CurrentKey, KeyedTable, StateValue};
use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

/// One value per key. [`KeyedStates::value`](super::KeyedStates::value) makes it.
#[derive(Debug)]
pub struct ValueState<K, T> {
    table: Rc<RefCell<KeyedTable<K, T>>>,
}

impl<K: Key, T: StateValue> ValueState<K, T> {
    pub(super) fn new(table: Rc<RefCell<KeyedTable<K, T>>>) -> Self {
        Self { table }
    }

    /// The key's value, if it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &CurrentKey<K>) -> Option<Ref<'_, T>> {
        Ref::filter_map(self.table.borrow(), |table| table.get(key)).ok()
    }

    /// The key's value to change, if it has one.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, key: &CurrentKey<K>) -> Option<RefMut<'_, T>> {
        RefMut::filter_map(self.table.borrow_mut(), |table| table.get_mut(key)).ok()
    }

    /// The key's value to change; `create` makes one where there is none.
    #[inline]
    pub fn get_or_insert_with(
        &mut self,
        key: &CurrentKey<K>,
        create: impl FnOnce() -> T,
    ) -> RefMut<'_, T> {
        RefMut::map(self.table.borrow_mut(), |table| {
            table.get_or_insert_with(key, create)
        })
    }

    /// The key's value to change; the default of its type where there is none.
    #[inline]
    pub fn get_or_default(&mut self, key: &CurrentKey<K>) -> RefMut<'_, T>
    where
        T: Default,
    {
        self.get_or_insert_with(key, T::default)
    }

    /// Sets the key's value.
    #[inline]
    pub fn set(&mut self, key: &CurrentKey<K>, value: T) {
        self.table.borrow_mut().insert(key, value);
    }

    /// Takes the key's value away.
    #[inline]
    pub fn remove(&mut self, key: &CurrentKey<K>) -> Option<T> {
        self.table.borrow_mut().remove(key)
    }
}

//! State of a list of values per key.

use super::super::key_group::Key;
use super::{CurrentKey, KeyedTable, StateValue};
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// A list of values per key. [`KeyedStates::list`](super::KeyedStates::list) makes it.
#[derive(Debug)]
pub struct ListState<K, T> {
    table: Rc<RefCell<KeyedTable<K, Vec<T>>>>,
}

impl<K: Key, T: StateValue> ListState<K, T> {
    pub(super) fn new(table: Rc<RefCell<KeyedTable<K, Vec<T>>>>) -> Self {
        Self { table }
    }

    /// Puts `value` at the end of the key's list.
    #[inline]
    pub fn push(&mut self, key: &CurrentKey<K>, value: T) {
        let mut table = self.table.borrow_mut();
        table.get_or_insert_with(key, Vec::new).push(value);
    }

    /// Puts all of `values` at the end of the key's list, in their order.
    pub fn extend(&mut self, key: &CurrentKey<K>, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.push(key, value);
        }
    }

    /// The key's list; empty if nothing is in it.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &CurrentKey<K>) -> Ref<'_, [T]> {
        Ref::map(self.table.borrow(), |table| {
            table.get(key).map_or(&[][..], Vec::as_slice)
        })
    }

    /// Puts `values` in the place of the key's list.
    pub fn set(&mut self, key: &CurrentKey<K>, values: Vec<T>) {
        if values.is_empty() {
            self.take(key);
        } else {
            self.table.borrow_mut().insert(key, values);
        }
    }

    /// Takes the key's list away, and gives it.
    #[inline]
    pub fn take(&mut self, key: &CurrentKey<K>) -> Vec<T> {
        self.table.borrow_mut().remove(key).unwrap_or_default()
    }
}

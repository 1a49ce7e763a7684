//! State of one accumulator per key.

use super::super::aggregate::AggregateFunction;
use super::super::key_group::Key;
use super::{CurrentKey, KeyedTable};
use std::cell::RefCell;
use std::rc::Rc;

/// One accumulator per key, as `A` makes it of values of type `In`.
/// [`KeyedStates::aggregating`](super::KeyedStates::aggregating) makes it.
pub struct AggregatingState<K, In, A: AggregateFunction<In>> {
    table: Rc<RefCell<KeyedTable<K, A::Accumulator>>>,
    function: A,
}

impl<K: Key, In, A: AggregateFunction<In>> AggregatingState<K, In, A> {
    pub(super) fn new(table: Rc<RefCell<KeyedTable<K, A::Accumulator>>>, function: A) -> Self {
        Self { table, function }
    }

    /// Adds `value` to the key's accumulator.
    #[inline]
    pub fn add(&mut self, key: &CurrentKey<K>, value: &In) {
        self.table.borrow_mut().upsert(
            key,
            (),
            |accumulator, ()| self.function.add(accumulator, value),
            |()| self.function.create(value),
        );
    }

    /// The key's result, if anything was added.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &CurrentKey<K>) -> Option<A::Out> {
        let table = self.table.borrow();
        let accumulator = table.get(key)?;
        Some(self.function.result(accumulator))
    }

    /// Takes the key's accumulator away.
    #[inline]
    pub fn clear(&mut self, key: &CurrentKey<K>) {
        self.table.borrow_mut().remove(key);
    }
}

impl<K, In, A: AggregateFunction<In>> core::fmt::Debug for AggregatingState<K, In, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AggregatingState").finish_non_exhaustive()
    }
}

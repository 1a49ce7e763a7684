//! Where an operator's keyed states are declared, and what takes their snapshot.

use super::super::aggregate::AggregateFunction;
use super::super::key_group::{Key, KeyGroupRange};
use super::super::setting::Setting;
use super::map::MapEntries;
use super::restored::RestoredKeyed;
use super::{
    AggregatingState, Description, KeyedSnapshot, KeyedTable, ListState, MapState, ReducingState,
    StateError, StateKind, StateValue, ValueState,
};
use core::any::type_name;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use std::cell::RefCell;
use std::rc::Rc;

/// What all states can do, whatever is in them.
trait Declared {
    fn snapshot_into(&self, description: Description, snapshot: &mut KeyedSnapshot);
}

impl<K: Key, V: StateValue> Declared for RefCell<KeyedTable<K, V>> {
    fn snapshot_into(&self, description: Description, snapshot: &mut KeyedSnapshot) {
        snapshot.push(description, self.borrow_mut().snapshot());
    }
}

/// An operator's keyed states. Each is declared once, by a name of its own, while the operator is
/// opened.
///
/// An operator of one's own makes them when it is [opened](crate::stream::Operator::open), declares
/// all its states and [says so](Self::finish_declaring). What its
/// [`snapshot`](crate::stream::Operator::snapshot) gives is [`snapshot`](Self::snapshot) turned
/// `into` an [`OperatorSnapshot`](crate::stream::OperatorSnapshot).
pub struct KeyedStates<K> {
    setting: Setting,
    key_groups: KeyGroupRange,
    declared: Vec<(Description, Rc<dyn Declared>)>,
    restored: RestoredKeyed,
    keys: PhantomData<fn(K)>,
}

impl<K: Key> KeyedStates<K> {
    /// No states yet. When they are declared, they hold what is restored of the subtask's key groups,
    /// where the operator of `setting` is restored.
    ///
    /// # Errors
    /// [`StateError`], where what is restored is damaged, or of a job with other key groups.
    pub fn new(setting: &Setting) -> Result<Self, StateError> {
        Ok(Self {
            setting: setting.clone(),
            key_groups: setting.subtask().key_groups(),
            declared: Vec::new(),
            restored: RestoredKeyed::of(setting)?,
            keys: PhantomData,
        })
    }

    /// What surrounds the operator.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    #[inline]
    pub(crate) fn key_groups(&self) -> &KeyGroupRange {
        &self.key_groups
    }

    /// Declares one value per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn value<T: StateValue>(&mut self, name: &str) -> Result<ValueState<K, T>, StateError> {
        let table = self.declare(name, StateKind::Value, &[type_name::<T>()])?;
        Ok(ValueState::new(table))
    }

    /// Declares a list of values per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn list<T: StateValue>(&mut self, name: &str) -> Result<ListState<K, T>, StateError> {
        let table = self.declare(name, StateKind::List, &[type_name::<T>()])?;
        Ok(ListState::new(table))
    }

    /// Declares a map per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn map<E: StateValue + Hash + Eq, V: StateValue>(
        &mut self,
        name: &str,
    ) -> Result<MapState<K, E, V>, StateError> {
        let types = [type_name::<E>(), type_name::<V>()];
        let table = self.declare::<MapEntries<E, V>>(name, StateKind::Map, &types)?;
        Ok(MapState::new(table))
    }

    /// Declares one value per key that `reduce` adds others to.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn reducing<T: StateValue, R: FnMut(&mut T, T)>(
        &mut self,
        name: &str,
        reduce: R,
    ) -> Result<ReducingState<K, T, R>, StateError> {
        let table = self.declare(name, StateKind::Reducing, &[type_name::<T>()])?;
        Ok(ReducingState::new(table, reduce))
    }

    /// Declares one accumulator of `function` per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn aggregating<In, A: AggregateFunction<In>>(
        &mut self,
        name: &str,
        function: A,
    ) -> Result<AggregatingState<K, In, A>, StateError> {
        let types = [type_name::<A::Accumulator>()];
        let table = self.declare(name, StateKind::Aggregating, &types)?;
        Ok(AggregatingState::new(table, function))
    }

    /// All states are declared. Another one can still be, but is not restored.
    ///
    /// # Errors
    /// [`StateError::NotDeclared`], where a state was stored that is not declared: it would be lost.
    pub fn finish_declaring(&mut self) -> Result<(), StateError> {
        self.restored.finish()
    }

    /// All states as they are now, shared until they are written.
    #[must_use]
    pub fn snapshot(&self) -> KeyedSnapshot {
        let mut snapshot = KeyedSnapshot::new(self.key_groups.max_parallelism());
        for (description, table) in &self.declared {
            table.snapshot_into(description.clone(), &mut snapshot);
        }
        snapshot
    }

    /// What is restored, for what else is in it.
    pub(crate) fn restored(&mut self) -> &mut RestoredKeyed {
        &mut self.restored
    }

    fn declare<V: StateValue>(
        &mut self,
        name: &str,
        kind: StateKind,
        types: &[&str],
    ) -> Result<Rc<RefCell<KeyedTable<K, V>>>, StateError> {
        if self.declared.iter().any(|(taken, _)| taken.name() == name) {
            return Err(StateError::Taken { name: name.into() });
        }
        let description = Description::of::<K>(name, kind, types);
        let table = KeyedTable::restored(&description, &mut self.restored, self.key_groups)?;
        let table = Rc::new(RefCell::new(table));
        self.declared.push((description, Rc::clone(&table) as _));
        Ok(table)
    }
}

impl<K> fmt::Debug for KeyedStates<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self
            .declared
            .iter()
            .map(|(description, _)| description.name());
        f.debug_list().entries(names).finish()
    }
}

//! Where an operator's keyed states are declared, and what takes their snapshot.

use super::super::aggregate::AggregateFunction;
use super::super::key_group::{Key, KeyGroupRange};
use super::super::setting::Setting;
use super::map::Entries;
use super::{
    AggregatingState, KeyedSnapshot, KeyedTable, ListState, MapState, ReducingState, StateSnapshot,
    StateValue, TableSnapshot, ValueState,
};
use core::any::Any;
use core::fmt;
use core::hash::Hash;
use std::cell::RefCell;
use std::rc::Rc;

/// What all states can do, whatever is in them.
trait Declared {
    fn snapshot(&self) -> Box<dyn Any + Send + Sync>;
}

impl<K: Key, V: StateValue> Declared for RefCell<KeyedTable<K, V>> {
    fn snapshot(&self) -> Box<dyn Any + Send + Sync> {
        Box::new(self.borrow_mut().snapshot())
    }
}

/// An operator's keyed states. Each is declared once, by a name of its own, while the operator is
/// opened.
pub struct KeyedStates<K> {
    setting: Setting,
    key_groups: KeyGroupRange,
    declared: Vec<(Box<str>, Rc<dyn Declared>)>,
    restored: Vec<Rc<KeyedSnapshot>>,
    keys: core::marker::PhantomData<fn(K)>,
}

impl<K: Key> KeyedStates<K> {
    /// No states yet, in the subtask of `setting`.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self::restoring(setting, Vec::new())
    }

    /// No states yet; when they are declared, they hold what `snapshots` say of the subtask's key
    /// groups. They may come from several subtasks, and from other ranges of key groups.
    #[must_use]
    pub fn restoring(setting: &Setting, snapshots: Vec<Rc<KeyedSnapshot>>) -> Self {
        Self {
            setting: setting.clone(),
            key_groups: setting.subtask().key_groups(),
            declared: Vec::new(),
            restored: snapshots,
            keys: core::marker::PhantomData,
        }
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
        self.declare(name).map(ValueState::new)
    }

    /// Declares a list of values per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn list<T: StateValue>(&mut self, name: &str) -> Result<ListState<K, T>, StateError> {
        self.declare(name).map(ListState::new)
    }

    /// Declares a map per key.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn map<E: StateValue + Hash + Eq, V: StateValue>(
        &mut self,
        name: &str,
    ) -> Result<MapState<K, E, V>, StateError> {
        self.declare::<Entries<E, V>>(name).map(MapState::new)
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
        let table = self.declare(name)?;
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
        let table = self.declare(name)?;
        Ok(AggregatingState::new(table, function))
    }

    /// All states as they are now, shared until they are written.
    #[must_use]
    pub fn snapshot(&self) -> KeyedSnapshot {
        let states = self.declared.iter().map(|(name, table)| StateSnapshot {
            name: name.clone(),
            table: table.snapshot(),
        });
        KeyedSnapshot {
            states: states.collect(),
        }
    }

    fn declare<V: StateValue>(
        &mut self,
        name: &str,
    ) -> Result<Rc<RefCell<KeyedTable<K, V>>>, StateError> {
        if self.declared.iter().any(|(taken, _)| **taken == *name) {
            return Err(StateError::Taken { name: name.into() });
        }
        let mut table = KeyedTable::new(self.key_groups);
        let states = self.restored.iter().flat_map(|snapshot| &snapshot.states);
        for state in states.filter(|state| *state.name == *name) {
            let snapshot: &TableSnapshot<K, V> = state.table().ok_or(StateError::OtherType {
                name: name.into(),
                expected: core::any::type_name::<V>(),
            })?;
            table.restore(snapshot);
        }
        let table = Rc::new(RefCell::new(table));
        self.declared.push((name.into(), Rc::clone(&table) as _));
        Ok(table)
    }
}

impl<K> fmt::Debug for KeyedStates<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.declared.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

/// Why a state cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The operator has a state of that name already; each needs a name of its own.
    Taken {
        /// The name.
        name: Box<str>,
    },
    /// The state was restored, but what is kept per key, or the key, was of another type then.
    OtherType {
        /// The state's name.
        name: Box<str>,
        /// What is to be kept per key now.
        expected: &'static str,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name } => write!(
                f,
                "the operator has a state named \"{name}\" already: each needs a name of its own"
            ),
            Self::OtherType { name, expected } => write!(
                f,
                "the state \"{name}\" was stored with another type of key or value: it is to keep \
                 {expected} now, and must be declared as it was or by another name"
            ),
        }
    }
}

impl core::error::Error for StateError {}

//! All of an operator's keyed states as they were at one moment.

use super::TableSnapshot;
use core::any::Any;
use core::fmt;

/// All of an operator's keyed states as they were at one moment. It can be read on another thread.
#[derive(Debug)]
pub struct KeyedSnapshot {
    pub(super) states: Vec<StateSnapshot>,
}

impl KeyedSnapshot {
    /// The states, in the order they were declared.
    #[must_use]
    pub fn states(&self) -> &[StateSnapshot] {
        &self.states
    }
}

/// One state as it was at one moment.
pub struct StateSnapshot {
    pub(super) name: Box<str>,
    pub(super) table: Box<dyn Any + Send + Sync>,
}

impl StateSnapshot {
    /// The state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its table, if its keys are of type `K` and what is kept per key is of type `V`: a value, a
    /// `Vec` of a list's values, an accumulator.
    #[must_use]
    pub fn table<K: 'static, V: 'static>(&self) -> Option<&TableSnapshot<K, V>> {
        self.table.downcast_ref()
    }
}

impl fmt::Debug for StateSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateSnapshot")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

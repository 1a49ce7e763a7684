//! All of an operator's managed state by key as it was at one moment.

use super::TableSnapshot;
use super::description::{Description, StateKind};
use super::entries::Unreadable;
use super::error::StateError;
use super::layout::encode_states;
use crate::letter::BoxError;
use crate::stream::checkpointing::{EncodeState, OperatorSnapshot};
use core::any::Any;
use core::fmt;

/// One key group of any state, frozen.
pub(crate) trait FrozenPart {
    fn key_group(&self) -> u32;

    /// Puts its bytes behind those in `out`.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unreadable>;
}

/// Any state, frozen.
pub(crate) trait FrozenState: Any + Send + Sync {
    /// Whether nothing is in it.
    fn is_empty(&self) -> bool;

    /// The key groups that hold anything, in order.
    fn into_parts(self: Box<Self>) -> Vec<Box<dyn FrozenPart>>;
}

/// All of an operator's managed state by key as it was at one moment: its keyed states and its timers.
/// It can be read and encoded on another thread.
#[derive(Debug)]
pub struct KeyedSnapshot {
    max_parallelism: u32,
    states: Vec<StateSnapshot>,
}

impl KeyedSnapshot {
    /// Nothing yet, in a job of `max_parallelism` key groups.
    pub(crate) fn new(max_parallelism: u32) -> Self {
        Self {
            max_parallelism,
            states: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, description: Description, frozen: impl FrozenState) {
        self.states.push(StateSnapshot {
            description,
            frozen: Box::new(frozen),
        });
    }

    /// The states, in the order they were declared, and the timers.
    #[must_use]
    pub fn states(&self) -> &[StateSnapshot] {
        &self.states
    }

    /// Whether nothing is kept for any key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.iter().all(|state| state.frozen.is_empty())
    }

    /// Its bytes, of which a restore reads those of its own key groups alone. Each key group is let go
    /// of once it is encoded: from then on, a write to it copies nothing.
    ///
    /// # Errors
    /// [`StateError::NotStorable`].
    pub fn encode(self) -> Result<Vec<u8>, StateError> {
        let states = self.states.into_iter();
        let states = states.map(|state| (state.description, state.frozen.into_parts()));
        encode_states(self.max_parallelism, states.collect())
    }
}

impl EncodeState for KeyedSnapshot {
    fn encode(self: Box<Self>) -> Result<Vec<u8>, BoxError> {
        Ok((*self).encode()?)
    }
}

impl From<KeyedSnapshot> for OperatorSnapshot {
    /// An operator that has this state alone; one without state, if nothing is in it.
    fn from(snapshot: KeyedSnapshot) -> Self {
        if snapshot.is_empty() {
            Self::stateless()
        } else {
            Self::keyed(snapshot)
        }
    }
}

/// One state as it was at one moment.
pub struct StateSnapshot {
    description: Description,
    frozen: Box<dyn FrozenState>,
}

impl StateSnapshot {
    /// The state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.description.name()
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> StateKind {
        self.description.kind()
    }

    /// Its table, if its keys are of type `K` and what is kept per key is of type `V`: a value, a
    /// `Vec` of a list's values, an accumulator.
    #[must_use]
    pub fn table<K: 'static, V: 'static>(&self) -> Option<&TableSnapshot<K, V>> {
        let frozen: &dyn Any = &*self.frozen;
        frozen.downcast_ref()
    }
}

impl fmt::Debug for StateSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateSnapshot")
            .field("name", &self.name())
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

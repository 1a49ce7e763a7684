//! Where stored state is, and whose it is.

use core::fmt;
use serde::{Deserialize, Serialize};

/// One subtask of a job, by the place of its vertex and its own in it, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SubtaskId {
    /// The vertex's place in the job.
    pub vertex: u32,
    /// The place among the subtasks of the vertex.
    pub index: u32,
}

impl fmt::Display for SubtaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.vertex, self.index)
    }
}

/// State that was stored: itself, where it is small, or where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StateHandle {
    /// The bytes; they stand in the record of the checkpoint.
    Inline(Vec<u8>),
    /// A part of a file.
    File {
        /// The file, from the directory of the job's checkpoints on.
        path: Box<str>,
        /// Where the part begins, in bytes.
        offset: u64,
        /// How long it is, in bytes.
        len: u64,
        /// The CRC-32 of the part.
        crc32: u32,
    },
}

impl StateHandle {
    /// How long the state is, in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no state has no handle")]
    pub fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
        }
    }
}

/// The stored state of one operator in one subtask, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OperatorSubtaskState {
    /// State by key that the engine keeps, timers included.
    pub managed_keyed: Option<StateHandle>,
    /// State by key whose form is the operator's own.
    pub raw_keyed: Option<StateHandle>,
    /// State of the operator that the engine keeps.
    pub managed_operator: Option<StateHandle>,
    /// State of the operator whose form is its own.
    pub raw_operator: Option<StateHandle>,
}

impl OperatorSubtaskState {
    /// The four kinds.
    pub fn handles(&self) -> impl Iterator<Item = &StateHandle> {
        [
            &self.managed_keyed,
            &self.raw_keyed,
            &self.managed_operator,
            &self.raw_operator,
        ]
        .into_iter()
        .flatten()
    }
}

/// The stored state of a subtask: one entry for each operator of its chain, from the head on, also
/// for those without state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubtaskState {
    /// By operator: its name, and its state.
    pub operators: Vec<(Box<str>, OperatorSubtaskState)>,
}

impl SubtaskState {
    /// Whether no operator has any.
    #[must_use]
    pub fn is_stateless(&self) -> bool {
        self.handles().next().is_none()
    }

    /// All that was stored.
    pub fn handles(&self) -> impl Iterator<Item = &StateHandle> {
        self.operators.iter().flat_map(|(_, state)| state.handles())
    }

    /// How much was stored, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.handles().map(StateHandle::len).sum()
    }
}

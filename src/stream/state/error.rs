//! Why a state cannot be declared, stored or restored.

use core::fmt;

/// Why a state cannot be declared, stored or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The operator has a state of that name already; each needs a name of its own.
    Taken {
        /// The name.
        name: Box<str>,
    },
    /// The state was stored as another kind of state, or with other types.
    OtherType {
        /// The state's name.
        name: Box<str>,
        /// What was stored, in words.
        stored: Box<str>,
        /// What is declared, in words.
        declared: Box<str>,
    },
    /// A state was stored that the operator does not declare any more: it would be lost.
    NotDeclared {
        /// The state's name.
        name: Box<str>,
        /// What was stored, in words.
        stored: Box<str>,
    },
    /// The state was stored by a job with another number of key groups.
    OtherMaxParallelism {
        /// How many key groups the job had.
        stored: u32,
        /// How many it has.
        declared: u32,
    },
    /// Two subtasks stored one key group of a state.
    StoredTwice {
        /// The state's name.
        name: Box<str>,
        /// The key group.
        key_group: u32,
    },
    /// What is kept cannot be turned into bytes from which it can be read back.
    NotStorable {
        /// The state's name.
        name: Box<str>,
        /// What is kept, in words.
        contents: Box<str>,
        /// Why not.
        reason: Box<str>,
    },
    /// What was stored cannot be read.
    Damaged {
        /// Which part of it.
        part: Box<str>,
        /// Why not.
        reason: Box<str>,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name } => write!(
                f,
                "the operator has a state named \"{name}\" already: each needs a name of its own"
            ),
            Self::OtherType {
                name,
                stored,
                declared,
            } => write!(
                f,
                "the state \"{name}\" was stored as {stored} and is declared as {declared}: it must be \
                 declared as it was, or by another name"
            ),
            Self::NotDeclared { name, stored } => write!(
                f,
                "the state \"{name}\", {stored}, was stored, and is not declared any more: it would be \
                 lost"
            ),
            Self::OtherMaxParallelism { stored, declared } => write!(
                f,
                "state was stored in {stored} key groups and the job has {declared}: the maximum \
                 parallelism of a job stays as it was"
            ),
            Self::StoredTwice { name, key_group } => write!(
                f,
                "key group {key_group} of the state \"{name}\" was stored by two subtasks"
            ),
            Self::NotStorable {
                name,
                contents,
                reason,
            } => write!(
                f,
                "the state \"{name}\", {contents}, cannot be stored: {reason}"
            ),
            Self::Damaged { part, reason } => {
                write!(f, "{part} is not what was stored: {reason}")
            }
        }
    }
}

impl core::error::Error for StateError {}

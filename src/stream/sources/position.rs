//! Where a source is, as it is stored: what it is a position of and whose, and the position.

use crate::letter::BoxError;
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::setting::{Setting, Subtask};
use core::fmt;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Says whose positions those of a source are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    /// What they are of.
    kind: &'static str,
    index: u32,
    parallelism: u32,
}

impl Positions {
    pub(super) fn new(kind: &'static str, subtask: &Subtask) -> Self {
        Self {
            kind,
            index: subtask.index,
            parallelism: subtask.parallelism,
        }
    }

    /// The bytes of a position.
    pub(super) fn encode<P: Serialize>(self, position: &P) -> Result<Vec<u8>, BoxError> {
        let bytes = postcard::to_stdvec(&(self.kind, self.index, self.parallelism, position))?;
        Ok(bytes)
    }

    /// What is stored of a position.
    pub(super) fn store<P: Serialize + Send + 'static>(self, position: P) -> OperatorSnapshot {
        OperatorSnapshot::operator(move || self.encode(&position))
    }

    /// The position that a source is restored from, if it is.
    pub(super) fn restored<P: DeserializeOwned>(
        self,
        setting: &Setting,
    ) -> Result<Option<P>, PositionError> {
        let Some(restored) = setting.restored() else {
            return Ok(None);
        };
        let part = match restored.managed_operator.as_slice() {
            [] => return Ok(None),
            [part] => part,
            parts => {
                return Err(PositionError::Parts { parts: parts.len() });
            }
        };
        let unreadable = |error: postcard::Error| PositionError::Unreadable {
            why: error.to_string().into(),
        };
        let ((kind, index, parallelism), position): ((String, u32, u32), _) =
            postcard::take_from_bytes(part).map_err(unreadable)?;
        if kind != self.kind {
            return Err(PositionError::Kind {
                stored: kind.into(),
                asked: self.kind,
            });
        }
        if (index, parallelism) != (self.index, self.parallelism) {
            return Err(PositionError::Subtask {
                stored: (index, parallelism),
                asked: (self.index, self.parallelism),
            });
        }
        let (position, rest) = postcard::take_from_bytes(position).map_err(unreadable)?;
        if !rest.is_empty() {
            return Err(PositionError::TooLong { bytes: rest.len() });
        }
        Ok(Some(position))
    }
}

/// A source cannot be restored from the position that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PositionError {
    /// It is one of another source.
    Kind {
        /// What it is a position of.
        stored: Box<str>,
        /// What the source has positions of.
        asked: &'static str,
    },
    /// It is one of another subtask, or of another parallelism.
    Subtask {
        /// Whose it is: the place among the subtasks, and how many there were.
        stored: (u32, u32),
        /// Whose is allowed.
        asked: (u32, u32),
    },
    /// There are those of several subtasks.
    Parts {
        /// How many.
        parts: usize,
    },
    /// It is no position, or one of another type.
    Unreadable {
        /// What is wrong with it.
        why: Box<str>,
    },
    /// There is more to it than to a position of this type.
    TooLong {
        /// How many bytes are left over.
        bytes: usize,
    },
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { stored, asked } => write!(
                f,
                "the checkpoint has a position of {stored}, and the source reads {asked}: it can be \
                 restored only as the source it was"
            ),
            Self::Subtask { stored, asked } => write!(
                f,
                "the checkpoint has the position of subtask {} of {}, and this one is {} of {}: a \
                 source can be restored only with the parallelism it had",
                stored.0, stored.1, asked.0, asked.1
            ),
            Self::Parts { parts } => write!(
                f,
                "there are {parts} positions for one subtask: a source can be restored only with the \
                 parallelism it had"
            ),
            Self::Unreadable { why } => write!(
                f,
                "the source's position cannot be read, which is so where its type has changed: {why}"
            ),
            Self::TooLong { bytes } => write!(
                f,
                "the source's position is {bytes} bytes too long, which is so where its type has \
                 changed"
            ),
        }
    }
}

impl core::error::Error for PositionError {}

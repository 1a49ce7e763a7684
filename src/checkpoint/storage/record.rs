//! A record of the commit chain: who writes there, and which checkpoints are kept.
//!
//! K1. The record with the highest number, the head, names all checkpoints that are kept. What an
//!     older record says does not count beside it.
//! K2. What one record does not name any more, none after it names again.

use super::error::{Damage, StorageError};
use super::format::{self, FileKind};
use super::names::Attempt;
use super::writer::WriterId;
use crate::checkpoint::{CompletedCheckpoint, Epoch};
use crate::sync::PlainArc;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A checkpoint that is kept, and the number of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) attempt: Attempt,
}

/// A record of the commit chain; `C` is what stands for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Record<C> {
    /// Its place in the chain; the name of its file says the same.
    pub(crate) number: u64,
    pub(crate) job: Box<str>,
    /// The run of its writer.
    pub(crate) epoch: Epoch,
    pub(crate) writer: WriterId,
    /// The number of the record by which its writer took over.
    pub(crate) takeover: u64,
    /// No checkpoint has this id or a higher one.
    pub(crate) next_id: u64,
    /// The checkpoints that are kept, the oldest first, without the one that this record is of.
    pub(crate) kept: Vec<Kept>,
    pub(crate) body: Body<C>,
}

/// What a record is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Body<C> {
    /// A coordinator begins.
    Takeover {
        /// The path of the checkpoint elsewhere that the job is restored from.
        restored_from: Option<Box<str>>,
    },
    /// A checkpoint is complete. The record holds all of it: a file of its own would be one more to
    /// be written, made durable, read, and found missing, and its handles are small.
    Checkpoint(Attempt, C),
    /// The job is over, and its checkpoints are deleted. The record stays, so that no coordinator
    /// that was left behind takes the chain for a new one.
    Discarded,
}

impl<C> Record<C> {
    /// All checkpoints that are kept, the oldest first.
    pub(crate) fn live(&self) -> Vec<Kept> {
        let own = match self.body {
            Body::Checkpoint(attempt, _) => Some(Kept {
                number: self.number,
                attempt,
            }),
            Body::Takeover { .. } | Body::Discarded => None,
        };
        self.kept.iter().copied().chain(own).collect()
    }
}

impl<C: Serialize + DeserializeOwned> Record<C> {
    /// What its file holds.
    ///
    /// # Errors
    /// [`StorageError::Io`] if something in it refuses to be encoded.
    pub(crate) fn encode(&self, file: &str) -> Result<[Bytes; 2], StorageError> {
        let payload = postcard::to_stdvec(self).map_err(|error| StorageError::Io {
            action: "encode",
            file: file.into(),
            source: Box::new(error),
        })?;
        let header = format::header(FileKind::Record, [&payload[..]].into_iter());
        Ok([header, Bytes::from(payload)])
    }

    /// The record of that number, of which `bytes` were read from `file`.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] if they are not what was written there.
    pub(crate) fn decode(number: u64, file: &str, bytes: &Bytes) -> Result<Self, StorageError> {
        let payload = format::payload(FileKind::Record, file, bytes)?;
        let damaged = |damage| StorageError::Damaged {
            file: file.into(),
            damage,
        };
        let record: Self = match postcard::take_from_bytes(&payload) {
            Ok((record, [])) => record,
            Ok((_, rest)) => {
                let detail = format!("{} bytes are left", rest.len());
                return Err(damaged(Damage::Undecodable(detail.into())));
            }
            Err(error) => {
                let detail = error.to_string();
                return Err(damaged(Damage::Undecodable(detail.into())));
            }
        };
        if record.number == number {
            Ok(record)
        } else {
            let found = record.number;
            Err(damaged(Damage::Misplaced { found }))
        }
    }
}

/// A checkpoint as a record holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored(pub(crate) PlainArc<CompletedCheckpoint>);

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        CompletedCheckpoint::deserialize(deserializer).map(|read| Self(PlainArc::new(read)))
    }
}

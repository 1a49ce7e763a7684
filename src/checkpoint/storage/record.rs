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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{
        CompletedSubtask, CompletedVertex, OperatorSubtaskState, StateHandle,
        SubtaskCheckpointMetrics, SubtaskState,
    };
    use crate::stream::CheckpointId;

    /// A record in which everything is that can be.
    fn full() -> Record<Stored> {
        let (epoch, id) = (Epoch(2), CheckpointId::new(300).unwrap());
        let operator = OperatorSubtaskState {
            managed_keyed: Some(StateHandle::Inline(vec![1, 2])),
            raw_operator: Some(StateHandle::File {
                path: "a/file".into(),
                offset: 32,
                len: 70_000,
                crc32: 9,
            }),
            ..OperatorSubtaskState::default()
        };
        let subtask = CompletedSubtask {
            state: SubtaskState {
                operators: vec![("sum".into(), operator)],
            },
            is_finished: true,
            metrics: Some(SubtaskCheckpointMetrics {
                start_delay_ns: 1,
                alignment_ns: 2,
                sync_ns: 3,
                async_ns: 4,
                state_bytes: 5,
            }),
        };
        let checkpoint = CompletedCheckpoint {
            job: "job".into(),
            epoch,
            id,
            options: Default::default(),
            begun_ms: -1,
            duration_ns: 6,
            max_parallelism: 128,
            vertices: vec![CompletedVertex {
                name: "sums".into(),
                subtasks: vec![subtask],
            }],
            coordinator_states: vec![("source".into(), vec![3])],
            master_states: vec![("hook".into(), vec![4])],
        };
        let attempt = Attempt { epoch, id };
        Record {
            number: 7,
            job: "job".into(),
            epoch,
            writer: WriterId(1 << 100),
            takeover: 5,
            next_id: 301,
            kept: vec![Kept { number: 6, attempt }],
            body: Body::Checkpoint(attempt, Stored(PlainArc::new(checkpoint))),
        }
    }

    fn bytes(record: &Record<Stored>) -> Bytes {
        Bytes::from(record.encode("f").unwrap().concat())
    }

    #[test]
    fn a_record_is_read_back() {
        let record = full();
        assert_eq!(Record::decode(7, "f", &bytes(&record)).unwrap(), record);
        for body in [
            Body::Takeover {
                restored_from: Some("a/path".into()),
            },
            Body::Takeover {
                restored_from: None,
            },
            Body::Discarded,
        ] {
            let record = Record { body, ..full() };
            assert_eq!(Record::decode(7, "f", &bytes(&record)).unwrap(), record);
        }
    }

    #[test]
    fn a_record_keeps_its_layout() {
        let file = bytes(&full());
        let pinned = (file.len(), crc32fast::hash(&file));
        assert_eq!(
            pinned,
            (137, 599_921_174),
            "a record is laid out otherwise than those that are stored: give `FileKind::Record` \
             another text for its fingerprint, and pin what is found here"
        );
    }

    #[test]
    fn bytes_that_are_left_are_damage() {
        let record = full();
        let payload = postcard::to_stdvec(&record).unwrap();
        let longer = [&payload[..], b"x"].concat();
        let header = format::header(FileKind::Record, [&longer[..]].into_iter());
        let file = Bytes::from([&header[..], &longer].concat());
        let error = Record::<Stored>::decode(7, "f", &file).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f is damaged: it cannot be decoded: 1 bytes are left"
        );
    }

    /// F1: a length in the payload that nothing stands behind.
    #[test]
    fn a_length_of_nothing_allocates_nothing() {
        let mut payload = postcard::to_stdvec(&7_u64).unwrap();
        // The job's name: as long as a number can say.
        payload.extend([0xff; 9].into_iter().chain([1]));
        let header = format::header(FileKind::Record, [&payload[..]].into_iter());
        let file = Bytes::from([&header[..], &payload].concat());
        assert!(Record::<Stored>::decode(7, "f", &file).is_err());
    }
}

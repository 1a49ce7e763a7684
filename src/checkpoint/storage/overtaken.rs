//! Whether it is another coordinator that an error of storage is owed to: whoever takes over deletes what
//! is not kept, and who was left behind may miss that before it hears of the other one.

use super::checkpoint_storage::CheckpointStorage;
use super::names;
use super::writer::{WriterId, Writers};

/// A record by which is seen that another coordinator has taken over.
#[derive(Clone, Debug)]
pub(crate) struct Overtaken {
    pub(crate) number: u64,
    /// Its file.
    pub(crate) record: Box<str>,
    pub(crate) writer: WriterId,
}

impl CheckpointStorage {
    /// For whoever has taken over before, as the last of `writers`: the head of the chain, if none of them
    /// has written it. Nothing where that cannot be said.
    pub(crate) fn overtaken(&self, writers: &Writers) -> Option<Overtaken> {
        let number = self.record_numbers().ok()?.pop()?;
        let writer = self.record(number).ok()?.writer;
        let is_others = !writers.contain(writer);
        is_others.then(|| Overtaken {
            number,
            record: self.backend.name(&names::record(number)),
            writer,
        })
    }
}

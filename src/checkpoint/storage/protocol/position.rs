//! Where a coordinator stands in the chain.

use crate::checkpoint::Epoch;
use crate::checkpoint::storage::record::{Body, Kept, Record};

/// Where the coordinator stands in the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::checkpoint::storage) struct Position {
    /// The number of its last record, or the highest that it saw.
    pub(in crate::checkpoint::storage) last: u64,
    /// The number of the record by which it took over.
    pub(in crate::checkpoint::storage) takeover: u64,
    pub(in crate::checkpoint::storage) epoch: Epoch,
    /// The lowest id for another checkpoint.
    pub(in crate::checkpoint::storage) next_id: u64,
    /// All checkpoints that are kept, the oldest first.
    pub(in crate::checkpoint::storage) live: Vec<Kept>,
    /// The path of the checkpoint elsewhere that the job was restored from.
    pub(in crate::checkpoint::storage) restored_from: Option<Box<str>>,
    /// The id up to which attempts of its epoch are over.
    pub(in crate::checkpoint::storage) over: u64,
    /// Whether it has written more than its first record: what it does not keep may be deleted.
    pub(in crate::checkpoint::storage) has_committed: bool,
}

impl Position {
    /// One's own record is the head.
    pub(super) fn move_to<C>(&mut self, record: &Record<C>) {
        self.last = record.number;
        self.next_id = record.next_id;
        self.live = record.live();
        self.over = match record.body {
            Body::Takeover { .. } => return,
            Body::Checkpoint(attempt, _) => attempt.id.get(),
            Body::Discarded => {
                // Nothing else is left of the chain.
                self.takeover = record.number;
                u64::MAX
            }
        };
        self.has_committed = true;
        self.restored_from = None;
    }
}

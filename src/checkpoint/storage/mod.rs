//! Durable storage of checkpoints, and the chain of records by which they become complete.
//!
//! From the ground: `names` and `format` say how files are called and how they begin, `backend` and
//! `local` reach them, `record` is what stands in the chain. `protocol` decides what a coordinator
//! does there and `sweep` what it may delete, both without I/O; `commit_chain` and `collector` do
//! it. `state_file` is what subtasks store, `restore_point` how all of it is found again.
//!
//! What holds, whoever dies or loses an answer at whatever moment, and however many coordinators
//! there are: no number of the chain has two records; who was left behind tells no success; what
//! was told to be complete is what the next one goes on from, unless there is something newer; and
//! all files of that are there. `model` explores this.

mod backend;
mod checkpoint_storage;
mod collector;
mod commit_chain;
mod commit_error;
mod error;
mod format;
mod holds;
mod local;
mod names;
mod overtaken;
mod protocol;
mod record;
mod restore_point;
mod state_file;
mod sweep;
mod writer;

#[cfg(test)]
mod model;

pub use backend::StoreFuture;
pub use checkpoint_storage::CheckpointStorage;
pub use collector::{Collected, Collector};
pub use commit_chain::{CommitChain, Committed, RestoreFrom};
pub use commit_error::CommitError;
pub use error::{Damage, StorageError};
pub use format::FileKind;
pub(crate) use overtaken::Overtaken;
pub use restore_point::{RestorePoint, StoredCheckpoint};
pub use state_file::OperatorStateBytes;
pub(crate) use writer::Writers;

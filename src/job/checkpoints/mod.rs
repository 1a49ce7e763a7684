//! A job's checkpoints: the coordinator on a mailbox of its own, its effects carried out, and what
//! each attempt at the job begins with.

mod attempts;
mod beside;
mod carrying_out;
mod checkpointing;
mod environment;
mod handle;
mod hooks;
mod keeper;
mod observer;
mod outbox;
mod recovering;
mod starting;
mod stepped;
mod unanswered;

pub use checkpointing::Checkpointing;
pub use handle::{CheckpointPromise, JobCheckpoints};

pub(super) use starting::start;
pub(super) use stepped::SteppedCheckpoints;

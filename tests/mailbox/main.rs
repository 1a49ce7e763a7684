//! The mailbox through its public face.

mod batches;
mod contracts;
mod drops;
mod full;
mod life_cycle;
mod markers;
mod model;
mod notes;
mod priorities;
mod senders;
mod urgent;
mod watchdog;

//! The mailbox through its public face.

mod batches;
mod contracts;
mod full;
mod life_cycle;
mod notes;
mod priorities;
mod senders;
mod urgent;
mod watchdog;

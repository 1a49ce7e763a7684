//! The mailbox through its public face.

mod contracts;
mod full;
mod notes;
mod urgent;
mod watchdog;

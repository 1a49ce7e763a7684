//! The sink into files in which each record is once: driven by hand, with crashes at every point.
#![cfg(feature = "checkpoint")]

mod commits;
#[cfg(feature = "csv")]
mod csv;
mod job;
mod kit;
mod leftovers;
mod places;
mod random;
mod refusals;
#[path = "../scratch/mod.rs"]
mod scratch;
#[path = "../watchdog/mod.rs"]
mod watchdog;
mod world;

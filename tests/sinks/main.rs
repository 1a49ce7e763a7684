//! Sinks of a job: closures, memory, nowhere, files.
#![cfg(feature = "stream")]

#[cfg(feature = "csv")]
mod csv;
mod memory;
#[cfg(feature = "csv")]
#[path = "../scratch/mod.rs"]
mod scratch;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::task::Engine;

fn engine() -> Engine {
    Engine::builder().threads(1).build().unwrap()
}

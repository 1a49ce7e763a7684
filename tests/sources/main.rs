//! Sources of a job: with a rate, from outside, with a loop of their own, from files.
#![cfg(feature = "stream")]

#[cfg(feature = "csv")]
mod csv;
mod feeds;
mod generators;
mod legacy;
mod placed;
mod positions;
#[cfg(feature = "csv")]
#[path = "../scratch/mod.rs"]
mod scratch;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::task::Engine;

fn engine() -> Engine {
    Engine::builder().threads(1).build().unwrap()
}

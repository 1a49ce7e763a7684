//! Checkpoints on disk and in memory: what is committed is found again, whatever is lost, damaged or
//! done by two at once.
#![cfg(feature = "checkpoint")]

mod basics;
mod collecting;
mod damage;
mod durable;
mod faulty;
mod kit;
mod overtaken;
mod places;
mod restoring;
mod steps;
mod stores;

#[path = "../scratch/mod.rs"]
mod scratch;
#[path = "../watchdog/mod.rs"]
mod watchdog;

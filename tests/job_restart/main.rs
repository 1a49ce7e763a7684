//! Jobs that are run again after a failure, and those that are given up.
#![cfg(feature = "stream")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

mod attempts;
mod deployment;
mod endings;
mod failing;
mod handle;
mod legacy;
mod random;
mod strategies;

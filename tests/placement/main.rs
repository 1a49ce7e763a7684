//! CPU sets, topologies, placements and pins through their public face, case by case.
//!
//! `b35_…` is case B35 of the list of public bug reports. Machines and containers are small trees of
//! files like those below `/proc` and `/sys`; what pins does so in a thread or a process of its own.

mod containers;
mod machines;
#[cfg(target_os = "linux")]
mod pins;
mod plans;
mod sets;
mod tree;

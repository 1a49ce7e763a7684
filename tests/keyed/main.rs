//! Operators on keyed streams, each driven by hand: state, timers, and how firing gives way.
//!
//! Names lead to where a test comes from: `scenario_147_…` is number 147 of the list of the reference
//! system's scenarios.
#![cfg(feature = "stream")]

mod errors;
mod giving_way;
mod model;
mod restored;
mod running;
mod timed;
mod timers;

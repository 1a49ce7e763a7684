//! The rings through their public face, scenario by scenario and case by case.
//!
//! Names lead to where a test comes from: `scenario_14_…` is number 14 of the list of ring
//! scenarios, `b08_…` is case B08 of the list of public bug reports. A scenario that holds for both
//! kinds of ring is one generic function, and runs as `scenario::mpsc` and `scenario::spsc`.
//!
//! No test here depends on how fast anything is; limits on time are guards against hanging. The long
//! forms are ignored tests:
//!
//! ```sh
//! cargo test --release --test ring -- --ignored --test-threads=1
//! ```

#[macro_use]
mod kind;
mod batch;
mod capacity;
mod close;
mod counted;
mod counts;
mod drain;
mod drops;
mod faces;
mod letters;
mod order;
mod panics;
mod park;
mod room;
mod room_future;
mod signals;
mod soak;
mod tasks;
mod teardown;
mod timed;
mod usage;
#[path = "../watchdog/mod.rs"]
mod watchdog;

//! What an engine shows of itself: snapshots, its I/O pool, tasks that go on when told to end.

mod gate;
mod io;
mod stuck;
mod values;
#[path = "../watchdog/mod.rs"]
mod watchdog;

//! What an engine shows of itself: snapshots, its I/O pool, tasks that go on when told to end.

mod gate;
mod io;
#[cfg(feature = "metrics")]
mod published;
#[cfg(feature = "serde")]
mod serialized;
mod stuck;
#[cfg(feature = "tracing")]
mod traced;
mod values;
#[path = "../watchdog/mod.rs"]
mod watchdog;

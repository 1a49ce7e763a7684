//! The engine through its public face: tasks, their lives, shutdowns.

mod basics;
#[path = "../watchdog/mod.rs"]
mod watchdog;

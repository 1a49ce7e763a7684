//! The I/O pool through its public face.
//!
//! No test here depends on how fast anything is: jobs wait at gates that the test opens, and limits
//! on time are guards against hanging.

mod ends;
mod gate;
mod jobs;
mod refusals;
mod results;
#[path = "../watchdog/mod.rs"]
mod watchdog;

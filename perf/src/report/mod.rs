//! What a run found, and how it is told.

mod course;
mod cpus;
pub mod csv;
pub mod diff;
pub mod hdr_log;
pub mod hgrm;
pub mod html;
pub mod json;
mod layout;
pub(crate) mod list;
pub(crate) mod model;
mod names;
mod notes;
mod number;
pub(crate) mod ratios;
#[cfg(test)]
pub(crate) mod sample;
pub mod table;
pub mod title;

pub use course::{Checkpointed, Course, Stretch};
pub use model::{Ratio, Report, RoundFacts, Series, Settings};

//! What a run found, and how it is told.

pub(crate) mod model;
pub(crate) mod ratios;
pub mod title;

pub use model::{Ratio, Report, RoundFacts, Series};

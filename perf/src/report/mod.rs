//! What a run found, and how it is told.

pub(crate) mod model;
pub mod title;

pub use model::{Ratio, Report, RoundFacts, Series};

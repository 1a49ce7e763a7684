//! What a run found, and how it is told.

pub(crate) mod model;

pub use model::{Ratio, Report, RoundFacts, Series};

//! How event time goes on: where watermarks come from, and what is known of them behind several
//! channels or inputs.

mod activity;
mod assign;
mod combined;
mod effects;
mod generator;
mod heap;
mod reached;
mod status_output;
mod valve;

pub use assign::AssignWatermarks;
pub use combined::CombinedWatermarkStatus;
pub use effects::{WatermarkEffect, WatermarkEffects};
pub use generator::{
    BoundedOutOfOrderness, MonotonousTimestamps, WatermarkGenerator, WithIdleness,
};
pub use status_output::StatusOutput;
pub use valve::StatusWatermarkValve;

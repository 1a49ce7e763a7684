//! Event time through its public faces, scenario by scenario and case by case.
//!
//! Names lead to where a test comes from: `t9_…` is scenario T9 of the list of watermark scenarios,
//! `b57_…` is case B57 of the list of public bug reports.

#![cfg(feature = "stream")]

mod assign;
mod combined;
mod generators;
mod random;
mod restored;
mod status_output;
mod valve;

use mailring::stream::{Watermark, WatermarkEffect, WatermarkEffects, WatermarkStatus};

const ACTIVE: WatermarkEffect = WatermarkEffect::Status(WatermarkStatus::Active);
const IDLE: WatermarkEffect = WatermarkEffect::Status(WatermarkStatus::Idle);
const MAX: WatermarkEffect = WatermarkEffect::Watermark(Watermark::MAX);

fn at(timestamp_ms: i64) -> WatermarkEffect {
    WatermarkEffect::Watermark(Watermark(timestamp_ms))
}

/// Asserts what follows.
#[track_caller]
fn gives(effects: WatermarkEffects, expected: &[WatermarkEffect]) {
    assert_eq!(effects.is_empty(), expected.is_empty());
    assert_eq!(effects.len(), expected.len());
    assert_eq!(effects.collect::<Vec<_>>(), expected);
}

/// Each order of three.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

//! For the model tests only: weakens one ordering by name, and shows what models need to see.

use core::sync::atomic::Ordering;

/// Weakens the row `row` of the ordering table to `to`, for the rest of this process.
pub fn weaken(row: &str, to: Ordering) {
    crate::sync::order::weaken(row, to);
}

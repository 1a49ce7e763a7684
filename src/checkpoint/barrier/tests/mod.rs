//! Barrier handlers by scripts of a line per step, and by random ones against plain models.

mod aligned;
mod cancellation;
mod cut;
mod ended;
mod metrics;
mod models;
mod notation;
mod random;
mod stand;
mod tracker;

use notation::{aligned, tracker};

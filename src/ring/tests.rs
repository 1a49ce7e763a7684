//! Tests of both kinds of ring that need to set where sequences start.

mod life_cycle;
mod model;
mod random;

//! Scenarios T106 to T130, T168, T173, T178 and others of a subtask's side, by their numbers, with
//! fakes around it and in whole tasks.
//!
//! Not here, for want of what they are about: T108 and T113, of barriers that overtake and of state of
//! channels; T122 and T127, of stops that wait for a snapshot of their own; T153, of savepoints.

mod async_part;
mod barriers;
mod chain;
mod cut;
mod ends;
mod fakes;
mod induced;
mod leaving;
mod notices;
mod sources;
mod stand;
mod steps;

use crate::stream::{CheckpointBarrier, CheckpointId};

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).expect("counted from 1")
}

fn barrier(number: u64) -> CheckpointBarrier {
    CheckpointBarrier::new(id(number), 0)
}

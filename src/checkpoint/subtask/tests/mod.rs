//! Scenarios T106 to T130, T168, T173, T178 and others of a subtask's side, by their numbers, with
//! fakes around it and in whole tasks.
//!
//! Not here, for want of what they are about: T113 and most of T108, of state of channels and of barriers
//! that overtake; T127, of stops that wait for a snapshot of their own; T153, of savepoints. T121 is what
//! a closed chain takes; nothing can be registered behind a close, since the task lets go of who takes
//! part for it.
//!
//! Known faults of a subtask's side, and where it is seen that they are none of this one:
//! - K4, a chain whose state was taken in part: T115, T178. K7 and K13, what was aborted is not passed on,
//!   or goes on: `barriers.rs`, T110, T111. K8, what is subsumed fails the task: `barriers.rs`.
//! - K11, a part that is registered while the task closes: `k11`, and C1. K14, reasons that are lost: T116.
//! - K12, K21 and K52, what comes too early or too late is lost: T109, T121, T128; before a task is
//!   restored there is no mailbox for it, and none begins before all tasks run, T180.
//! - K18 and K23, one that fails hides a notice from others: T119.
//! - K20, timers hold up a checkpoint: they give way, and the checkpoint waits for what is half done alone,
//!   `a_checkpoint_waits_for_what_the_chain_has_left_unfinished`.
//! - K35, what is restored as finished: T118, T130. K44, two waits at the end: T122, T125, T129.
//! - K45, a task waits for a deletion: what was stored for nothing is deleted by who stored it, T117.
//! - K46, an error of a timer is lost: it is the error of the letter that the timer is, and fails the task.
//! - K3, an abort and a trigger race: both are letters of one task. K6, K15, K37 and K39 are of state of
//!   channels.

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
mod ways;

use crate::stream::{CheckpointBarrier, CheckpointId};

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).expect("counted from 1")
}

fn barrier(number: u64) -> CheckpointBarrier {
    CheckpointBarrier::new(id(number), 0)
}

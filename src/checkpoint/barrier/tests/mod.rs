//! Barrier handlers by scripts of a line per step, and by random ones against plain models: scenarios
//! T34 to T66, T73 to T76, T79, T82b, T100 and T101, by their numbers.
//!
//! Not here: the bytes of T47 and T101 that come during an alignment, which nobody counts; T67 to T72,
//! T77, T78 and T80 to T99, of barriers that overtake, which there are none of yet. Of T74 what an
//! aligned handler and the tracker make of it is here. T48 and T49 are met again by a subtask's side.
//!
//! Known faults of such handlers, and where it is seen that they are none of these:
//! - K5, the wrong channel is resumed: all scripts are played over one gate, over two and over three.
//! - K7, what was cancelled comes to life again: T42, T43, T44, T64, and the models.
//! - K8, what is subsumed fails the task: to be subsumed is an effect among others, T37 and T52.
//! - K19, nothing completes where no channel is left: `b60d`, and `all_ends_during_alignment_trigger`.
//! - K24, a replayed barrier resumes channels: T49.
//! - K26, a clock that was started by an earlier checkpoint, or by a hop: a delay counts from the begin
//!   that the barrier tells, and an alignment from its own first barrier, T47, T54, T55 and T100.
//! - K30, one checkpoint is triggered twice behind an end: T62. K31, the clock of an older one: T54.
//! - K3: a handler is a plain value that one thread has, and nobody else can call it.
//! - K17, K25, K27, K32 and K38 are of timeouts, and of barriers that overtake.

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

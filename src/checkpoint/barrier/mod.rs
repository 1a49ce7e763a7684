//! Where a checkpoint reaches a task: what barriers by several channels, and what takes their place,
//! come to.
//!
//! A handler is told what came by which channel and when, and answers with what is to be done. It
//! knows no clock, channel, or snapshot.

mod aligned;
mod channels;
mod effect;
mod tracker;
mod verdict;

#[cfg(test)]
mod tests;

pub use aligned::SingleCheckpointBarrierHandler;
pub use effect::{AbortReason, AlignmentMetrics, BarrierEffect};
pub use tracker::CheckpointBarrierTracker;

use crate::stream::{ChannelId, CheckpointBarrier, CheckpointId};
use core::fmt;

/// What a task with inputs makes of the events that have to do with checkpoints.
///
/// The effects that are returned are to be carried out in their order, before anything else is read
/// or told to the handler. A barrier has [blocked its channel](crate::stream::Event::blocks_channel)
/// when the handler is told of it, and each such channel that has not ended is resumed exactly
/// once. Every checkpoint is triggered or aborted at most once, in the order of their ids.
///
/// Times are in nanoseconds of the job's clock since the job was started, as in
/// [`CheckpointBarrier::begun_ns`].
///
/// ```
/// use mailring::checkpoint::{
///     AlignmentMetrics, BarrierEffect, CheckpointBarrierHandler, SingleCheckpointBarrierHandler,
/// };
/// use mailring::stream::{ChannelId, CheckpointBarrier, CheckpointId};
///
/// let (left, right) = (ChannelId { gate: 0, channel: 0 }, ChannelId { gate: 0, channel: 1 });
/// let barrier = CheckpointBarrier::new(CheckpointId::new(1).unwrap(), 100);
///
/// let mut handler = SingleCheckpointBarrierHandler::new(&[2]);
/// assert!(handler.barrier(barrier, left, 130).is_empty());
/// assert_eq!(handler.blocked_channels(), [left]);
///
/// let alignment = AlignmentMetrics { start_delay_ns: 30, alignment_ns: 12 };
/// assert_eq!(
///     handler.barrier(barrier, right, 142),
///     [
///         BarrierEffect::Trigger { barrier, alignment },
///         BarrierEffect::Resume(left),
///         BarrierEffect::Resume(right),
///     ]
/// );
/// ```
///
/// # Panics
/// Each method that takes a channel panics where there is none such, or it has ended: by then
/// [it is read no more](crate::stream::InputGate).
pub trait CheckpointBarrierHandler: fmt::Debug {
    /// A barrier came by a channel.
    #[must_use = "a channel that is not resumed gives nothing more"]
    fn barrier(
        &mut self,
        barrier: CheckpointBarrier,
        from: ChannelId,
        now_ns: u64,
    ) -> Vec<BarrierEffect>;

    /// By a channel came that the barrier of a checkpoint will not come.
    #[must_use = "a channel that is not resumed gives nothing more"]
    fn cancel(&mut self, id: CheckpointId, from: ChannelId) -> Vec<BarrierEffect>;

    /// A channel has ended. It is resumed no more.
    #[must_use = "a channel that is not resumed gives nothing more"]
    fn end_of_partition(&mut self, from: ChannelId, now_ns: u64) -> Vec<BarrierEffect>;

    /// The coordinator triggers the checkpoint at this task, since all tasks before it have finished:
    /// it is as if a barrier came by each channel that has not ended, but none is blocked by that,
    /// nor resumed. Where all have ended, the checkpoint is triggered all the same.
    #[must_use = "a channel that is not resumed gives nothing more"]
    fn replay(&mut self, barrier: CheckpointBarrier, now_ns: u64) -> Vec<BarrierEffect>;

    /// The checkpoint that was triggered by the effects that are being carried out could not be
    /// begun, and the task is to go on without it. What is returned is to be carried out before the
    /// rest of these effects, which stand: it is they that resume the channels.
    ///
    /// Nothing is returned if `id` was not the last to be triggered.
    #[must_use = "who waits for the checkpoint is to be told"]
    fn trigger_failed(&mut self, id: CheckpointId) -> Vec<BarrierEffect>;

    /// Ends the wait for the barriers of a checkpoint, and of all older ones; nothing if it is not
    /// pending.
    #[must_use = "a channel that is not resumed gives nothing more"]
    fn abort(&mut self, id: CheckpointId, reason: AbortReason) -> Vec<BarrierEffect>;

    /// The newest checkpoint that was heard of.
    fn latest(&self) -> Option<CheckpointId>;

    /// Whether barriers of any checkpoint are awaited.
    fn is_pending(&self) -> bool;

    /// How many channels have not ended.
    fn open_channels(&self) -> usize;

    /// The channels that wait to be resumed, in order.
    fn blocked_channels(&self) -> Vec<ChannelId>;

    /// How long the alignment of the newest checkpoint took, in nanoseconds, or has taken so far; 0
    /// if it was aborted.
    fn alignment_ns(&self, now_ns: u64) -> u64;
}

/// What the end of a channel means for a checkpoint whose barrier has not come by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndOfChannel {
    /// As much as the barrier.
    Counts,
    /// It is aborted.
    Aborts,
}

impl EndOfChannel {
    const fn new(checkpoints_after_tasks_finish: bool) -> Self {
        if checkpoints_after_tasks_finish {
            Self::Counts
        } else {
            Self::Aborts
        }
    }
}

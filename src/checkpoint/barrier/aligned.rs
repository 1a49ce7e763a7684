//! Exactly once: a channel whose barrier has come waits for those of the others.
//!
//! A1. At most one checkpoint is pending, and it is the newest that was heard of. One that is not
//!     pending and not newer is over: its barriers do no more than have their channels resumed, and
//!     that a barrier will not come is no news. Where none is pending, the newest is the last that
//!     has ended.
//! A2. A channel is blocked only while a checkpoint is pending whose barrier came by it; by then it
//!     has not ended.
//! A3. A checkpoint is pending only while it lacks the barrier of a channel that has not ended. A
//!     channel counts once, however often its barrier comes, and whether its end comes too.
//! A4. A pending checkpoint ends by one trigger or one abort, and all its channels are resumed right
//!     behind that: whoever is told of it finds them blocked.
//! A5. That the barrier of a newer checkpoint will not come ends the pending one as the barrier would:
//!     no older one follows it on its channel.
//! A6. A barrier by a channel that is blocked already, which none should give, does not have it
//!     resumed twice: it stays blocked with what is pending then.

use super::channels::{ChannelSet, Channels};
use super::effect::{AbortReason, BarrierEffect};
use super::verdict::{FirstBarrier, LastVerdict};
use super::{CheckpointBarrierHandler, EndOfChannel};
use crate::stream::{ChannelId, CheckpointBarrier, CheckpointId};

/// The pending checkpoint.
#[derive(Clone, Debug)]
struct PendingAlignment {
    first: FirstBarrier,
    /// The channels whose barrier came, or whose end did meanwhile.
    received: ChannelSet,
    /// Those of them that wait.
    blocked: ChannelSet,
    /// How many channels there were to receive it by.
    target: usize,
}

impl PendingAlignment {
    fn new(first: FirstBarrier, channels: &Channels) -> Self {
        Self {
            first,
            received: channels.none(),
            blocked: channels.none(),
            target: channels.open(),
        }
    }

    const fn id(&self) -> CheckpointId {
        self.first.barrier.id
    }
}

/// How a barrier is met. Barriers that overtake records would bring states of their own.
#[derive(Clone, Debug, Default)]
enum BarrierState {
    /// No checkpoint is pending: a newer barrier is the first of its checkpoint.
    #[default]
    WaitingForFirstBarrier,
    /// Channels are blocked as their barriers come, until all have.
    CollectingBarriers(PendingAlignment),
}

/// Takes one checkpoint at a time, and counts each record once: a channel whose barrier has come
/// gives nothing more until those of all other channels have come, and the snapshot is taken.
///
/// A newer checkpoint aborts the one that is pending. A channel that ends counts as if its barrier
/// had come by it, unless [that is turned off](Self::checkpoints_after_tasks_finish).
///
/// Every barrier is met so, whatever its [`Alignment`](crate::stream::Alignment) says: one that
/// might overtake records waits in line, which is slower and as right.
///
/// ```
/// use mailring::checkpoint::{BarrierEffect, CheckpointBarrierHandler, SingleCheckpointBarrierHandler};
/// use mailring::stream::{ChannelId, CheckpointBarrier, CheckpointId};
///
/// let channel = |gate, channel| ChannelId { gate, channel };
/// let barrier = CheckpointBarrier::new(CheckpointId::new(7).unwrap(), 0);
///
/// // Two gates, of one channel and of two.
/// let mut handler = SingleCheckpointBarrierHandler::new(&[1, 2]);
/// assert!(handler.barrier(barrier, channel(1, 0), 10).is_empty());
/// assert!(handler.end_of_partition(channel(0, 0), 20).is_empty());
/// let effects = handler.barrier(barrier, channel(1, 1), 30);
/// assert!(matches!(effects[0], BarrierEffect::Trigger { .. }));
/// assert_eq!(effects[1..], [channel(1, 0), channel(1, 1)].map(BarrierEffect::Resume));
/// ```
#[derive(Clone, Debug)]
pub struct SingleCheckpointBarrierHandler {
    channels: Channels,
    end_of_channel: EndOfChannel,
    latest: Option<CheckpointId>,
    state: BarrierState,
    last: LastVerdict,
}

impl SingleCheckpointBarrierHandler {
    /// A handler for gates of so many channels each, all open.
    ///
    /// # Panics
    /// With more than 65,536 gates.
    #[must_use]
    pub fn new(channels_per_gate: &[u32]) -> Self {
        Self {
            channels: Channels::new(channels_per_gate),
            end_of_channel: EndOfChannel::Counts,
            latest: None,
            state: BarrierState::WaitingForFirstBarrier,
            last: LastVerdict::default(),
        }
    }

    /// Whether a channel that ends counts as if its barrier had come, which it does by default;
    /// else it aborts the pending checkpoint.
    #[must_use]
    pub fn checkpoints_after_tasks_finish(mut self, enabled: bool) -> Self {
        self.end_of_channel = EndOfChannel::new(enabled);
        self
    }

    /// By A1.
    fn is_over(&self, id: CheckpointId) -> bool {
        match self.latest {
            Some(latest) if id == latest => !self.is_pending(),
            latest => Some(id) < latest,
        }
    }

    /// The alignment of the checkpoint of a barrier that is not over, which may begin with it.
    fn align(
        &mut self,
        barrier: CheckpointBarrier,
        now_ns: u64,
        effects: &mut Vec<BarrierEffect>,
    ) -> PendingAlignment {
        match core::mem::take(&mut self.state) {
            BarrierState::CollectingBarriers(pending) if pending.id() == barrier.id => pending,
            state => {
                self.state = state;
                self.abort_pending(AbortReason::Subsumed, effects);
                self.latest = Some(barrier.id);
                let at_ns = now_ns;
                PendingAlignment::new(FirstBarrier { barrier, at_ns }, &self.channels)
            }
        }
    }

    /// Triggers the checkpoint if nothing more is awaited.
    fn go_on(
        &mut self,
        alignment: PendingAlignment,
        now_ns: u64,
        effects: &mut Vec<BarrierEffect>,
    ) {
        if alignment.received.len() < alignment.target {
            self.state = BarrierState::CollectingBarriers(alignment);
        } else {
            effects.push(self.last.trigger(alignment.first, now_ns));
            self.resume(&alignment, effects);
        }
        self.check();
    }

    fn abort_pending(&mut self, reason: AbortReason, effects: &mut Vec<BarrierEffect>) {
        let state = core::mem::take(&mut self.state);
        if let BarrierState::CollectingBarriers(alignment) = state {
            effects.push(self.last.abort(alignment.id(), reason));
            self.resume(&alignment, effects);
        }
    }

    fn resume(&self, alignment: &PendingAlignment, effects: &mut Vec<BarrierEffect>) {
        let blocked = self.channels.of(&alignment.blocked);
        effects.extend(blocked.map(BarrierEffect::Resume));
    }

    fn is_blocked(&self, channel: usize) -> bool {
        match &self.state {
            BarrierState::WaitingForFirstBarrier => false,
            BarrierState::CollectingBarriers(alignment) => alignment.blocked.contains(channel),
        }
    }

    /// Leaves a channel out of those that are resumed with the pending checkpoint.
    fn unblock(&mut self, channel: usize) {
        if let BarrierState::CollectingBarriers(alignment) = &mut self.state {
            alignment.blocked.remove(channel);
        }
    }

    fn check(&self) {
        let BarrierState::CollectingBarriers(alignment) = &self.state else {
            debug_assert!(self.latest == self.last.id(), "A1");
            return;
        };
        debug_assert!(self.latest == Some(alignment.id()), "A1");
        debug_assert!(alignment.blocked.is_subset(&alignment.received), "A2");
        debug_assert!(alignment.received.len() < alignment.target, "A3");
    }
}

impl CheckpointBarrierHandler for SingleCheckpointBarrierHandler {
    fn barrier(
        &mut self,
        barrier: CheckpointBarrier,
        from: ChannelId,
        now_ns: u64,
    ) -> Vec<BarrierEffect> {
        let channel = self.channels.place_of_open(from);
        let mut effects = Vec::new();
        if self.is_over(barrier.id) {
            if !self.is_blocked(channel) {
                effects.push(BarrierEffect::Resume(from));
            }
            return effects;
        }
        self.unblock(channel);
        let mut alignment = self.align(barrier, now_ns, &mut effects);
        alignment.received.insert(channel);
        alignment.blocked.insert(channel);
        self.go_on(alignment, now_ns, &mut effects);
        effects
    }

    fn cancel(&mut self, id: CheckpointId, from: ChannelId) -> Vec<BarrierEffect> {
        let _ = self.channels.place_of_open(from);
        if self.is_over(id) {
            return Vec::new();
        }
        if self.latest == Some(id) {
            return self.abort(id, AbortReason::CancellationBarrier);
        }
        let mut effects = Vec::new();
        self.abort_pending(AbortReason::Subsumed, &mut effects);
        self.latest = Some(id);
        effects.push(self.last.abort(id, AbortReason::CancellationBarrier));
        effects
    }

    fn end_of_partition(&mut self, from: ChannelId, now_ns: u64) -> Vec<BarrierEffect> {
        let channel = self.channels.place_of_open(from);
        self.channels.end(channel);
        self.unblock(channel);
        let mut effects = Vec::new();
        let state = core::mem::take(&mut self.state);
        if let BarrierState::CollectingBarriers(mut alignment) = state {
            match self.end_of_channel {
                EndOfChannel::Counts => {
                    alignment.received.insert(channel);
                    self.go_on(alignment, now_ns, &mut effects);
                }
                EndOfChannel::Aborts => {
                    self.state = BarrierState::CollectingBarriers(alignment);
                    self.abort_pending(AbortReason::InputEndOfStream, &mut effects);
                }
            }
        }
        effects
    }

    fn replay(&mut self, barrier: CheckpointBarrier, now_ns: u64) -> Vec<BarrierEffect> {
        let mut effects = Vec::new();
        if !self.is_over(barrier.id) {
            let mut alignment = self.align(barrier, now_ns, &mut effects);
            for channel in self.channels.each_open() {
                alignment.received.insert(channel);
            }
            self.go_on(alignment, now_ns, &mut effects);
        }
        effects
    }

    fn trigger_failed(&mut self, id: CheckpointId) -> Vec<BarrierEffect> {
        self.last.trigger_failed(id).into_iter().collect()
    }

    fn abort(&mut self, id: CheckpointId, reason: AbortReason) -> Vec<BarrierEffect> {
        let mut effects = Vec::new();
        if self.latest == Some(id) {
            self.abort_pending(reason, &mut effects);
        }
        effects
    }

    fn latest(&self) -> Option<CheckpointId> {
        self.latest
    }

    fn is_pending(&self) -> bool {
        matches!(self.state, BarrierState::CollectingBarriers(_))
    }

    fn open_channels(&self) -> usize {
        self.channels.open()
    }

    fn blocked_channels(&self) -> Vec<ChannelId> {
        match &self.state {
            BarrierState::WaitingForFirstBarrier => Vec::new(),
            BarrierState::CollectingBarriers(alignment) => {
                self.channels.of(&alignment.blocked).collect()
            }
        }
    }

    fn alignment_ns(&self, now_ns: u64) -> u64 {
        match &self.state {
            BarrierState::WaitingForFirstBarrier => self.last.alignment_ns(),
            BarrierState::CollectingBarriers(alignment) => {
                now_ns.saturating_sub(alignment.first.at_ns)
            }
        }
    }
}

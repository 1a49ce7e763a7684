//! At least once: barriers are counted, and no channel waits for another.
//!
//! T1. Pending checkpoints stand in the order of their ids, at most 50; the oldest give way to newer
//!     ones, and nobody is told.
//! T2. A checkpoint that is not pending and not newer than all that were heard of is over: its
//!     barriers, and that they will not come, mean nothing any more. So the newest that was heard of
//!     is the last pending one, or, where none is pending, the last that has ended.
//! T3. A checkpoint is pending only while it lacks the barrier of a channel that has not ended. A
//!     channel counts once, however often its barrier comes, and whether its end comes too.
//! T4. When a checkpoint is triggered, all older ones are over, and nobody is told: they are
//!     subsumed by it. When it is aborted, so are they: a task that has passed on that a barrier
//!     will not come passes on none of an older checkpoint.
//! T5. Each barrier has its channel resumed, whatever it counts for.

use super::channels::{ChannelSet, Channels};
use super::effect::{AbortReason, BarrierEffect};
use super::verdict::{FirstBarrier, LastVerdict};
use super::{CheckpointBarrierHandler, EndOfChannel};
use crate::stream::{ChannelId, CheckpointBarrier, CheckpointId};
use std::collections::VecDeque;

/// A checkpoint whose barriers are counted.
#[derive(Clone, Debug)]
struct BarrierCount {
    first: FirstBarrier,
    /// The channels whose barrier came, or whose end did meanwhile.
    received: ChannelSet,
    /// How many channels there were to receive it by.
    target: usize,
}

impl BarrierCount {
    const fn id(&self) -> CheckpointId {
        self.first.barrier.id
    }

    fn is_complete(&self) -> bool {
        self.received.len() >= self.target
    }
}

/// Takes a checkpoint when the last of its barriers comes, and lets the records behind those that
/// came before go on meanwhile: after a restore they may count twice.
///
/// Several checkpoints may be pending at once, up to
/// [`PENDING_MAX`](Self::PENDING_MAX); one that is triggered subsumes the older ones. A channel that
/// ends counts as if its barriers had come by it, unless
/// [that is turned off](Self::checkpoints_after_tasks_finish).
///
/// ```
/// use mailring::checkpoint::{BarrierEffect, CheckpointBarrierHandler, CheckpointBarrierTracker};
/// use mailring::stream::{ChannelId, CheckpointBarrier, CheckpointId};
///
/// let (left, right) = (ChannelId { gate: 0, channel: 0 }, ChannelId { gate: 0, channel: 1 });
/// let barrier = CheckpointBarrier::new(CheckpointId::new(1).unwrap(), 0);
///
/// let mut tracker = CheckpointBarrierTracker::new(&[2]);
/// assert_eq!(tracker.barrier(barrier, left, 10), [BarrierEffect::Resume(left)]);
/// let effects = tracker.barrier(barrier, right, 20);
/// assert_eq!(effects[0], BarrierEffect::Resume(right));
/// assert!(matches!(effects[1], BarrierEffect::Trigger { .. }));
/// ```
#[derive(Clone, Debug)]
pub struct CheckpointBarrierTracker {
    channels: Channels,
    end_of_channel: EndOfChannel,
    latest: Option<CheckpointId>,
    pending: VecDeque<BarrierCount>,
    last: LastVerdict,
}

impl CheckpointBarrierTracker {
    /// How many checkpoints may be pending; with more, the oldest is forgotten.
    pub const PENDING_MAX: usize = 50;

    /// A tracker for gates of so many channels each, all open.
    ///
    /// # Panics
    /// With more than 65,536 gates.
    #[must_use]
    pub fn new(channels_per_gate: &[u32]) -> Self {
        Self {
            channels: Channels::new(channels_per_gate),
            end_of_channel: EndOfChannel::Counts,
            latest: None,
            pending: VecDeque::new(),
            last: LastVerdict::default(),
        }
    }

    /// Whether a channel that ends counts as if its barriers had come, which it does by default;
    /// else it aborts all pending checkpoints.
    #[must_use]
    pub fn checkpoints_after_tasks_finish(mut self, enabled: bool) -> Self {
        self.end_of_channel = EndOfChannel::new(enabled);
        self
    }

    /// The pending checkpoint of a barrier, which may be pending from now on; `None` if it is over
    /// (T2).
    fn count(&mut self, barrier: CheckpointBarrier, now_ns: u64) -> Option<usize> {
        let id = barrier.id;
        if Some(id) > self.latest {
            self.latest = Some(id);
            let at_ns = now_ns;
            self.pending.push_back(BarrierCount {
                first: FirstBarrier { barrier, at_ns },
                received: self.channels.none(),
                target: self.channels.open(),
            });
            if self.pending.len() > Self::PENDING_MAX {
                self.pending.pop_front();
            }
        }
        self.place(id)
    }

    #[cfg(test)]
    pub(super) fn pending_ids(&self) -> impl Iterator<Item = CheckpointId> + '_ {
        self.pending.iter().map(BarrierCount::id)
    }

    fn place(&self, id: CheckpointId) -> Option<usize> {
        self.pending
            .binary_search_by_key(&id, BarrierCount::id)
            .ok()
    }

    /// Triggers the newest checkpoint of which nothing more is awaited, if there is one (T4).
    fn go_on(&mut self, now_ns: u64, effects: &mut Vec<BarrierEffect>) {
        let complete = self.pending.iter().rposition(BarrierCount::is_complete);
        if let Some(place) = complete
            && let Some(count) = self.pending.drain(..=place).next_back()
        {
            effects.push(self.last.trigger(count.first, now_ns));
        }
        self.check();
    }

    /// Aborts those pending that are older than `id`.
    fn abort_older(&mut self, id: CheckpointId, effects: &mut Vec<BarrierEffect>) {
        let older = self.pending.partition_point(|count| count.id() < id);
        for count in self.pending.drain(..older) {
            effects.push(self.last.abort(count.id(), AbortReason::Subsumed));
        }
    }

    fn check(&self) {
        let ids = self.pending.iter().map(BarrierCount::id);
        debug_assert!(ids.is_sorted_by(|before, id| before < id), "T1");
        debug_assert!(self.pending.len() <= Self::PENDING_MAX, "T1");
        let newest = self.pending.back().map(BarrierCount::id);
        debug_assert!(newest.or(self.last.id()) == self.latest, "T2");
        debug_assert!(!self.pending.iter().any(BarrierCount::is_complete), "T3");
    }
}

impl CheckpointBarrierHandler for CheckpointBarrierTracker {
    fn barrier(
        &mut self,
        barrier: CheckpointBarrier,
        from: ChannelId,
        now_ns: u64,
    ) -> Vec<BarrierEffect> {
        let channel = self.channels.place_of_open(from);
        let mut effects = vec![BarrierEffect::Resume(from)];
        if let Some(place) = self.count(barrier, now_ns) {
            self.pending[place].received.insert(channel);
            self.go_on(now_ns, &mut effects);
        }
        effects
    }

    fn cancel(&mut self, id: CheckpointId, from: ChannelId) -> Vec<BarrierEffect> {
        let _ = self.channels.place_of_open(from);
        let mut effects = Vec::new();
        self.abort_older(id, &mut effects);
        let is_pending = self.place(id).is_some();
        if is_pending {
            self.pending.pop_front();
        }
        if is_pending || Some(id) > self.latest {
            self.latest = self.latest.max(Some(id));
            effects.push(self.last.abort(id, AbortReason::CancellationBarrier));
        }
        self.check();
        effects
    }

    fn end_of_partition(&mut self, from: ChannelId, now_ns: u64) -> Vec<BarrierEffect> {
        let channel = self.channels.place_of_open(from);
        self.channels.end(channel);
        let mut effects = Vec::new();
        match self.end_of_channel {
            EndOfChannel::Counts => {
                for count in &mut self.pending {
                    count.received.insert(channel);
                }
                self.go_on(now_ns, &mut effects);
            }
            EndOfChannel::Aborts => {
                for count in self.pending.drain(..) {
                    let reason = AbortReason::InputEndOfStream;
                    effects.push(self.last.abort(count.id(), reason));
                }
                self.check();
            }
        }
        effects
    }

    fn replay(&mut self, barrier: CheckpointBarrier, now_ns: u64) -> Vec<BarrierEffect> {
        let mut effects = Vec::new();
        if let Some(place) = self.count(barrier, now_ns) {
            for channel in self.channels.each_open() {
                self.pending[place].received.insert(channel);
            }
            self.go_on(now_ns, &mut effects);
        }
        effects
    }

    fn trigger_failed(&mut self, id: CheckpointId) -> Vec<BarrierEffect> {
        self.last.trigger_failed(id).into_iter().collect()
    }

    fn abort(&mut self, id: CheckpointId, reason: AbortReason) -> Vec<BarrierEffect> {
        let mut effects = Vec::new();
        if self.place(id).is_some() {
            self.abort_older(id, &mut effects);
            self.pending.pop_front();
            effects.push(self.last.abort(id, reason));
        }
        self.check();
        effects
    }

    fn latest(&self) -> Option<CheckpointId> {
        self.latest
    }

    fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    fn open_channels(&self) -> usize {
        self.channels.open()
    }

    fn blocked_channels(&self) -> Vec<ChannelId> {
        Vec::new()
    }

    fn alignment_ns(&self, now_ns: u64) -> u64 {
        match self.pending.back() {
            Some(newest) => now_ns.saturating_sub(newest.first.at_ns),
            None => self.last.alignment_ns(),
        }
    }
}

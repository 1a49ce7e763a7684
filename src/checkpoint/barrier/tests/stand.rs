//! A handler with channels that block and are resumed as a gate's are.

use crate::checkpoint::barrier::{
    AbortReason, AlignmentMetrics, BarrierEffect, CheckpointBarrierHandler,
    CheckpointBarrierTracker, SingleCheckpointBarrierHandler,
};
use crate::stream::{ChannelId, CheckpointBarrier, CheckpointId};
use core::fmt;

/// One thing that comes to a handler; channels by their places in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Barrier(u64, usize),
    Cancel(u64, usize),
    End(usize),
    Replay(u64),
    Abort(u64),
    TriggerFailed(u64),
    /// Nothing for so long, in ms.
    Pause(u64),
}

/// What a handler answered, channels by their places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Resume(usize),
    Trigger(u64),
    Abort(u64, AbortReason),
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Resume(channel) => write!(f, "+{channel}"),
            Self::Trigger(id) => write!(f, "T{id}"),
            Self::Abort(id, AbortReason::Subsumed) => write!(f, "-{id}subsumed"),
            Self::Abort(id, AbortReason::CancellationBarrier) => write!(f, "-{id}cancelled"),
            Self::Abort(id, AbortReason::InputEndOfStream) => write!(f, "-{id}ended"),
            Self::Abort(id, AbortReason::TriggerFailed) => write!(f, "-{id}failed"),
        }
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A handler whose pending checkpoints can be seen.
pub(super) trait Handler: CheckpointBarrierHandler {
    fn pending(&self) -> Vec<u64>;
}

impl Handler for SingleCheckpointBarrierHandler {
    fn pending(&self) -> Vec<u64> {
        let pending = self.latest().filter(|_| self.is_pending());
        pending.map(CheckpointId::get).into_iter().collect()
    }
}

impl Handler for CheckpointBarrierTracker {
    fn pending(&self) -> Vec<u64> {
        self.pending_ids().map(CheckpointId::get).collect()
    }
}

pub(super) fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).expect("an id above 0")
}

/// Of the checkpoint that was begun at 0.
pub(super) fn barrier(number: u64) -> CheckpointBarrier {
    CheckpointBarrier::new(id(number), 0)
}

/// The channels of gates, each by its gate and its place there.
pub(super) fn channels_of(gates: &[u32]) -> Vec<ChannelId> {
    let gates = gates.iter().enumerate();
    gates
        .flat_map(|(gate, &count)| {
            (0..count).map(move |channel| ChannelId {
                gate: gate as u16,
                channel,
            })
        })
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Open,
    Blocked,
    Ended,
}

pub(super) struct Stand {
    pub(super) handler: Box<dyn Handler>,
    ids: Vec<ChannelId>,
    pub(super) channels: Vec<Reach>,
    pub(super) now_ms: u64,
    /// Of each trigger, in order.
    pub(super) metrics: Vec<(u64, AlignmentMetrics)>,
}

impl Stand {
    pub(super) fn new(handler: impl Handler + 'static, gates: &[u32]) -> Self {
        let ids = channels_of(gates);
        Self {
            handler: Box::new(handler),
            channels: vec![Reach::Open; ids.len()],
            ids,
            now_ms: 0,
            metrics: Vec::new(),
        }
    }

    pub(super) const fn now_ns(&self) -> u64 {
        self.now_ms * 1_000_000
    }

    pub(super) fn tell(&mut self, input: Input) -> Vec<Effect> {
        let now_ns = self.now_ns();
        let effects = match input {
            Input::Barrier(id, channel) => {
                self.channels[channel] = Reach::Blocked;
                self.handler.barrier(barrier(id), self.ids[channel], now_ns)
            }
            Input::Cancel(number, channel) => self.handler.cancel(id(number), self.ids[channel]),
            Input::End(channel) => {
                self.channels[channel] = Reach::Ended;
                self.handler.end_of_partition(self.ids[channel], now_ns)
            }
            Input::Replay(id) => self.handler.replay(barrier(id), now_ns),
            Input::Abort(number) => self.handler.abort(id(number), AbortReason::Subsumed),
            Input::TriggerFailed(number) => self.handler.trigger_failed(id(number)),
            Input::Pause(ms) => {
                self.now_ms += ms;
                Vec::new()
            }
        };
        let effects = effects.into_iter().map(|effect| self.carry_out(effect));
        let effects = effects.collect();
        assert_eq!(
            self.handler.blocked_channels(),
            self.blocked()
                .map(|place| self.ids[place])
                .collect::<Vec<_>>(),
            "after {input:?} the handler is wrong about which channels are blocked"
        );
        assert_eq!(
            self.handler.open_channels(),
            self.places(|reach| reach != Reach::Ended).count()
        );
        assert_eq!(
            self.handler.is_pending(),
            !self.handler.pending().is_empty()
        );
        effects
    }

    /// As a gate does: it is wrong to resume a channel that is not blocked.
    fn carry_out(&mut self, effect: BarrierEffect) -> Effect {
        match effect {
            BarrierEffect::Resume(id) => {
                let place = self.ids.iter().position(|known| *known == id);
                let place = place.expect("a channel of this task");
                let was = core::mem::replace(&mut self.channels[place], Reach::Open);
                assert_eq!(was, Reach::Blocked, "channel {place} was resumed");
                Effect::Resume(place)
            }
            BarrierEffect::Trigger { barrier, alignment } => {
                let id = barrier.id.get();
                assert_eq!(barrier, self::barrier(id));
                self.metrics.push((id, alignment));
                Effect::Trigger(id)
            }
            BarrierEffect::Abort { id, reason } => Effect::Abort(id.get(), reason),
        }
    }

    fn places(&self, is: impl Fn(Reach) -> bool) -> impl Iterator<Item = usize> {
        let channels = self.channels.iter().enumerate();
        channels
            .filter(move |(_, reach)| is(**reach))
            .map(|(place, _)| place)
    }

    pub(super) fn blocked(&self) -> impl Iterator<Item = usize> {
        self.places(|reach| reach == Reach::Blocked)
    }

    pub(super) fn alignment_ms(&self) -> u64 {
        self.handler.alignment_ns(self.now_ns()) / 1_000_000
    }
}

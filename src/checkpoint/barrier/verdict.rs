//! How a checkpoint ends at a task: triggered or aborted.
//!
//! V1. The checkpoints that end do so in the order of their ids, each once: a task passes on no
//!     barrier, nor that it will not come, behind one of a newer checkpoint.
//! V2. The one exception: a trigger that could not be done becomes an abort, as long as no newer
//!     checkpoint has ended.

use super::effect::{AbortReason, AlignmentMetrics, BarrierEffect};
use crate::stream::{CheckpointBarrier, CheckpointId};

/// The first barrier of a checkpoint, and when it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstBarrier {
    pub(super) barrier: CheckpointBarrier,
    pub(super) at_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Triggered { alignment_ns: u64 },
    Aborted,
}

/// How the last checkpoint that has ended did so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastVerdict(Option<(CheckpointId, Verdict)>);

impl LastVerdict {
    pub(super) fn trigger(&mut self, first: FirstBarrier, now_ns: u64) -> BarrierEffect {
        let FirstBarrier { barrier, at_ns } = first;
        let alignment = AlignmentMetrics {
            start_delay_ns: at_ns.saturating_sub(barrier.begun_ns),
            alignment_ns: now_ns.saturating_sub(at_ns),
        };
        let alignment_ns = alignment.alignment_ns;
        self.set(barrier.id, Verdict::Triggered { alignment_ns });
        BarrierEffect::Trigger { barrier, alignment }
    }

    pub(super) fn abort(&mut self, id: CheckpointId, reason: AbortReason) -> BarrierEffect {
        self.set(id, Verdict::Aborted);
        BarrierEffect::Abort { id, reason }
    }

    /// `None` if `id` was not the last to be triggered (V2).
    pub(super) fn trigger_failed(&mut self, id: CheckpointId) -> Option<BarrierEffect> {
        let (last, verdict) = self.0.as_mut()?;
        if *last != id || *verdict == Verdict::Aborted {
            return None;
        }
        *verdict = Verdict::Aborted;
        let reason = AbortReason::TriggerFailed;
        Some(BarrierEffect::Abort { id, reason })
    }

    /// How long the barriers of the last one were aligned; 0 if it was aborted.
    pub(super) const fn alignment_ns(&self) -> u64 {
        match self.0 {
            Some((_, Verdict::Triggered { alignment_ns })) => alignment_ns,
            _ => 0,
        }
    }

    /// Which one has ended last.
    pub(super) fn id(&self) -> Option<CheckpointId> {
        self.0.map(|(id, _)| id)
    }

    fn set(&mut self, id: CheckpointId, verdict: Verdict) {
        debug_assert!(
            self.0.is_none_or(|(last, _)| last < id),
            "by V1 {id} cannot end after {:?}",
            self.0
        );
        self.0 = Some((id, verdict));
    }
}

//! The part of a checkpoint that runs beside the task: state becomes bytes, and is stored.
//!
//! C1. It ends once: acknowledged, or discarded. Who moves it out of running decides which, the
//!     thread that stores or who closes it; the other one leaves everything as it is. It is not over
//!     before what it came to is told: a task that ended meanwhile would be known to have, without an
//!     answer.
//! C2. State of what was discarded is deleted by who stored it, and is told to nobody.

use super::environment::{EncodedOperator, SubtaskEnvironment};
use super::error::CheckpointError;
use crate::checkpoint::{
    Acknowledge, CheckpointFailureReason, Decline, Epoch, SubtaskCheckpointMetrics, SubtaskId,
    SubtaskState, ToCoordinator,
};
use crate::letter::{BoxError, shown};
use crate::processor::Failure;
use crate::stream::{ChainSnapshot, CheckpointId, EncodeState};
use crate::sync::{AtomicU32, PlainArc};
use core::sync::atomic::Ordering;
use core::task::Waker;
use std::panic::{AssertUnwindSafe, catch_unwind};

const RUNNING: u32 = 0;
const TELLING: u32 = 1;
const OVER: u32 = 2;

/// A part that was handed over, as the task keeps it.
#[derive(Debug)]
pub(super) struct RunningPart {
    pub(super) id: CheckpointId,
    state: PlainArc<AtomicU32>,
}

impl RunningPart {
    /// Whether it is not over.
    pub(super) fn is_running(&self) -> bool {
        // Acquire: pairs with Release in `AsyncPart::drop`; what was told comes before.
        self.state.load(Ordering::Acquire) != OVER
    }

    /// Has it come to nothing, unless that is decided; whether it was not.
    pub(super) fn close(&self) -> bool {
        decide(&self.state, OVER)
    }
}

/// Moves a part out of running (C1); whether that was done here.
fn decide(state: &AtomicU32, to: u32) -> bool {
    // AcqRel: pairs with itself on the other side, and with Acquire in `is_running`.
    // Acquire: pairs with AcqRel here on the other side; who has lost finds what the other has done.
    let moved = state.compare_exchange(RUNNING, to, Ordering::AcqRel, Ordering::Acquire);
    moved.is_ok()
}

/// The part of a checkpoint that runs beside the task.
pub(super) struct AsyncPart {
    pub(super) snapshot: Snapshot,
    environment: PlainArc<dyn SubtaskEnvironment>,
    /// Called when it is over: the task may wait for that.
    waker: Waker,
    state: PlainArc<AtomicU32>,
}

/// What was taken of a task.
pub(super) struct Snapshot {
    pub(super) epoch: Epoch,
    pub(super) id: CheckpointId,
    pub(super) subtask: SubtaskId,
    pub(super) operators: ChainSnapshot,
    pub(super) is_finished: bool,
    pub(super) metrics: SubtaskCheckpointMetrics,
}

impl AsyncPart {
    /// The part, and what the task keeps of it.
    pub(super) fn new(
        snapshot: Snapshot,
        environment: PlainArc<dyn SubtaskEnvironment>,
        waker: Waker,
    ) -> (Self, RunningPart) {
        let state = PlainArc::new(AtomicU32::new(RUNNING));
        let kept = RunningPart {
            id: snapshot.id,
            state: PlainArc::clone(&state),
        };
        let part = Self {
            snapshot,
            environment,
            waker,
            state,
        };
        (part, kept)
    }

    /// Stores the state, and tells the coordinator.
    pub(super) fn run(mut self) {
        // Acquire: pairs with AcqRel in `decide`, by who has closed it.
        if self.state.load(Ordering::Acquire) != RUNNING {
            return;
        }
        let begun_ns = self.environment.now_ns();
        let operators = core::mem::take(&mut self.snapshot.operators);
        let stored = catch_unwind(AssertUnwindSafe(|| self.store(operators)))
            .unwrap_or_else(|payload| Err(Failure::panic("storing state", payload).into()));
        match stored {
            Ok(state) => {
                self.snapshot.metrics.async_ns = self.environment.now_ns().saturating_sub(begun_ns);
                self.snapshot.metrics.state_bytes = state.len_bytes();
                self.acknowledge(state);
            }
            Err(error) => self.decline(&*error),
        }
    }

    fn store(&self, operators: ChainSnapshot) -> Result<SubtaskState, BoxError> {
        let mut encoded = Vec::with_capacity(operators.len());
        for (name, snapshot) in operators {
            encoded.push(EncodedOperator {
                name: name.into(),
                managed_keyed: encode(snapshot.managed_keyed)?,
                raw_keyed: encode(snapshot.raw_keyed)?,
                managed_operator: encode(snapshot.managed_operator)?,
                raw_operator: encode(snapshot.raw_operator)?,
            });
        }
        self.environment.store(
            self.snapshot.epoch,
            self.snapshot.id,
            self.snapshot.subtask,
            encoded,
        )
    }

    fn acknowledge(&self, state: SubtaskState) {
        if decide(&self.state, TELLING) {
            self.environment
                .respond(ToCoordinator::Acknowledge(Acknowledge {
                    epoch: self.snapshot.epoch,
                    id: self.snapshot.id,
                    subtask: self.snapshot.subtask,
                    state,
                    is_finished: self.snapshot.is_finished,
                    metrics: self.snapshot.metrics,
                }));
        } else {
            // C2.
            self.environment.discard(state);
        }
    }

    fn decline(&self, error: &(dyn core::error::Error + Send + Sync + 'static)) {
        if decide(&self.state, TELLING) {
            let (reason, detail) = match error.downcast_ref::<CheckpointError>() {
                Some(error) => (error.reason, error.detail.clone()),
                None => (CheckpointFailureReason::AsyncException, shown(error).into()),
            };
            self.environment.respond(ToCoordinator::Decline(Decline {
                epoch: self.snapshot.epoch,
                id: self.snapshot.id,
                subtask: self.snapshot.subtask,
                reason,
                detail,
            }));
        }
    }
}

impl Drop for AsyncPart {
    fn drop(&mut self) {
        // One that was never run is over as well.
        // Release: pairs with Acquire in `is_running`; what was told comes first.
        self.state.store(OVER, Ordering::Release);
        self.waker.wake_by_ref();
    }
}

fn encode(state: Option<Box<dyn EncodeState>>) -> Result<Option<Vec<u8>>, BoxError> {
    state.map(EncodeState::encode).transpose()
}

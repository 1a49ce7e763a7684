//! Consistent snapshots of a job: barriers, the subtask's side, the coordinator, storage, recovery.

mod barrier;
mod completed;
mod coordinator;
mod failure_reason;
mod message;
mod state_handle;
mod subtask;

pub use barrier::{
    AbortReason, AlignmentMetrics, BarrierEffect, CheckpointBarrierHandler,
    CheckpointBarrierTracker, SingleCheckpointBarrierHandler,
};
pub use completed::{CompletedCheckpoint, CompletedSubtask, CompletedVertex};
pub use coordinator::{
    CheckpointFailureManager, CheckpointInUse, CheckpointPlan, CheckpointPlanCalculator,
    CheckpointPlanError, CheckpointRequest, CheckpointRequestDecider, CheckpointSettings,
    CheckpointSettingsError, CleaningCount, CompletedCheckpointStore,
    CompletedCheckpointStoreError, CoordinatorLoad, Decision, DistributionPattern, FailureVerdict,
    JobEnd, JobTopology, RefusedRequest, RetentionPolicy, SubtaskStatus, Subsumption,
    TopologyEdge, TopologyVertex, Trigger,
};
pub use failure_reason::CheckpointFailureReason;
pub use message::{
    Acknowledge, Decline, Epoch, SubtaskCheckpointMetrics, ToCoordinator, ToSubtask,
};
pub use state_handle::{OperatorSubtaskState, StateHandle, SubtaskId, SubtaskState};
pub use subtask::CheckpointError;

pub(crate) use subtask::{
    EncodedOperator, SubtaskCheckpointCoordinator, SubtaskEnvironment, SubtaskOptions,
};

//! Consistent snapshots of a job: barriers, the subtask's side, the coordinator, storage, recovery.

mod barrier;
mod completed;
mod coordinator;
mod failure_reason;
mod hooks;
mod message;
mod recovery;
mod sink;
mod state_handle;
mod storage;
mod subtask;

pub use barrier::{
    AbortReason, AlignmentMetrics, BarrierEffect, CheckpointBarrierHandler,
    CheckpointBarrierTracker, SingleCheckpointBarrierHandler,
};
pub use completed::{CompletedCheckpoint, CompletedSubtask, CompletedVertex};
pub use coordinator::{
    CheckpointCause, CheckpointCoordinator, CheckpointCounts, CheckpointFailure,
    CheckpointFailureManager, CheckpointHistory, CheckpointInUse, CheckpointPlan,
    CheckpointPlanCalculator, CheckpointPlanError, CheckpointReport, CheckpointRequest,
    CheckpointRequestDecider, CheckpointSettings, CheckpointSettingsError, CheckpointStatistics,
    CheckpointStatus, CheckpointSummary, CleaningCount, CommitFailure, CommitFailureKind,
    CompletedCheckpointStore, CompletedCheckpointStoreError, CoordinatedJob, CoordinatorLoad,
    CoordinatorSetup, Decision, DistributionPattern, Effect, FailureVerdict, IgnoredMessages,
    JobEnd, JobTopology, NamedStates, PromiseId, ReasonCounts, RefusedRequest, Restart,
    RestartError, RestoredCheckpoint, RetentionPolicy, StatsSummary, Subsumption,
    SubtaskStatsSummary, SubtaskStatus, TopologyEdge, TopologyVertex, Trigger,
};
pub use failure_reason::CheckpointFailureReason;
pub use hooks::{MasterHook, MasterHookError};
pub use message::{
    Acknowledge, Decline, Epoch, SubtaskCheckpointMetrics, ToCoordinator, ToSubtask,
};
pub use recovery::{
    NonRestored, NonRestoredState, RestoreError, RestoreTarget, StateAssignment, SubtaskAssignment,
    TargetVertex,
};
#[cfg(feature = "csv")]
pub use sink::{CsvRows, exactly_once_csv};
pub use sink::{
    FileSink, FileSinkError, FileWriter, RecordEncoder, TwoPhaseCommit, exactly_once_files,
};
pub use state_handle::{OperatorSubtaskState, StateHandle, SubtaskId, SubtaskState};
pub use storage::{
    CheckpointStorage, Collected, Collector, CommitChain, CommitError, Committed, Damage, FileKind,
    OperatorStateBytes, RestoreFrom, RestorePoint, StorageError, StoreFuture, StoredCheckpoint,
};
pub use subtask::CheckpointError;

pub(crate) use hooks::MasterHooks;
pub(crate) use storage::Writers;
pub(crate) use subtask::{
    EncodedOperator, SubtaskCheckpointCoordinator, SubtaskEnvironment, SubtaskOptions,
};

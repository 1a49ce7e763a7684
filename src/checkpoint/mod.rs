//! Consistent snapshots of a job: barriers, the subtask's side, the coordinator, storage, recovery.
//!
//! Who runs a job has to know a few of these:
//!
//! | for | there is |
//! |---|---|
//! | where checkpoints are | [`CheckpointStorage`] |
//! | how often they are taken, and within which limits | [`CheckpointSettings`], [`RetentionPolicy`] |
//! | what a job begins with | [`RestoreFrom`] |
//! | what has been of them | [`CheckpointStatistics`], [`CheckpointReport`], [`CheckpointFailureReason`] |
//! | sinks in which each record is once | [`exactly_once_files`], [`TwoPhaseCommit`] |
//! | outside systems that go back with a job | [`MasterHook`] |
//!
//! A job is given them by its [`Checkpointing`](../job/struct.Checkpointing.html). The rest is what that is
//! made of: plain state machines, which can be driven alone.
//!
//! ```
//! use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, RetentionPolicy};
//! use mailring::job::{Checkpointing, Job};
//! use mailring::stream::{Discard, Generator};
//! use mailring::task::Engine;
//! use std::time::Duration;
//!
//! let settings = CheckpointSettings::new(Duration::from_millis(50))
//!     .timeout(Duration::from_secs(60))
//!     .retained(3)
//!     .retention(RetentionPolicy::OnCancellation);
//! let checkpointing = Checkpointing::new(CheckpointStorage::in_memory(), settings);
//! let engine = Engine::builder().threads(1).build()?;
//! let job = Job::new("numbers")
//!     .checkpoints(checkpointing)
//!     .source("numbers", Generator::new(|number| number).count(100))
//!     .sink("discard", Discard)
//!     .start(&engine)?;
//! let checkpoints = job.checkpoints().expect("the job takes checkpoints");
//! job.wait()?;
//! println!("{}", checkpoints.statistics());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
    CoordinatorSetup, Decision, DistributionPattern, Effect, FailedDeletions, FailureVerdict,
    IgnoredMessages, JobEnd, JobTopology, NamedStates, PromiseId, ReasonCounts, RefusedRequest,
    Restart, RestartError, RestoredCheckpoint, RetentionPolicy, StatsSummary, Subsumption,
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
pub(crate) use storage::{Overtaken, Writers};
pub(crate) use subtask::{
    EncodedOperator, SubtaskCheckpointCoordinator, SubtaskEnvironment, SubtaskOptions,
};

//! The coordinator: begins checkpoints, collects their parts, and says when one is complete.

mod aborting;
mod cleaning;
mod collecting;
mod completing;
mod decider;
mod effect;
mod ended;
mod failure_manager;
mod job;
mod life;
mod pending;
mod plan;
mod report;
mod request;
mod retention;
mod schedule;
mod settings;
mod settings_error;
mod state_machine;
mod statistics;
mod store;
mod summary;
mod table;
mod topology;
mod triggering;

pub use cleaning::CleaningCount;
pub use decider::{CheckpointRequestDecider, CoordinatorLoad, Decision, RefusedRequest};
pub use effect::{CommitFailure, CommitFailureKind, Effect, NamedStates, PromiseId};
pub use failure_manager::{CheckpointFailureManager, FailureVerdict};
pub use job::{CoordinatedJob, CoordinatorSetup};
pub use life::{Restart, RestartError};
pub use plan::{CheckpointPlan, CheckpointPlanCalculator, CheckpointPlanError};
pub use report::{
    CheckpointCause, CheckpointFailure, CheckpointReport, CheckpointStatus, CheckpointSummary,
};
pub use request::{CheckpointRequest, Trigger};
pub use retention::{JobEnd, RetentionPolicy};
pub use settings::CheckpointSettings;
pub use settings_error::CheckpointSettingsError;
pub use state_machine::CheckpointCoordinator;
pub use statistics::{
    CheckpointCounts, CheckpointHistory, CheckpointStatistics, FailedDeletions, IgnoredMessages,
    ReasonCounts, RestoredCheckpoint,
};
pub use store::{
    CheckpointInUse, CompletedCheckpointStore, CompletedCheckpointStoreError, Subsumption,
};
pub use summary::{StatsSummary, SubtaskStatsSummary};
pub use topology::{DistributionPattern, JobTopology, SubtaskStatus, TopologyEdge, TopologyVertex};

#[cfg(test)]
mod tests;

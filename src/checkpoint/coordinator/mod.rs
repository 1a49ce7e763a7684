//! The coordinator: begins checkpoints, collects their parts, and says when one is complete.

mod cleaning;
mod decider;
mod failure_manager;
mod plan;
mod request;
mod retention;
mod settings;
mod settings_error;
mod store;
mod topology;

pub use cleaning::CleaningCount;
pub use decider::{CheckpointRequestDecider, CoordinatorLoad, Decision, RefusedRequest};
pub use failure_manager::{CheckpointFailureManager, FailureVerdict};
pub use plan::{CheckpointPlan, CheckpointPlanCalculator, CheckpointPlanError};
pub use request::{CheckpointRequest, Trigger};
pub use retention::{JobEnd, RetentionPolicy};
pub use settings::CheckpointSettings;
pub use settings_error::CheckpointSettingsError;
pub use store::{
    CheckpointInUse, CompletedCheckpointStore, CompletedCheckpointStoreError, Subsumption,
};
pub use topology::{DistributionPattern, JobTopology, SubtaskStatus, TopologyEdge, TopologyVertex};

//! Who runs tasks: our engine, and what others would take for one, each on pinned threads.

mod awake;
pub(super) mod engine;
mod kameo;
mod mailring;
mod tokio;

use super::owners::{Owner, measured};
use crate::registry::Registry;

/// All of them besides what is there.
pub(super) fn with_all(registry: Registry) -> Registry {
    registry
        .with_measured(measured::<mailring::MailringTask>())
        .with_measured(measured::<mailring::Alone>())
        .with_measured(measured::<tokio::TokioTask>())
        .with_measured(measured::<kameo::KameoActor>())
}

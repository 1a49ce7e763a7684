//! Through whom records flow: our jobs, and what others would write or take for one.

mod crossbeam;
mod hand_loop;
mod mailring;
mod timely;

use super::owners::measured;
use crate::registry::Registry;

/// All of them besides what is there.
pub(super) fn with_all(registry: Registry) -> Registry {
    registry
        .with_measured(measured::<mailring::MailringJob>())
        .with_measured(measured::<mailring::NoLetters>())
        .with_measured(measured::<mailring::MailringCheckpoints>())
        .with_measured(measured::<hand_loop::HandLoop>())
        .with_measured(measured::<crossbeam::Threads>())
        .with_measured(measured::<crossbeam::Batched>())
        .with_measured(measured::<timely::Timely>())
}

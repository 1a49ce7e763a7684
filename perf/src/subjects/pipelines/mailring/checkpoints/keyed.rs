//! Sums by key, with checkpoints and without.

use super::folder::Folder;
use super::watch::watch;
use super::{interval, run};
use crate::case::Case;
use crate::measure::Site;
use crate::measure::checkpoint::Watched;
use crate::measure::pipeline::Keyed;
use crate::registry::RoundError;
use crate::subjects::pipelines::mailring::ends::Home;
use crate::subjects::pipelines::mailring::sums_by_key;
use mailring::checkpoint::CheckpointSettings;
use mailring::job::{Checkpointing, Job};

pub(super) fn with(site: &Site, case: &Case, asked: Keyed) -> Result<Watched, RoundError> {
    let folder = Folder::new()?;
    let settings = CheckpointSettings::new(interval(case));
    let checkpointing = Checkpointing::new(folder.storage()?, settings);
    keyed(site, case, asked, |job| job.checkpoints(checkpointing))
}

pub(super) fn without(site: &Site, case: &Case, asked: Keyed) -> Result<Watched, RoundError> {
    keyed(site, case, asked, |job| job)
}

/// Looks at both alike, so that it costs both alike.
fn keyed(
    site: &Site,
    case: &Case,
    asked: Keyed,
    set: impl FnOnce(Job) -> Job,
) -> Result<Watched, RoundError> {
    let home = Home::new(site.clock);
    let job = set(sums_by_key(case, asked, &home));
    let course = run(site, case, asked.tasks, &job, |job| Ok(watch(job)))?;
    Ok(Watched {
        ran: home.arrived(|all, more| all.with(&more)),
        course,
    })
}

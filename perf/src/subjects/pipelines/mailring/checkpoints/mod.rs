//! Our jobs while checkpoints are taken, and what restores take.

mod empty;
mod flow;
mod folder;
mod keyed;
mod pause;
mod restart;
mod restore;
mod sync;
mod watch;

use super::{SUMS, engine};
use crate::case::{Case, Part, Workload};
use crate::measure::checkpoint;
use crate::measure::{Effort, NoCheckpoint, NoThread, Reading, Site};
use crate::registry::{Role, RoundError, Unfit};
use crate::subjects::owners::Owner;
use mailring::checkpoint::{CheckpointFailure, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobError, JobHandle};
use mailring::task::{BuildError, Engine};
use std::time::Duration;
use watch::LOOK_SOON;

/// Jobs whose checkpoints are stored: in a folder of the local file system where throughput and pauses
/// are measured, else in memory.
pub(in crate::subjects::pipelines) struct MailringCheckpoints;

impl Owner for MailringCheckpoints {
    const NAME: &'static str = "mailring-checkpoints";
    const ABOUT: &'static str = "the same with checkpoints, stored in files";
    const PACKAGE: &'static str = "mailring";
    const ROLE: Role = Role::Checkpoints;
    const WORKLOADS: &'static [Workload] = &[Workload::Checkpoint];
    const PARTS: &'static [Part] = &Part::CHECKPOINT;

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match (part, effort) {
            (Part::EverySecond | Part::EveryTenth | Part::FewerKeys, _) => {
                checkpoint::keyed(site, case, effort, |asked| keyed::with(site, case, asked))
            }
            (Part::Sync, Effort::Time(time)) => {
                checkpoint::timed(case, |keys| sync::timed(site, case, keys, time))
            }
            (Part::Pause, Effort::Time(time)) => {
                checkpoint::pauses(case, |keys| pause::with(site, case, keys, time))
            }
            (Part::Empty, Effort::Count(trips)) => {
                let times = empty::timed(site, case, trips)?;
                Ok(vec![Reading::of_median(times)])
            }
            (Part::Restore, Effort::Time(time)) => {
                checkpoint::restored(case, |keys| restore::timed(site, keys, time))
            }
            (Part::Restart, _) => checkpoint::timed(case, |keys| restart::timed(site, case, keys)),
            _ => Err(Unfit::NoOwner.into()),
        }
    }
}

/// A round of a part that a job without checkpoints has as well.
pub(super) fn round_without(
    site: &Site,
    case: &Case,
    part: Part,
    effort: Effort,
) -> Result<Vec<Reading>, RoundError> {
    match (part, effort) {
        (Part::Pause, Effort::Time(time)) => {
            checkpoint::pauses(case, |keys| pause::without(site, case, keys, time))
        }
        _ => checkpoint::keyed(site, case, effort, |asked| {
            keyed::without(site, case, asked)
        }),
    }
}

/// Runs a job on an engine of so many threads, which is gone when this returns; `meanwhile` has it until
/// its end.
fn run<T>(
    site: &Site,
    case: &Case,
    threads: usize,
    job: &Job,
    meanwhile: impl FnOnce(&JobHandle) -> Result<T, NoCheckpoint>,
) -> Result<T, RoundError> {
    let engine = engine::built(engine::engine(site, case, threads))?;
    let job = start(job, &engine)?;
    let told = meanwhile(&job)?;
    job.wait().map_err(NoCheckpoint::of)?;
    engine::end(&engine);
    Ok(told)
}

fn start(job: &Job, engine: &Engine) -> Result<JobHandle, RoundError> {
    job.start(engine).map_err(|error| match error {
        JobError::Master(BuildError::Thread { error, .. }) => NoThread::of(&error).into(),
        other => NoCheckpoint::of(other).into(),
    })
}

/// Asks for a checkpoint until one is begun: none is before the job knows that all its tasks run. What came
/// of it; nothing where the job has ended, or the user has asked to stop.
fn first_checkpoint(
    site: &Site,
    job: &JobHandle,
) -> Result<Option<Result<(), CheckpointFailure>>, NoCheckpoint> {
    let checkpoints = job.checkpoints().ok_or_else(|| NoCheckpoint::of("none"))?;
    while !site.is_interrupted() && !job.has_ended() {
        match checkpoints.trigger().wait() {
            Err(refused) if refused.id.is_none() => job.wait_timeout(LOOK_SOON),
            asked => return Ok(Some(asked.map(|_| ()))),
        };
    }
    Ok(None)
}

/// From the beginning of a checkpoint to that of the next, where they are taken by time.
fn interval(case: &Case) -> Duration {
    Duration::from_millis(case.checkpoint_ms.unwrap_or(1_000))
}

/// Checkpoints in memory, which are taken when they are asked for.
fn by_hand() -> Checkpointing {
    let storage = CheckpointStorage::in_memory();
    Checkpointing::new(storage, CheckpointSettings::manual())
}

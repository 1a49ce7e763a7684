//! What checkpoints cost a job, and how long they and restores take. What the job comes to must be right
//! whatever is measured of it.

#[cfg(test)]
mod tests;

use super::pipeline::{self, Keyed, Ran};
use super::{Effort, Reading, Site};
use crate::case::Case;
use crate::pipeline::numbers::Totals;
use crate::recorder::Recorder;
use crate::registry::{RoundError, Unfit};
use crate::report::Course;

/// Checkpoints could not be stored, taken or gone on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no checkpoint: {0}")]
pub struct NoCheckpoint(Box<str>);

impl NoCheckpoint {
    /// For this reason.
    pub(crate) fn of(reason: impl ToString) -> Self {
        // Errors of a job go over several lines.
        let reason = reason.to_string();
        let lines: Vec<_> = reason.split_whitespace().collect();
        Self(lines.join(" ").into())
    }
}

/// What a job that was looked at on its way came to.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) ran: Ran<Totals>,
    pub(crate) course: Course,
}

/// What `run` takes for a record of so many that are summed by key while checkpoints are taken or not.
pub(crate) fn keyed(
    site: &Site,
    case: &Case,
    effort: Effort,
    run: impl FnOnce(Keyed) -> Result<Watched, RoundError>,
) -> Result<Vec<Reading>, RoundError> {
    let keyed = Keyed {
        records: pipeline::counted(effort)?,
        keys: case.keys.ok_or(Unfit::NoOwner)?,
        tasks: case.producers,
    };
    let Watched { ran, course } = run(keyed)?;
    let mut readings = pipeline::reading_of_keyed(site, keyed, ran)?;
    if let Some(reading) = readings.first_mut() {
        reading.course = Some(course);
    }
    Ok(readings)
}

/// What a job came to whose source made numbers from 0 on until it was told to end.
#[derive(Debug)]
pub(crate) struct Flowed {
    /// How many it made.
    pub(crate) made: u64,
    /// The last sum of each key.
    pub(crate) sums: Totals,
    /// What was timed meanwhile.
    pub(crate) times: Recorder,
}

/// The median of what `run` times while numbers flow that have so many keys.
pub(crate) fn timed(
    case: &Case,
    run: impl FnOnce(usize) -> Result<Flowed, RoundError>,
) -> Result<Vec<Reading>, RoundError> {
    Ok(vec![Reading::of_median(right(case, run)?)])
}

/// The times between records that `run` records while numbers flow that have so many keys.
pub(crate) fn pauses(
    case: &Case,
    run: impl FnOnce(usize) -> Result<Flowed, RoundError>,
) -> Result<Vec<Reading>, RoundError> {
    let times = right(case, run)?;
    let value = times.percentile(99.9).unwrap_or(times.median()) as f64;
    Ok(vec![Reading {
        value,
        recorder: Some(times),
        ..Reading::default()
    }])
}

fn right(
    case: &Case,
    run: impl FnOnce(usize) -> Result<Flowed, RoundError>,
) -> Result<Recorder, RoundError> {
    let keys = case.keys.ok_or(Unfit::NoOwner)?;
    let flowed = run(keys)?;
    pipeline::check_sums(&flowed.sums, flowed.made, keys)?;
    Ok(flowed.times)
}

/// What an operator came to that was restored again and again.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) flowed: Flowed,
    /// How much state was restored each time.
    pub(crate) bytes: u64,
}

/// What `run` takes to restore a byte of the state of so many keys, in its median restore.
pub(crate) fn restored(
    case: &Case,
    run: impl FnOnce(usize) -> Result<Restored, RoundError>,
) -> Result<Vec<Reading>, RoundError> {
    let mut bytes = 0;
    let times = right(case, |keys| {
        let restored = run(keys)?;
        bytes = restored.bytes;
        Ok(restored.flowed)
    })?;
    Ok(vec![Reading {
        value: times.median() as f64 / bytes.max(1) as f64,
        recorder: Some(times),
        ..Reading::default()
    }])
}

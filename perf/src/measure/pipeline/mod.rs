//! What a record costs that flows through a pipeline, whose result must be the right one.

#[cfg(test)]
mod tests;

use super::{Effort, NoThread, Reading, Site};
use crate::case::{Case, Part};
use crate::clock::Ticks;
use crate::pipeline::flights::Windows;
use crate::pipeline::numbers::{self, Totals};
use crate::registry::{RoundError, Unfit};

/// A pipeline that computed something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("computes something else: {found} where {right} is right")]
pub struct Wrong {
    /// What it came to.
    pub found: u64,
    /// What it had to come to.
    pub right: u64,
}

/// What a pipeline came to, and how long it took: from when the first record is made until the last
/// result is at hand.
#[derive(Clone, Debug)]
pub(crate) struct Ran<T> {
    pub(crate) result: T,
    pub(crate) time: Ticks,
}

/// Sums by key that are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyed {
    /// Of all sources together.
    pub(crate) records: u64,
    pub(crate) keys: usize,
    /// How many sources there are, how many who sum, and how many threads.
    pub(crate) tasks: usize,
}

/// What `run` takes for a record of so many that are mapped, filtered and summed.
pub(crate) fn chained(
    site: &Site,
    effort: Effort,
    run: impl FnOnce(u64) -> Result<Ran<u64>, NoThread>,
) -> Result<Vec<Reading>, RoundError> {
    let records = counted(effort)?;
    reading(site, records, &numbers::sum_of_kept(records), run(records)?)
}

/// What `run` takes for a record of so many that another thread sums.
pub(crate) fn hop(
    site: &Site,
    effort: Effort,
    run: impl FnOnce(u64) -> Result<Ran<u64>, NoThread>,
) -> Result<Vec<Reading>, RoundError> {
    let records = counted(effort)?;
    reading(site, records, &numbers::sum(records), run(records)?)
}

/// What `run` takes for a record of so many that are summed by key.
pub(crate) fn keyed(
    site: &Site,
    case: &Case,
    effort: Effort,
    run: impl FnOnce(Keyed) -> Result<Ran<Totals>, NoThread>,
) -> Result<Vec<Reading>, RoundError> {
    let keyed = Keyed {
        records: counted(effort)?,
        keys: case.keys.ok_or(Unfit::NoOwner)?,
        tasks: match case.part {
            Some(Part::KeyedOne) => 1,
            _ => 2,
        },
    };
    reading_of_keyed(site, keyed, run(keyed)?)
}

/// What sums by key took for a record, if they are right.
pub(super) fn reading_of_keyed(
    site: &Site,
    asked: Keyed,
    ran: Ran<Totals>,
) -> Result<Vec<Reading>, RoundError> {
    let right = Totals::right(asked.records, asked.keys);
    reading(site, asked.records, &right, ran)
}

/// What `run` takes for a record of so many flights that are counted in windows.
pub(crate) fn flights(
    site: &Site,
    effort: Effort,
    run: impl FnOnce(u64) -> Result<Ran<Windows>, NoThread>,
) -> Result<Vec<Reading>, RoundError> {
    let records = counted(effort)?;
    reading(site, records, &Windows::right(records), run(records)?)
}

pub(super) fn counted(effort: Effort) -> Result<u64, Unfit> {
    match effort {
        Effort::Count(records) => Ok(records),
        Effort::Time(_) => Err(Unfit::NoOwner),
    }
}

/// A result that can be told from another one.
trait Outcome: Sized {
    /// Where they first differ: what is here, and what is there.
    fn differs_from(&self, other: &Self) -> Option<(u64, u64)>;
}

impl Outcome for u64 {
    fn differs_from(&self, other: &Self) -> Option<(u64, u64)> {
        (self != other).then_some((*self, *other))
    }
}

impl Outcome for Totals {
    fn differs_from(&self, other: &Self) -> Option<(u64, u64)> {
        self.difference(other)
    }
}

impl Outcome for Windows {
    fn differs_from(&self, other: &Self) -> Option<(u64, u64)> {
        let pairs = self.words().into_iter().zip(other.words());
        pairs.into_iter().find(|(found, right)| found != right)
    }
}

fn check<T: Outcome>(found: &T, right: &T) -> Result<(), Wrong> {
    match found.differs_from(right) {
        Some((found, right)) => Err(Wrong { found, right }),
        None => Ok(()),
    }
}

/// Whether sums by key are those of so many numbers from 0 on.
pub(super) fn check_sums(found: &Totals, records: u64, keys: usize) -> Result<(), Wrong> {
    check(found, &Totals::right(records, keys))
}

fn reading<T: Outcome>(
    site: &Site,
    records: u64,
    right: &T,
    ran: Ran<T>,
) -> Result<Vec<Reading>, RoundError> {
    check(&ran.result, right)?;
    let each = site.clock.ns(ran.time) as f64 / records.max(1) as f64;
    Ok(vec![Reading::of(each)])
}

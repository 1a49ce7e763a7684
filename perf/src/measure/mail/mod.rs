//! What it costs to hand work to an owner.

mod across;
mod alone;
mod ledger;
mod open_loop;
#[cfg(test)]
mod tests;

use super::{Effort, Reading, Site};
use crate::case::{Case, Part};
use crate::owner::Serving;
use crate::registry::{RoundError, Unfit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub(crate) use alone::{Mails, marker, to_itself};
pub(crate) use ledger::Ledger;

/// A round of a part in which an owner has a thread of its own.
pub(crate) fn served(
    serving: &impl Serving,
    site: &Site,
    case: &Case,
    effort: Effort,
) -> Result<Vec<Reading>, RoundError> {
    match (case.part, effort) {
        (Some(Part::AcrossCores), Effort::Count(mails)) => {
            Ok(vec![Reading::of(across::run(serving, site, case, mails)?)])
        }
        (Some(Part::Parked | Part::Busy), Effort::Time(duration)) => {
            let outcome = open_loop::run(serving, site, case, duration)?;
            Ok(outcome.readings(case))
        }
        _ => Err(Unfit::NoOwner.into()),
    }
}

/// Set by an owner that runs its first mail, which makes it known that it is there.
#[derive(Clone, Debug, Default)]
struct Ready(Arc<AtomicBool>);

impl Ready {
    fn say(&self) {
        // Relaxed: it says that a thread runs, and orders nothing.
        self.0.store(true, Ordering::Relaxed);
    }

    fn wait(&self) {
        // Relaxed: as above.
        while !self.0.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
}

//! A loop over std's channel of boxed closures.

use super::mailring::FAR;
use super::{Owner, count};
use crate::case::{Case, Part};
use crate::measure::turns::{self, timed};
use crate::measure::{Effort, Reading, Site};
use crate::owner::Boxed;
use crate::registry::RoundError;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

pub(super) struct StdBoxed;

impl Owner for StdBoxed {
    const NAME: &'static str = "std-boxed";
    const ABOUT: &'static str = "boxed closures through std's channel";
    const PACKAGE: &'static str = "std";
    const PARTS: &'static [Part] = &[Part::Turn, Part::Timer, Part::Yield];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        turns::each(site, count(effort), |turns| {
            let (_sender, receiver) = sync_channel::<Boxed<u64>>(case.capacity);
            let due = Instant::now() + FAR;
            let mut owned = 0;
            timed(site, || {
                for _ in 0..turns {
                    if let Ok(mail) = receiver.try_recv() {
                        mail(&mut owned);
                    }
                    if part == Part::Timer && Instant::now() >= due {
                        return;
                    }
                }
            })
        })
    }
}

//! What could be done without a mailbox.

use super::{Owner, count};
use crate::case::{Case, Part};
use crate::measure::turns::timed;
use crate::measure::{Effort, Reading, Site, mail};
use crate::owner::{Boxed, boxed};
use crate::registry::RoundError;
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

/// A queue that no other thread reaches.
pub(super) struct VecDequeBoxed;

impl Owner for VecDequeBoxed {
    const NAME: &'static str = "vecdeque-boxed";
    const ABOUT: &'static str = "boxed closures in a VecDeque, one thread";
    const PACKAGE: &'static str = "std";
    const BLOCKS: bool = false;
    const PARTS: &'static [Part] = &[Part::SelfPost];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        mail::to_itself(site, case, count(effort), |mut mails, mut ledger| {
            let mut queue = VecDeque::<Boxed<_>>::new();
            let start = site.clock.now();
            while let Some(some) = mails.turn() {
                queue.extend(some.map(|(first, second)| boxed(first, second)));
                while let Some(mail) = black_box(queue.pop_front()) {
                    mail(&mut ledger);
                }
            }
            start
        })
    }
}

/// A flag that says that something is pending.
pub(super) struct AtomicSwap;

impl Owner for AtomicSwap {
    const NAME: &'static str = "atomic-swap";
    const ABOUT: &'static str = "swap of an AtomicBool";
    const PACKAGE: &'static str = "std";
    const BLOCKS: bool = false;
    const PARTS: &'static [Part] = &[Part::Marker];

    fn round(site: &Site, _: &Case, _: Part, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        mail::marker(site, count(effort), |posts| {
            let pending = AtomicBool::new(true);
            let time = timed(site, || {
                for _ in 0..posts {
                    // AcqRel: pairs with that of who takes it, who sees what was done before.
                    assert!(pending.swap(true, Ordering::AcqRel));
                }
            });
            (time, u64::from(pending.swap(false, Ordering::AcqRel)))
        })
    }
}

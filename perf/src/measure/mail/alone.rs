//! What an owner does alone, on one thread: mails to itself, and markers that nobody takes yet.

use super::Ledger;
use super::ledger::second;
use crate::case::Case;
use crate::clock::Ticks;
use crate::measure::turns::on_thread;
use crate::measure::{Reading, Site, Unsound};
use crate::registry::RoundError;

/// Mails that an owner is to post to itself.
#[derive(Debug)]
pub(crate) struct Mails {
    /// How many are posted before they are run.
    pub(crate) at_once: usize,
    left: u64,
    next: u64,
}

impl Mails {
    /// What is to be posted now; nothing when all is done.
    #[inline]
    pub(crate) fn turn(&mut self) -> Option<impl Iterator<Item = (u64, u64)> + use<>> {
        self.left = self.left.checked_sub(1)?;
        let first = self.next;
        self.next += self.at_once as u64;
        Some((first..self.next).map(|word| (word, second(word))))
    }
}

/// Has `run` post about `mails` mails to itself and run them. It is given what to post and what it
/// owns, which is gone when it returns; and it says when it began.
pub(crate) fn to_itself(
    site: &Site,
    case: &Case,
    mails: u64,
    run: impl FnOnce(Mails, Ledger) -> Ticks + Send,
) -> Result<Vec<Reading>, RoundError> {
    let turns = mails.div_ceil(case.batch as u64);
    let all = turns * case.batch as u64;
    let (ledger, _, arrives) = Ledger::new(site.clock, all);
    let posts = Mails {
        at_once: case.batch,
        left: turns,
        next: 0,
    };
    let start = on_thread(site, || run(posts, ledger))?;
    let noted = arrives.recv().expect("an owner tells when it is dropped");
    noted.check(0..all)?;
    let time = noted.ended.saturating_sub(start);
    Ok(vec![Reading::of(site.clock.ns(time) as f64 / all as f64)])
}

/// Has `post` post so many times what is pending already, and says how long each took. It returns
/// how long all of them took and how often what was posted was run in the end: once.
pub(crate) fn marker(
    site: &Site,
    posts: u64,
    post: impl FnOnce(u64) -> (Ticks, u64) + Send,
) -> Result<Vec<Reading>, RoundError> {
    let (time, runs) = on_thread(site, || post(posts))?;
    if runs != 1 {
        let (posted, taken) = (1, runs);
        return Err(Unsound { posted, taken }.into());
    }
    Ok(vec![Reading::of(site.clock.ns(time) as f64 / posts as f64)])
}

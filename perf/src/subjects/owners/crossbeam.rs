//! A thread that takes boxed closures from crossbeam's channel.

use super::mailring::FAR;
use super::{Owner, count};
use crate::case::{Case, Part};
use crate::measure::turns::{self, timed};
use crate::measure::{Effort, NoThread, Reading, Site, mail};
use crate::owner::{Boxed, Owned, Poster, Seat, Serving, Work, boxed};
use crate::registry::RoundError;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use std::hint::black_box;
use std::time::Instant;

pub(super) struct CrossbeamBoxed;

impl<O: Owned> Poster for Sender<Boxed<O>> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let posted = self.send(boxed(first, second));
        assert!(posted.is_ok(), "the owner is there");
    }
}

impl Serving for CrossbeamBoxed {
    type Poster<O: Owned> = Sender<Boxed<O>>;

    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        mut owned: O,
        body: impl FnOnce(Vec<Sender<Boxed<O>>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let (sender, receiver) = bounded::<Boxed<O>>(seat.case.capacity);
        let posters = vec![sender; seat.case.producers];
        let work = seat.work;
        let owner = move || match work {
            None => receiver.iter().for_each(|mail| mail(&mut owned)),
            Some(work) => mails_first(&receiver, &mut owned, work),
        };
        seat.beside(owner, posters, body)
    }
}

/// Runs mails while there are any, and works in between.
fn mails_first<O>(receiver: &Receiver<Boxed<O>>, owned: &mut O, work: Work) {
    loop {
        match receiver.try_recv() {
            Ok(mail) => mail(owned),
            Err(TryRecvError::Empty) => work.work(),
            Err(TryRecvError::Disconnected) => return,
        }
    }
}

impl Owner for CrossbeamBoxed {
    const NAME: &'static str = "crossbeam-boxed";
    const ABOUT: &'static str = "boxed closures through crossbeam-channel";
    const PACKAGE: &'static str = "crossbeam-channel";
    const PARTS: &'static [Part] = &[
        Part::AcrossCores,
        Part::SelfPost,
        Part::Parked,
        Part::Busy,
        Part::Turn,
        Part::Timer,
        Part::Yield,
        Part::Interrupt,
    ];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match part {
            Part::SelfPost => mail::to_itself(site, case, count(effort), |mut mails, ledger| {
                let (sender, receiver) = bounded(case.capacity.max(mails.at_once));
                let mut ledger = ledger;
                let start = site.clock.now();
                while let Some(some) = mails.turn() {
                    for (first, second) in some {
                        let posted = sender.send(boxed(first, second));
                        assert!(posted.is_ok(), "both ends are here");
                    }
                    for mail in receiver.try_iter() {
                        mail(&mut ledger);
                    }
                }
                start
            }),
            Part::Turn | Part::Timer | Part::Yield | Part::Interrupt => {
                turns::each(site, count(effort), |turns| {
                    let (_sender, receiver) = bounded::<Boxed<u64>>(case.capacity);
                    let due = Instant::now() + FAR;
                    let mut owned = 0;
                    timed(site, || {
                        for _ in 0..turns {
                            if part == Part::Interrupt {
                                black_box(!receiver.is_empty());
                                continue;
                            }
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
            _ => mail::served(&Self, site, case, effort),
        }
    }
}

//! tokio's runtime on one thread: boxed closures through its channel, tasks on its local set, and
//! its notification.

use super::{Owner, count};
use crate::case::{Case, Part};
use crate::measure::turns::{self, timed};
use crate::measure::{Effort, NoThread, Reading, Site, mail};
use crate::owner::{Boxed, Owned, Poster, Seat, Serving, boxed};
use crate::registry::RoundError;
use std::cell::RefCell;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{LocalSet, yield_now};

/// A channel of boxed closures.
pub(super) struct TokioBoxed;

fn runtime() -> Runtime {
    let built = Builder::new_current_thread().build();
    built.expect("a runtime without drivers")
}

impl<O: Owned> Poster for Sender<Boxed<O>> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let posted = self.blocking_send(boxed(first, second));
        assert!(posted.is_ok(), "the owner is there");
    }
}

impl Serving for TokioBoxed {
    type Poster<O: Owned> = Sender<Boxed<O>>;

    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        owned: O,
        body: impl FnOnce(Vec<Sender<Boxed<O>>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let (sender, receiver) = channel(seat.case.capacity);
        let posters = vec![sender; seat.case.producers];
        let owner = || runtime().block_on(run(seat, receiver, owned));
        seat.beside(owner, posters, body)
    }
}

/// Runs mails until nobody can post any more; what there is to do in between, with a yield to the
/// runtime's other tasks each time.
async fn run<O: Owned>(seat: &Seat<'_>, mut receiver: Receiver<Boxed<O>>, mut owned: O) {
    let Some(work) = seat.work else {
        while let Some(mail) = receiver.recv().await {
            mail(&mut owned);
        }
        return;
    };
    loop {
        match receiver.try_recv() {
            Ok(mail) => mail(&mut owned),
            Err(TryRecvError::Empty) => {
                work.work();
                yield_now().await;
            }
            Err(TryRecvError::Disconnected) => return,
        }
    }
}

impl Owner for TokioBoxed {
    const NAME: &'static str = "tokio-boxed";
    const ABOUT: &'static str = "boxed closures to a current-thread runtime";
    const PACKAGE: &'static str = "tokio";
    const PARTS: &'static [Part] = &[
        Part::AcrossCores,
        Part::SelfPost,
        Part::Parked,
        Part::Busy,
        Part::Turn,
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
            Part::SelfPost => {
                mail::to_itself(site, case, count(effort), |mut mails, mut ledger| {
                    runtime().block_on(async {
                        let (sender, mut receiver) = channel(case.capacity.max(mails.at_once));
                        let start = site.clock.now();
                        while let Some(some) = mails.turn() {
                            for (first, second) in some {
                                let posted = sender.send(boxed(first, second)).await;
                                assert!(posted.is_ok(), "both ends are here");
                            }
                            for _ in 0..mails.at_once {
                                let mail = receiver.recv().await.expect("both ends are here");
                                mail(&mut ledger);
                            }
                        }
                        start
                    })
                })
            }
            Part::Turn | Part::Yield | Part::Interrupt => {
                turns::each(site, count(effort), |turns| {
                    runtime().block_on(async {
                        let (_sender, mut receiver) = channel::<Boxed<u64>>(case.capacity);
                        let mut owned = 0;
                        timed(site, || {
                            for _ in 0..turns {
                                if part == Part::Interrupt {
                                    black_box(!receiver.is_empty());
                                } else if let Ok(mail) = receiver.try_recv() {
                                    mail(&mut owned);
                                }
                            }
                        })
                    })
                })
            }
            _ => mail::served(&Self, site, case, effort),
        }
    }
}

/// Tasks of a local set, of which the last of each turn is waited for.
pub(super) struct TokioLocal;

impl Owner for TokioLocal {
    const NAME: &'static str = "tokio-local";
    const ABOUT: &'static str = "spawn_local on a current-thread runtime";
    const PACKAGE: &'static str = "tokio";
    const PARTS: &'static [Part] = &[Part::SelfPost];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        mail::to_itself(site, case, count(effort), |mut mails, ledger| {
            let ledger = Rc::new(RefCell::new(ledger));
            let local = LocalSet::new();
            runtime().block_on(local.run_until(async {
                let start = site.clock.now();
                while let Some(some) = mails.turn() {
                    let mut last = None;
                    for (first, second) in some {
                        let ledger = Rc::clone(&ledger);
                        let run = async move { ledger.borrow_mut().take(first, second) };
                        last = Some(tokio::task::spawn_local(run));
                    }
                    if let Some(last) = last {
                        last.await.expect("no task panics");
                    }
                }
                start
            }))
        })
    }
}

/// A notification that nobody has taken yet.
pub(super) struct TokioNotify;

impl Owner for TokioNotify {
    const NAME: &'static str = "tokio-notify";
    const ABOUT: &'static str = "notify_one of a Notify";
    const PACKAGE: &'static str = "tokio";
    const PARTS: &'static [Part] = &[Part::Marker];

    fn round(site: &Site, _: &Case, _: Part, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        mail::marker(site, count(effort), |posts| {
            let notify = Notify::new();
            notify.notify_one();
            let time = timed(site, || {
                for _ in 0..posts {
                    notify.notify_one();
                }
            });
            let has_come = || {
                let notified = pin!(notify.notified());
                let mut context = Context::from_waker(Waker::noop());
                notified.poll(&mut context).is_ready()
            };
            (time, [has_come(), has_come()].map(u64::from).iter().sum())
        })
    }
}

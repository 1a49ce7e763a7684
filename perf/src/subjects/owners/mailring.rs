//! Our processor: with mails, which are closures stored in place, and with letters that are an enum.

use super::{Owner, count};
use crate::case::{Case, Part, Workload};
use crate::clock::Ticks;
use crate::measure::mail::{self, Ledger};
use crate::measure::turns::{self, timed};
use crate::measure::{Effort, NoThread, Reading, Site};
use crate::owner::{Event, Owned, Poster, Seat, Serving};
use crate::registry::RoundError;
use mailring::letter::{Letter, Mail, Outcome};
use mailring::mailbox::{self, MarkerPost, Sender};
use mailring::processor::{Builder, Controller, DefaultAction, Executor, MailboxProcessor};
use std::cell::OnceCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

/// What is posted.
trait Kind: Send + 'static {
    type Letter<O: Owned>: Letter<O> + Send + 'static;

    fn letter<O: Owned>(first: u64, second: u64) -> Self::Letter<O>;
}

pub(super) struct Mails;

impl Kind for Mails {
    type Letter<O: Owned> = Mail<O>;

    #[inline]
    fn letter<O: Owned>(first: u64, second: u64) -> Mail<O> {
        Mail::inline(move |owned: &mut O| owned.take(first, second))
    }
}

pub(super) struct Events;

impl Kind for Events {
    type Letter<O: Owned> = Event;

    #[inline]
    fn letter<O: Owned>(first: u64, second: u64) -> Event {
        Event::Take(first, second)
    }
}

impl<O: Owned> Letter<O> for Event {
    #[inline]
    fn run(self, owned: &mut O) -> Outcome {
        Event::run(self, owned);
        Ok(())
    }
}

/// On other threads mails are posted by a sender, as the documentation has it for hot loops.
struct Posting<O: Owned, K: Kind>(Sender<O, K::Letter<O>>);

impl<O: Owned, K: Kind> Poster for Posting<O, K> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let posted = self.0.post(K::letter(first, second));
        assert!(posted.is_ok(), "the owner is there");
    }
}

/// Ends an owner's loop after all that was posted before.
struct Last<O: Owned, K: Kind>(Executor<O, K::Letter<O>>);

impl<O: Owned, K: Kind> Drop for Last<O, K> {
    fn drop(&mut self) {
        let executor = self.0.clone();
        // An owner that is gone already has nothing to end.
        let _ = self.0.execute(move |_: &mut O| executor.all_done());
    }
}

/// Runs a processor while `body` posts, and until the last mail is run.
fn run<O: Owned, K: Kind, A: DefaultAction<O> + Send, R>(
    seat: &Seat<'_>,
    mut processor: MailboxProcessor<O, K::Letter<O>, A>,
    body: impl FnOnce(Vec<Posting<O, K>>) -> Result<R, NoThread>,
) -> Result<R, NoThread> {
    let executor = processor.executor();
    let posting = |_| Posting(executor.sender());
    let posters: Vec<_> = (0..seat.case.producers).map(posting).collect();
    let last = Last::<O, K>(executor);
    let owner = move || {
        let ended = processor.run();
        assert!(ended.is_ok(), "no mail fails");
    };
    seat.beside(owner, posters, |posters| {
        let _last = last;
        body(posters)
    })
}

struct Processor<K>(K);

impl<K: Kind> Serving for Processor<K> {
    type Poster<O: Owned> = Posting<O, K>;

    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        owned: O,
        body: impl FnOnce(Vec<Posting<O, K>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let builder = builder::<O, K>(seat.case);
        match seat.work {
            None => run::<_, K, _, _>(seat, built(builder.build(owned)), body),
            Some(work) => {
                let action = move |_: &mut O, _: &mut Controller<'_>| work.work();
                run::<_, K, _, _>(seat, built(builder.build_with(owned, action)), body)
            }
        }
    }
}

fn builder<O: Owned, K: Kind>(case: &Case) -> Builder<O, K::Letter<O>> {
    MailboxProcessor::<O, K::Letter<O>>::builder().mailbox(mailbox::Builder::new(case.capacity))
}

fn built<P, E: std::fmt::Debug>(processor: Result<P, E>) -> P {
    processor.expect("a capacity within bounds")
}

/// One who posts to itself: from its default action, which has a handle as any collaborator has.
struct Own<K: Kind> {
    ledger: Ledger,
    mails: mail::Mails,
    executor: Option<Executor<Self, K::Letter<Self>>>,
}

impl<K: Kind> Owned for Own<K> {
    #[inline]
    fn take(&mut self, first: u64, second: u64) {
        self.ledger.take(first, second);
    }
}

fn post_some<K: Kind>(own: &mut Own<K>, controller: &mut Controller<'_>) {
    let (Some(executor), Some(mails)) = (&own.executor, own.mails.turn()) else {
        return controller.all_done();
    };
    for (first, second) in mails {
        let posted = executor.post(K::letter(first, second));
        assert!(posted.is_ok(), "an owner's own queue takes all");
    }
}

fn to_itself<K: Kind>(site: &Site, case: &Case, mails: mail::Mails, ledger: Ledger) -> Ticks {
    let own = Own::<K> {
        ledger,
        mails,
        executor: None,
    };
    let mut processor = built(builder::<_, K>(case).build_with(own, post_some::<K>));
    let executor = processor.executor();
    processor.with_owner(|own| own.executor = Some(executor));
    let start = site.clock.now();
    let ended = processor.run();
    assert!(ended.is_ok(), "no mail fails");
    start
}

fn mail_round<K: Kind>(
    processor: &Processor<K>,
    site: &Site,
    case: &Case,
    part: Part,
    effort: Effort,
) -> Result<Vec<Reading>, RoundError> {
    match part {
        Part::SelfPost => mail::to_itself(site, case, count(effort), |mails, ledger| {
            to_itself::<K>(site, case, mails, ledger)
        }),
        _ => mail::served(processor, site, case, effort),
    }
}

impl Owner for Mails {
    const NAME: &'static str = "mailring-mail";
    const ABOUT: &'static str = "our processor, closures in place";
    const PACKAGE: &'static str = "mailring";
    const WORKLOADS: &'static [Workload] = &[Workload::Mail, Workload::Loop, Workload::Wake];
    const PARTS: &'static [Part] = &[
        Part::AcrossCores,
        Part::SelfPost,
        Part::Marker,
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
            Part::Marker => mail::marker(site, count(effort), |posts| marker(site, posts)),
            Part::Turn | Part::Timer => turns::each(site, count(effort), |turns| {
                loop_turns(site, turns, part == Part::Timer)
            }),
            Part::Yield => turns::each(site, count(effort), |calls| {
                calls_of_action(site, calls, |executor, owner| {
                    let ran = executor.try_yield(owner);
                    assert!(matches!(ran, Ok(false)), "there is no mail");
                })
            }),
            Part::Interrupt => turns::each(site, count(effort), |calls| {
                calls_of_action(site, calls, |executor, _| {
                    black_box(executor.should_interrupt());
                })
            }),
            _ => mail_round(&Processor(Self), site, case, part, effort),
        }
    }
}

impl Owner for Events {
    const NAME: &'static str = "mailring-enum";
    const ABOUT: &'static str = "our processor, letters of an enum";
    const PACKAGE: &'static str = "mailring";
    const PARTS: &'static [Part] = &[Part::AcrossCores, Part::SelfPost, Part::Parked, Part::Busy];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        mail_round(&Processor(Self), site, case, part, effort)
    }
}

/// Posts of a marker that is pending: how long they took, and how often it ran in the end.
fn marker(site: &Site, posts: u64) -> (Ticks, u64) {
    let mut processor = built(MailboxProcessor::new(0_u64));
    let marker = processor.marker("pending", |runs: &mut u64| *runs += 1);
    let marker = marker.expect("room for one");
    assert_eq!(marker.post(), MarkerPost::Posted);
    let time = timed(site, || {
        for _ in 0..posts {
            assert_eq!(marker.post(), MarkerPost::AlreadyPending);
        }
    });
    let idle = processor.run_until_idle();
    assert!(idle.is_ok(), "no mail fails");
    (time, processor.with_owner(|runs| *runs))
}

/// Turns of a loop whose default action does nothing but count them, so that it ends.
fn loop_turns(site: &Site, turns: u64, has_timer: bool) -> Ticks {
    let count = |left: &mut u64, controller: &mut Controller<'_>| {
        *left -= 1;
        if *left == 0 {
            controller.all_done();
        }
    };
    let mut processor = built(MailboxProcessor::with_action(turns, count));
    let executor = processor.executor();
    let timer = has_timer.then(|| executor.run_after(FAR, |_: &mut u64| ()));
    let time = timed(site, || {
        let ended = processor.run();
        assert!(ended.is_ok(), "nothing fails");
    });
    drop(timer);
    time
}

/// When a timer is due that does not fire in any round.
pub(super) const FAR: Duration = Duration::from_secs(3_600);

/// So many calls of one default action.
fn calls_of_action(
    site: &Site,
    calls: u64,
    call: impl Fn(&Executor<u64>, &mut u64) + 'static,
) -> Ticks {
    let handle = Rc::new(OnceCell::new());
    let own = Rc::clone(&handle);
    let clock = site.clock;
    let action = move |owner: &mut u64, controller: &mut Controller<'_>| {
        let executor = own.get().expect("it was given");
        let start = clock.now();
        for _ in 0..calls {
            call(executor, owner);
        }
        *owner = clock.now() - start;
        controller.all_done();
    };
    let mut processor = built(MailboxProcessor::with_action(0, action));
    let given = handle.set(processor.executor());
    assert!(given.is_ok(), "it was given once");
    let ended = processor.run();
    assert!(ended.is_ok(), "nothing fails");
    processor.with_owner(|time| *time)
}

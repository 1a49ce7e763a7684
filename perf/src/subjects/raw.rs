//! What the machine and its system can do without a queue: round trips of a turn between two
//! threads; and by one way of them, how soon a thread that sleeps can run a mail.

use crate::case::{Case, Mode, Part, Workload};
use crate::measure::{Effort, Reading, Site, mail, ping_pong, rtt};
use crate::recorder::Recorder;
use crate::registry::{Abilities, Measured, Role, RoundError, Unfit};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};

/// Two cache lines, written by turns.
pub(super) struct PingPong;

impl Measured for PingPong {
    fn name(&self) -> &'static str {
        "raw-ping-pong"
    }

    fn about(&self) -> &'static str {
        "two words written by turns, spinning"
    }

    fn package(&self) -> &'static str {
        "std"
    }

    fn abilities(&self) -> Abilities {
        baseline(false)
    }

    fn fits(&self, case: &Case) -> Result<(), Unfit> {
        match (case.workload, case.part, case.mode) {
            (Workload::Rtt, _, Mode::SameWaiting) => Ok(()),
            (Workload::Rtt, ..) => Err(Unfit::NeverSleeps),
            (Workload::Tasks, Some(Part::TwoThreads | Part::Ask), _) => Ok(()),
            (_, Some(_), _) => Err(Unfit::NoOwner),
            _ => Err(Unfit::NoQueue),
        }
    }

    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        self.fits(case)?;
        let &[asking, answering, ..] = site.cpus.numbers() else {
            return Err(Unfit::NeedsTwoCpus.into());
        };
        let recorder = ping_pong::run(site, [asking, answering], trips(effort), case.think_ns);
        Ok(vec![Reading::of_median(recorder)])
    }
}

/// A word that says whose turn it is, and a way of sleeping until it changes. Nobody spins.
pub(super) struct Asleep {
    name: &'static str,
    about: &'static str,
    package: &'static str,
    /// Sleeps while the word is as given, or less long.
    pub(super) sleep: fn(&AtomicU32, u32),
    /// Wakes the other, after the word has changed.
    pub(super) wake: fn(&AtomicU32, &Thread),
}

/// By the standard library's parking.
pub(super) const PARK: Asleep = Asleep {
    name: "raw-park",
    about: "park and unpark by turns, sleeping at once",
    package: "std",
    sleep: |_, _| thread::park(),
    wake: |_, other| other.unpark(),
};

/// By the system's own waiting on a word.
pub(super) const FUTEX: Asleep = Asleep {
    name: "raw-futex",
    about: "futex wait and wake by turns, sleeping at once",
    package: "atomic-wait",
    sleep: atomic_wait::wait,
    wake: |turn, _| atomic_wait::wake_one(turn),
};

impl Measured for Asleep {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn package(&self) -> &'static str {
        self.package
    }

    fn abilities(&self) -> Abilities {
        baseline(true)
    }

    fn fits(&self, case: &Case) -> Result<(), Unfit> {
        match (case.workload, case.part, case.mode) {
            (_, Some(Part::Parked), _) | (Workload::Rtt, _, Mode::AsShipped) => Ok(()),
            (Workload::Rtt, ..) => Err(Unfit::OtherWaiting),
            (_, Some(_), _) => Err(Unfit::NoOwner),
            _ => Err(Unfit::NoQueue),
        }
    }

    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        self.fits(case)?;
        if case.part.is_some() {
            return mail::served(self, site, case, effort);
        }
        Ok(vec![Reading::of_median(self.run(
            site,
            case,
            trips(effort),
        ))])
    }
}

/// The turn of the one who asks.
const ASKS: u32 = 0;
/// The turn of the one who answers.
const ANSWERS: u32 = 1;
/// Nobody's turn any more.
const OVER: u32 = 2;

impl Asleep {
    /// Round trips, after a tenth as many to warm up.
    fn run(&self, site: &Site, case: &Case, trips: u64) -> Recorder {
        let turn = &CachePadded::new(AtomicU32::new(ASKS));
        let warm_up = trips / 10;
        thread::scope(|scope| {
            let asking = scope.spawn(move || {
                let this = thread::current();
                let answering = scope.spawn(move || {
                    site.cpus.pin(1, 2);
                    while self.next_turn(turn, ASKS) != OVER {
                        self.hand_over(turn, ASKS, &this);
                    }
                });
                site.cpus.pin(0, 2);
                let mut recorder = site.recorder();
                for done in 0..trips + warm_up {
                    if let Some(think_ns) = case.think_ns {
                        rtt::think(site, think_ns);
                    }
                    let start = site.clock.now();
                    self.hand_over(turn, ANSWERS, answering.thread());
                    self.next_turn(turn, ANSWERS);
                    let end = site.clock.now_after_loads();
                    if done >= warm_up {
                        recorder.record(site.clock.ns(end.saturating_sub(start)));
                    }
                    if site.is_interrupted() {
                        break;
                    }
                }
                self.hand_over(turn, OVER, answering.thread());
                recorder
            });
            asking.join().expect("nothing panics here")
        })
    }

    fn hand_over(&self, turn: &AtomicU32, next: u32, other: &Thread) {
        // Release: pairs with Acquire in `next_turn`; the turn is the message.
        turn.store(next, Ordering::Release);
        (self.wake)(turn, other);
    }

    /// Sleeps while it is the other's turn, and returns whose it is then.
    fn next_turn(&self, turn: &AtomicU32, others: u32) -> u32 {
        loop {
            // Acquire: pairs with Release in `hand_over`.
            let now = turn.load(Ordering::Acquire);
            if now != others {
                return now;
            }
            (self.sleep)(turn, others);
        }
    }
}

fn baseline(blocks: bool) -> Abilities {
    Abilities {
        role: Role::Baseline,
        many_producers: false,
        batches: false,
        blocks,
        capacity_min: 0,
    }
}

fn trips(effort: Effort) -> u64 {
    match effort {
        Effort::Count(trips) => trips,
        Effort::Time(_) => unreachable!("round trips are counted"),
    }
}

//! How a crew waits: it looks a while, as its strategy says, and then sleeps.

use super::here;
use super::hooks::Hooks;
use super::watch::CrewStats;
use crate::sync::{Arc, yield_now};
use crate::wait::{Idle, Next, Patience, Spell, Step, WaitStrategy};
use core::time::Duration;
use std::time::Instant;

/// See above.
pub(super) struct Waits {
    strategy: Arc<Box<dyn WaitStrategy>>,
    /// Of tasks that want their thread to wait in a way of their own.
    of_tasks: Vec<(u32, Box<dyn WaitStrategy>)>,
    patience: Patience,
    /// There are more threads than CPUs.
    crowded: bool,
    nap: Duration,
    hooks: Arc<Hooks>,
    thread: usize,
}

impl Waits {
    const FIRST_NAP: Duration = Duration::from_micros(50);
    const LONGEST_NAP: Duration = Duration::from_millis(1);

    pub(super) fn new(
        strategy: Arc<Box<dyn WaitStrategy>>,
        crowded: bool,
        hooks: Arc<Hooks>,
        thread: usize,
    ) -> Self {
        Self {
            strategy,
            of_tasks: Vec::new(),
            patience: Patience::new(),
            crowded,
            nap: Self::FIRST_NAP,
            hooks,
            thread,
        }
    }

    /// While task `index` lives the thread waits also as `strategy` says: of all, it does what comes
    /// soonest back.
    pub(super) fn also(&mut self, index: u32, strategy: Box<dyn WaitStrategy>) {
        self.of_tasks.push((index, strategy));
    }

    pub(super) fn forget(&mut self, index: u32) {
        let forgotten = self.of_tasks.extract_if(.., |(of, _)| *of == index);
        for strategy in forgotten {
            self.hooks.call(move || drop(strategy));
        }
    }

    /// Looks until there is something, or the deadline has passed; `true`: until it is time to sleep.
    pub(super) fn look(
        &self,
        stats: &CrewStats,
        deadline: Option<Instant>,
        mut has_any: impl FnMut() -> bool,
    ) -> bool {
        let most_eager = MostEager {
            first: &**self.strategy,
            others: &self.of_tasks,
        };
        // As a rule there is one: then without the detour.
        let strategy: &dyn WaitStrategy = if self.of_tasks.is_empty() {
            most_eager.first
        } else {
            &most_eager
        };
        let mut idle = Idle::new(strategy, &self.patience, self.crowded);
        let mut counted = Counted::default();
        let sleeps = loop {
            if has_any() {
                break false;
            }
            match idle.next() {
                Next::Look => {}
                Next::LookAround => {
                    counted.go_on(stats, idle.waited_ns());
                    // The strategy is caller code, and may have posted to a task of this thread.
                    if here::listed() > 0
                        || deadline.is_some_and(|deadline| Instant::now() >= deadline)
                    {
                        break false;
                    }
                }
                Next::Park => break true,
            }
        };
        counted.end(stats, idle.waited_ns());
        sleeps
    }

    /// Sleeps, with the hooks around it.
    pub(super) fn sleep<R>(&self, stats: &CrewStats, sleep: impl FnOnce() -> R) {
        self.hooks.park(self.thread);
        let start = Instant::now();
        stats.falls_asleep(start);
        sleep();
        stats.woke(start, Instant::now());
        self.hooks.unpark(self.thread);
    }

    /// How long to sleep at most, where letters are claimed and not published: longer each time.
    pub(super) fn nap(&mut self, has_holes: bool) -> Option<Duration> {
        if !has_holes {
            self.nap = Self::FIRST_NAP;
            return None;
        }
        if cfg!(mailring_loom) {
            // A nap is a yield in the model, where no time passes.
            yield_now();
            return Some(Duration::ZERO);
        }
        let nap = self.nap;
        self.nap = (nap * 2).min(Self::LONGEST_NAP);
        Some(nap)
    }
}

/// How much of a spell of looking was counted as idle: as the clock says where it is long, else as the
/// strategy estimates.
#[derive(Default)]
struct Counted {
    waited_ns: u64,
    at: Option<Instant>,
}

impl Counted {
    /// Estimated waiting between two looks at the clock.
    const CLOCK_EVERY_NS: u64 = 2_000;

    fn go_on(&mut self, stats: &CrewStats, waited_ns: u64) {
        let estimate = waited_ns - self.waited_ns;
        if estimate < Self::CLOCK_EVERY_NS {
            return;
        }
        let now = Instant::now();
        let waited = match self.at.replace(now) {
            None => estimate,
            Some(before) => u64::try_from((now - before).as_nanos()).unwrap_or(u64::MAX),
        };
        stats.idle_ns.add(waited);
        self.waited_ns = waited_ns;
    }

    /// No clock: there is work.
    fn end(&self, stats: &CrewStats, waited_ns: u64) {
        stats.idle_ns.add(waited_ns - self.waited_ns);
    }
}

/// Several strategies at once.
#[derive(Debug)]
struct MostEager<'a> {
    first: &'a dyn WaitStrategy,
    others: &'a [(u32, Box<dyn WaitStrategy>)],
}

impl WaitStrategy for MostEager<'_> {
    fn step(&self, spell: Spell) -> Step {
        let eager = |step: &Step| match step {
            Step::Look => 0,
            Step::Spin => 1,
            Step::Yield => 2,
            Step::Park => 3,
        };
        let others = self.others.iter().map(|(_, strategy)| strategy.step(spell));
        let first = self.first.step(spell);
        others.fold(first, |most, step| {
            if eager(&step) < eager(&most) {
                step
            } else {
                most
            }
        })
    }
}

//! One spell of waiting: carries out what the strategy says, and yields when spinning is vain.
//!
//! W1. A spell that never ends yields again and again, whatever the strategy says: a thread that
//!     waits for another must not keep it from the CPU for ever.

use super::pause::hint_ns;
use super::strategy::{Spell, Step, WaitStrategy};
use crate::sync::{Estimate, spin_hint, yield_now};

/// What the waiting thread does next; everything shorter has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Look for what is waited for, and for nothing else.
    Look,
    /// Look around: also at the clock, and at why the wait may be in vain.
    LookAround,
    Park,
}

/// How long this thread spins before it yields, learnt from what the last yields did.
///
/// A yield that comes back at once met nobody who wanted the CPU: the next one may come later. A
/// yield that took long let another thread run, probably the one we wait for: the next one comes
/// soon. This needs to know neither masks nor quotas, and follows when they change.
#[derive(Debug)]
pub(crate) struct Patience {
    spin_ns: Estimate,
}

impl Patience {
    const SHORTEST_NS: u64 = 250;
    const FIRST_NS: u64 = 16_000;
    const LONGEST_NS: u64 = 64_000;
    /// With more threads than CPUs somebody always wants the CPU, whatever the last yield met.
    const LONGEST_CROWDED_NS: u64 = 500;
    /// A yield longer than this ran somebody else.
    #[cfg(not(mailring_loom))]
    const VAIN_YIELD_NS: u128 = 1_500;

    pub(crate) const fn new() -> Self {
        Self {
            spin_ns: Estimate::new(Self::FIRST_NS),
        }
    }

    fn spin_ns(&self, crowded: bool) -> u64 {
        let learnt = self.spin_ns.get();
        if crowded {
            learnt.min(Self::LONGEST_CROWDED_NS)
        } else {
            learnt
        }
    }

    fn learn(&self, yielded: bool) {
        self.spin_ns.set(if yielded {
            Self::SHORTEST_NS
        } else {
            (self.spin_ns.get() * 2).min(Self::LONGEST_NS)
        });
    }
}

/// Looks without a yield between two looks around. Spinning, these are a few microseconds; a yield may
/// take as long as other threads like, so after each one there is a look around.
///
/// What there is to see beside letters and room lies in lines that belong to other threads, and is
/// left alone while they are busy.
const LOOKS_PER_LOOK_AROUND: u32 = 64;

/// A spell of waiting in progress.
#[derive(Debug)]
pub struct Idle<'a> {
    strategy: &'a dyn WaitStrategy,
    patience: &'a Patience,
    spell: Spell,
    spun_ns: u64,
    looks_until_around: u32,
}

impl<'a> Idle<'a> {
    /// What an empty look costs, roughly.
    const LOOK_NS: u64 = 1;
    /// What a yield costs that finds nobody to run, roughly.
    const YIELD_NS: u64 = 250;

    pub(crate) fn new(
        strategy: &'a dyn WaitStrategy,
        patience: &'a Patience,
        crowded: bool,
    ) -> Self {
        let mut spell = Spell::first(crowded);
        spell.looks = 0;
        Self {
            strategy,
            patience,
            spell,
            spun_ns: 0,
            looks_until_around: LOOKS_PER_LOOK_AROUND,
        }
    }

    /// After an empty look: waits a step, and says what to look at next, or to park.
    pub(crate) fn next(&mut self) -> Next {
        self.spell.looks = self.spell.looks.saturating_add(1);
        match self.strategy.step(self.spell) {
            Step::Look => self.spin(Self::LOOK_NS, || {
                if cfg!(mailring_loom) {
                    spin_hint();
                }
            }),
            Step::Spin => self.spin(hint_ns(), spin_hint),
            Step::Yield => {
                self.spell.yields = self.spell.yields.saturating_add(1);
                self.wait(Self::YIELD_NS, yield_now);
                self.looks_until_around = 0;
            }
            Step::Park => return Next::Park,
        }
        if self.looks_until_around == 0 {
            self.looks_until_around = LOOKS_PER_LOOK_AROUND;
            return Next::LookAround;
        }
        Next::Look
    }

    /// About how long this spell has lasted, in nanoseconds.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.spell.waited_ns
    }

    fn spin(&mut self, ns: u64, spin: impl FnOnce()) {
        self.wait(ns, spin);
        self.spun_ns += ns;
        self.looks_until_around -= 1;
        if self.spun_ns >= self.patience.spin_ns(self.spell.crowded) {
            self.spun_ns = 0;
            self.looks_until_around = 0;
            self.yield_in_turn();
        }
    }

    fn wait(&mut self, ns: u64, wait: impl FnOnce()) {
        wait();
        self.spell.waited_ns = self.spell.waited_ns.saturating_add(ns);
    }

    /// W1: the yield of a spinning thread, timed to learn from it.
    #[cfg(not(mailring_loom))]
    fn yield_in_turn(&mut self) {
        let start = std::time::Instant::now();
        yield_now();
        let yielded = start.elapsed().as_nanos() > Patience::VAIN_YIELD_NS;
        self.patience.learn(yielded);
    }

    /// In the model every spin already lets another thread run, and there is no time to measure.
    #[cfg(mailring_loom)]
    fn yield_in_turn(&mut self) {
        self.patience.learn(false);
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use crate::wait::{BusySpin, Parking};
    use core::time::Duration;

    #[test]
    fn patience_grows_with_vain_yields_and_ends_with_a_useful_one() {
        let patience = Patience::new();
        for _ in 0..10 {
            patience.learn(false);
        }
        assert_eq!(patience.spin_ns.get(), Patience::LONGEST_NS);
        patience.learn(true);
        assert_eq!(patience.spin_ns.get(), Patience::SHORTEST_NS);
    }

    #[test]
    fn a_crowded_thread_never_spins_long_whatever_was_learnt() {
        let patience = Patience::new();
        for _ in 0..10 {
            patience.learn(false);
        }
        assert_eq!(patience.spin_ns(false), Patience::LONGEST_NS);
        assert_eq!(patience.spin_ns(true), Patience::LONGEST_CROWDED_NS);
    }

    #[test]
    fn there_is_a_look_around_after_each_yield_and_else_now_and_then() {
        let patience = Patience::new();
        let around = |idle: &mut Idle<'_>, steps: usize| {
            (0..steps)
                .filter(|_| idle.next() == Next::LookAround)
                .count()
        };
        let mut idle = Idle::new(&YieldAlways, &patience, false);
        assert_eq!(around(&mut idle, 100), 100);
        let looks = LOOKS_PER_LOOK_AROUND as usize;
        let mut idle = Idle::new(&BusySpin, &patience, false);
        assert_eq!(around(&mut idle, looks - 1), 0);
        assert_eq!(around(&mut idle, 1), 1);
        assert_eq!(around(&mut idle, looks), 1);
        // A spin so short of patience that it yields after each look, on its own account.
        patience.spin_ns.set(1);
        assert_eq!(idle.next(), Next::LookAround);
    }

    /// Not even spins before.
    #[derive(Debug)]
    struct YieldAlways;

    impl WaitStrategy for YieldAlways {
        fn step(&self, _spell: Spell) -> Step {
            Step::Yield
        }
    }

    #[test]
    fn busy_spin_never_parks_and_parking_at_once_does() {
        let patience = Patience::new();
        let mut idle = Idle::new(&BusySpin, &patience, true);
        assert!((0..10_000).all(|_| idle.next() != Next::Park));
        let parking = Parking::after(Duration::ZERO);
        assert_eq!(Idle::new(&parking, &patience, false).next(), Next::Park);
    }
}

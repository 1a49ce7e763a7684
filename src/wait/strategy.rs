//! Wait strategies: what to do after a look that found nothing.

use crate::sync::PlainArc;
use core::fmt::{self, Debug};
use core::time::Duration;

/// What to do after an empty look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Look again at once.
    Look,
    /// Tell the CPU that this is a spin (tens of nanoseconds), then look again.
    Spin,
    /// Give the CPU to another runnable thread, then look again.
    Yield,
    /// Sleep until woken. Whoever makes the next letter, or room, pays for the wake-up.
    Park,
}

/// The present spell of waiting, as far as a strategy may judge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spell {
    /// Empty looks so far in this spell; the first call sees 1.
    pub looks: u32,
    /// About how long the spell has lasted, in nanoseconds, summed from the known cost of each
    /// step and not read from a clock.
    pub waited_ns: u64,
    /// Yields so far in this spell.
    pub yields: u32,
    /// Whether more threads use the ring than CPUs are allowed.
    pub crowded: bool,
}

impl Spell {
    /// The state at the first empty look of a spell, for tests of a strategy of one's own.
    #[must_use]
    pub fn first(crowded: bool) -> Self {
        Self {
            looks: 1,
            waited_ns: 0,
            yields: 0,
            crowded,
        }
    }
}

/// Decides how a producer waits for room, or a consumer for letters.
///
/// A strategy is asked after every empty look and keeps no state: all it may know of the spell is
/// in its argument. Whatever it answers, a thread that spins without result now and then yields,
/// sooner when that turns out to let another thread run: spinning must not starve the very thread
/// it waits for.
///
/// ```
/// use mailring::ring::mpsc;
/// use mailring::wait::{Spell, Step, WaitStrategy};
///
/// /// Spins for a microsecond, yields three times, then sleeps.
/// #[derive(Debug)]
/// struct Mine;
///
/// impl WaitStrategy for Mine {
///     fn step(&self, spell: Spell) -> Step {
///         match spell {
///             Spell { waited_ns: ..1_000, .. } => Step::Spin,
///             Spell { yields: ..3, .. } => Step::Yield,
///             _ => Step::Park,
///         }
///     }
/// }
///
/// let (producer, mut consumer) = mpsc::Builder::new(64).wait(|| Mine).build::<u32>()?;
/// producer.post(7).unwrap();
/// assert_eq!(consumer.take(), Ok(7));
/// # Ok::<(), mailring::ring::CapacityError>(())
/// ```
pub trait WaitStrategy: Debug + Send + Sync {
    /// What to do after an empty look.
    fn step(&self, spell: Spell) -> Step;
}

impl<W: WaitStrategy + ?Sized> WaitStrategy for Box<W> {
    fn step(&self, spell: Spell) -> Step {
        (**self).step(spell)
    }
}

/// The strategy of one or several who wait: [`Parking`] where none was chosen, which costs nothing to
/// make.
#[derive(Clone, Default)]
pub(crate) struct Chosen(Option<PlainArc<dyn WaitStrategy>>);

impl Chosen {
    pub(crate) fn new(strategy: impl WaitStrategy + 'static) -> Self {
        Self(Some(PlainArc::new(strategy)))
    }

    pub(crate) fn strategy(&self) -> &dyn WaitStrategy {
        match &self.0 {
            Some(strategy) => &**strategy,
            None => &Parking::DEFAULT,
        }
    }
}

impl Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.strategy().fmt(f)
    }
}

/// Looks again at once: the lowest latency, for a thread that has a core to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusySpin;

impl WaitStrategy for BusySpin {
    fn step(&self, _spell: Spell) -> Step {
        Step::Look
    }
}

/// Spins with the CPU's spin hint: nearly the latency of [`BusySpin`], kinder to a sibling
/// hardware thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpinHint;

impl WaitStrategy for SpinHint {
    fn step(&self, _spell: Spell) -> Step {
        Step::Spin
    }
}

/// Spins for a moment, then yields after every look: keeps its CPU busy, never sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yielding;

impl Yielding {
    const SPIN_NS: u64 = 250;
}

impl WaitStrategy for Yielding {
    fn step(&self, spell: Spell) -> Step {
        if spell.waited_ns < Self::SPIN_NS {
            Step::Spin
        } else {
            Step::Yield
        }
    }
}

/// The default: spins for a short while, then sleeps and uses no CPU.
///
/// With more threads than CPUs it hardly spins, and yields up to 128 times before it sleeps, so that
/// the threads take turns in batches rather than by wake-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parking {
    spin_ns: u64,
}

impl Parking {
    const SPIN_NS: u64 = 50_000;
    const DEFAULT: Self = Self {
        spin_ns: Self::SPIN_NS,
    };
    const CROWDED_SPIN_NS: u64 = 250;
    const CROWDED_YIELDS: u32 = 128;

    /// Spins for about `time` before it sleeps; zero sleeps after the first empty look.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self {
            spin_ns: u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

impl Default for Parking {
    /// Spins for 50 µs before it sleeps: waking a thread on another CPU takes 20 to 45 µs on virtual
    /// machines, so less would often sleep where waiting had been shorter.
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl WaitStrategy for Parking {
    fn step(&self, spell: Spell) -> Step {
        if spell.crowded && self.spin_ns > 0 {
            if spell.waited_ns < self.spin_ns.min(Self::CROWDED_SPIN_NS) {
                Step::Spin
            } else if spell.yields < Self::CROWDED_YIELDS {
                Step::Yield
            } else {
                Step::Park
            }
        } else if spell.waited_ns < self.spin_ns {
            Step::Spin
        } else {
            Step::Park
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    fn spell(waited_ns: u64, yields: u32, crowded: bool) -> Spell {
        Spell {
            looks: 1,
            waited_ns,
            yields,
            crowded,
        }
    }

    #[test]
    fn parking_spins_then_sleeps() {
        let parking = Parking::default();
        assert_eq!(parking.step(spell(0, 0, false)), Step::Spin);
        assert_eq!(parking.step(spell(49_999, 0, false)), Step::Spin);
        assert_eq!(parking.step(spell(50_000, 0, false)), Step::Park);
    }

    #[test]
    fn crowded_parking_yields_before_it_sleeps() {
        let parking = Parking::default();
        assert_eq!(parking.step(spell(0, 0, true)), Step::Spin);
        assert_eq!(parking.step(spell(300, 0, true)), Step::Yield);
        assert_eq!(parking.step(spell(300, 128, true)), Step::Park);
    }

    #[test]
    fn parking_at_once_never_spins() {
        let parking = Parking::after(Duration::ZERO);
        assert_eq!(parking.step(Spell::first(false)), Step::Park);
        assert_eq!(parking.step(Spell::first(true)), Step::Park);
    }
}

//! Where the time comes from: the system's monotonic clock, or one that a test moves by hand.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// What a clock rings when it was moved.
#[derive(Clone)]
pub struct Bell(Arc<dyn Fn() + Send + Sync>);

impl Bell {
    /// A bell that calls `ring`.
    #[must_use]
    pub fn new(ring: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(ring))
    }

    /// Rings it.
    pub fn ring(&self) {
        (self.0)();
    }
}

impl core::fmt::Debug for Bell {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bell").finish_non_exhaustive()
    }
}

/// A monotonic clock.
pub trait Clock {
    /// The present moment; never earlier than one returned before.
    fn now(&self) -> Instant;

    /// Has `bell` called whenever this clock has been moved other than by time passing, for as long
    /// as somebody else holds the bell: a sleeper may have slept past a moment. A clock that nobody
    /// moves need do nothing.
    fn ring_when_moved(&self, bell: &Bell) {
        let _ = bell;
    }
}

impl<C: Clock + ?Sized> Clock for Box<C> {
    fn now(&self) -> Instant {
        (**self).now()
    }

    fn ring_when_moved(&self, bell: &Bell) {
        (**self).ring_when_moved(bell);
    }
}

/// A clock of several owners: as a rule the system's, which costs nothing to share.
#[derive(Clone, Default)]
pub(crate) enum SharedClock {
    #[default]
    System,
    Other(Arc<dyn Clock + Send + Sync>),
}

impl SharedClock {
    pub(crate) fn new(clock: impl Clock + Send + Sync + 'static) -> Self {
        Self::Other(Arc::new(clock))
    }

    /// Has what `bell` makes called whenever this clock has been moved, while what is returned is kept;
    /// `None`, and it makes none, where nobody moves the clock.
    pub(crate) fn rung_by(&self, bell: impl FnOnce() -> Bell) -> Option<Bell> {
        let Self::Other(clock) = self else {
            return None;
        };
        let bell = bell();
        clock.ring_when_moved(&bell);
        Some(bell)
    }
}

impl Clock for SharedClock {
    #[inline]
    fn now(&self) -> Instant {
        match self {
            Self::System => SystemClock.now(),
            Self::Other(clock) => clock.now(),
        }
    }

    fn ring_when_moved(&self, bell: &Bell) {
        if let Self::Other(clock) = self {
            clock.ring_when_moved(bell);
        }
    }
}

/// The operating system's monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// A clock that stands still until it is moved; its clones move together.
///
/// ```
/// use mailring::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let before = clock.now();
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now() - before, Duration::from_millis(5));
/// ```
#[derive(Clone)]
pub struct ManualClock {
    shared: Arc<Mutex<Manual>>,
}

struct Manual {
    now: Instant,
    bells: Vec<Weak<dyn Fn() + Send + Sync>>,
}

impl ManualClock {
    /// A clock that stands at an arbitrary moment.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Mutex::new(Manual {
                now: Instant::now(),
                bells: Vec::new(),
            })),
        }
    }

    /// Moves the clock forward by `time`, and wakes who sleeps until a moment of this clock.
    pub fn advance(&self, time: Duration) {
        let bells: Vec<_> = {
            let mut shared = self.lock();
            shared.now += time;
            shared.bells.retain(|bell| bell.strong_count() > 0);
            shared.bells.iter().filter_map(Weak::upgrade).collect()
        };
        // Caller code, with nothing held.
        bells.iter().for_each(|ring| ring());
    }

    fn lock(&self) -> MutexGuard<'_, Manual> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.lock().now
    }

    fn ring_when_moved(&self, bell: &Bell) {
        self.lock().bells.push(Arc::downgrade(&bell.0));
    }
}

impl core::fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ManualClock")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

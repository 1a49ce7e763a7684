//! What any thread may ask of a processor, besides running letters: always fits, never waits.
//!
//! K1. Asking is: make what is asked for, raise its flag, end the owner's sleep. The owner looks
//!     at the flags between letters, and once more after it has announced its sleep; so what is
//!     asked is met before it sleeps, or wakes it.

use super::activity::Running;
use super::failure::Failure;
use super::stats::Stats;
use super::timer_state::Cancelled;
use crate::sync::{Arc, AtomicU32, AtomicU64, Bell, Mutex, SharedClock, order};
use core::sync::atomic::Ordering::Relaxed;

/// The loop is to return.
pub(super) const SUSPEND: u32 = 1;
/// There is nothing more to do.
pub(super) const ALL_DONE: u32 = 1 << 1;
/// Somebody reported a failure.
pub(super) const FAILED: u32 = 1 << 2;
/// A suspension of the default action was resumed.
pub(super) const RESUME: u32 = 1 << 3;
/// No more letters are to be taken.
pub(super) const QUIESCE: u32 = 1 << 6;
/// The clock was moved by hand.
pub(super) const CLOCK_MOVED: u32 = 1 << 4;
/// A timer was brought.
pub(super) const TIMERS: u32 = 1 << 5;

const _: () = {
    let all = SUSPEND | ALL_DONE | FAILED | RESUME | QUIESCE | CLOCK_MOVED | TIMERS;
    assert!(all.count_ones() == 7, "each has a bit of its own");
};

/// What handles and owner of one processor share beside its mailbox.
pub(super) struct Link {
    raise: Box<dyn Fn(u32) + Send + Sync>,
    /// Loop suspensions asked for and not yet met.
    suspends: AtomicU32,
    /// The latest suspension of the default action that was resumed.
    resumed: AtomicU64,
    failure: Mutex<Option<Failure>>,
    /// Kept for the clock, which does not keep it.
    _clock_bell: Option<Bell>,
    pub(super) clock: SharedClock,
    pub(super) stats: Stats,
    /// What the owner does; written by it alone, as its counters are.
    pub(super) running: Running,
    /// Timers that were cancelled.
    pub(super) cancelled: Arc<Cancelled>,
}

impl Link {
    pub(super) fn new(
        raise: impl Fn(u32) + Clone + Send + Sync + 'static,
        clock: SharedClock,
        stats: Stats,
    ) -> Self {
        let clock_bell = clock.rung_by(|| {
            let raise = raise.clone();
            Bell::new(move || raise(CLOCK_MOVED))
        });
        Self {
            raise: Box::new(raise),
            suspends: AtomicU32::new(0),
            resumed: AtomicU64::new(0),
            failure: Mutex::new(None),
            _clock_bell: clock_bell,
            clock,
            stats,
            running: Running::nothing_yet(),
            cancelled: Arc::new(Cancelled::default()),
        }
    }

    fn raise(&self, flag: u32) {
        (self.raise)(flag);
    }

    pub(super) fn ask_suspend(&self) {
        // Relaxed: the flag carries it.
        self.suspends.fetch_add(1, Relaxed);
        self.raise(SUSPEND);
    }

    pub(super) fn take_suspends(&self) -> u32 {
        // Relaxed: the flag carried it; one that comes later raises the flag again.
        self.suspends.swap(0, Relaxed)
    }

    pub(super) fn ask_to_take_in_timers(&self) {
        self.raise(TIMERS);
    }

    pub(super) fn ask_all_done(&self) {
        self.raise(ALL_DONE);
    }

    pub(super) fn ask_quiesce(&self) {
        self.raise(QUIESCE);
    }

    /// Hands a failure over; the first one counts, a later one is handed back.
    pub(super) fn report(&self, failure: Failure) -> Result<(), Failure> {
        {
            let mut first = self.failure.lock();
            if first.is_some() {
                return Err(failure);
            }
            *first = Some(failure);
        }
        self.raise(FAILED);
        Ok(())
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.lock().clone()
    }

    /// Resumes suspension `generation` and those before it.
    pub(super) fn resume(&self, generation: u64) {
        // Release: pairs with Acquire in `resumed_up_to`; what the resumer wrote is seen by the
        // default action, and what earlier ones did, for a read-modify-write hands that on.
        // The flag is raised also where another has resumed the same one: it may have been stopped
        // before it could.
        if self.resumed.fetch_max(generation, order!(u, Release)) <= generation {
            self.raise(RESUME);
        }
    }

    #[inline]
    pub(super) fn resumed_up_to(&self) -> u64 {
        // Acquire: pairs with `resume`.
        self.resumed.load(order!(u1, Acquire))
    }
}

impl core::fmt::Debug for Link {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

//! Where a processor's loop is: what its owner alone keeps of it.

use core::cell::Cell;

/// Why a default action is suspended: what the time until it is resumed is counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There is no input: idle.
    #[default]
    NoInput,
    /// There is no room for output: back-pressured.
    NoOutput,
}

/// Where the loop is; the owner's alone.
#[derive(Debug)]
pub(super) struct Phase {
    /// The default action may be called.
    pub(super) is_available: Cell<bool>,
    pub(super) reason: Cell<Reason>,
    /// The last suspension of the default action.
    pub(super) generation: Cell<u64>,
    suspends: Cell<u32>,
    pub(super) is_done: Cell<bool>,
    pub(super) has_failed: Cell<bool>,
    is_closed: Cell<bool>,
    /// One of those above: the loop is to return.
    pub(super) is_stopping: Cell<bool>,
    /// How many letters of the owner's own are taken while it finishes; `None` before that.
    pub(super) follow_ups_left: Cell<Option<usize>>,
    /// A step has worked off a batch and not come to the default action: the next one calls it first.
    pub(super) owes_action: Cell<bool>,
    /// Whether any timer is armed.
    pub(super) has_timers: Cell<bool>,
}

impl Phase {
    pub(super) fn new(has_action: bool) -> Self {
        Self {
            is_available: Cell::new(has_action),
            reason: Cell::new(Reason::NoInput),
            generation: Cell::new(0),
            suspends: Cell::new(0),
            is_done: Cell::new(false),
            has_failed: Cell::new(false),
            is_closed: Cell::new(false),
            is_stopping: Cell::new(false),
            follow_ups_left: Cell::new(None),
            owes_action: Cell::new(false),
            has_timers: Cell::new(false),
        }
    }

    pub(super) fn suspend_action(&self, reason: Reason) -> u64 {
        if self.is_available.replace(false) {
            self.generation.set(self.generation.get() + 1);
            self.reason.set(reason);
        }
        self.generation.get()
    }

    pub(super) fn add_suspends(&self, count: u32) {
        self.suspends.set(self.suspends.get().saturating_add(count));
    }

    /// Whether the loop is to return, and who runs letters inside of one too.
    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        // While it finishes, that all is done is no reason.
        self.is_stopping.get() && (self.has_failed.get() || self.follow_ups_left.get().is_none())
    }

    pub(super) fn judge(&self) {
        let stop = self.suspends.get() > 0
            || self.is_done.get()
            || self.has_failed.get()
            || self.is_closed.get();
        self.is_stopping.set(stop);
    }

    /// Takes one suspension of the loop, if there is one.
    pub(super) fn take_suspend(&self) -> bool {
        let suspends = self.suspends.get();
        self.suspends.set(suspends.saturating_sub(1));
        self.judge();
        suspends > 0
    }

    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.judge();
    }

    pub(super) fn fail(&self) {
        self.has_failed.set(true);
        self.judge();
    }
}

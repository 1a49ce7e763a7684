//! What a processor counts: by its owner without a locked instruction, for anybody to read.

use crate::letter::Kind;
use crate::mailbox;
use crate::sync::{OnceLock, Tally};
use core::time::Duration;
use std::time::Instant;

/// The counters of one processor; all but the probes' are written by its owner alone.
#[derive(Debug)]
pub(super) struct Stats {
    pub(super) started: OnceLock<Instant>,
    pub(super) letters: [Tally; Kind::COUNT],
    pub(super) markers: Tally,
    pub(super) timers: Tally,
    pub(super) actions: Tally,
    pub(super) failures: Tally,
    pub(super) longest_ns: Tally,
    pub(super) idle_ns: Tally,
    pub(super) back_pressured_ns: Tally,
    pub(super) probes: Tally,
    pub(super) probe_last_ns: Tally,
    pub(super) probe_max_ns: Tally,
}

impl Stats {
    pub(super) fn new() -> Self {
        Self {
            started: OnceLock::new(),
            letters: core::array::from_fn(|_| Tally::default()),
            markers: Tally::default(),
            timers: Tally::default(),
            actions: Tally::default(),
            failures: Tally::default(),
            longest_ns: Tally::default(),
            idle_ns: Tally::default(),
            back_pressured_ns: Tally::default(),
            probes: Tally::default(),
            probe_last_ns: Tally::default(),
            probe_max_ns: Tally::default(),
        }
    }

    pub(super) fn probed(&self, in_mailbox: Duration) {
        let ns = nanos(in_mailbox);
        self.probes.add(1);
        self.probe_last_ns.set(ns);
        self.probe_max_ns.raise_to(ns);
    }

    pub(super) fn read(&self, now: Instant, mailbox: mailbox::Counters) -> Counters {
        let idle = Duration::from_nanos(self.idle_ns.get());
        let back_pressured = Duration::from_nanos(self.back_pressured_ns.get());
        let since = self.started.get().map_or(Duration::ZERO, |started| {
            now.saturating_duration_since(*started)
        });
        Counters {
            letters_by_kind: core::array::from_fn(|kind| self.letters[kind].get()),
            markers: self.markers.get(),
            timers: self.timers.get(),
            actions: self.actions.get(),
            failures: self.failures.get(),
            longest_letter: Duration::from_nanos(self.longest_ns.get()),
            idle,
            back_pressured,
            busy: since.saturating_sub(idle + back_pressured),
            probes: self.probes.get(),
            in_mailbox_last: Duration::from_nanos(self.probe_last_ns.get()),
            in_mailbox_max: Duration::from_nanos(self.probe_max_ns.get()),
            mailbox,
        }
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What has happened at a processor since it was built; see
/// [`Executor::counters`](super::Executor::counters). Values read while it runs may be a little
/// out of step with one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Letters run, by [`Kind`]; those run by yields included, markers and timers not.
    pub letters_by_kind: [u64; Kind::COUNT],
    /// Runs of markers.
    pub markers: u64,
    /// Timer callbacks run.
    pub timers: u64,
    /// Calls of the default action.
    pub actions: u64,
    /// Letters, timers and default actions that failed, and failures reported.
    pub failures: u64,
    /// The longest letter that was timed: one in 256, and all while they take a microsecond or more;
    /// every one with [`Builder::time_letters`](super::Builder::time_letters).
    pub longest_letter: Duration,
    /// Time spent asleep or waiting to be woken, with no input or no default action. A loop of
    /// somebody else's, between its steps, counts as busy.
    pub idle: Duration,
    /// Time spent waiting while the default action was suspended for want of room for output.
    pub back_pressured: Duration,
    /// The rest of the time since the processor was first run.
    pub busy: Duration,
    /// Probe letters run.
    pub probes: u64,
    /// How long the last probe was in the mailbox; zero before the first.
    pub in_mailbox_last: Duration,
    /// How long any probe was, at most.
    pub in_mailbox_max: Duration,
    /// The mailbox's own.
    pub mailbox: mailbox::Counters,
}

impl Counters {
    /// Letters of all kinds together.
    #[must_use]
    pub fn letters(&self) -> u64 {
        self.letters_by_kind.iter().sum()
    }
}

//! What a crew counts, without a locked instruction, for anybody to read.

use crate::sync::Tally;
use core::time::Duration;
use std::time::Instant;

/// The counters of one crew; written by its thread alone.
#[derive(Debug)]
pub(super) struct CrewStats {
    pub(super) started: Instant,
    /// Turns that tasks have taken.
    pub(super) turns: Tally,
    /// How often the thread went to sleep.
    pub(super) parks: Tally,
    /// Time spent with nothing to do, the sleep that goes on not included.
    pub(super) idle_ns: Tally,
    /// Since when it sleeps, in nanoseconds from the start; 0: it does not.
    asleep_since_ns: Tally,
    /// Tasks on the list.
    pub(super) listed: Tally,
    pub(super) listed_max: Tally,
}

impl Default for CrewStats {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            turns: Tally::default(),
            parks: Tally::default(),
            idle_ns: Tally::default(),
            asleep_since_ns: Tally::default(),
            listed: Tally::default(),
            listed_max: Tally::default(),
        }
    }
}

impl CrewStats {
    /// So many tasks are on the list.
    #[inline]
    pub(super) fn has_listed(&self, tasks: usize) {
        self.listed.set(tasks as u64);
        self.listed_max.raise_to(tasks as u64);
    }

    /// The thread goes to sleep.
    pub(super) fn falls_asleep(&self, now: Instant) {
        self.parks.add(1);
        self.asleep_since_ns.set(self.since_start_ns(now).max(1));
    }

    /// The thread, which went to sleep at `since`, is awake.
    pub(super) fn woke(&self, since: Instant, now: Instant) {
        self.asleep_since_ns.set(0);
        self.idle_ns
            .add(self.since_start_ns(now) - self.since_start_ns(since));
    }

    /// Time spent with nothing to do, until now.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        let since = self.asleep_since_ns.get();
        let before = self.idle_ns.get();
        // Where it woke meanwhile, its sleep may be counted already.
        let sleep = if since == 0 || self.asleep_since_ns.get() != since {
            0
        } else {
            self.since_start_ns(now).saturating_sub(since)
        };
        Duration::from_nanos(before.saturating_add(sleep))
    }

    fn since_start_ns(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.started);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

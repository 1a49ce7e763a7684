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
    /// As much of that as there was when the sleep that goes on began.
    idle_before_ns: Tally,
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
            idle_before_ns: Tally::default(),
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
        self.idle_before_ns.set(self.idle_ns.get());
        self.asleep_since_ns.set(self.since_start_ns(now).max(1));
    }

    /// The thread, which went to sleep at `since`, is awake.
    pub(super) fn woke(&self, since: Instant, now: Instant) {
        // Counted first, so that whoever reads in between misses no sleep.
        self.counts_sleep(since, now);
        self.asleep_since_ns.set(0);
    }

    fn counts_sleep(&self, since: Instant, now: Instant) {
        let slept = self.since_start_ns(now) - self.since_start_ns(since);
        self.idle_ns.add(slept);
    }

    /// Time spent with nothing to do, until now.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        let since = self.asleep_since_ns.get();
        let before = self.idle_before_ns.get();
        // Where it woke meanwhile, its sleep is counted.
        let idle_ns = if since == 0 || self.asleep_since_ns.get() != since {
            self.idle_ns.get()
        } else {
            before.saturating_add(self.since_start_ns(now).saturating_sub(since))
        };
        Duration::from_nanos(idle_ns)
    }

    fn since_start_ns(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.started);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_in_the_idle_time_once_before_and_while_and_after_it_ends() {
        let second = Duration::from_secs(1);
        let stats = CrewStats::default();
        let at = |seconds| stats.started + seconds * second;
        for slept in 0..4 {
            let (since, now) = (at(10 * slept + 5), at(10 * slept + 10));
            let before = 5 * slept * second;
            assert_eq!(stats.idle(since), before);
            stats.falls_asleep(since);
            assert_eq!(stats.idle(since), before);
            assert_eq!(stats.idle(now), before + 5 * second);
            if slept % 2 == 0 {
                stats.counts_sleep(since, now);
                assert_eq!(stats.idle(now), before + 5 * second, "as it wakes");
                stats.asleep_since_ns.set(0);
            } else {
                stats.woke(since, now);
            }
            assert_eq!(stats.idle(now), before + 5 * second);
        }
        assert_eq!(stats.parks.get(), 4);
    }
}

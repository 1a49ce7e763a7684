//! When checkpoints are asked for by nobody: at intervals, and when the sources have come to their end.

use super::settings::CheckpointSettings;

/// How long after a final checkpoint failed the next is tried at most, in nanoseconds.
const FINAL_RETRY_MOST_NS: u64 = 1_000_000_000;

/// The checkpoint that tasks wait for before they finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinalCheckpoint {
    /// Nobody has asked for it, or it is on its way.
    Unrequested,
    /// It waits to be begun; the number is the request's.
    Requested(u64),
    /// It failed, and is asked for again then, in nanoseconds of the job's clock.
    RetryAt(u64),
    /// One was completed that was begun after all sources had come to their end.
    Completed,
}

/// When checkpoints are asked for by nobody.
#[derive(Debug)]
pub(super) struct Schedule {
    interval_ns: Option<u64>,
    first_delay_ns: u64,
    retry_ns: u64,
    next_periodic_ns: Option<u64>,
    pub(super) final_checkpoint: FinalCheckpoint,
}

impl Schedule {
    pub(super) fn new(settings: &CheckpointSettings, seed: u64) -> Self {
        let interval_ns = settings.interval_ns();
        let pause_ns = settings.min_pause_ns();
        let span_ns = interval_ns.unwrap_or(pause_ns) - pause_ns;
        let beyond_ns = span_ns
            .checked_add(1)
            .map_or(seed, |choices| seed % choices);
        Self {
            interval_ns,
            first_delay_ns: pause_ns.saturating_add(beyond_ns),
            retry_ns: interval_ns.map_or(FINAL_RETRY_MOST_NS, |interval| {
                interval.min(FINAL_RETRY_MOST_NS)
            }),
            next_periodic_ns: None,
            final_checkpoint: FinalCheckpoint::Unrequested,
        }
    }

    /// Tasks run: the first is due after a part of the interval.
    pub(super) fn start(&mut self, now_ns: u64) {
        self.stop();
        self.next_periodic_ns = self
            .interval_ns
            .map(|_| now_ns.saturating_add(self.first_delay_ns));
    }

    /// Tasks do not run any more.
    pub(super) fn stop(&mut self) {
        self.next_periodic_ns = None;
        self.final_checkpoint = FinalCheckpoint::Unrequested;
    }

    /// Whether a periodic one is due; if so, the next is an interval later.
    pub(super) fn take_periodic(&mut self, now_ns: u64) -> bool {
        let (Some(due_ns), Some(interval_ns)) = (self.next_periodic_ns, self.interval_ns) else {
            return false;
        };
        if due_ns > now_ns {
            return false;
        }
        let next_ns = due_ns.saturating_add(interval_ns);
        self.next_periodic_ns = Some(if next_ns > now_ns {
            next_ns
        } else {
            now_ns.saturating_add(interval_ns)
        });
        true
    }

    /// The periodic one came too early: it is due again then.
    pub(super) fn postpone_periodic(&mut self, now_ns: u64, again_in_ns: u64) {
        if self.next_periodic_ns.is_some() {
            self.next_periodic_ns = Some(now_ns.saturating_add(again_in_ns));
        }
    }

    /// The final one failed, or was not begun.
    pub(super) fn retry_final(&mut self, now_ns: u64) {
        if self.final_checkpoint != FinalCheckpoint::Completed {
            let retry_ns = now_ns.saturating_add(self.retry_ns);
            self.final_checkpoint = FinalCheckpoint::RetryAt(retry_ns);
        }
    }

    /// The final one can be asked for again, if it is time.
    pub(super) fn end_retry_pause(&mut self, now_ns: u64) {
        if matches!(self.final_checkpoint, FinalCheckpoint::RetryAt(retry_ns) if retry_ns <= now_ns)
        {
            self.final_checkpoint = FinalCheckpoint::Unrequested;
        }
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        let retry_ns = match self.final_checkpoint {
            FinalCheckpoint::RetryAt(retry_ns) => Some(retry_ns),
            _ => None,
        };
        self.next_periodic_ns.into_iter().chain(retry_ns).min()
    }
}

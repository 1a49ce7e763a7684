//! The lives of tasks, counted by who starts them and by themselves.

use crate::clock::{Clock, Ticks};
use crate::measure::{Reading, Site, Unsound};
use crate::recorder::Recorder;
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lives that are to be lived, one after the other; a tenth of them to warm up.
#[derive(Debug)]
pub(crate) struct Lives {
    clock: &'static Clock,
    interrupted: &'static AtomicBool,
    warm_up: u64,
    all: u64,
    begun: u64,
    start: Ticks,
    recorder: Recorder,
    over: Arc<CachePadded<AtomicU64>>,
}

/// What a task owns for as long as it lives.
#[derive(Debug)]
pub(crate) struct Life {
    over: Arc<CachePadded<AtomicU64>>,
}

impl Lives {
    /// So many that count.
    pub(crate) fn new(site: &Site, count: u64) -> Self {
        let count = count.max(1);
        Self {
            clock: site.clock,
            interrupted: site.interrupted,
            warm_up: count / 10,
            all: count + count / 10,
            begun: 0,
            start: 0,
            recorder: site.recorder(),
            over: Arc::default(),
        }
    }

    /// The next one; none when there were enough, or the user wants to stop.
    pub(crate) fn begin(&mut self) -> Option<Life> {
        // Relaxed: it says when to stop and orders nothing.
        let is_stopped = self.begun > 0 && self.interrupted.load(Ordering::Relaxed);
        if is_stopped || self.begun == self.all {
            return None;
        }
        self.begun += 1;
        let over = Arc::clone(&self.over);
        self.start = self.clock.now();
        Some(Life { over })
    }

    /// To be called when it is known that the last one is over.
    pub(crate) fn end(&mut self) {
        let end = self.clock.now_after_loads();
        if self.begun > self.warm_up {
            let time = self.clock.ns(end.saturating_sub(self.start));
            self.recorder.record(time);
        }
    }

    /// How long they took.
    pub(crate) fn arrive(self) -> Result<Reading, Unsound> {
        let posted = self.begun;
        // Relaxed: who ran them has been joined.
        let taken = self.over.load(Ordering::Relaxed);
        if taken != posted {
            return Err(Unsound { posted, taken });
        }
        Ok(Reading::of_median(self.recorder))
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // Relaxed: it is read when who ran them has been joined.
        self.over.fetch_add(1, Ordering::Relaxed);
    }
}

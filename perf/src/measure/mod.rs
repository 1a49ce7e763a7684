//! One round of each workload, for any subject.

pub(crate) mod checkpoint;
mod finish;
mod gate;
pub(crate) mod hiccup;
pub(crate) mod idle;
pub(crate) mod latency;
pub(crate) mod mail;
pub(crate) mod ping_pong;
pub(crate) mod pipeline;
pub(crate) mod rtt;
pub(crate) mod schedule;
pub(crate) mod tasks;
pub(crate) mod throughput;
pub(crate) mod turns;
mod way;

use crate::case::{Case, Part, Time};
use crate::clock::Clock;
use crate::pause::{OWN_HINTS, Pause, SAME_HINTS};
use crate::place::Cpus;
use crate::recorder::Recorder;
use crate::report::Course;
use crate::subject::Setting;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use checkpoint::NoCheckpoint;
pub use gate::NoThread;
pub(crate) use gate::{Gate, spawn};
pub use pipeline::Wrong;
pub(crate) use way::{AsShipped, SameWaiting, Way};

/// Where and with what a round is measured.
#[derive(Clone, Debug)]
pub struct Site {
    /// The CPUs it may use.
    pub cpus: Cpus,
    /// Its clock.
    pub clock: &'static Clock,
    /// The longest time its recorders take, in nanoseconds.
    pub highest_ns: u64,
    /// Spin hints after each look that found nothing, where they were chosen: else
    /// [`SAME_HINTS`] where this tool waits and [`OWN_HINTS`] where a subject leaves it to its user.
    pub pause_hints: Option<u32>,
    /// The seed of what is random in it.
    pub seed: u64,
    /// Set when the user has asked to stop.
    pub interrupted: &'static AtomicBool,
}

impl Site {
    /// For what a case's queue is made here.
    #[must_use]
    pub fn setting(&self, case: &Case) -> Setting {
        let crowded = self.cpus.crowded(case.threads());
        Setting {
            capacity: case.capacity,
            producers: case.producers,
            crowded,
            pause: Pause::new(self.pause_hints.unwrap_or(OWN_HINTS), crowded),
        }
    }

    /// How this tool waits here.
    #[must_use]
    pub fn pause(&self, crowded: bool) -> Pause {
        Pause::new(self.pause_hints.unwrap_or(SAME_HINTS), crowded)
    }

    /// An empty recorder.
    #[must_use]
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.highest_ns)
    }

    /// Whether the user has asked to stop.
    #[inline]
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        // Relaxed: it says when to stop and orders nothing.
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// How long a round goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// So many letters or round trips.
    Count(u64),
    /// So long.
    Time(Duration),
}

/// What one round gave.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The round's figure in the unit of its case.
    pub value: f64,
    /// From when it counts, for a latency.
    pub time: Option<Time>,
    /// Between which two CPUs, or twice the same for one CPU, where that is what is told apart.
    pub cpu_pair: Option<[usize; 2]>,
    /// All times, where each was taken.
    pub recorder: Option<Recorder>,
    /// Letters a second that really came through, in an open loop.
    pub achieved_per_s: Option<f64>,
    /// About how many letters were to be posted and were not, for it was over before.
    pub unsent: u64,
    /// How the round went, where that is told.
    pub course: Option<Course>,
}

impl Reading {
    /// That is this figure alone.
    pub(crate) fn of(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// Whose figure is the median of what was recorded.
    pub(crate) fn of_median(recorder: Recorder) -> Self {
        Self {
            value: recorder.median() as f64,
            recorder: Some(recorder),
            ..Self::default()
        }
    }

    /// Whose figure is that of a case's round of these times.
    pub(crate) fn of_times(case: &Case, recorder: Recorder) -> Self {
        match case.part {
            // It is the way that matters, not what else the machine does.
            Some(Part::Parked) => Self::of_median(recorder),
            _ => Self::of_p99(recorder),
        }
    }

    /// Whose figure is the 99th percentile of what was recorded; with too few for that, the
    /// median.
    pub(crate) fn of_p99(recorder: Recorder) -> Self {
        Self {
            value: recorder.percentile(99.0).unwrap_or(recorder.median()) as f64,
            recorder: Some(recorder),
            ..Self::default()
        }
    }
}

/// A queue that did not do what a queue must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no sound queue: it lost, doubled or changed letters: {taken} letters taken, {posted} posted"
)]
pub struct Unsound {
    /// Letters posted.
    pub posted: u64,
    /// Letters taken.
    pub taken: u64,
}

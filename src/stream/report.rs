//! What the operators and the task of a subtask tell of themselves.

use super::body::InputReport;
use super::element::{LatencyMarker, Watermark};
use super::setting::Subtask;
use core::time::Duration;
use std::time::Instant;

/// How long latency markers were on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Latency {
    /// How many have come.
    pub count: u64,
    /// The last one's time.
    pub last: Duration,
    /// The longest.
    pub max: Duration,
    /// All of them together.
    pub sum: Duration,
}

impl Latency {
    pub(crate) fn add(&mut self, marker: LatencyMarker, now_ns: u64) {
        let age = Duration::from_nanos(now_ns.saturating_sub(marker.marked_ns));
        self.count += 1;
        self.last = age;
        self.max = self.max.max(age);
        self.sum += age;
    }

    /// The mean; `None` where none has come.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let count = u32::try_from(self.count).unwrap_or(u32::MAX);
        self.sum.checked_div(count)
    }
}

/// What one operator has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperatorReport {
    /// Its name.
    pub name: &'static str,
    /// The last watermark that came to it, in milliseconds since 1970-01-01 00:00; `i64::MIN` before
    /// the first.
    pub watermark_ms: i64,
    /// How long it takes from the sources to here.
    pub latency: Latency,
}

impl OperatorReport {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            watermark_ms: Watermark::MIN.0,
            latency: Latency::default(),
        }
    }
}

/// What the links of a chain add their reports to.
#[derive(Debug, Default)]
pub struct Reports {
    pub(crate) operators: Vec<OperatorReport>,
    pub(crate) elements_out: u64,
    pub(crate) records_out: u64,
    pub(crate) output_depth: usize,
}

impl Reports {
    pub(crate) fn add(&mut self, report: &OperatorReport) {
        self.operators.push(report.clone());
    }
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuspendedFor {
    Input,
    Output,
}

/// How a task has spent its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    since: Instant,
    suspended: Option<(SuspendedFor, Instant)>,
    idle: Duration,
    back_pressured: Duration,
}

impl Times {
    pub(crate) fn new(since: Instant) -> Self {
        Self {
            since,
            suspended: None,
            idle: Duration::ZERO,
            back_pressured: Duration::ZERO,
        }
    }

    pub(crate) fn suspended(&mut self, what_for: SuspendedFor, now: Instant) {
        self.suspended = Some((what_for, now));
    }

    pub(crate) fn resumed(&mut self, now: Instant) {
        if let Some((what_for, at)) = self.suspended.take() {
            let time = now.saturating_duration_since(at);
            match what_for {
                SuspendedFor::Input => self.idle += time,
                SuspendedFor::Output => self.back_pressured += time,
            }
        }
    }

    /// Idle, back-pressured, and busy time until `now`.
    pub(crate) fn until(mut self, now: Instant) -> [Duration; 3] {
        self.resumed(now);
        let all = now.saturating_duration_since(self.since);
        let busy = all.saturating_sub(self.idle + self.back_pressured);
        [self.idle, self.back_pressured, busy]
    }
}

/// What one subtask has done; see `JobHandle::snapshot`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskReport {
    /// The vertex's name.
    pub vertex: Box<str>,
    /// The vertex's place in the job.
    pub vertex_index: u32,
    /// The subtask's place in the vertex, counted from 0.
    pub subtask: u32,
    /// Which attempt it is.
    pub attempt: u32,
    /// Records that came in; of a source, those it made.
    pub records_in: u64,
    /// Elements that came in: records, watermarks and all else.
    pub elements_in: u64,
    /// Records put out for other tasks.
    pub records_out: u64,
    /// Elements put out for other tasks, counted for each channel.
    pub elements_out: u64,
    /// Elements that wait in its input channels, and how many they hold.
    pub input_depth: (usize, usize),
    /// Elements that wait in its output channels, and for them.
    pub output_depth: usize,
    /// The watermark of its input, in milliseconds since 1970-01-01 00:00; `None` of a source,
    /// `i64::MIN` before the first.
    pub watermark_ms: Option<i64>,
    /// Time spent without input.
    pub idle: Duration,
    /// Time spent without room for output, or waiting for an operator.
    pub back_pressured: Duration,
    /// The rest of the time since it was opened.
    pub busy: Duration,
    /// Its operators, the first one first.
    pub operators: Vec<OperatorReport>,
}

impl TaskReport {
    pub(crate) fn new(
        subtask: &Subtask,
        input: InputReport,
        reports: Reports,
        [idle, back_pressured, busy]: [Duration; 3],
    ) -> Self {
        Self {
            vertex: subtask.vertex.clone(),
            vertex_index: subtask.vertex_index,
            subtask: subtask.index,
            attempt: subtask.attempt,
            records_in: input.records,
            elements_in: input.elements,
            records_out: reports.records_out,
            elements_out: reports.elements_out,
            input_depth: (input.depth, input.capacity),
            output_depth: reports.output_depth,
            watermark_ms: input.watermark_ms,
            idle,
            back_pressured,
            busy,
            operators: reports.operators,
        }
    }
}

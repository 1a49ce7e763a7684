//! A source that is held back to a rate.

use super::rate::{Rate, RateError, Schedule};
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::{CheckpointNotice, OperatorSnapshot};
use crate::stream::element::{CheckpointId, StopMode};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory, Stopping};
use core::time::Duration;

/// A source whose records come no faster than at a rate, by the job's clock: for load that is even, and
/// for trying out what happens while a job runs. What is behind is made up for as far as it was due in
/// the last second.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{Collect, FromIter, Paced};
/// use mailring::task::Engine;
///
/// let out = Collect::new();
/// Job::new("slow")
///     .source("numbers", Paced::per_second(FromIter::new(0..5), 10_000)?)
///     .sink("collect", out.clone())
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert_eq!(out.take(), [0, 1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a source makes nothing before it is given to a job"]
pub struct Paced<F> {
    sources: F,
    rate: Rate,
    behind_max: u64,
}

impl<F: SourceFactory> Paced<F> {
    /// At most `records` records a second, of all subtasks together.
    ///
    /// # Errors
    /// [`RateError`], unless there is at least one, and at most a million millions.
    pub fn per_second(sources: F, records: u64) -> Result<Self, RateError> {
        Ok(Self {
            sources,
            rate: Rate::new(records, Duration::from_secs(1))?,
            behind_max: records,
        })
    }
}

impl<F: SourceFactory> SourceFactory for Paced<F> {
    type Out = F::Out;
    type Source = PacedSource<F::Source>;

    const NEEDS_OWN_THREAD: bool = F::NEEDS_OWN_THREAD;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(PacedSource {
            source: self.sources.create(subtask)?,
            schedule: Schedule::new(self.rate, self.behind_max),
            next: u64::from(subtask.index),
            step: u64::from(subtask.parallelism),
            due: 0,
            is_reaching: false,
        })
    }
}

/// See [`Paced`].
#[derive(Debug)]
pub struct PacedSource<S> {
    source: S,
    schedule: Schedule,
    /// The number of the next record, among those of all subtasks in turn.
    next: u64,
    step: u64,
    /// Records whose number is lower are due, as far as is known.
    due: u64,
    /// What belongs to a checkpoint is not held back: all others wait for it.
    is_reaching: bool,
}

impl<S: Source> Source for PacedSource<S> {
    type Out = S::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.schedule.open(setting, 0);
        self.source.open(setting)
    }

    fn poll(&mut self) -> Result<Polled<S::Out>, BoxError> {
        if self.next >= self.due && !self.is_reaching {
            self.due = self.schedule.look(self.next);
            if self.next >= self.due {
                return Ok(Polled::Pending);
            }
        }
        let polled = self.source.poll()?;
        if matches!(polled, Polled::Record(_)) {
            self.next = self.next.saturating_add(self.step);
        }
        Ok(polled)
    }

    fn stop(&mut self, mode: StopMode) -> Stopping {
        self.source.stop(mode)
    }

    fn is_induced(&self) -> bool {
        self.source.is_induced()
    }

    fn reach_checkpoint(&mut self, id: CheckpointId) -> Result<bool, BoxError> {
        let has_reached = self.source.reach_checkpoint(id)?;
        self.is_reaching = !has_reached;
        Ok(has_reached)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.source.snapshot(id)
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.source.notify_checkpoint(notice)
    }

    fn close(&mut self) -> Outcome {
        self.source.close()
    }
}

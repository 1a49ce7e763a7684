//! Values that are made of their number, as fast as they are asked for or at a rate.

use super::position::Positions;
use super::rate::{Rate, RateError, Schedule};
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::element::{CheckpointId, Record};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory};
use core::fmt;
use core::time::Duration;

/// A source that makes each value by calling a closure with its number, counted from 0, without
/// timestamps. It never ends, and makes as many as are taken, unless told otherwise.
///
/// With several subtasks, each makes the values whose number is its own, modulo how many there are.
/// So the values are the same, and so is the rate of all subtasks together, whatever the parallelism.
///
/// Its position is the number of the next value. When it is restored, that one is due at once, and its
/// rate holds from then on.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{Collect, Generator};
/// use mailring::task::Engine;
///
/// let squares = Collect::new();
/// Job::new("squares")
///     .source("numbers", Generator::new(|index| index * index).count(5).per_second(10_000)?)
///     .sink("collect", squares.clone())
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert_eq!(squares.take(), [0, 1, 4, 9, 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a generator makes nothing before it is given to a job"]
pub struct Generator<F> {
    value: F,
    count: u64,
    rate: Option<Rate>,
    behind_max: u64,
}

impl<F> Generator<F> {
    /// A source of the values that `value` makes of 0, 1, 2 and so on.
    ///
    /// `value` is called on a task's thread: it must neither block nor take long.
    pub fn new<T>(value: F) -> Self
    where
        F: FnMut(u64) -> T,
    {
        Self {
            value,
            count: u64::MAX,
            rate: None,
            behind_max: 0,
        }
    }

    /// Makes `values` values in all subtasks together, and ends.
    pub fn count(self, values: u64) -> Self {
        Self {
            count: values,
            ..self
        }
    }

    /// Makes `records` values a second, in all subtasks together, by the job's clock. See
    /// [`rate`](Self::rate).
    ///
    /// # Errors
    /// [`RateError`], unless there is at least one, and at most a million millions.
    pub fn per_second(self, records: u64) -> Result<Self, RateError> {
        self.rate(records, Duration::from_secs(1))
    }

    /// Makes `records` values in each `per`, in all subtasks together and evenly spread, by the job's
    /// clock. The task is called at most once a millisecond, and makes all that is due then.
    ///
    /// One that has fallen behind, as behind slow operators, makes up for it as fast as it may, but for
    /// no more than what was due in the last `per`; see [`behind_max`](Self::behind_max).
    ///
    /// # Errors
    /// [`RateError`], unless there is at least one record, and at most a million millions, in a
    /// nanosecond at least and a year at most.
    pub fn rate(self, records: u64, per: Duration) -> Result<Self, RateError> {
        let rate = Some(Rate::new(records, per)?);
        Ok(Self {
            rate,
            behind_max: records,
            ..self
        })
    }

    /// Up to how many values it may be behind its rate, in all subtasks together, and makes up for; what
    /// it is behind more is made up for never, and it goes on later at the same rate. Without this, as
    /// many as [`rate`](Self::rate) or [`per_second`](Self::per_second) said, which is to be called
    /// before.
    pub fn behind_max(self, values: u64) -> Self {
        Self {
            behind_max: values,
            ..self
        }
    }
}

impl<T, F> SourceFactory for Generator<F>
where
    T: 'static,
    F: FnMut(u64) -> T + Clone + Send + 'static,
{
    type Out = T;
    type Source = GeneratorSource<F>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(GeneratorSource {
            value: self.value,
            next: u64::from(subtask.index),
            step: u64::from(subtask.parallelism),
            count: self.count,
            positions: Positions::new(KIND, subtask),
            due: if self.rate.is_some() { 0 } else { u64::MAX },
            schedule: self.rate.map(|rate| Schedule::new(rate, self.behind_max)),
        })
    }
}

impl<F> fmt::Debug for Generator<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("count", &self.count)
            .field("rate", &self.rate)
            .field("behind_max", &self.behind_max)
            .finish_non_exhaustive()
    }
}

/// What it has positions of.
const KIND: &str = "the values of a generator";

/// See [`Generator`].
#[derive(Debug)]
pub struct GeneratorSource<F> {
    value: F,
    /// The number of the next value.
    next: u64,
    step: u64,
    count: u64,
    positions: Positions,
    /// Values whose number is lower are due, as far as is known.
    due: u64,
    schedule: Option<Schedule>,
}

impl<T, F: FnMut(u64) -> T> Source for GeneratorSource<F> {
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let restored = self.positions.restored(setting)?;
        self.next = restored.unwrap_or(self.next);
        if let Some(schedule) = &mut self.schedule {
            // Without a checkpoint, all subtasks' values are due in turn.
            schedule.open(setting, restored.unwrap_or(0));
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<T>, BoxError> {
        if self.next >= self.count {
            return Ok(Polled::End);
        }
        if self.next >= self.due
            && let Some(schedule) = &mut self.schedule
        {
            self.due = schedule.look(self.next);
            if self.next >= self.due {
                return Ok(Polled::Pending);
            }
        }
        let value = (self.value)(self.next);
        self.next = self.next.saturating_add(self.step);
        Ok(Polled::Record(Record::new(value)))
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(self.positions.store(self.next))
    }
}

//! A closure that is told of timestamps, as a sink.

use crate::letter::{BoxError, IntoOutcome, Outcome};
use crate::stream::element::Record;
use crate::stream::setting::Subtask;
use crate::stream::sink::{Sink, SinkFactory};

/// A sink that calls a closure with each [`Record`], which is a value and its timestamp; a closure that
/// wants values alone is a sink by itself. It is called by the subtask's thread, and each subtask has
/// a clone of it.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{CallRecord, FromIter, MonotonousTimestamps, Record};
/// use mailring::task::Engine;
/// use std::sync::mpsc::channel;
///
/// let (seen, all) = channel();
/// Job::new("timestamps")
///     .source("numbers", FromIter::new([3_i64, 5]))
///     .assign_watermarks(MonotonousTimestamps::new(), |number| 1_000 * number)
///     .sink("call", CallRecord(move |record: Record<i64>| seen.send(record)))
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert!(all.try_iter().eq([Record::at(3, 3_000), Record::at(5, 5_000)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct CallRecord<F>(
    /// The closure.
    pub F,
);

impl<T, F, R> Sink<T> for CallRecord<F>
where
    F: FnMut(Record<T>) -> R,
    R: IntoOutcome,
{
    #[inline(always)]
    fn record(&mut self, record: Record<T>) -> Outcome {
        (self.0)(record).into_outcome()
    }
}

impl<T, F, R> SinkFactory<T> for CallRecord<F>
where
    F: FnMut(Record<T>) -> R + Clone + Send + 'static,
    R: IntoOutcome,
{
    type Sink = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl<F> core::fmt::Debug for CallRecord<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CallRecord").finish_non_exhaustive()
    }
}

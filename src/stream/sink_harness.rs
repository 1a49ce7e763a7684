//! Drives one sink by hand: for tests, with the checkpoints in one's hand.

use super::checkpointing::{CheckpointNotice, OperatorSnapshot, RestoredSubtask};
use super::element::{CheckpointId, Record, Watermark};
use super::harness::ByHand;
use super::output::Readiness;
use super::setting::{Setting, Subtask};
use super::sink::{Sink, SinkFactory};
use crate::letter::{BoxError, Outcome};
use core::marker::PhantomData;
use std::rc::Rc;

/// One sink and a test's hand on the records and the checkpoints that come to it. A harness that is
/// dropped closes nothing: that is a sink whose process was killed.
///
/// ```
/// use mailring::stream::{Collect, Record, SinkHarness};
///
/// let values = Collect::new();
/// let mut sink = SinkHarness::new(values.clone())?;
/// sink.record(Record::new(7))?;
/// sink.finish()?;
/// sink.close()?;
/// assert_eq!(values.take(), [7]);
/// # Ok::<(), mailring::letter::BoxError>(())
/// ```
pub struct SinkHarness<T, S: Sink<T>> {
    sink: S,
    records: PhantomData<fn(T)>,
}

impl<T, S: Sink<T>> SinkHarness<T, S> {
    /// Makes and opens the sink of a vertex's only subtask, in a job that takes checkpoints.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn new<F: SinkFactory<T, Sink = S>>(sinks: F) -> Result<Self, BoxError> {
        Self::of_subtask(sinks, Subtask::alone("test", "sink"), None)
    }

    /// Makes and opens the sink of a subtask of one's own, in a job that takes checkpoints; it may be
    /// restored.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn of_subtask<F: SinkFactory<T, Sink = S>>(
        sinks: F,
        subtask: Subtask,
        restored: Option<RestoredSubtask>,
    ) -> Result<Self, BoxError> {
        Self::open(sinks, subtask, restored, true)
    }

    /// Makes and opens the sink of a vertex's only subtask, in a job that takes no checkpoints.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn without_checkpoints<F: SinkFactory<T, Sink = S>>(sinks: F) -> Result<Self, BoxError> {
        Self::open(sinks, Subtask::alone("test", "sink"), None, false)
    }

    fn open<F: SinkFactory<T, Sink = S>>(
        sinks: F,
        subtask: Subtask,
        restored: Option<RestoredSubtask>,
        takes_checkpoints: bool,
    ) -> Result<Self, BoxError> {
        let mut sink = sinks.create(&subtask)?;
        let setting = Setting::new(Rc::new(subtask), 0, Rc::new(ByHand::default()))
            .restoring(restored.map(Rc::new))
            .taking_checkpoints(takes_checkpoints);
        sink.open(&setting)?;
        Ok(Self {
            sink,
            records: PhantomData,
        })
    }

    /// Gives it a record.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn record(&mut self, record: Record<T>) -> Outcome {
        self.sink.record(record)
    }

    /// Gives it a watermark.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn watermark(&mut self, watermark: i64) -> Outcome {
        self.sink.watermark(Watermark(watermark))
    }

    /// Has it take part in checkpoint `id`. What is left to be encoded is the part that runs beside the
    /// task: [`RestoredOperator::of`](super::RestoredOperator::of) runs it, and one that is dropped was
    /// given up before it ran.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.sink.prepare_snapshot_pre_barrier(id)?;
        self.sink.snapshot(id)
    }

    /// Tells it of a checkpoint.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.sink.notify_checkpoint(notice)
    }

    /// Tells it that all input has ended.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn finish(&mut self) -> Outcome {
        self.sink.finish()
    }

    /// Closes it.
    ///
    /// # Errors
    /// What the sink failed by.
    pub fn close(mut self) -> Outcome {
        self.sink.close()
    }

    /// Whether it takes a record.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.sink.readiness()
    }

    /// The sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<T, S: Sink<T>> core::fmt::Debug for SinkHarness<T, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SinkHarness").finish_non_exhaustive()
    }
}

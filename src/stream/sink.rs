//! The end of a chain that leaves the job.

use super::checkpointing::{ChainSnapshot, CheckpointNotice, OperatorSnapshot};
use super::closing::close_one;
use super::deployment::Deployment;
use super::element::{CheckpointId, Event, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::link::{Link, LinkFactory};
use super::output::{Output, Readiness};
use super::report::{OperatorReport, Reports};
use super::setting::{Setting, Subtask};
use crate::letter::{BoxError, Outcome};
use core::marker::PhantomData;
use core::task::{Context, Poll};

/// Takes what a chain makes out of the job: one of them in each subtask.
///
/// All of it is called by the subtask's thread; it must neither block nor spin.
pub trait Sink<T> {
    /// Before anything else.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn open(&mut self, setting: &Setting) -> Outcome {
        let _ = setting;
        Ok(())
    }

    /// A record has come.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn record(&mut self, record: Record<T>) -> Outcome;

    /// Event time has come to `watermark`.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        let _ = watermark;
        Ok(())
    }

    /// All input has ended and was drained.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn finish(&mut self) -> Outcome {
        Ok(())
    }

    /// Checkpoint `id` is about to be taken here.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn prepare_snapshot_pre_barrier(&mut self, id: CheckpointId) -> Outcome {
        let _ = id;
        Ok(())
    }

    /// The sink's state as it is now; see [`Operator::snapshot`](super::Operator::snapshot).
    ///
    /// # Errors
    /// Whatever fails the task.
    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let _ = id;
        Ok(OperatorSnapshot::stateless())
    }

    /// Tells of a checkpoint that the sink took part in: one that is complete is to be made visible.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        let _ = notice;
        Ok(())
    }

    /// The last call, however the task ends.
    ///
    /// # Errors
    /// Fails a task that would have finished.
    fn close(&mut self) -> Outcome {
        Ok(())
    }

    /// Whether it takes a record; one that waits has itself called by
    /// [`Setting::wake_at`], or its task by [`Setting::waker`].
    #[inline]
    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }
}

/// Makes the sinks of a vertex's subtasks.
///
/// A `FnMut(T) -> impl IntoOutcome` is one, and its clones are the sinks.
pub trait SinkFactory<T>: Clone + Send + 'static {
    /// The sink of one subtask.
    type Sink: Sink<T> + 'static;

    /// The sink of `subtask`, made on the subtask's thread.
    ///
    /// # Errors
    /// Why it cannot be made: it fails the task.
    fn create(self, subtask: &Subtask) -> Result<Self::Sink, BoxError>;
}

/// A sink, as the end of a chain.
pub(crate) struct SinkLink<T, S> {
    sink: S,
    report: OperatorReport,
    setting: Option<Setting>,
    records: PhantomData<fn(T)>,
}

impl<T, S: Sink<T>> Output<T> for SinkLink<T, S> {
    #[inline(always)]
    fn record(&mut self, record: Record<T>) -> Outcome {
        self.sink.record(record)
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.report.watermark_ms = watermark.0;
        self.sink.watermark(watermark)
    }

    fn status(&mut self, _status: WatermarkStatus) -> Outcome {
        Ok(())
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        if let Some(setting) = &self.setting {
            self.report.latency.add(marker, setting.since_start_ns());
        }
        Ok(())
    }

    #[inline(always)]
    fn readiness(&self) -> Readiness {
        self.sink.readiness()
    }
}

impl<T, S: Sink<T>> Link<T> for SinkLink<T, S> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        self.sink.open(setting)
    }

    fn operators(&self) -> usize {
        1
    }

    fn advance(&mut self) -> Outcome {
        Ok(())
    }

    fn processing_time(&mut self, _operator: usize, _now_ms: i64) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, _operator: usize) -> Outcome {
        self.sink.finish()
    }

    fn event(&mut self, _event: Event) -> Outcome {
        Ok(())
    }

    #[inline]
    fn flush(&mut self) {}

    fn poll_room(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.sink.prepare_snapshot_pre_barrier(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        into.push((self.report.name, self.sink.snapshot(id)?));
        Ok(())
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        close_one(failed, || self.sink.notify_checkpoint(notice));
    }

    fn close(&mut self, failed: &mut Outcome) {
        close_one(failed, || self.sink.close());
    }

    fn report(&self, reports: &mut Reports) {
        reports.add(&self.report);
    }
}

/// Builds a [`SinkLink`].
pub(crate) struct SinkLinkFactory<T, F> {
    name: &'static str,
    sinks: F,
    records: PhantomData<fn(T)>,
}

impl<T, F> SinkLinkFactory<T, F> {
    pub(crate) fn new(name: &'static str, sinks: F) -> Self {
        Self {
            name,
            sinks,
            records: PhantomData,
        }
    }
}

impl<T, F: Clone> Clone for SinkLinkFactory<T, F> {
    fn clone(&self) -> Self {
        Self::new(self.name, self.sinks.clone())
    }
}

impl<T: 'static, F: SinkFactory<T>> LinkFactory<T> for SinkLinkFactory<T, F> {
    type Link = SinkLink<T, F::Sink>;

    fn names(&self, names: &mut Vec<&'static str>) {
        names.push(self.name);
    }

    fn build(self, deployment: &mut Deployment) -> Result<Self::Link, BoxError> {
        Ok(SinkLink {
            sink: self.sinks.create(deployment.subtask())?,
            report: OperatorReport::new(self.name),
            setting: None,
            records: PhantomData,
        })
    }
}

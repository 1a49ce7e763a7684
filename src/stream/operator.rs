//! What is done to a stream: one operator, of the chain of operators in a task.

use super::checkpointing::{CheckpointNotice, OperatorSnapshot};
use super::element::{CheckpointId, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::output::{Output, Progress, Readiness};
use super::setting::Setting;
use crate::letter::{BoxError, Outcome};

/// One step of what is done to a stream, in one subtask.
///
/// All of it is called by the subtask's thread: an operator needs no lock, and must neither block
/// nor spin. One that has to wait says so by [`readiness`](Self::readiness) and is given no record
/// until it is ready again. Any error fails the task.
///
/// The order is: [`open`](Self::open), then records, watermarks and timers as they come; at the end
/// of a stream that is drained [`end_input`](Self::end_input) and [`finish`](Self::finish); at last
/// [`close`](Self::close), however the task ends.
pub trait Operator<In> {
    /// What it makes.
    type Out;

    /// Before anything else, the last operator of a chain first.
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
    fn process(&mut self, record: Record<In>, out: &mut impl Output<Self::Out>) -> Outcome;

    /// Event time has come to `watermark`. One that has much to do for it looks at
    /// [`Setting::should_give_way`] and at `out` now and then, and does the rest, and passes the
    /// watermark on, when it is [advanced](Self::advance).
    ///
    /// # Errors
    /// Whatever fails the task.
    #[inline]
    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<Self::Out>,
    ) -> Result<Progress, BoxError> {
        out.watermark(watermark)?;
        Ok(Progress::Done)
    }

    /// Whether watermarks come.
    ///
    /// # Errors
    /// Whatever fails the task.
    #[inline]
    fn status(&mut self, status: WatermarkStatus, out: &mut impl Output<Self::Out>) -> Outcome {
        out.status(status)
    }

    /// A latency marker passes by.
    ///
    /// # Errors
    /// Whatever fails the task.
    #[inline]
    fn latency(&mut self, marker: LatencyMarker, out: &mut impl Output<Self::Out>) -> Outcome {
        out.latency(marker)
    }

    /// The moment has come that was asked for with [`Setting::wake_at`], or a later one.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn processing_time(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<Self::Out>,
    ) -> Result<Progress, BoxError> {
        let _ = (now_ms, out);
        Ok(Progress::Done)
    }

    /// Goes on with what was left [`Unfinished`](Progress::Unfinished).
    ///
    /// # Errors
    /// Whatever fails the task.
    fn advance(&mut self, out: &mut impl Output<Self::Out>) -> Result<Progress, BoxError> {
        let _ = out;
        Ok(Progress::Done)
    }

    /// Input number `input`, counted from 0, has ended and was drained.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn end_input(&mut self, input: usize, out: &mut impl Output<Self::Out>) -> Outcome {
        let _ = (input, out);
        Ok(())
    }

    /// All input has ended and was drained: what is held back is to go out now. No timer fires after
    /// it.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn finish(&mut self, out: &mut impl Output<Self::Out>) -> Outcome {
        let _ = out;
        Ok(())
    }

    /// Checkpoint `id` is about to be taken here: what is put out now comes before its barrier.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn prepare_snapshot_pre_barrier(
        &mut self,
        id: CheckpointId,
        out: &mut impl Output<Self::Out>,
    ) -> Outcome {
        let _ = (id, out);
        Ok(())
    }

    /// The operator's state as it is now, between two records. It is to take little time here: what
    /// turns it into bytes runs on another thread. When the operator is opened again from the
    /// checkpoint, [`Setting::restored`] gives the bytes.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let _ = id;
        Ok(OperatorSnapshot::stateless())
    }

    /// Tells of a checkpoint that the operator took part in.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        let _ = notice;
        Ok(())
    }

    /// The last call, exactly once, whether the task finished, failed or was cancelled.
    ///
    /// # Errors
    /// Fails a task that would have finished; else it is told beside what the task failed by.
    fn close(&mut self) -> Outcome {
        Ok(())
    }

    /// Whether it takes a record, as far as it goes itself.
    #[inline]
    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }
}

//! Operators with several inputs.

use super::head::Heading;
use super::selection::InputSelection;
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::{CheckpointNotice, OperatorSnapshot};
use crate::stream::element::{CheckpointId, LatencyMarker, Record, Watermark, WatermarkStatus};
use crate::stream::operator::Operator;
use crate::stream::output::{Output, Progress, Readiness};
use crate::stream::setting::Setting;

/// What is done to two streams together, in one subtask: the left one is input 0, the right one
/// input 1.
///
/// It is called as an [`Operator`] is. A watermark is that of both inputs: the lesser of theirs,
/// without those that are idle or have ended.
///
/// ```
/// use mailring::job::Job;
/// use mailring::letter::BoxError;
/// use mailring::stream::{Collect, FromIter, InputSelection, Output, Record, TwoInputOperator};
/// use mailring::task::{Engine, Shutdown};
///
/// /// Passes on what the left stream does not forbid, and so reads all of that first.
/// #[derive(Default)]
/// struct Allowed {
///     forbidden: Vec<u32>,
///     is_known: bool,
/// }
///
/// impl TwoInputOperator<u32, u32> for Allowed {
///     type Out = u32;
///
///     fn process_left(
///         &mut self,
///         record: Record<u32>,
///         _out: &mut impl Output<u32>,
///     ) -> Result<(), BoxError> {
///         self.forbidden.push(record.value);
///         Ok(())
///     }
///
///     fn process_right(
///         &mut self,
///         record: Record<u32>,
///         out: &mut impl Output<u32>,
///     ) -> Result<(), BoxError> {
///         if self.forbidden.contains(&record.value) {
///             return Ok(());
///         }
///         out.record(record)
///     }
///
///     fn end_input(&mut self, _input: usize, _out: &mut impl Output<u32>) -> Result<(), BoxError> {
///         self.is_known = true;
///         Ok(())
///     }
///
///     fn selection(&self) -> InputSelection {
///         if self.is_known { InputSelection::RIGHT } else { InputSelection::LEFT }
///     }
/// }
///
/// let engine = Engine::builder().threads(1).build()?;
/// let out = Collect::new();
/// let job = Job::new("allowed");
/// let forbidden = job.source("forbidden", FromIter::new([2, 3]));
/// let numbers = job.source("numbers", FromIter::new(0..6));
/// forbidden
///     .connect(numbers)
///     .process("allowed", Allowed::default)
///     .sink("collect", out.clone())
///     .run(&engine)?;
/// assert_eq!(out.take(), [0, 1, 4, 5]);
/// # engine.shutdown(Shutdown::now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TwoInputOperator<A, B> {
    /// What it makes.
    type Out;

    /// See [`Operator::open`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn open(&mut self, setting: &Setting) -> Outcome {
        let _ = setting;
        Ok(())
    }

    /// A record of the left stream has come.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn process_left(&mut self, record: Record<A>, out: &mut impl Output<Self::Out>) -> Outcome;

    /// A record of the right stream has come.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn process_right(&mut self, record: Record<B>, out: &mut impl Output<Self::Out>) -> Outcome;

    /// Event time of both inputs has come to `watermark`; see [`Operator::watermark`].
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

    /// Whether watermarks come: idle where neither input has any.
    ///
    /// # Errors
    /// Whatever fails the task.
    #[inline]
    fn status(&mut self, status: WatermarkStatus, out: &mut impl Output<Self::Out>) -> Outcome {
        out.status(status)
    }

    /// See [`Operator::processing_time`].
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

    /// See [`Operator::advance`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn advance(&mut self, out: &mut impl Output<Self::Out>) -> Result<Progress, BoxError> {
        let _ = out;
        Ok(Progress::Done)
    }

    /// Input number `input`, counted from 0, has ended and was drained. A job that goes on from a
    /// checkpoint tells it again of an input that had ended before while the other had not.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn end_input(&mut self, input: usize, out: &mut impl Output<Self::Out>) -> Outcome {
        let _ = (input, out);
        Ok(())
    }

    /// Both inputs have ended and were drained; see [`Operator::finish`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn finish(&mut self, out: &mut impl Output<Self::Out>) -> Outcome {
        let _ = out;
        Ok(())
    }

    /// See [`Operator::prepare_snapshot_pre_barrier`].
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

    /// See [`Operator::snapshot`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let _ = id;
        Ok(OperatorSnapshot::stateless())
    }

    /// See [`Operator::notify_checkpoint`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        let _ = notice;
        Ok(())
    }

    /// See [`Operator::close`].
    ///
    /// # Errors
    /// Fails a task that would have finished.
    fn close(&mut self) -> Outcome {
        Ok(())
    }

    /// See [`Operator::readiness`].
    #[inline]
    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    /// Which input it takes the next record from; asked again after each record. It fails the task to
    /// select nothing but inputs that have ended while the other has not; and, in a job with checkpoints,
    /// to [leave out](super::InputLeftOut) one that has not ended, whose barriers would not be read.
    #[inline]
    fn selection(&self) -> InputSelection {
        InputSelection::ALL
    }
}

/// A record of one of two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sided<A, B> {
    Left(A),
    Right(B),
}

/// A two-input operator, as the head of a chain.
pub(crate) struct BothSides<Op>(pub(crate) Op);

impl<A, B, Op: TwoInputOperator<A, B>> Operator<Sided<A, B>> for BothSides<Op> {
    type Out = Op::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.0.open(setting)
    }

    #[inline(always)]
    fn process(&mut self, record: Record<Sided<A, B>>, out: &mut impl Output<Op::Out>) -> Outcome {
        let no_value = record.with(());
        match record.value {
            Sided::Left(value) => self.0.process_left(no_value.with(value), out),
            Sided::Right(value) => self.0.process_right(no_value.with(value), out),
        }
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<Op::Out>,
    ) -> Result<Progress, BoxError> {
        self.0.watermark(watermark, out)
    }

    fn status(&mut self, status: WatermarkStatus, out: &mut impl Output<Op::Out>) -> Outcome {
        self.0.status(status, out)
    }

    fn latency(&mut self, marker: LatencyMarker, out: &mut impl Output<Op::Out>) -> Outcome {
        out.latency(marker)
    }

    fn processing_time(
        &mut self,
        now_ms: i64,
        out: &mut impl Output<Op::Out>,
    ) -> Result<Progress, BoxError> {
        self.0.processing_time(now_ms, out)
    }

    fn advance(&mut self, out: &mut impl Output<Op::Out>) -> Result<Progress, BoxError> {
        self.0.advance(out)
    }

    // Each input's end was told by `end_of`.
    fn end_input(&mut self, _input: usize, _out: &mut impl Output<Op::Out>) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, out: &mut impl Output<Op::Out>) -> Outcome {
        self.0.finish(out)
    }

    fn prepare_snapshot_pre_barrier(
        &mut self,
        id: CheckpointId,
        out: &mut impl Output<Op::Out>,
    ) -> Outcome {
        self.0.prepare_snapshot_pre_barrier(id, out)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.0.snapshot(id)
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.0.notify_checkpoint(notice)
    }

    fn close(&mut self) -> Outcome {
        self.0.close()
    }

    #[inline(always)]
    fn readiness(&self) -> Readiness {
        self.0.readiness()
    }
}

impl<A, B, Op: TwoInputOperator<A, B>> Heading<Sided<A, B>> for BothSides<Op> {
    #[inline(always)]
    fn selection(&self) -> InputSelection {
        self.0.selection()
    }

    fn end_of(&mut self, input: usize, out: &mut impl Output<Op::Out>) -> Outcome {
        self.0.end_input(input, out)
    }
}

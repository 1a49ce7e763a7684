//! Many inputs of one type.

use super::head::{Head, Heading};
use super::intake::{Intake, Taken};
use super::processor::Inputs;
use super::selection::InputSelection;
use crate::letter::{BoxError, Outcome};
use crate::stream::body::InputReport;
use crate::stream::channel::InputChannel;
use crate::stream::checkpointing::{CheckpointNotice, OperatorSnapshot};
use crate::stream::element::{
    CheckpointId, LatencyMarker, Record, StopMode, Watermark, WatermarkStatus,
};
use crate::stream::gate::InputGate;
use crate::stream::link::Link;
use crate::stream::operator::Operator;
use crate::stream::output::{Output, Progress, Readiness};
use crate::stream::setting::Setting;
use core::task::{Context, Poll};

/// A value, and by which of an operator's inputs it came, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FromInput<T> {
    /// The input.
    pub input: usize,
    /// The value.
    pub value: T,
}

/// An operator that knows which of many streams of one type a record is of.
///
/// [`Operator::end_input`] tells it of each input's end. A watermark is that of all inputs: the least
/// of theirs, without those that are idle or have ended.
///
/// ```
/// use mailring::job::Job;
/// use mailring::letter::BoxError;
/// use mailring::stream::{
///     Collect, FromInput, FromIter, MultipleInputOperator, Operator, Output, Record,
/// };
/// use mailring::task::{Engine, Shutdown};
///
/// /// Writes to each text which stream it is of.
/// struct Tagged;
///
/// impl Operator<FromInput<&'static str>> for Tagged {
///     type Out = String;
///
///     fn process(
///         &mut self,
///         record: Record<FromInput<&'static str>>,
///         out: &mut impl Output<String>,
///     ) -> Result<(), BoxError> {
///         out.record(record.map(|from| format!("{} {}", from.input, from.value)))
///     }
/// }
///
/// impl MultipleInputOperator<&'static str> for Tagged {}
///
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("tagged");
/// let text = |text| job.source(text, FromIter::new([text]));
/// let out = Collect::new();
/// text("a")
///     .beside(text("b"))
///     .beside(text("c"))
///     .process("tagged", || Tagged)
///     .sink("collect", out.clone())
///     .run(&engine)?;
/// let mut texts = out.take();
/// texts.sort();
/// assert_eq!(texts, ["0 a", "1 b", "2 c"]);
/// # engine.shutdown(Shutdown::now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MultipleInputOperator<T>: Operator<FromInput<T>> {
    /// Which inputs it takes the next record from; asked again after each record. It fails the task to
    /// select nothing but inputs that have ended while others have not; and, in a job with checkpoints,
    /// to [leave out](super::InputLeftOut) any that has not ended, whose barriers would not be read.
    #[inline]
    fn selection(&self) -> InputSelection {
        InputSelection::ALL
    }
}

/// A multiple-input operator, as the head of a chain.
pub(crate) struct Numbered<Op>(Op);

impl<T, Op: MultipleInputOperator<T>> Operator<FromInput<T>> for Numbered<Op> {
    type Out = Op::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.0.open(setting)
    }

    #[inline(always)]
    fn process(&mut self, record: Record<FromInput<T>>, out: &mut impl Output<Op::Out>) -> Outcome {
        self.0.process(record, out)
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
        self.0.latency(marker, out)
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

impl<T, Op: MultipleInputOperator<T>> Heading<FromInput<T>> for Numbered<Op> {
    #[inline(always)]
    fn selection(&self) -> InputSelection {
        self.0.selection()
    }

    fn end_of(&mut self, input: usize, out: &mut impl Output<Op::Out>) -> Outcome {
        self.0.end_input(input, out)
    }
}

/// See above.
pub(crate) struct ManyInputs<T, C, Op, Next> {
    intakes: Vec<Intake<T, C>>,
    head: Head<FromInput<T>, Numbered<Op>, Next>,
}

impl<T, C, Op, Next> ManyInputs<T, C, Op, Next>
where
    C: InputChannel<T>,
    Op: MultipleInputOperator<T>,
    Next: Link<Op::Out>,
{
    pub(crate) fn new(
        gates: Vec<InputGate<T, C>>,
        name: &'static str,
        operator: Op,
        next: Next,
    ) -> Self {
        Self {
            head: Head::new(gates.len(), name, Numbered(operator), next),
            intakes: (0..)
                .zip(gates)
                .map(|(number, gate)| Intake::new(gate, number))
                .collect(),
        }
    }
}

impl<T, C, Op, Next> Inputs for ManyInputs<T, C, Op, Next>
where
    C: InputChannel<T>,
    Op: MultipleInputOperator<T>,
    Next: Link<Op::Out>,
{
    type In = FromInput<T>;

    fn chain(&self) -> &impl Link<FromInput<T>> {
        self.head.chain()
    }

    fn chain_mut(&mut self) -> &mut impl Link<FromInput<T>> {
        self.head.chain_mut()
    }

    fn inputs(&self) -> usize {
        self.intakes.len()
    }

    fn selection(&self) -> InputSelection {
        self.head.selection()
    }

    fn take(&mut self, input: usize, max: usize) -> Result<Taken, BoxError> {
        let mut side = self.head.side(input, |value| FromInput { input, value });
        self.intakes[input].take(max, &mut side, |side| side.goes_on())
    }

    fn end_data(&mut self, input: usize, mode: StopMode) -> Outcome {
        self.head.end_data(input, mode)
    }

    fn end_input(&mut self, input: usize) -> Outcome {
        self.head.end_input(input)
    }

    fn has_elements(&self, input: usize) -> bool {
        self.intakes[input].has_elements()
    }

    fn has_ended(&self, input: usize) -> bool {
        self.intakes[input].has_ended()
    }

    fn channels(&self, input: usize) -> u32 {
        self.intakes[input].channels()
    }

    fn resume_consumption(&mut self, input: usize, channel: u32) -> Outcome {
        self.intakes[input].resume_consumption(channel)
    }

    fn poll_elements(&mut self, input: usize, cx: &mut Context<'_>) -> Poll<()> {
        self.intakes[input].poll_elements(cx)
    }

    fn elements(&self) -> u64 {
        self.intakes.iter().map(Intake::elements).sum()
    }

    fn report(&self) -> InputReport {
        let reports = self.intakes.iter().map(Intake::report);
        let all = reports.fold(InputReport::default(), InputReport::and);
        InputReport {
            watermark_ms: Some(self.head.output_watermark().0),
            ..all
        }
    }
}

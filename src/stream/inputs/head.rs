//! The chain behind several inputs: their watermarks combined, and a head that knows each input.

use super::selection::InputSelection;
use crate::letter::Outcome;
use crate::stream::element::{LatencyMarker, Record, StopMode, Watermark, WatermarkStatus};
use crate::stream::link::{Chained, Link};
use crate::stream::operator::Operator;
use crate::stream::output::{Output, Readiness};
use crate::stream::watermark::CombinedWatermarkStatus;

use super::intake::pass_on;

/// The first operator behind several inputs.
pub(crate) trait Heading<In>: Operator<In> {
    /// Which inputs it takes records from.
    fn selection(&self) -> InputSelection;

    /// Input number `input` has ended and was drained.
    fn end_of(&mut self, input: usize, out: &mut impl Output<Self::Out>) -> Outcome;
}

/// See above.
pub(crate) struct Head<In, Op, Next> {
    chain: Chained<In, Op, Next>,
    combined: CombinedWatermarkStatus,
}

impl<In, Op: Heading<In>, Next: Link<Op::Out>> Head<In, Op, Next> {
    pub(crate) fn new(inputs: usize, name: &'static str, operator: Op, next: Next) -> Self {
        Self {
            chain: Chained::new(name, operator, next),
            combined: CombinedWatermarkStatus::new(inputs),
        }
    }

    pub(crate) fn chain(&self) -> &impl Link<In> {
        &self.chain
    }

    pub(crate) fn chain_mut(&mut self) -> &mut impl Link<In> {
        &mut self.chain
    }

    pub(crate) fn selection(&self) -> InputSelection {
        self.chain.operator().selection()
    }

    pub(crate) fn output_watermark(&self) -> Watermark {
        self.combined.output_watermark()
    }

    /// Leaves an input out of event time whose data has ended.
    pub(crate) fn end_data(&mut self, input: usize, mode: StopMode) -> Outcome {
        pass_on(self.combined.end(input, mode), &mut self.chain)
    }

    pub(crate) fn end_input(&mut self, input: usize) -> Outcome {
        let (operator, out) = self.chain.head();
        operator.end_of(input, out)
    }

    /// Where the elements of one input go: `wrap` says by its value which input a record is of.
    pub(crate) fn side<F>(&mut self, input: usize, wrap: F) -> Side<'_, In, Op, Next, F> {
        Side {
            head: self,
            input,
            wrap,
        }
    }
}

/// The chain, as one of the inputs sees it.
pub(crate) struct Side<'a, In, Op, Next, F> {
    head: &'a mut Head<In, Op, Next>,
    input: usize,
    wrap: F,
}

impl<In, Op: Heading<In>, Next: Link<Op::Out>, F> Side<'_, In, Op, Next, F> {
    /// Whether it is still this input's turn.
    #[inline]
    pub(crate) fn goes_on(&self) -> bool {
        self.head.chain.readiness().is_ready() && self.head.selection().contains(self.input)
    }
}

impl<T, In, Op, Next, F> Output<T> for Side<'_, In, Op, Next, F>
where
    Op: Heading<In>,
    Next: Link<Op::Out>,
    F: Fn(T) -> In,
{
    #[inline(always)]
    fn record(&mut self, record: Record<T>) -> Outcome {
        self.head.chain.record(record.map(&self.wrap))
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        let Head { chain, combined } = &mut *self.head;
        pass_on(combined.watermark(self.input, watermark), chain)
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        let Head { chain, combined } = &mut *self.head;
        pass_on(combined.status(self.input, status), chain)
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        self.head.chain.latency(marker)
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        self.head.chain.readiness()
    }
}

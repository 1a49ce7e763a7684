//! Two inputs, whose records are of different types.

use super::head::Head;
use super::intake::{Intake, Taken};
use super::operator::{BothSides, Sided, TwoInputOperator};
use super::processor::Inputs;
use super::selection::InputSelection;
use crate::letter::{BoxError, Outcome};
use crate::stream::body::InputReport;
use crate::stream::channel::InputChannel;
use crate::stream::element::StopMode;
use crate::stream::gate::InputGate;
use crate::stream::link::Link;
use core::task::{Context, Poll};

/// See above; input 0 is the left one.
pub(crate) struct TwoInputs<A, B, CA, CB, Op, Next> {
    left: Intake<A, CA>,
    right: Intake<B, CB>,
    head: Head<Sided<A, B>, BothSides<Op>, Next>,
}

impl<A, B, CA, CB, Op, Next> TwoInputs<A, B, CA, CB, Op, Next>
where
    CA: InputChannel<A>,
    CB: InputChannel<B>,
    Op: TwoInputOperator<A, B>,
    Next: Link<Op::Out>,
{
    pub(crate) fn new(
        left: InputGate<A, CA>,
        right: InputGate<B, CB>,
        name: &'static str,
        operator: Op,
        next: Next,
    ) -> Self {
        Self {
            left: Intake::new(left, 0),
            right: Intake::new(right, 1),
            head: Head::new(2, name, BothSides(operator), next),
        }
    }
}

impl<A, B, CA, CB, Op, Next> Inputs for TwoInputs<A, B, CA, CB, Op, Next>
where
    CA: InputChannel<A>,
    CB: InputChannel<B>,
    Op: TwoInputOperator<A, B>,
    Next: Link<Op::Out>,
{
    type In = Sided<A, B>;

    fn chain(&self) -> &impl Link<Sided<A, B>> {
        self.head.chain()
    }

    fn chain_mut(&mut self) -> &mut impl Link<Sided<A, B>> {
        self.head.chain_mut()
    }

    fn inputs(&self) -> usize {
        2
    }

    fn selection(&self) -> InputSelection {
        self.head.selection()
    }

    fn take(&mut self, input: usize, max: usize) -> Result<Taken, BoxError> {
        if input == 0 {
            let mut side = self.head.side(input, Sided::Left);
            self.left.take(max, &mut side, |side| side.goes_on())
        } else {
            let mut side = self.head.side(input, Sided::Right);
            self.right.take(max, &mut side, |side| side.goes_on())
        }
    }

    fn end_data(&mut self, input: usize, mode: StopMode) -> Outcome {
        self.head.end_data(input, mode)
    }

    fn end_input(&mut self, input: usize) -> Outcome {
        self.head.end_input(input)
    }

    fn has_elements(&self, input: usize) -> bool {
        if input == 0 {
            self.left.has_elements()
        } else {
            self.right.has_elements()
        }
    }

    fn has_ended(&self, input: usize) -> bool {
        if input == 0 {
            self.left.has_ended()
        } else {
            self.right.has_ended()
        }
    }

    fn channels(&self, input: usize) -> u32 {
        if input == 0 {
            self.left.channels()
        } else {
            self.right.channels()
        }
    }

    fn resume_consumption(&mut self, input: usize, channel: u32) -> Outcome {
        if input == 0 {
            self.left.resume_consumption(channel)
        } else {
            self.right.resume_consumption(channel)
        }
    }

    fn poll_elements(&mut self, input: usize, cx: &mut Context<'_>) -> Poll<()> {
        if input == 0 {
            self.left.poll_elements(cx)
        } else {
            self.right.poll_elements(cx)
        }
    }

    fn elements(&self) -> u64 {
        self.left.elements() + self.right.elements()
    }

    fn report(&self) -> InputReport {
        let both = self.left.report().and(self.right.report());
        InputReport {
            watermark_ms: Some(self.head.output_watermark().0),
            ..both
        }
    }
}

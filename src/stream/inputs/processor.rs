//! The task with several inputs: which one is read, and what their ends come to.

use super::intake::Taken;
use super::order::InputOrder;
use super::selection::{InputSelection, TooManyInputs};
use crate::letter::{BoxError, Outcome};
use crate::stream::body::{Body, InputReport, InputStatus, Turn};
use crate::stream::checkpointing::{ChainSnapshot, CheckpointNotice};
use crate::stream::element::{ChannelId, CheckpointId, Event, StopMode};
use crate::stream::link::Link;
use crate::stream::output::{Output as _, Readiness};
use crate::stream::report::Reports;
use crate::stream::setting::Setting;
use core::task::{Context, Poll};

/// Several inputs, and the chain that they lead to.
pub(crate) trait Inputs {
    /// What the chain takes.
    type In;

    fn chain(&self) -> &impl Link<Self::In>;

    fn chain_mut(&mut self) -> &mut impl Link<Self::In>;

    /// How many there are.
    fn inputs(&self) -> usize;

    /// Which of them the chain takes records from.
    fn selection(&self) -> InputSelection;

    /// Gives the chain up to `max` elements of an input, while that is selected and the chain ready.
    fn take(&mut self, input: usize, max: usize) -> Result<Taken, BoxError>;

    /// No record comes from an input any more.
    fn end_data(&mut self, input: usize, mode: StopMode) -> Outcome;

    /// Tells the head that an input has ended and was drained.
    fn end_input(&mut self, input: usize) -> Outcome;

    fn has_elements(&self, input: usize) -> bool;

    /// Whether nothing comes from an input any more.
    fn has_ended(&self, input: usize) -> bool;

    /// How many channels an input has.
    fn channels(&self, input: usize) -> u32;

    /// Lets a blocked channel of an input give again.
    fn resume_consumption(&mut self, input: usize, channel: u32) -> Outcome;

    fn poll_elements(&mut self, input: usize, cx: &mut Context<'_>) -> Poll<()>;

    fn elements(&self) -> u64;

    fn report(&self) -> InputReport;
}

/// See above.
pub(crate) struct MultipleInputProcessor<I> {
    inputs: I,
    order: InputOrder,
    /// The input whose data has ended, and nobody was told.
    ending: Option<(usize, StopMode)>,
    /// The operators had finished in the checkpoint that they are restored from: the head is asked for
    /// nothing any more, and told nothing.
    is_restored_finished: bool,
    takes_checkpoints: bool,
    is_closed: bool,
}

impl<I: Inputs> MultipleInputProcessor<I> {
    pub(crate) fn new(inputs: I) -> Result<Self, TooManyInputs> {
        Ok(Self {
            order: InputOrder::new(inputs.inputs())?,
            inputs,
            ending: None,
            is_restored_finished: false,
            takes_checkpoints: false,
            is_closed: false,
        })
    }

    /// Which inputs are to be read.
    fn selection(&self) -> InputSelection {
        match self.is_restored_finished {
            true => InputSelection::ALL,
            false => self.inputs.selection(),
        }
    }

    /// Tells the head of an input's end, which it may select others by; then the task of that of
    /// all data, if it was the last one.
    fn end(&mut self, input: usize, mode: StopMode) -> Result<InputStatus, BoxError> {
        if mode == StopMode::Drain && !self.is_restored_finished {
            self.inputs.end_input(input)?;
        }
        let all = self.order.end_of_data();
        Ok(all.map_or(InputStatus::MoreAvailable, InputStatus::EndOfData))
    }

    /// What it means for the task what an event means for one input.
    fn meet(&mut self, input: usize, status: InputStatus) -> Result<InputStatus, BoxError> {
        match status {
            InputStatus::EndOfData(mode) => {
                self.order.data_ended(input, mode);
                self.inputs.end_data(input, mode)?;
                // What the end of its event time has set off comes first.
                self.ending = Some((input, mode));
            }
            InputStatus::Event(from, event) => {
                if self.inputs.has_ended(input) {
                    self.order.ended(input);
                }
                return Ok(InputStatus::Event(from, event));
            }
            _ => {}
        }
        Ok(InputStatus::MoreAvailable)
    }
}

impl<I: Inputs> Body for MultipleInputProcessor<I> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.is_restored_finished = setting.is_restored_finished();
        self.takes_checkpoints = setting.takes_checkpoints();
        self.inputs.chain_mut().open(setting)
    }

    fn poll(&mut self, turn: &Turn<'_>) -> Result<InputStatus, BoxError> {
        let mut left = turn.stride.turn;
        let mut empty = 0;
        while left > 0 {
            let readiness = self.inputs.chain().readiness();
            if !readiness.is_ready() {
                return Ok(InputStatus::NotReady(readiness));
            }
            if let Some((input, mode)) = self.ending.take() {
                return self.end(input, mode);
            }
            let selected = self.selection();
            let Self { inputs, order, .. } = self;
            let next = order.next(selected, empty, |input| inputs.has_elements(input))?;
            if self.takes_checkpoints {
                order.leave_none_out(selected)?;
            }
            let Some(input) = next else {
                return Ok(if order.is_over() {
                    InputStatus::EndOfInput
                } else {
                    InputStatus::NothingAvailable
                });
            };
            match inputs.take(input, left.min(turn.stride.look))? {
                Taken::Elements(taken) => left = left.saturating_sub(taken),
                Taken::Event(status) => return self.meet(input, status),
                Taken::Nothing => {
                    order.is_empty(input);
                    empty |= 1 << input;
                }
            }
            if turn.is_over() {
                break;
            }
        }
        Ok(InputStatus::MoreAvailable)
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // What is wrong with the selection is told by the next poll.
        let Ok(readable) = self.order.each_readable(self.selection()) else {
            return Poll::Ready(());
        };
        let mut any = Poll::Pending;
        for input in readable {
            if any.is_pending() {
                any = self.inputs.poll_elements(input, cx);
            }
        }
        any
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inputs.chain_mut().poll_room(cx)
    }

    fn readiness(&self) -> Readiness {
        self.inputs.chain().readiness()
    }

    fn advance(&mut self) -> Outcome {
        self.inputs.chain_mut().advance()
    }

    fn operators(&self) -> usize {
        self.inputs.chain().operators()
    }

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome {
        self.inputs.chain_mut().processing_time(operator, now_ms)
    }

    fn end_data(&mut self, _mode: StopMode) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, operator: usize) -> Outcome {
        self.inputs.chain_mut().finish(operator)
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.inputs.chain_mut().event(event)
    }

    fn flush(&mut self) {
        self.inputs.chain_mut().flush();
    }

    fn mark_latency(&mut self, _now_ns: u64) -> Outcome {
        Ok(())
    }

    fn stop(&mut self, _mode: StopMode) -> bool {
        false
    }

    fn channels(&self) -> Vec<u32> {
        let inputs = 0..self.inputs.inputs();
        inputs.map(|input| self.inputs.channels(input)).collect()
    }

    fn resume_consumption(&mut self, from: ChannelId) -> Outcome {
        self.inputs
            .resume_consumption(usize::from(from.gate), from.channel)
    }

    fn is_induced(&self) -> bool {
        false
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.inputs.chain_mut().prepare_snapshot(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        self.inputs.chain_mut().snapshot(id, into)
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        self.inputs.chain_mut().notify(notice, failed);
    }

    fn close(&mut self, failed: &mut Outcome) {
        if !core::mem::replace(&mut self.is_closed, true) {
            self.inputs.chain_mut().close(failed);
        }
    }

    fn elements(&self) -> u64 {
        self.inputs.elements()
    }

    fn report(&self, reports: &mut Reports) -> InputReport {
        self.inputs.chain().report(reports);
        self.inputs.report()
    }
}

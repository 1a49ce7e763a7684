//! The task with one input: a gate, a valve, and a chain.

use super::body::{Body, InputReport, InputStatus, Turn};
use super::channel::InputChannel;
use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::element::{ChannelId, CheckpointId, Event, StopMode};
use super::gate::InputGate;
use super::inputs::{Intake, Taken};
use super::link::Link;
use super::output::Readiness;
use super::report::Reports;
use super::setting::Setting;
use crate::letter::{BoxError, Outcome};
use core::task::{Context, Poll};

/// See above.
pub(crate) struct OneInput<T, C, L> {
    intake: Intake<T, C>,
    link: L,
    is_closed: bool,
}

impl<T, C: InputChannel<T>, L: Link<T>> OneInput<T, C, L> {
    pub(crate) fn new(gate: InputGate<T, C>, link: L) -> Self {
        Self {
            intake: Intake::new(gate, 0),
            link,
            is_closed: false,
        }
    }
}

impl<T, C: InputChannel<T>, L: Link<T>> Body for OneInput<T, C, L> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.link.open(setting)
    }

    fn poll(&mut self, turn: &Turn<'_>) -> Result<InputStatus, BoxError> {
        let mut left = turn.stride.turn;
        while left > 0 {
            let readiness = self.link.readiness();
            if !readiness.is_ready() {
                return Ok(InputStatus::NotReady(readiness));
            }
            let max = left.min(turn.stride.look);
            let goes_on = |link: &L| link.readiness().is_ready();
            match self.intake.take(max, &mut self.link, goes_on)? {
                Taken::Elements(taken) => left = left.saturating_sub(taken),
                // Whatever it was: letters come before what is behind it.
                Taken::Event(status) => return Ok(status),
                Taken::Nothing => return Ok(self.intake.status_of_nothing()),
            }
            if turn.is_over() {
                break;
            }
        }
        Ok(InputStatus::MoreAvailable)
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.intake.poll_elements(cx)
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_room(cx)
    }

    fn readiness(&self) -> Readiness {
        self.link.readiness()
    }

    fn advance(&mut self) -> Outcome {
        self.link.advance()
    }

    fn operators(&self) -> usize {
        self.link.operators()
    }

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome {
        self.link.processing_time(operator, now_ms)
    }

    fn end_data(&mut self, _mode: StopMode) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, operator: usize) -> Outcome {
        self.link.finish(operator)
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.link.event(event)
    }

    fn flush(&mut self) {
        self.link.flush();
    }

    fn mark_latency(&mut self, _now_ns: u64) -> Outcome {
        Ok(())
    }

    fn stop(&mut self, _mode: StopMode) -> bool {
        false
    }

    fn channels(&self) -> Vec<u32> {
        vec![self.intake.channels()]
    }

    fn resume_consumption(&mut self, from: ChannelId) -> Outcome {
        self.intake.resume_consumption(from.channel)
    }

    fn is_induced(&self) -> bool {
        false
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.link.prepare_snapshot(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        self.link.snapshot(id, into)
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        self.link.notify(notice, failed);
    }

    fn close(&mut self, failed: &mut Outcome) {
        if !core::mem::replace(&mut self.is_closed, true) {
            self.link.close(failed);
        }
    }

    fn elements(&self) -> u64 {
        self.intake.elements()
    }

    fn report(&self, reports: &mut Reports) -> InputReport {
        self.link.report(reports);
        self.intake.report()
    }
}

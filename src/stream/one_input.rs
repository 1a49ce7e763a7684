//! The task with one input: a gate, a valve, and a chain.

use super::body::{Body, InputReport, InputStatus, Turn};
use super::channel::InputChannel;
use super::element::{Element, Event, StopMode};
use super::gate::{Gave, InputGate};
use super::link::Link;
use super::output::{Output, Readiness};
use super::report::Reports;
use super::setting::Setting;
use super::watermark::{StatusWatermarkValve, WatermarkEffect, WatermarkEffects};
use crate::letter::{BoxError, Outcome};
use core::task::{Context, Poll};

/// See above.
pub(crate) struct OneInput<T, C, L> {
    gate: InputGate<T, C>,
    valve: StatusWatermarkValve,
    link: L,
    /// How many channels' data has not ended.
    with_data: usize,
    /// Whether each whose data has was drained.
    mode: StopMode,
    is_closed: bool,
    records: u64,
    elements: u64,
}

/// Passes on what a valve makes of an element.
#[inline]
pub(crate) fn pass_on<T>(effects: WatermarkEffects, out: &mut impl Output<T>) -> Outcome {
    for effect in effects {
        match effect {
            WatermarkEffect::Watermark(watermark) => out.watermark(watermark)?,
            WatermarkEffect::Status(status) => out.status(status)?,
        }
    }
    Ok(())
}

impl<T, C: InputChannel<T>, L: Link<T>> OneInput<T, C, L> {
    pub(crate) fn new(gate: InputGate<T, C>, link: L) -> Self {
        let channels = gate.channels();
        Self {
            gate,
            valve: StatusWatermarkValve::new(channels as u32),
            link,
            with_data: channels,
            mode: StopMode::Drain,
            is_closed: false,
            records: 0,
            elements: 0,
        }
    }

    /// What an event means; `None`: nothing for the task.
    fn meet(&mut self, channel: usize, event: Event) -> Result<Option<InputStatus>, BoxError> {
        match event {
            Event::EndOfData(mode) => {
                pass_on(self.valve.end(channel, mode), &mut self.link)?;
                if mode == StopMode::NoDrain {
                    self.mode = mode;
                }
                self.with_data -= 1;
                Ok((self.with_data == 0).then_some(InputStatus::EndOfData(self.mode)))
            }
            Event::EndOfPartition => Ok(self.gate.is_finished().then_some(InputStatus::EndOfInput)),
            Event::Barrier(_) => {
                // Nobody takes part in checkpoints: it is let pass by.
                self.gate.resume_consumption(channel)?;
                Ok(None)
            }
            Event::CancelBarrier(_) => Ok(None),
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
            let Self {
                gate,
                valve,
                link,
                records,
                ..
            } = self;
            let mut outcome = Ok(());
            let mut met = None;
            let gave = gate.drain(left.min(turn.stride.look), |channel, element| {
                outcome = match element {
                    Element::Record(record) => {
                        *records += 1;
                        link.record(record)
                    }
                    Element::Watermark(watermark) => {
                        pass_on(valve.watermark(channel, watermark), link)
                    }
                    Element::Status(status) => pass_on(valve.status(channel, status), link),
                    Element::Latency(marker) => link.latency(marker),
                    Element::Event(event) => {
                        met = Some((channel, event));
                        return false;
                    }
                };
                outcome.is_ok() && link.readiness().is_ready()
            });
            outcome?;
            let Gave::Elements(taken) = gave? else {
                return Ok(if self.gate.is_finished() {
                    InputStatus::EndOfInput
                } else {
                    InputStatus::NothingAvailable
                });
            };
            self.elements += taken as u64;
            left = left.saturating_sub(taken);
            if let Some((channel, event)) = met {
                // Whatever it was: letters come before what is behind it.
                let status = self.meet(channel, event)?;
                return Ok(status.unwrap_or(InputStatus::MoreAvailable));
            }
            if turn.is_over() {
                break;
            }
        }
        Ok(InputStatus::MoreAvailable)
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.gate.poll_elements(cx)
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

    fn close(&mut self, failed: &mut Outcome) {
        if !core::mem::replace(&mut self.is_closed, true) {
            self.link.close(failed);
        }
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn report(&self, reports: &mut Reports) -> InputReport {
        self.link.report(reports);
        let (depth, capacity) = self.gate.depth();
        InputReport {
            records: self.records,
            elements: self.elements,
            depth,
            capacity,
            watermark_ms: Some(self.valve.output_watermark().0),
        }
    }
}

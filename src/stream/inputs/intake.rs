//! One input of a task: its gate, its valve, and how far its data is.

use crate::letter::{BoxError, Outcome};
use crate::stream::body::{InputReport, InputStatus};
use crate::stream::channel::InputChannel;
use crate::stream::element::{ChannelId, Element, Event, StopMode};
use crate::stream::gate::{Gave, InputGate};
use crate::stream::output::Output;
use crate::stream::watermark::{StatusWatermarkValve, WatermarkEffect, WatermarkEffects};
use core::task::{Context, Poll};

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

/// What was taken of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// So many elements, none of them an event.
    Elements(usize),
    /// Elements and then an event, which means so much: letters come before what is behind it.
    Event(InputStatus),
    /// Nothing: there is none.
    Nothing,
}

/// See above.
pub(crate) struct Intake<T, C> {
    gate: InputGate<T, C>,
    /// Which of the task's gates it is.
    number: u16,
    valve: StatusWatermarkValve,
    /// How many channels' data has not ended.
    with_data: usize,
    /// Whether each whose data has was drained.
    mode: StopMode,
    records: u64,
    elements: u64,
}

impl<T, C: InputChannel<T>> Intake<T, C> {
    pub(crate) fn new(gate: InputGate<T, C>, number: u16) -> Self {
        let channels = gate.channels();
        Self {
            gate,
            number,
            valve: StatusWatermarkValve::new(channels as u32),
            with_data: channels,
            mode: StopMode::Drain,
            records: 0,
            elements: 0,
        }
    }

    /// Gives `out` up to `max` elements of one channel, while `goes_on` says so.
    #[inline]
    pub(crate) fn take<Out: Output<T>>(
        &mut self,
        max: usize,
        out: &mut Out,
        goes_on: impl Fn(&Out) -> bool,
    ) -> Result<Taken, BoxError> {
        let Self {
            gate,
            valve,
            records,
            ..
        } = self;
        let mut outcome = Ok(());
        let mut met = None;
        let mut count = 0;
        let gave = gate.drain(max, |channel, element| {
            outcome = match element {
                Element::Record(record) => {
                    count += 1;
                    out.record(record)
                }
                Element::Watermark(watermark) => pass_on(valve.watermark(channel, watermark), out),
                Element::Status(status) => pass_on(valve.status(channel, status), out),
                Element::Latency(marker) => out.latency(marker),
                Element::Event(event) => {
                    met = Some((channel, event));
                    return false;
                }
            };
            outcome.is_ok() && goes_on(out)
        });
        *records += count;
        outcome?;
        match gave? {
            Gave::Nothing => Ok(Taken::Nothing),
            Gave::Elements(taken) => {
                self.elements += taken as u64;
                match met {
                    None => Ok(Taken::Elements(taken)),
                    Some((channel, event)) => self.meet(channel, event, out).map(Taken::Event),
                }
            }
        }
    }

    /// What an event means for this input.
    fn meet(
        &mut self,
        channel: usize,
        event: Event,
        out: &mut impl Output<T>,
    ) -> Result<InputStatus, BoxError> {
        match event {
            Event::EndOfData(mode) => {
                pass_on(self.valve.end(channel, mode), out)?;
                if mode == StopMode::NoDrain {
                    self.mode = mode;
                }
                self.with_data -= 1;
                if self.with_data == 0 {
                    return Ok(InputStatus::EndOfData(self.mode));
                }
            }
            Event::EndOfPartition | Event::Barrier(_) | Event::CancelBarrier(_) => {
                let from = ChannelId {
                    gate: self.number,
                    channel: channel as u32,
                };
                return Ok(InputStatus::Event(from, event));
            }
        }
        Ok(InputStatus::MoreAvailable)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.gate.is_finished()
    }

    pub(crate) fn channels(&self) -> u32 {
        self.gate.channels() as u32
    }

    pub(crate) fn resume_consumption(&mut self, channel: u32) -> Outcome {
        Ok(self.gate.resume_consumption(channel as usize)?)
    }

    /// What it means that there is nothing to take.
    pub(crate) fn status_of_nothing(&self) -> InputStatus {
        if self.gate.is_finished() {
            InputStatus::EndOfInput
        } else {
            InputStatus::NothingAvailable
        }
    }

    pub(crate) fn has_elements(&self) -> bool {
        self.gate.has_elements()
    }

    pub(crate) fn poll_elements(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.gate.poll_elements(cx)
    }

    pub(crate) fn elements(&self) -> u64 {
        self.elements
    }

    pub(crate) fn report(&self) -> InputReport {
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

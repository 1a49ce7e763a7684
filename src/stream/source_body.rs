//! The task that begins a job: a source and its chain.

use super::body::{Body, InputReport, InputStatus, Turn};
use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::closing::close_one;
use super::element::{ChannelId, CheckpointId, Event, LatencyMarker, StopMode, Watermark};
use super::link::Link;
use super::output::{Output, Readiness};
use super::report::Reports;
use super::setting::{Setting, Subtask};
use super::source::{Polled, Source, Stopping};
use super::watermark::StatusOutput;
use crate::letter::{BoxError, Outcome};
use core::task::{Context, Poll};

/// How far the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Running,
    /// It was asked to stop, and goes on to its end.
    Stopping(StopMode),
    /// It has ended, and nobody was told.
    Ended(StopMode),
    /// It has ended.
    Over,
}

/// See above. The source is operator 0.
pub(crate) struct SourceBody<S, L> {
    source: S,
    link: StatusOutput<L>,
    reach: Reach,
    is_closed: bool,
    records: u64,
    vertex: u32,
    subtask: u32,
}

impl<S: Source, L: Link<S::Out>> SourceBody<S, L> {
    pub(crate) fn new(source: S, link: L, subtask: &Subtask) -> Self {
        Self {
            source,
            link: StatusOutput::new(link),
            reach: Reach::Running,
            is_closed: false,
            records: 0,
            vertex: subtask.vertex_index,
            subtask: subtask.index,
        }
    }

    fn link(&mut self) -> &mut L {
        self.link.get_mut()
    }

    fn mode_at_end(&self) -> StopMode {
        match self.reach {
            Reach::Stopping(mode) | Reach::Ended(mode) => mode,
            Reach::Running | Reach::Over => StopMode::Drain,
        }
    }
}

impl<S: Source, L: Link<S::Out>> Body for SourceBody<S, L> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.link().open(&setting.next())?;
        self.source.open(setting)?;
        if setting.is_restored_finished() {
            self.reach = Reach::Ended(StopMode::Drain);
        }
        Ok(())
    }

    fn poll(&mut self, turn: &Turn<'_>) -> Result<InputStatus, BoxError> {
        match self.reach {
            Reach::Running | Reach::Stopping(_) => {}
            Reach::Ended(mode) => {
                // What was begun for it is done first.
                let readiness = self.link.readiness();
                if !readiness.is_ready() {
                    return Ok(InputStatus::NotReady(readiness));
                }
                self.reach = Reach::Over;
                return Ok(InputStatus::EndOfData(mode));
            }
            Reach::Over => return Ok(InputStatus::EndOfInput),
        }
        let Self {
            source,
            link,
            records,
            ..
        } = self;
        let mut left = turn.stride.turn;
        while left > 0 {
            let readiness = link.readiness();
            if !readiness.is_ready() {
                return Ok(InputStatus::NotReady(readiness));
            }
            let until_look = left.min(turn.stride.look);
            let mut made = 0;
            let polled = source.poll_some(until_look, |record| {
                made += 1;
                link.record(record)?;
                Ok(link.readiness().is_ready())
            });
            *records += made as u64;
            match polled? {
                None | Some(Polled::Record(_)) => {}
                Some(Polled::Watermark(watermark)) => link.watermark(watermark)?,
                Some(Polled::Status(status)) => link.status(status)?,
                Some(Polled::Checkpoint(id)) => return Ok(InputStatus::Placed(id)),
                Some(Polled::Pending) => return Ok(InputStatus::NothingAvailable),
                Some(Polled::End) => {
                    let mode = self.mode_at_end();
                    self.reach = Reach::Over;
                    return Ok(InputStatus::EndOfData(mode));
                }
            }
            left = left.saturating_sub(made.max(1));
            if turn.is_over() {
                break;
            }
        }
        Ok(InputStatus::MoreAvailable)
    }

    fn poll_input(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        match self.reach {
            // It has this task woken itself.
            Reach::Running | Reach::Stopping(_) => Poll::Pending,
            Reach::Ended(_) | Reach::Over => Poll::Ready(()),
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link().poll_room(cx)
    }

    fn readiness(&self) -> Readiness {
        self.link.readiness()
    }

    fn advance(&mut self) -> Outcome {
        self.link().advance()
    }

    fn operators(&self) -> usize {
        1 + self.link.get_ref().operators()
    }

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome {
        match operator.checked_sub(1) {
            // The source has asked to be polled.
            None => Ok(()),
            Some(of_link) => self.link().processing_time(of_link, now_ms),
        }
    }

    fn end_data(&mut self, mode: StopMode) -> Outcome {
        match mode {
            StopMode::Drain => self.link.watermark(Watermark::MAX),
            StopMode::NoDrain => Ok(()),
        }
    }

    fn finish(&mut self, operator: usize) -> Outcome {
        match operator.checked_sub(1) {
            None => Ok(()),
            Some(of_link) => self.link().finish(of_link),
        }
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.link().event(event)
    }

    fn flush(&mut self) {
        self.link().flush();
    }

    fn mark_latency(&mut self, now_ns: u64) -> Outcome {
        if self.reach == Reach::Over {
            return Ok(());
        }
        let marker = LatencyMarker {
            marked_ns: now_ns,
            subtask: self.subtask,
            vertex: self.vertex,
        };
        self.link.latency(marker)
    }

    fn stop(&mut self, mode: StopMode) -> bool {
        if self.reach == Reach::Running {
            self.reach = match self.source.stop(mode) {
                Stopping::AtOnce => Reach::Ended(mode),
                Stopping::WhenItEnds => Reach::Stopping(mode),
            };
        }
        true
    }

    fn channels(&self) -> Vec<u32> {
        Vec::new()
    }

    fn resume_consumption(&mut self, _from: ChannelId) -> Outcome {
        Ok(())
    }

    fn is_induced(&self) -> bool {
        self.source.is_induced()
    }

    fn reach_checkpoint(&mut self, id: CheckpointId) -> Result<bool, BoxError> {
        // The chain is not in the midst of what an element before it has set off.
        Ok(self.link.readiness().is_ready() && self.source.reach_checkpoint(id)?)
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.link().prepare_snapshot(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        self.link().snapshot(id, into)?;
        into.push(("source", self.source.snapshot(id)?));
        Ok(())
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        self.link().notify(notice, failed);
        close_one(failed, || self.source.notify_checkpoint(notice));
    }

    fn close(&mut self, failed: &mut Outcome) {
        if core::mem::replace(&mut self.is_closed, true) {
            return;
        }
        self.link().close(failed);
        close_one(failed, || self.source.close());
    }

    fn elements(&self) -> u64 {
        self.records
    }

    fn report(&self, reports: &mut Reports) -> InputReport {
        self.link.get_ref().report(reports);
        InputReport {
            records: self.records,
            elements: self.records,
            ..InputReport::default()
        }
    }
}

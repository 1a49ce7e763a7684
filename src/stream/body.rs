//! What a stream task does, apart from how it is driven: its input, and its chain.

use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::element::{ChannelId, CheckpointId, Event, StopMode};
use super::output::Readiness;
use super::pace::Stride;
use super::report::Reports;
use super::setting::Setting;
use super::surroundings::TaskSurroundings;
use crate::letter::{BoxError, Outcome};
use core::task::{Context, Poll};

/// What a call of [`Body::poll`] leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputStatus {
    /// There may be more.
    MoreAvailable,
    /// There is no input just now.
    NothingAvailable,
    /// The chain takes no more just now, for want of room or since an operator waits.
    NotReady(Readiness),
    /// An event of checkpoints was read, or a channel's end: letters and what it sets off come before
    /// what is behind it.
    Event(ChannelId, Event),
    /// The source has come to the place of a checkpoint.
    Placed(CheckpointId),
    /// No record comes any more; told once.
    EndOfData(StopMode),
    /// Nothing comes any more.
    EndOfInput,
}

/// How far a call of [`Body::poll`] goes.
pub(crate) struct Turn<'a> {
    pub(crate) stride: Stride,
    pub(crate) surroundings: &'a TaskSurroundings,
}

impl Turn<'_> {
    /// Whether a letter is to be run before the next record.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.surroundings.has_letters()
    }
}

/// An input and a chain. Operators are counted from 0, the source or the head's operator.
pub(crate) trait Body {
    fn open(&mut self, setting: &Setting) -> Outcome;

    /// Processes input, until there is none, the chain takes no more, or the turn is over.
    fn poll(&mut self, turn: &Turn<'_>) -> Result<InputStatus, BoxError>;

    /// Whether there is input; else `cx` is woken when there is.
    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Whether the chain has room; else `cx` is woken when it has.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    fn readiness(&self) -> Readiness;

    /// Goes on with what the chain left unfinished.
    fn advance(&mut self) -> Outcome;

    fn operators(&self) -> usize;

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome;

    /// The data has ended; before any operator finishes.
    fn end_data(&mut self, mode: StopMode) -> Outcome;

    /// Has operator number `operator` finish.
    fn finish(&mut self, operator: usize) -> Outcome;

    fn event(&mut self, event: Event) -> Outcome;

    fn flush(&mut self);

    /// Makes a latency marker, where there is a source.
    fn mark_latency(&mut self, now_ns: u64) -> Outcome;

    /// Has a source stop; whether there is one.
    fn stop(&mut self, mode: StopMode) -> bool;

    /// How many channels each gate has.
    fn channels(&self) -> Vec<u32>;

    /// Lets a blocked channel give again.
    fn resume_consumption(&mut self, from: ChannelId) -> Outcome;

    /// Whether there is a source that places checkpoints itself.
    fn is_induced(&self) -> bool;

    /// Whether the task has come to the place of checkpoint `id`, which is triggered here while data
    /// may come. One with inputs has not: it is triggered only when all tasks before it have ended,
    /// and what they gave is read first.
    fn reach_checkpoint(&mut self, id: CheckpointId) -> Result<bool, BoxError> {
        let _ = id;
        Ok(false)
    }

    /// Has operators put out what they hold back, the first one first.
    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome;

    /// Adds the operators' state to `into`, the last one first.
    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome;

    /// Tells all operators, the last one first. The first error is kept in `failed`.
    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome);

    /// Closes all operators. The first error is kept in `failed`.
    fn close(&mut self, failed: &mut Outcome);

    /// How many elements came in so far.
    fn elements(&self) -> u64;

    fn report(&self, reports: &mut Reports) -> InputReport;
}

/// What the input of a subtask has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputReport {
    pub(crate) records: u64,
    pub(crate) elements: u64,
    pub(crate) depth: usize,
    pub(crate) capacity: usize,
    pub(crate) watermark_ms: Option<i64>,
}

impl InputReport {
    /// Both together; the watermark is left to who combines it.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            elements: self.elements + other.elements,
            depth: self.depth + other.depth,
            capacity: self.capacity + other.capacity,
            watermark_ms: None,
        }
    }
}

//! A task in the hand of who takes part in checkpoints for it.

use super::body::Body;
use super::checkpointing::{
    ChainSnapshot, CheckpointNotice, Checkpointed, MakeParticipant, Participant,
};
use super::element::{ChannelId, CheckpointBarrier, CheckpointId, Event};
use super::setting::Surroundings as _;
use super::surroundings::TaskSurroundings;
use crate::letter::{BoxError, Outcome};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;

/// How far a task is, as checkpoints see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progression {
    /// Records come, or may.
    Running,
    /// Operators finish: none of it is to be cut in two.
    Finishing,
    /// No record comes out any more.
    DataEnded,
    /// Nothing is put out any more.
    Over,
}

/// What a task lends to who takes part for it.
pub(super) struct Hand<'a> {
    pub(super) body: &'a mut dyn Body,
    pub(super) surroundings: &'a TaskSurroundings,
    pub(super) progression: Progression,
    pub(super) is_restored_finished: bool,
    pub(super) have_operators_finished: bool,
}

impl Checkpointed for Hand<'_> {
    fn channels(&self) -> Vec<u32> {
        self.body.channels()
    }

    fn elements(&self) -> u64 {
        self.body.elements()
    }

    fn is_over(&self) -> bool {
        self.progression == Progression::Over
    }

    fn have_operators_finished(&self) -> bool {
        self.have_operators_finished
    }

    fn is_restored_finished(&self) -> bool {
        self.is_restored_finished
    }

    fn is_induced(&self) -> bool {
        self.body.is_induced()
    }

    fn waker(&self) -> Waker {
        self.surroundings.waker()
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.body.prepare_snapshot(id)
    }

    fn broadcast(&mut self, event: Event) -> Outcome {
        self.body.event(event)?;
        self.body.flush();
        Ok(())
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<ChainSnapshot, BoxError> {
        let mut operators = ChainSnapshot::with_capacity(self.body.operators());
        self.body.snapshot(id, &mut operators)?;
        operators.reverse();
        Ok(operators)
    }

    fn notify(&mut self, notice: CheckpointNotice) -> Outcome {
        let mut failed = Ok(());
        self.body.notify(notice, &mut failed);
        failed
    }

    fn resume_consumption(&mut self, from: ChannelId) -> Outcome {
        self.body.resume_consumption(from)
    }
}

/// Who takes part in checkpoints for a task, if anybody does.
pub(super) struct TakingPart {
    participant: Option<Box<dyn Participant>>,
    /// What was triggered here, and whose place the task has not come to.
    waiting: VecDeque<CheckpointBarrier>,
}

impl TakingPart {
    pub(super) fn new(make: Option<MakeParticipant>, task: &mut Hand<'_>) -> Self {
        Self {
            participant: make.map(|make| make(task)),
            waiting: VecDeque::new(),
        }
    }

    /// An event was read: without anybody who takes part, barriers are let pass by.
    pub(super) fn event(&mut self, event: Event, from: ChannelId, task: &mut Hand<'_>) -> Outcome {
        match &mut self.participant {
            Some(participant) => participant.event(event, from, task),
            None if event.blocks_channel() => task.resume_consumption(from),
            None => Ok(()),
        }
    }

    pub(super) fn placed(&mut self, id: CheckpointId, task: &mut Hand<'_>) -> Outcome {
        match &mut self.participant {
            Some(participant) => participant.placed(id, task),
            None => Ok(()),
        }
    }

    #[inline]
    pub(super) fn is_source_blocked(&self) -> bool {
        let participant = self.participant.as_ref();
        participant.is_some_and(|participant| participant.is_source_blocked())
    }

    pub(super) fn stop(&mut self) {
        if let Some(participant) = &mut self.participant {
            participant.stop();
        }
    }

    pub(super) fn trigger(&mut self, barrier: CheckpointBarrier, task: &mut Hand<'_>) -> Outcome {
        if self.participant.is_some() {
            self.waiting.push_back(barrier);
        }
        self.trigger_waiting(task)?;
        Ok(())
    }

    /// Whether something was triggered here that has not begun.
    #[inline]
    pub(super) fn is_trigger_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Has those begin whose place the task has come to; whether there was one.
    pub(super) fn trigger_waiting(&mut self, task: &mut Hand<'_>) -> Result<bool, BoxError> {
        let mut has_begun = false;
        while let Some(barrier) = self.waiting.front().copied() {
            let is_reached = match task.progression {
                Progression::Finishing => false,
                Progression::Running => task.body.reach_checkpoint(barrier.id)?,
                Progression::DataEnded | Progression::Over => true,
            };
            if !is_reached {
                break;
            }
            self.waiting.pop_front();
            has_begun = true;
            if let Some(participant) = &mut self.participant {
                participant.trigger(barrier, task)?;
            }
        }
        Ok(has_begun)
    }

    pub(super) fn notify(&mut self, notice: CheckpointNotice, task: &mut Hand<'_>) -> Outcome {
        match &mut self.participant {
            Some(participant) => participant.notify(notice, task),
            None => Ok(()),
        }
    }

    pub(super) fn data_ended(&mut self, task: &mut Hand<'_>) -> Outcome {
        match &mut self.participant {
            Some(participant) => participant.data_ended(task),
            None => Ok(()),
        }
    }

    pub(super) fn poll_leave(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.participant {
            Some(participant) => participant.poll_leave(cx),
            None => Poll::Ready(()),
        }
    }

    pub(super) fn close(&mut self) {
        if let Some(mut participant) = self.participant.take() {
            participant.close();
        }
    }
}

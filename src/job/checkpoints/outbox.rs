//! What the coordinator tells subtasks: in order for each, and without waiting for any.
//!
//! B1. What a subtask's mailbox has no room for waits here, and all that follows for that subtask
//!     behind it.
//! B2. That a checkpoint begins is a letter like others: what was posted before is run before. What
//!     became of one is urgent.

use crate::checkpoint::{SubtaskId, ToSubtask};
use crate::letter::Outcome;
use crate::mailbox::PostError;
use crate::processor::Executor;
use crate::stream::{CheckpointNotice, StreamTask};
use std::collections::VecDeque;

/// One subtask of the present attempt.
struct Addressee {
    executor: Executor<StreamTask>,
    waiting: VecDeque<ToSubtask>,
}

/// See above.
#[derive(Default)]
pub(super) struct Outbox {
    /// By vertex and index.
    addressees: Vec<Vec<Addressee>>,
}

/// What became of something that was to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It is posted, or will be.
    Posted,
    /// There is no room: the addressee is to be looked at when there is.
    NoRoom,
    /// The subtask takes no letters: it has ended.
    Gone,
}

impl Outbox {
    /// The subtasks of another attempt, by vertex and index.
    pub(super) fn address(&mut self, executors: Vec<Vec<Executor<StreamTask>>>) {
        let of_vertex = |executors: Vec<Executor<StreamTask>>| {
            let addressees = executors.into_iter().map(|executor| Addressee {
                executor,
                waiting: VecDeque::new(),
            });
            addressees.collect()
        };
        self.addressees = executors.into_iter().map(of_vertex).collect();
    }

    /// Nobody is told any more.
    pub(super) fn clear(&mut self) {
        self.addressees.clear();
    }

    pub(super) fn executor(&self, subtask: SubtaskId) -> Option<&Executor<StreamTask>> {
        let vertex = self.addressees.get(subtask.vertex as usize)?;
        Some(&vertex.get(subtask.index as usize)?.executor)
    }

    /// Tells a subtask.
    pub(super) fn tell(&mut self, subtask: SubtaskId, message: ToSubtask) -> Told {
        let vertex = self.addressees.get_mut(subtask.vertex as usize);
        let Some(addressee) = vertex.and_then(|of| of.get_mut(subtask.index as usize)) else {
            return Told::Gone;
        };
        if !addressee.waiting.is_empty() {
            // B1; who waits for room is called already.
            addressee.waiting.push_back(message);
            return Told::Posted;
        }
        match post(&addressee.executor, message) {
            Ok(()) => Told::Posted,
            Err(PostError::Closed(())) => Told::Gone,
            Err(_) => {
                addressee.waiting.push_back(message);
                Told::NoRoom
            }
        }
    }

    /// There may be room: tells a subtask what waits. Checkpoints that cannot begin there any more are
    /// added to `gone`.
    pub(super) fn tell_waiting(&mut self, subtask: SubtaskId, gone: &mut Vec<ToSubtask>) -> Told {
        let vertex = self.addressees.get_mut(subtask.vertex as usize);
        let Some(addressee) = vertex.and_then(|of| of.get_mut(subtask.index as usize)) else {
            return Told::Gone;
        };
        while let Some(message) = addressee.waiting.pop_front() {
            match post(&addressee.executor, message) {
                Ok(()) => {}
                Err(PostError::Closed(())) => gone.push(message),
                Err(_) => {
                    addressee.waiting.push_front(message);
                    return Told::NoRoom;
                }
            }
        }
        Told::Posted
    }
}

/// B2.
fn post(executor: &Executor<StreamTask>, message: ToSubtask) -> Result<(), PostError<()>> {
    let notice = match message {
        ToSubtask::Trigger(barrier) => {
            let posted =
                executor.try_execute(move |task: &mut StreamTask| task.trigger_checkpoint(barrier));
            return posted.map_err(|error| error.map(drop));
        }
        ToSubtask::NotifyComplete(id) => CheckpointNotice::Complete(id),
        ToSubtask::NotifyAborted {
            id,
            latest_completed,
        } => CheckpointNotice::Aborted {
            id,
            latest_completed,
        },
        ToSubtask::NotifySubsumed(id) => CheckpointNotice::Subsumed(id),
    };
    let posted = executor.try_execute_urgent(move |task: &mut StreamTask| -> Outcome {
        task.notify_checkpoint(notice)
    });
    posted.map_err(|error| error.map(drop))
}

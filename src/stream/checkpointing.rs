//! What checkpoints ask of a task and its operators: state to store and to restore, and notices.
//! Which barrier means what is said by who takes part for the task, in the layer above.

use super::element::{ChannelId, CheckpointBarrier, CheckpointId, Event};
use crate::letter::{BoxError, Outcome};
use crate::sync::PlainArc;
use core::fmt;
use core::ops::{Deref, Range};
use core::task::{Context, Poll, Waker};

/// State as it was at one moment, to be turned into bytes on another thread.
pub trait EncodeState: Send {
    /// The bytes that are stored.
    ///
    /// # Errors
    /// Why it cannot be stored: the checkpoint is declined.
    fn encode(self: Box<Self>) -> Result<Vec<u8>, BoxError>;
}

impl<F: FnOnce() -> Result<Vec<u8>, BoxError> + Send> EncodeState for F {
    fn encode(self: Box<Self>) -> Result<Vec<u8>, BoxError> {
        self()
    }
}

/// What an operator is at a checkpoint, by the four kinds of state. What it has none of is `None`.
#[derive(Default)]
pub struct OperatorSnapshot {
    /// State by key that the engine keeps, timers included.
    pub managed_keyed: Option<Box<dyn EncodeState>>,
    /// State by key whose form is the operator's own.
    pub raw_keyed: Option<Box<dyn EncodeState>>,
    /// State of the operator that the engine keeps.
    pub managed_operator: Option<Box<dyn EncodeState>>,
    /// State of the operator whose form is its own.
    pub raw_operator: Option<Box<dyn EncodeState>>,
}

impl OperatorSnapshot {
    /// An operator without state.
    #[must_use]
    pub fn stateless() -> Self {
        Self::default()
    }

    /// State by key that the engine keeps.
    #[must_use]
    pub fn keyed(state: impl EncodeState + 'static) -> Self {
        Self {
            managed_keyed: Some(Box::new(state)),
            ..Self::default()
        }
    }

    /// State of the operator that the engine keeps.
    #[must_use]
    pub fn operator(state: impl EncodeState + 'static) -> Self {
        Self {
            managed_operator: Some(Box::new(state)),
            ..Self::default()
        }
    }

    /// State of the operator whose form is its own.
    #[must_use]
    pub fn raw(bytes: Vec<u8>) -> Self {
        Self {
            raw_operator: Some(Box::new(move || Ok(bytes))),
            ..Self::default()
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_stateless(&self) -> bool {
        let kinds = [
            &self.managed_keyed,
            &self.raw_keyed,
            &self.managed_operator,
            &self.raw_operator,
        ];
        kinds.into_iter().all(Option::is_none)
    }
}

impl fmt::Debug for OperatorSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorSnapshot")
            .field("managed_keyed", &self.managed_keyed.is_some())
            .field("raw_keyed", &self.raw_keyed.is_some())
            .field("managed_operator", &self.managed_operator.is_some())
            .field("raw_operator", &self.raw_operator.is_some())
            .finish()
    }
}

/// Bytes that were stored, shared: a clone copies nothing.
#[derive(Clone)]
pub struct StateBytes {
    shared: PlainArc<Vec<u8>>,
    range: Range<usize>,
}

impl StateBytes {
    /// A part of these bytes, shared with them.
    ///
    /// # Panics
    /// Where `range` is not within them.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.len(),
            "a part of {} bytes is within them",
            self.len()
        );
        Self {
            shared: PlainArc::clone(&self.shared),
            range: self.range.start + range.start..self.range.start + range.end,
        }
    }
}

impl From<Vec<u8>> for StateBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            range: 0..bytes.len(),
            shared: PlainArc::new(bytes),
        }
    }
}

impl Deref for StateBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.shared[self.range.clone()]
    }
}

impl PartialEq for StateBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for StateBytes {}

impl fmt::Debug for StateBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateBytes({} bytes)", self.len())
    }
}

/// What an operator is restored from, by kind. There may be several parts to each, of several
/// subtasks as they were, and of other ranges of key groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredOperator {
    /// State by key that the engine keeps, timers included.
    pub managed_keyed: Vec<StateBytes>,
    /// State by key whose form is the operator's own.
    pub raw_keyed: Vec<StateBytes>,
    /// State of the operator that the engine keeps.
    pub managed_operator: Vec<StateBytes>,
    /// State of the operator whose form is its own.
    pub raw_operator: Vec<StateBytes>,
}

impl RestoredOperator {
    /// What `snapshot` is when it is read back.
    ///
    /// # Errors
    /// What its encoding failed by.
    pub fn of(snapshot: OperatorSnapshot) -> Result<Self, BoxError> {
        let read_back = |state: Option<Box<dyn EncodeState>>| match state {
            Some(state) => Ok::<_, BoxError>(vec![state.encode()?.into()]),
            None => Ok(Vec::new()),
        };
        Ok(Self {
            managed_keyed: read_back(snapshot.managed_keyed)?,
            raw_keyed: read_back(snapshot.raw_keyed)?,
            managed_operator: read_back(snapshot.managed_operator)?,
            raw_operator: read_back(snapshot.raw_operator)?,
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_stateless(&self) -> bool {
        let kinds = [
            &self.managed_keyed,
            &self.raw_keyed,
            &self.managed_operator,
            &self.raw_operator,
        ];
        kinds.into_iter().all(Vec::is_empty)
    }
}

/// What a subtask is restored from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredSubtask {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// By operator, from the head on.
    pub operators: Vec<RestoredOperator>,
    /// Whether the subtask's operators had finished: they do nothing more.
    pub is_finished: bool,
}

/// What a task is told of a checkpoint that it took part in, or did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointNotice {
    /// It is complete, and so are all before it: what was held back for them can be made visible. It
    /// may be told more than once, and an earlier one may not be told at all.
    Complete(CheckpointId),
    /// It will not be completed.
    Aborted {
        /// The checkpoint.
        id: CheckpointId,
        /// The last one that was completed, for who was not told.
        latest_completed: Option<CheckpointId>,
    },
    /// It is kept no more: what only it and earlier ones need can go.
    Subsumed(CheckpointId),
}

/// The state of a chain's operators, each with its name.
pub(crate) type ChainSnapshot = Vec<(&'static str, OperatorSnapshot)>;

/// A task, as who takes part in checkpoints for it has it in hand.
pub(crate) trait Checkpointed {
    /// How many channels each gate has.
    fn channels(&self) -> Vec<u32>;

    /// How many elements it has read so far.
    fn elements(&self) -> u64;

    /// Whether nothing is put out any more.
    fn is_over(&self) -> bool;

    /// Whether the operators had finished in what the task is restored from.
    fn is_restored_finished(&self) -> bool;

    /// Whether the operators have finished: after a restore they do nothing more.
    fn have_operators_finished(&self) -> bool;

    /// Whether its source places checkpoints itself.
    fn is_induced(&self) -> bool;

    /// Has the task call its default action again, from any thread.
    fn waker(&self) -> Waker;

    /// Has operators put out what they hold back, the first one first.
    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome;

    /// Sends an event to all tasks that this one gives to, and shows it to them.
    fn broadcast(&mut self, event: Event) -> Outcome;

    /// Takes the operators' state, the last one first; it is given from the head on.
    fn snapshot(&mut self, id: CheckpointId) -> Result<ChainSnapshot, BoxError>;

    /// Tells each operator, the last one first, whatever becomes of the others; the first error is
    /// returned.
    fn notify(&mut self, notice: CheckpointNotice) -> Outcome;

    /// Lets a blocked channel give again.
    fn resume_consumption(&mut self, from: ChannelId) -> Outcome;
}

/// Takes part in checkpoints for a task. All of it is called by the task's thread.
pub(crate) trait Participant {
    /// An event of checkpoints, or a channel's end, was read from a channel; what is behind it has not
    /// been.
    fn event(&mut self, event: Event, from: ChannelId, task: &mut dyn Checkpointed) -> Outcome;

    /// The source has come to the place of a checkpoint.
    fn placed(&mut self, id: CheckpointId, task: &mut dyn Checkpointed) -> Outcome;

    /// Whether the source is not to be polled, since a place waits for its request.
    fn is_source_blocked(&self) -> bool;

    /// The source was asked to stop: it waits at no place any more.
    fn stop(&mut self);

    /// The coordinator has a checkpoint begin here.
    fn trigger(&mut self, barrier: CheckpointBarrier, task: &mut dyn Checkpointed) -> Outcome;

    /// The coordinator tells of a checkpoint.
    fn notify(&mut self, notice: CheckpointNotice, task: &mut dyn Checkpointed) -> Outcome;

    /// No record comes out of the chain any more.
    fn data_ended(&mut self, task: &mut dyn Checkpointed) -> Outcome;

    /// Whether the task may close its operators and end; else `cx` is woken, or a notice comes, when
    /// to ask again.
    fn poll_leave(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// The task ends, however. Nobody takes part for it after that, so nothing can be handed over to be
    /// stored behind it.
    fn close(&mut self);
}

/// Makes who takes part for a task, on the task's thread.
pub(crate) type MakeParticipant =
    Box<dyn FnOnce(&mut dyn Checkpointed) -> Box<dyn Participant> + Send>;

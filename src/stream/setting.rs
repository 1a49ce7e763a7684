//! What surrounds an operator: which subtask it is in, the time, and the task's other work.

use super::checkpointing::{RestoredOperator, RestoredSubtask};
use super::element::CheckpointId;
use super::key_group::KeyGroupRange;
use core::task::Waker;
use std::rc::Rc;

/// Which subtask of which vertex of which job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Subtask {
    /// The job's name.
    pub job: Box<str>,
    /// The vertex's name.
    pub vertex: Box<str>,
    /// The vertex's place in the job, counted from 0 in the order they were declared.
    pub vertex_index: u32,
    /// The place among the subtasks of the vertex, counted from 0.
    pub index: u32,
    /// How many subtasks the vertex has.
    pub parallelism: u32,
    /// How many key groups the job has: no vertex can ever have more subtasks.
    pub max_parallelism: u32,
    /// Which attempt at running it this is, counted from 1.
    pub attempt: u32,
}

impl Subtask {
    /// A vertex of one subtask with 128 key groups, at its first attempt.
    #[must_use]
    pub fn alone(job: &str, vertex: &str) -> Self {
        Self {
            job: job.into(),
            vertex: vertex.into(),
            vertex_index: 0,
            index: 0,
            parallelism: 1,
            max_parallelism: 128,
            attempt: 1,
        }
    }

    /// The key groups that are this subtask's.
    #[must_use]
    pub fn key_groups(&self) -> KeyGroupRange {
        KeyGroupRange::of_subtask(self.index, self.parallelism, self.max_parallelism)
    }
}

/// What a task lets its operators know and ask.
pub(crate) trait Surroundings {
    /// Processing time, in milliseconds since 1970-01-01 00:00.
    fn now_ms(&self) -> i64;

    /// Nanoseconds of the job's clock since the job was started.
    fn since_start_ns(&self) -> u64;

    /// Whether the task has letters to run.
    fn should_give_way(&self) -> bool;

    /// Has the task call its input and its operators again, when it is woken, from any thread.
    fn waker(&self) -> Waker;

    /// Operator `operator` is to be called when processing time comes to `at_ms`, and no sooner.
    /// A later call takes an earlier one's place; `None` takes it back.
    fn wake_at(&self, operator: usize, at_ms: Option<i64>);
}

/// What surrounds an operator; it is given when the operator is opened, and is to be kept by who
/// needs it.
#[derive(Clone)]
pub struct Setting {
    subtask: Rc<Subtask>,
    operator: usize,
    surroundings: Rc<dyn Surroundings>,
    takes_checkpoints: bool,
    restored: Option<Rc<RestoredSubtask>>,
}

impl Setting {
    pub(crate) fn new(
        subtask: Rc<Subtask>,
        operator: usize,
        surroundings: Rc<dyn Surroundings>,
    ) -> Self {
        Self {
            subtask,
            operator,
            surroundings,
            takes_checkpoints: false,
            restored: None,
        }
    }

    /// The same, in a subtask that is restored.
    pub(crate) fn restoring(self, restored: Option<Rc<RestoredSubtask>>) -> Self {
        Self { restored, ..self }
    }

    /// The same, in a task that takes part in checkpoints, or does not.
    pub(crate) fn taking_checkpoints(self, takes_checkpoints: bool) -> Self {
        Self {
            takes_checkpoints,
            ..self
        }
    }

    /// Whether the job takes checkpoints: else there will be no snapshot, and no notice of one.
    #[must_use]
    pub fn takes_checkpoints(&self) -> bool {
        self.takes_checkpoints
    }

    /// What the operator is restored from; `None` where the job begins anew, or the checkpoint has
    /// nothing of this operator.
    #[must_use]
    pub fn restored(&self) -> Option<&RestoredOperator> {
        self.restored.as_ref()?.operators.get(self.operator)
    }

    /// The checkpoint that the subtask is restored from.
    #[must_use]
    pub fn restored_checkpoint(&self) -> Option<CheckpointId> {
        Some(self.restored.as_ref()?.checkpoint)
    }

    /// Whether the operator had finished in the checkpoint that it is restored from: nothing but what
    /// its state asks for is done any more.
    #[must_use]
    pub fn is_restored_finished(&self) -> bool {
        let restored = self.restored.as_ref();
        restored.is_some_and(|restored| restored.is_finished)
    }

    /// The subtask.
    #[must_use]
    pub fn subtask(&self) -> &Subtask {
        &self.subtask
    }

    /// The operator's place in the task's chain, counted from 0 at its head.
    #[must_use]
    pub fn operator(&self) -> usize {
        self.operator
    }

    /// Processing time, in milliseconds since 1970-01-01 00:00, by the job's clock.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.surroundings.now_ms()
    }

    /// Nanoseconds of the job's clock since the job was started.
    #[must_use]
    pub fn since_start_ns(&self) -> u64 {
        self.surroundings.since_start_ns()
    }

    /// Whether long work should give way, since the task has letters to run.
    #[must_use]
    pub fn should_give_way(&self) -> bool {
        self.surroundings.should_give_way()
    }

    /// Wakes the task, from any thread: a source that was pending is polled again, and an operator or
    /// sink that was waiting is asked again whether it is ready. No wake allocates.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.surroundings.waker()
    }

    /// Has [`processing_time`](super::Operator::processing_time) called once when processing time
    /// has come to `at_ms`. There is one such moment to an operator: another one takes its place.
    pub fn wake_at(&self, at_ms: i64) {
        self.surroundings.wake_at(self.operator, Some(at_ms));
    }

    /// Takes back what [`wake_at`](Self::wake_at) asked for.
    pub fn wake_never(&self) {
        self.surroundings.wake_at(self.operator, None);
    }

    /// The setting of the next operator of the chain.
    pub(crate) fn next(&self) -> Self {
        self.after(1)
    }

    /// The setting of the operator that is `operators` further down the chain.
    pub(crate) fn after(&self, operators: usize) -> Self {
        Self {
            operator: self.operator + operators,
            ..self.clone()
        }
    }
}

impl core::fmt::Debug for Setting {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Setting")
            .field("subtask", &self.subtask)
            .field("operator", &self.operator)
            .finish_non_exhaustive()
    }
}

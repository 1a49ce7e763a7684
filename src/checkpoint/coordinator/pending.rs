//! A checkpoint that was begun and has not ended.
//!
//! P1. The state of a subtask that has answered is in one place: here, until it is given away once.

use super::effect::{NamedStates, PromiseId};
use super::job::CoordinatedJob;
use super::plan::CheckpointPlan;
use super::report::{CheckpointCause, CheckpointReport, CheckpointStatus};
use crate::checkpoint::completed::{CompletedCheckpoint, CompletedSubtask, CompletedVertex};
use crate::checkpoint::message::{Acknowledge, Epoch, SubtaskCheckpointMetrics};
use crate::checkpoint::state_handle::{SubtaskId, SubtaskState};
use crate::stream::{CheckpointBarrier, CheckpointId, CheckpointOptions, SnapshotType};
use crate::sync::PlainArc;
use std::collections::BTreeMap;

/// How far a checkpoint has come; the stages follow each other in this order.
#[derive(Debug)]
pub(super) enum Stage {
    /// Room is made for it in storage.
    Location,
    /// Coordinators of operators are asked.
    OperatorCoordinators,
    /// Hooks of the job are called.
    MasterHooks,
    /// Subtasks were told, and answer.
    Collecting,
    /// All have answered.
    Acknowledged,
    /// Its record is being written: whether it will be complete is not the coordinator's to say.
    Committing(PlainArc<CompletedCheckpoint>),
}

/// What a subtask has answered.
#[derive(Debug)]
struct Answer {
    state: SubtaskState,
    is_finished: bool,
    metrics: SubtaskCheckpointMetrics,
}

/// What an answer was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Success,
    Duplicate,
    Unknown,
}

/// A checkpoint that was begun and has not ended.
#[derive(Debug)]
pub(super) struct PendingCheckpoint {
    pub(super) id: CheckpointId,
    pub(super) epoch: Epoch,
    pub(super) cause: CheckpointCause,
    pub(super) promise: Option<PromiseId>,
    pub(super) options: CheckpointOptions,
    pub(super) begun_ns: u64,
    pub(super) begun_ms: i64,
    pub(super) deadline_ns: u64,
    pub(super) plan: CheckpointPlan,
    pub(super) stage: Stage,
    /// Whether all sources had come to their end when it was triggered.
    pub(super) is_final: bool,
    pub(super) coordinator_states: NamedStates,
    pub(super) master_states: NamedStates,
    pub(super) acknowledged_ns: Option<u64>,
    state_bytes: u64,
    answers: BTreeMap<SubtaskId, Answer>,
}

/// What a checkpoint begins with.
pub(super) struct Beginning {
    pub(super) id: CheckpointId,
    pub(super) epoch: Epoch,
    pub(super) cause: CheckpointCause,
    pub(super) promise: Option<PromiseId>,
    pub(super) options: CheckpointOptions,
    pub(super) begun_ns: u64,
    pub(super) begun_ms: i64,
    pub(super) timeout_ns: u64,
    pub(super) plan: CheckpointPlan,
}

impl PendingCheckpoint {
    pub(super) fn new(beginning: Beginning) -> Self {
        let Beginning {
            id,
            epoch,
            cause,
            promise,
            options,
            begun_ns,
            begun_ms,
            timeout_ns,
            plan,
        } = beginning;
        debug_assert!(plan.to_wait_for.is_sorted(), "subtasks are in order");
        Self {
            id,
            epoch,
            cause,
            promise,
            options,
            begun_ns,
            begun_ms,
            deadline_ns: begun_ns.saturating_add(timeout_ns),
            plan,
            stage: Stage::Location,
            is_final: false,
            coordinator_states: Vec::new(),
            master_states: Vec::new(),
            acknowledged_ns: None,
            state_bytes: 0,
            answers: BTreeMap::new(),
        }
    }

    /// Whether subtasks have not been told of it yet.
    pub(super) fn is_triggering(&self) -> bool {
        matches!(
            self.stage,
            Stage::Location | Stage::OperatorCoordinators | Stage::MasterHooks
        )
    }

    pub(super) fn is_committing(&self) -> bool {
        matches!(self.stage, Stage::Committing(_))
    }

    /// Whether coordinators of operators have heard of it.
    pub(super) fn has_asked_operator_coordinators(&self) -> bool {
        !matches!(self.stage, Stage::Location)
    }

    /// Whether there is room for it in storage.
    pub(super) fn has_location(&self) -> bool {
        !matches!(self.stage, Stage::Location)
    }

    pub(super) fn is_savepoint(&self) -> bool {
        self.options.snapshot == SnapshotType::Savepoint
    }

    pub(super) fn barrier(&self) -> CheckpointBarrier {
        CheckpointBarrier {
            id: self.id,
            begun_ns: self.begun_ns,
            options: CheckpointOptions {
                is_final: self.is_final,
                ..self.options
            },
        }
    }

    /// Whether `subtask` has to answer.
    pub(super) fn awaits(&self, subtask: SubtaskId) -> bool {
        self.plan.to_wait_for.binary_search(&subtask).is_ok()
    }

    /// Whether `subtask` has to answer and has not.
    pub(super) fn lacks(&self, subtask: SubtaskId) -> bool {
        self.awaits(subtask) && !self.answers.contains_key(&subtask)
    }

    /// Takes an answer in, if it is worth something.
    pub(super) fn acknowledge(
        &mut self,
        acknowledge: Acknowledge,
    ) -> Result<(), (Worth, Acknowledge)> {
        let worth = self.worth_of(acknowledge.subtask);
        if worth != Worth::Success {
            return Err((worth, acknowledge));
        }
        let Acknowledge {
            subtask,
            state,
            is_finished,
            metrics,
            ..
        } = acknowledge;
        self.state_bytes += state.len_bytes();
        let answer = Answer {
            state,
            is_finished,
            metrics,
        };
        self.answers.insert(subtask, answer);
        Ok(())
    }

    /// What an answer of `subtask` is worth.
    pub(super) fn worth_of(&self, subtask: SubtaskId) -> Worth {
        if !self.awaits(subtask) {
            Worth::Unknown
        } else if self.answers.contains_key(&subtask) {
            Worth::Duplicate
        } else {
            Worth::Success
        }
    }

    pub(super) fn is_fully_acknowledged(&self) -> bool {
        self.answers.len() == self.plan.to_wait_for.len()
    }

    /// What it is once its record is written. The states go there (P1); what was measured stays.
    pub(super) fn finalize(&mut self, job: &CoordinatedJob) -> CompletedCheckpoint {
        debug_assert!(self.is_fully_acknowledged(), "some have not answered");
        let vertices = (0u32..).zip(&job.vertices).zip(&job.topology.vertices);
        let vertices = vertices.map(|((vertex, name), of)| {
            let subtasks = (0..of.parallelism).map(|index| SubtaskId { vertex, index });
            CompletedVertex {
                name: name.clone(),
                subtasks: subtasks.map(|subtask| self.part_of(subtask)).collect(),
            }
        });
        let vertices = vertices.collect();
        CompletedCheckpoint {
            job: job.name.clone(),
            epoch: self.epoch,
            id: self.id,
            options: self.options,
            begun_ms: self.begun_ms,
            duration_ns: self.acknowledged_ns.unwrap_or_default(),
            max_parallelism: job.max_parallelism,
            vertices,
            coordinator_states: core::mem::take(&mut self.coordinator_states),
            master_states: core::mem::take(&mut self.master_states),
        }
    }

    /// The part of `subtask`; one that does not have to answer had finished before.
    fn part_of(&mut self, subtask: SubtaskId) -> CompletedSubtask {
        match self.answers.get_mut(&subtask) {
            Some(answer) => CompletedSubtask {
                state: core::mem::take(&mut answer.state),
                is_finished: answer.is_finished,
                metrics: Some(answer.metrics),
            },
            None => CompletedSubtask {
                state: SubtaskState::default(),
                is_finished: true,
                metrics: None,
            },
        }
    }

    /// The states that nobody will want (P1): those there are.
    pub(super) fn into_states(self) -> Vec<SubtaskState> {
        let states: Vec<_> = match self.stage {
            Stage::Committing(checkpoint) => states_of(PlainArc::unwrap_or_clone(checkpoint)),
            _ => {
                let answers = self.answers.into_values();
                answers.map(|answer| answer.state).collect()
            }
        };
        let states = states.into_iter();
        states.filter(|state| !state.is_stateless()).collect()
    }

    /// Whom it waits for, in words: the first few where they are many.
    pub(super) fn awaited_in_words(&self, job: &CoordinatedJob) -> String {
        const NAMED_MAX: usize = 4;
        match self.stage {
            Stage::Location => "no room was made for it in storage".to_owned(),
            Stage::OperatorCoordinators => "coordinators of operators did not answer".to_owned(),
            Stage::MasterHooks => "hooks did not answer".to_owned(),
            Stage::Acknowledged => "an earlier one's record is still being written".to_owned(),
            Stage::Committing(_) => "its record is still being written".to_owned(),
            Stage::Collecting => {
                let awaited = self.plan.to_wait_for.iter();
                let lacking: Vec<_> = awaited.filter(|subtask| self.lacks(**subtask)).collect();
                let named = lacking.iter().take(NAMED_MAX);
                let named = named.map(|subtask| job.name_of(**subtask));
                let named = named.collect::<Vec<_>>().join(", ");
                let more = match lacking.len().saturating_sub(NAMED_MAX) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "{} of {} subtasks did not answer: {named}{more}",
                    lacking.len(),
                    self.plan.to_wait_for.len()
                )
            }
        }
    }

    /// What there is to tell of it.
    pub(super) fn report(&self, status: CheckpointStatus, now_ns: u64) -> CheckpointReport {
        let answers = self.answers.iter();
        let subtasks: Vec<_> = answers
            .map(|(subtask, answer)| (*subtask, answer.metrics))
            .collect();
        CheckpointReport {
            epoch: self.epoch,
            id: self.id,
            cause: self.cause,
            begun_ms: self.begun_ms,
            status,
            duration_ns: now_ns.saturating_sub(self.begun_ns),
            acknowledged_ns: self.acknowledged_ns,
            state_bytes: self.state_bytes,
            subtasks_awaited: self.plan.to_wait_for.len(),
            subtasks,
        }
    }
}

fn states_of(checkpoint: CompletedCheckpoint) -> Vec<SubtaskState> {
    let vertices = checkpoint.vertices.into_iter();
    let subtasks = vertices.flat_map(|vertex| vertex.subtasks);
    subtasks.map(|subtask| subtask.state).collect()
}

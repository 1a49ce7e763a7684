//! What an attempt begins with: the chain is taken over, a checkpoint read, and dealt out. It blocks,
//! and is done on the I/O pool; so are commits.

use super::beside::caught;
use super::checkpointing::Checkpointing;
use super::environment::TaskEnvironment;
use super::hooks::HookTarget;
use super::keeper::{ChainRef, JobDescription};
use super::unanswered::Progress;
use crate::checkpoint::{
    CheckpointBarrierHandler, CheckpointBarrierTracker, CheckpointSettings, CheckpointStorage,
    CommitChain, CommitError, CommitFailure, CommitFailureKind, CompletedCheckpoint, Epoch,
    FailedDeletions, MasterHooks, NamedStates, NonRestoredState, OperatorStateBytes, RestoreFrom,
    RestorePoint, SingleCheckpointBarrierHandler, StateAssignment, StorageError,
    SubtaskCheckpointCoordinator, SubtaskId, SubtaskOptions, SubtaskState, Writers,
};
use crate::job::observer::Restored;
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::stream::{
    Alignment, CheckpointId, Checkpointed, Deployment, MakeParticipant, RestoredOperator,
    RestoredSubtask, StateBytes,
};
use crate::sync::PlainArc;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is to be found out for an attempt.
pub(super) struct RecoveryJob {
    pub(super) checkpointing: Checkpointing,
    pub(super) job: PlainArc<JobDescription>,
    /// Whether it is the first attempt, which begins with what the user said.
    pub(super) is_first: bool,
    pub(super) chain: ChainRef,
    pub(super) writers: Writers,
    pub(super) progress: Progress,
}

/// What was found out.
pub(super) struct Loaded {
    pub(super) epoch: Epoch,
    pub(super) first_id: CheckpointId,
    pub(super) recovered: Vec<CompletedCheckpoint>,
    restored: Option<CheckpointId>,
    /// What the job's hooks gave to it.
    master_states: NamedStates,
    /// By vertex and index; empty where the attempt begins with nothing.
    subtasks: Vec<Vec<Option<RestoredSubtask>>>,
}

impl RecoveryJob {
    /// Takes over, and reads.
    pub(super) fn run(self) -> Result<Loaded, BoxError> {
        let (storage, writers) = (self.checkpointing.storage.clone(), self.writers.clone());
        let progress = self.progress.clone();
        let loaded = self.load();
        loaded.map_err(|error| match error.downcast() {
            Ok(cause) if progress.goes_on().is_ok() => looked_at(&storage, &writers, *cause),
            Ok(cause) => cause,
            Err(error) => error,
        })
    }

    fn load(self) -> Result<Loaded, BoxError> {
        let Checkpointing {
            storage,
            settings,
            restore,
            non_restored,
            hooks,
        } = self.checkpointing;
        let from = match self.is_first {
            true => restore,
            // The chain says what this job has come to, or began with.
            false => RestoreFrom::Latest,
        };
        let job = &self.job.coordinated.name;
        if self.is_first {
            // Who is refused must not have stopped whoever has the chain.
            check(&storage, &from, &self.job, non_restored, &hooks)?;
        }
        let (retained, writers) = (settings.retained, self.writers);
        let progress = self.progress;
        let (chain, point) =
            CommitChain::take_over_as(&storage, job, retained, from, writers, &|| {
                progress.goes_on().is_ok()
            })?;
        // The job goes on from the newest: that an older one cannot be read stops nobody.
        let retained = chain.retained_and_whole()?.into_iter();
        let mut loaded = Loaded {
            epoch: chain.epoch(),
            first_id: chain.next_id(),
            recovered: retained.map(PlainArc::unwrap_or_clone).collect(),
            restored: None,
            master_states: NamedStates::new(),
            subtasks: Vec::new(),
        };
        {
            let mut slot = self.chain.lock();
            // Asked while the lock is held: whoever comes after has the last word.
            progress.goes_on()?;
            *slot = Some(chain);
        }
        if let Some(point) = point {
            let checkpoint = point.checkpoint();
            hooks.check_states(&checkpoint.master_states)?;
            loaded.restored = Some(checkpoint.id);
            loaded.master_states.clone_from(&checkpoint.master_states);
            loaded.subtasks = read(&point, &self.job, non_restored, &progress)?;
        }
        Ok(loaded)
    }
}

/// What could not be read after the chain was taken over, told as what it is owed to where somebody else has
/// taken it over since.
fn looked_at(storage: &CheckpointStorage, writers: &Writers, cause: StorageError) -> BoxError {
    match storage.overtaken(writers) {
        Some(by) => CommitError::Fenced {
            record: by.record,
            cause: Some(cause),
        }
        .into(),
        None => cause.into(),
    }
}

/// Whether the job can go on from what it is to begin with, as far as that is there already. Taking over
/// looks again: there may be something newer by then.
fn check(
    storage: &CheckpointStorage,
    from: &RestoreFrom,
    job: &JobDescription,
    non_restored: NonRestoredState,
    hooks: &MasterHooks,
) -> Result<(), BoxError> {
    let point = match from {
        RestoreFrom::Latest => storage.latest(),
        RestoreFrom::Checkpoint(id) => storage.checkpoint(*id),
        RestoreFrom::Path(path) => RestorePoint::open(path).map(Some),
    };
    // In the same words as where the chain is taken over.
    let Some(point) = point.map_err(CommitError::from)? else {
        return Ok(());
    };
    let is_elsewhere = matches!(from, RestoreFrom::Path(_));
    if is_elsewhere || point.checkpoint().job == job.coordinated.name {
        StateAssignment::new(point.checkpoint(), &job.restored_as, non_restored)?;
        hooks.check_states(&point.checkpoint().master_states)?;
    }
    // The directory of another job is refused where the chain is to be taken over, and left as it is.
    Ok(())
}

/// Reads what each subtask is restored from.
fn read(
    point: &RestorePoint,
    job: &JobDescription,
    non_restored: NonRestoredState,
    progress: &Progress,
) -> Result<Vec<Vec<Option<RestoredSubtask>>>, BoxError> {
    let checkpoint = point.checkpoint();
    let assignment = StateAssignment::new(checkpoint, &job.restored_as, non_restored)?;
    let vertices = assignment.vertices.into_iter().map(|subtasks| {
        let subtasks = subtasks.into_iter().map(|assigned| {
            let mut operators = Vec::new();
            for part in &assigned.parts {
                progress.goes_on()?;
                for (place, bytes) in point.read_subtask_state(part)?.into_iter().enumerate() {
                    if place == operators.len() {
                        operators.push(RestoredOperator::default());
                    }
                    add(&mut operators[place], bytes);
                }
            }
            Ok::<_, BoxError>(Some(RestoredSubtask {
                checkpoint: checkpoint.id,
                operators,
                is_finished: assigned.is_finished,
            }))
        });
        subtasks.collect()
    });
    vertices.collect()
}

/// Adds what one subtask stored of an operator.
fn add(operator: &mut RestoredOperator, bytes: OperatorStateBytes<bytes::Bytes>) {
    let part = |bytes: Option<bytes::Bytes>| bytes.map(|bytes| StateBytes::from(Vec::from(bytes)));
    operator.managed_keyed.extend(part(bytes.managed_keyed));
    operator.raw_keyed.extend(part(bytes.raw_keyed));
    operator
        .managed_operator
        .extend(part(bytes.managed_operator));
    operator.raw_operator.extend(part(bytes.raw_operator));
}

impl Loaded {
    /// The checkpoint that the attempt goes on from.
    pub(super) fn restored_id(&self) -> Option<CheckpointId> {
        self.restored
    }

    /// Where the job's hooks go back to; nowhere where the job begins for the first time.
    pub(super) fn hook_target(&self, is_first: bool) -> Option<HookTarget> {
        match self.restored {
            Some(id) => Some(HookTarget::Checkpoint(id, self.master_states.clone())),
            None if is_first => None,
            None => Some(HookTarget::Beginning),
        }
    }

    /// Deals out what was read, and has each subtask take part in checkpoints.
    pub(super) fn into_restored(
        self,
        environment: PlainArc<TaskEnvironment>,
        settings: CheckpointSettings,
    ) -> Restored {
        let Self {
            epoch,
            restored,
            mut subtasks,
            ..
        } = self;
        Box::new(move |deployment: &mut Deployment| {
            let subtask = SubtaskId {
                vertex: deployment.subtask().vertex_index,
                index: deployment.subtask().index,
            };
            let vertex = subtasks.get_mut(subtask.vertex as usize);
            let from = vertex.and_then(|of| of.get_mut(subtask.index as usize));
            if let Some(from) = from.and_then(Option::take) {
                deployment.restore(from);
            }
            let options = SubtaskOptions {
                epoch,
                subtask,
                restored,
                waits_for_final: settings.after_tasks_finish,
            };
            deployment.take_part(participant(options, &environment, &settings));
            Ok(())
        })
    }
}

/// Makes who takes part for a subtask.
fn participant(
    options: SubtaskOptions,
    environment: &PlainArc<TaskEnvironment>,
    settings: &CheckpointSettings,
) -> MakeParticipant {
    let environment = PlainArc::clone(environment);
    let (alignment, after_tasks_finish) = (settings.alignment, settings.after_tasks_finish);
    Box::new(move |task: &mut dyn Checkpointed| {
        let channels = task.channels();
        let handler: Option<Box<dyn CheckpointBarrierHandler>> = if channels.is_empty() {
            None
        } else if alignment == Alignment::AtLeastOnce {
            let tracker = CheckpointBarrierTracker::new(&channels);
            Some(Box::new(
                tracker.checkpoints_after_tasks_finish(after_tasks_finish),
            ))
        } else {
            let handler = SingleCheckpointBarrierHandler::new(&channels);
            Some(Box::new(
                handler.checkpoints_after_tasks_finish(after_tasks_finish),
            ))
        };
        Box::new(SubtaskCheckpointCoordinator::new(
            options,
            environment,
            handler,
            task,
        ))
    })
}

/// What there is to say of another coordinator, beside that it has taken over.
pub(super) fn by_whom(record: &str, cause: Option<&StorageError>) -> Box<str> {
    match cause {
        Some(cause) => format!("it wrote {record}; what failed here: {cause}").into(),
        None => format!("it wrote {record}").into(),
    }
}

/// Writes the record of a checkpoint.
pub(super) fn commit(
    chain: &ChainRef,
    checkpoint: PlainArc<CompletedCheckpoint>,
) -> Result<(), CommitFailure> {
    let mut chain = chain.lock();
    let Some(chain) = chain.as_mut() else {
        return Err(CommitFailure {
            kind: CommitFailureKind::NotWritten,
            detail: "the chain was given up".into(),
        });
    };
    // Who panicked in the midst of it may have written.
    let committed = catch_unwind(AssertUnwindSafe(|| chain.commit(checkpoint)));
    let committed = committed.map_err(|payload| CommitFailure {
        kind: CommitFailureKind::MaybeWritten,
        detail: Failure::panic("the commit", payload).to_string().into(),
    })?;
    match committed {
        Ok(_) => Ok(()),
        Err(CommitError::Fenced { record, cause }) => Err(CommitFailure {
            kind: CommitFailureKind::Fenced,
            detail: by_whom(&record, cause.as_ref()),
        }),
        Err(error) => Err(CommitFailure {
            kind: match &error {
                CommitError::MaybeWritten(_) => CommitFailureKind::MaybeWritten,
                _ => CommitFailureKind::NotWritten,
            },
            detail: error.to_string().into(),
        }),
    }
}

/// Deletes what is kept no more. What cannot be deleted now is found by a later one.
pub(super) fn collect(chain: &ChainRef) -> FailedDeletions {
    let collector = chain.lock().as_ref().map(CommitChain::collector);
    let collected = collector.map(|of| caught("deleting a checkpoint", || Ok(of.run().errors)));
    failed_deletions(collected.unwrap_or(Ok(Vec::new())))
}

/// Deletes all, as the job is over and keeps none. What cannot be deleted is left to who looks at the
/// directory.
pub(super) fn discard_all(chain: &ChainRef) -> FailedDeletions {
    let chain = chain.lock().take();
    let discard = |chain: CommitChain| {
        caught("deleting all checkpoints", || {
            match chain.discard_all() {
                Ok(collected) => Ok(collected.errors),
                // Whoever has the chain deletes them.
                Err(CommitError::Fenced { .. }) => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            }
        })
    };
    failed_deletions(chain.map_or(Ok(Vec::new()), discard))
}

/// Deletes state that no checkpoint holds. What cannot be deleted is found by a later collection.
pub(super) fn discard_states(
    storage: &CheckpointStorage,
    states: &[SubtaskState],
) -> FailedDeletions {
    failed_deletions(caught("deleting state", || {
        let states = states.iter();
        Ok(states.flat_map(|state| storage.discard(state)).collect())
    }))
}

/// What there is to tell of a deletion: what went wrong, or why it was not finished.
fn failed_deletions(errors: Result<Vec<StorageError>, BoxError>) -> FailedDeletions {
    match errors {
        Ok(errors) => FailedDeletions::of(&errors),
        Err(error) => FailedDeletions::of(&[error]),
    }
}

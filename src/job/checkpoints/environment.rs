//! What surrounds a subtask that takes part in checkpoints: the I/O pool, storage, the keeper.

use super::beside::{Beside, Job, Refused, caught};
use super::keeper::Keeper;
use super::recovering::discard_states;
use crate::checkpoint::{
    CheckpointStorage, EncodedOperator, Epoch, Overtaken, SubtaskEnvironment, SubtaskId,
    SubtaskState, ToCoordinator, Writers,
};
use crate::letter::{BoxError, Outcome};
use crate::mailbox::PostError;
use crate::processor::Executor;
use crate::stream::CheckpointId;
use crate::sync::{Clock as _, PlainWeak, SharedClock};
use std::time::Instant;

/// See above: one for all subtasks of a job.
pub(super) struct TaskEnvironment {
    pub(super) clock: SharedClock,
    /// When the job was started.
    pub(super) started: Instant,
    /// The keeper's: a task that is the last to know of it must not wait for its end.
    pub(super) pool: PlainWeak<dyn Beside>,
    pub(super) storage: CheckpointStorage,
    /// Of this attempt and those before it.
    pub(super) writers: Option<Writers>,
    pub(super) keeper: Executor<Keeper>,
}

impl TaskEnvironment {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        match self.pool.upgrade() {
            Some(pool) => pool.try_run(job),
            None => Err(Refused {
                job,
                is_full: false,
            }),
        }
    }

    /// The chain's head, if it is another coordinator's. A later attempt's is taken for one: the keeper
    /// knows better.
    fn overtaken(&self) -> Option<Overtaken> {
        let writers = self.writers.as_ref()?;
        let looked = caught("looking at the chain", || {
            Ok(self.storage.overtaken(writers))
        });
        looked.ok().flatten()
    }

    /// Posts to the keeper. The mailbox has room for all that subtasks say of the checkpoints that may be
    /// on their way; where it has none all the same, it is waited for beside the task.
    fn tell(&self, tell: impl FnOnce(&mut Keeper) -> Outcome + Send + 'static) {
        // A keeper that is gone heeds nothing any more.
        if let Err(PostError::Full(unposted)) = self.keeper.try_execute(tell) {
            let keeper = self.keeper.clone();
            let waiting = self.try_run(Box::new(move || {
                let _gone = keeper.post_again(unposted);
            }));
            if let Err(Refused { job, .. }) = waiting {
                job();
            }
        }
    }
}

impl SubtaskEnvironment for TaskEnvironment {
    fn now_ns(&self) -> u64 {
        let since = self.clock.now().saturating_duration_since(self.started);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn submit(&self, job: Box<dyn FnOnce() + Send>) -> Result<(), BoxError> {
        match self.try_run(job) {
            Ok(()) => Ok(()),
            Err(Refused { is_full: true, .. }) => Err("too many parts wait to be stored".into()),
            Err(_) => Err("nothing is stored any more: the job ends".into()),
        }
    }

    fn store(
        &self,
        epoch: Epoch,
        id: CheckpointId,
        subtask: SubtaskId,
        operators: Vec<EncodedOperator>,
    ) -> Result<SubtaskState, BoxError> {
        let stored = self
            .storage
            .write_subtask_state(epoch, id, subtask, operators);
        stored.map_err(|cause| match self.overtaken() {
            Some(by) => {
                let told: BoxError = cause.to_string().into();
                // Ahead of the answer: the job fails by this, and not by what has come of it.
                self.tell(move |keeper| {
                    keeper.overtaken(&by, &cause);
                    Ok(())
                });
                told
            }
            None => cause.into(),
        })
    }

    fn discard(&self, state: SubtaskState) {
        let failed = discard_states(&self.storage, &[state]);
        if failed.count > 0 {
            self.tell(move |keeper| {
                keeper.not_deleted(failed);
                Ok(())
            });
        }
    }

    fn respond(&self, message: ToCoordinator) {
        self.tell(move |keeper| {
            keeper.receive(message);
            Ok(())
        });
    }

    fn data_ended(&self, epoch: Epoch, subtask: SubtaskId) {
        self.tell(move |keeper| {
            keeper.data_ended(epoch, subtask);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests;

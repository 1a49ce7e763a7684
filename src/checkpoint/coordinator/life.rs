//! What the job tells its coordinator: tasks run, come to their end, finish, fail; the time has come;
//! the job starts again, or is over.

use super::effect::Effect;
use super::request::CheckpointRequest;
use super::retention::JobEnd;
use super::schedule::FinalCheckpoint;
use super::state_machine::{Activity, CheckpointCoordinator};
use super::statistics::RestoredCheckpoint;
use super::topology::SubtaskStatus;
use crate::checkpoint::completed::CompletedCheckpoint;
use crate::checkpoint::failure_reason::CheckpointFailureReason;
use crate::checkpoint::message::Epoch;
use crate::checkpoint::state_handle::SubtaskId;
use crate::stream::CheckpointId;
use core::fmt;

/// A job starts again.
#[derive(Clone, Debug)]
pub struct Restart {
    /// The run that begins.
    pub epoch: Epoch,
    /// What storage has: a checkpoint may be there whose record was perhaps written.
    pub recovered: Vec<CompletedCheckpoint>,
    /// The one of them that the job goes on from.
    pub restored: Option<CheckpointId>,
}

/// Why a coordinator does not go on with another run of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RestartError {
    /// A record is being written: the latest checkpoint is not known before that is answered.
    Committing,
    /// The job is over, or another coordinator has taken over.
    ShutDown,
    /// The run is not a later one.
    EpochNotLater {
        /// The run.
        asked: Epoch,
        /// The one there is.
        current: Epoch,
    },
}

impl fmt::Display for RestartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Committing => f.write_str("a checkpoint's record is still being written"),
            Self::ShutDown => f.write_str("the checkpoint coordinator is shut down"),
            Self::EpochNotLater { asked, current } => write!(
                f,
                "run {} of the job does not come after run {}",
                asked.0, current.0
            ),
        }
    }
}

impl core::error::Error for RestartError {}

impl CheckpointCoordinator {
    /// All tasks of the job run that have not finished: checkpoints are taken from now on.
    #[must_use = "effects are to be carried out"]
    pub fn job_running(&mut self, now_ns: u64) -> Vec<Effect> {
        if self.activity == Activity::Suspended {
            self.activity = Activity::Running;
            self.tasks.run();
            self.schedule.start(now_ns);
        }
        self.settle(now_ns)
    }

    /// Some task of the job does not run any more and has not finished: none is taken until all run
    /// again.
    #[must_use = "effects are to be carried out"]
    pub fn job_left_running(&mut self, now_ns: u64) -> Vec<Effect> {
        self.suspend(CheckpointFailureReason::CoordinatorSuspend, "", now_ns);
        self.settle(now_ns)
    }

    /// A task failed, and the job with it: none is taken until it runs again.
    #[must_use = "effects are to be carried out"]
    pub fn task_failed(&mut self, subtask: SubtaskId, detail: &str, now_ns: u64) -> Vec<Effect> {
        self.tasks.set(subtask, SubtaskStatus::Failed);
        let detail = format!("subtask {}: {detail}", self.job.name_of(subtask));
        self.suspend(CheckpointFailureReason::JobFailover, &detail, now_ns);
        self.settle(now_ns)
    }

    /// A subtask has no more records, and waits for a checkpoint before it finishes.
    ///
    /// Once this is so of all sources, a checkpoint is begun without regard to interval and pause: the
    /// job has nothing else to wait for.
    #[must_use = "effects are to be carried out"]
    pub fn data_ended(&mut self, subtask: SubtaskId, now_ns: u64) -> Vec<Effect> {
        // It may be at its end before all others are there.
        if !self.tasks.get(subtask).is_over() {
            self.tasks.set(subtask, SubtaskStatus::DataEnded);
        }
        self.settle(now_ns)
    }

    /// A subtask has ended by itself: those on their way that it has not answered will not be
    /// completed. The next do without it, if its operators have finished; else the job is about to end
    /// and to go on later, and none is begun any more.
    #[must_use = "effects are to be carried out"]
    pub fn task_finished(&mut self, subtask: SubtaskId, now_ns: u64) -> Vec<Effect> {
        let status = match self.store.latest() {
            Some(latest) if self.settings.after_tasks_finish && latest.is_unfinished(subtask) => {
                SubtaskStatus::Suspended
            }
            _ => SubtaskStatus::Finished,
        };
        self.tasks.set(subtask, status);
        let lacking = self.pending.values();
        let lacking = lacking.filter(|pending| pending.lacks(subtask));
        let lacking: Vec<_> = lacking.map(|pending| pending.id).collect();
        let detail = format!(
            "subtask {} has finished without an answer",
            self.job.name_of(subtask)
        );
        for id in lacking {
            let reason = CheckpointFailureReason::TaskNotReady;
            self.abort(id, reason, &detail, now_ns);
        }
        self.settle(now_ns)
    }

    /// The time has come that [`next_deadline_ns`](Self::next_deadline_ns) said; to be called at any
    /// other time does no harm.
    #[must_use = "effects are to be carried out"]
    pub fn timer(&mut self, now_ns: u64) -> Vec<Effect> {
        let expired = self.pending.values();
        let expired = expired.filter(|pending| pending.deadline_ns <= now_ns);
        let expired: Vec<_> = expired
            .map(|pending| (pending.id, pending.awaited_in_words(&self.job)))
            .collect();
        for (id, awaited) in expired {
            let reason = CheckpointFailureReason::Expired;
            self.abort(id, reason, &awaited, now_ns);
        }
        if self.activity == Activity::Running
            && self.schedule.take_periodic(now_ns)
            && self.schedule.final_checkpoint != FinalCheckpoint::Completed
        {
            let number = self.take_request_number();
            self.request(CheckpointRequest::periodic(number), now_ns);
        }
        self.settle(now_ns)
    }

    /// Another coordinator was found to have taken over, other than by the answer to a commit.
    #[must_use = "effects are to be carried out"]
    pub fn fenced(&mut self, detail: &str, now_ns: u64) -> Vec<Effect> {
        self.fence(detail, now_ns);
        self.settle(now_ns)
    }

    /// The job starts again: messages of earlier runs are known for stale from now on. Checkpoints are
    /// taken once it [runs](Self::job_running).
    ///
    /// # Errors
    /// If a record is being written, the job is over, or the run is not a later one; nothing has
    /// changed then.
    #[must_use = "effects are to be carried out"]
    pub fn restarted(
        &mut self,
        restart: Restart,
        now_ns: u64,
    ) -> Result<Vec<Effect>, RestartError> {
        let Restart {
            epoch,
            mut recovered,
            restored,
        } = restart;
        if self.activity.is_over() {
            return Err(RestartError::ShutDown);
        }
        if self.is_committing() {
            return Err(RestartError::Committing);
        }
        if epoch <= self.epoch {
            return Err(RestartError::EpochNotLater {
                asked: epoch,
                current: self.epoch,
            });
        }
        self.suspend(CheckpointFailureReason::JobFailover, "", now_ns);
        self.epoch = epoch;
        self.tasks.reset();
        recovered.sort_by_key(|checkpoint| checkpoint.id);
        for checkpoint in recovered {
            let latest = self.store.latest().map(|latest| latest.id);
            if latest.is_none_or(|latest| latest < checkpoint.id) {
                self.failures.on_success(checkpoint.id);
                let _ = self.store_completed(checkpoint);
            }
        }
        self.skip_ids_up_to(restored);
        if let Some(id) = restored {
            self.statistics.restored(RestoredCheckpoint {
                id,
                epoch,
                restored_ms: self.ms_at(now_ns),
            });
        }
        Ok(self.settle(now_ns))
    }

    /// The job is over. Whoever waits for a checkpoint is told that there is none, but for one whose
    /// record is being written: it is ended by the answer, and the coordinator
    /// [with it](Self::is_shut_down).
    #[must_use = "effects are to be carried out"]
    pub fn shutdown(&mut self, end: JobEnd, now_ns: u64) -> Vec<Effect> {
        if !self.activity.is_over() {
            self.suspend(CheckpointFailureReason::CoordinatorShutdown, "", now_ns);
            self.activity = Activity::ShuttingDown(end);
        }
        self.settle(now_ns)
    }

    /// Ends the shutdown once no record is being written: what is not to be kept is deleted.
    pub(super) fn end_shutdown(&mut self) {
        let Activity::ShuttingDown(end) = self.activity else {
            return;
        };
        if self.pending.is_empty() {
            self.activity = Activity::ShutDown;
            for checkpoint in self.store.shut_down(end, self.settings.retention) {
                self.discard_checkpoint(checkpoint);
            }
        }
    }

    /// Asks for the checkpoint that tasks wait for before they finish, if it is time.
    pub(super) fn request_final(&mut self, now_ns: u64) {
        self.schedule.end_retry_pause(now_ns);
        let is_on_its_way = || {
            let mut pending = self.pending.values();
            pending.any(|pending| {
                !pending.is_savepoint() && (pending.is_triggering() || pending.is_final)
            })
        };
        if self.schedule.final_checkpoint == FinalCheckpoint::Unrequested
            && self.activity == Activity::Running
            && self.settings.after_tasks_finish
            && self.tasks.have_sources_ended(&self.job.topology)
            && !is_on_its_way()
        {
            let number = self.take_request_number();
            self.schedule.final_checkpoint = FinalCheckpoint::Requested(number);
            self.request(CheckpointRequest::checkpoint(number), now_ns);
        }
    }
}

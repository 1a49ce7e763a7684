//! The checkpoint coordinator: what it knows, and what holds whenever it has dealt with an input.
//!
//! Inputs are methods that take the time, outputs are [`Effect`]s; no thread, clock or file is within.
//!
//! C1. Numbers of checkpoints rise, also of those that come to nothing.
//! C2. At most one is being begun; whether one is can be seen from the pending ones, so that no way
//!     out of an attempt can leave it behind.
//! C3. Each that was begun ends once: completed or failed, and so for whom it was promised to.
//! C4. Only one record is being written at a time. A checkpoint whose record is being written does
//!     not end before the answer: nobody else knows whether it is complete.
//! C5. A promise is kept only after the checkpoint is in the store.
//! C6. Nobody is told anything and nothing is deleted after another coordinator has taken over.

use super::cleaning::CleaningCount;
use super::decider::{CheckpointRequestDecider, CoordinatorLoad};
use super::effect::{Effect, PromiseId};
use super::ended::EndedCheckpoints;
use super::failure_manager::CheckpointFailureManager;
use super::job::{CoordinatedJob, CoordinatorSetup, TaskStatuses};
use super::pending::{PendingCheckpoint, Stage};
use super::plan::CheckpointPlanCalculator;
use super::report::CheckpointStatus;
use super::retention::JobEnd;
use super::schedule::Schedule;
use super::settings::CheckpointSettings;
use super::statistics::{CheckpointStatistics, RestoredCheckpoint};
use super::store::CompletedCheckpointStore;
use crate::checkpoint::completed::CompletedCheckpoint;
use crate::checkpoint::message::Epoch;
use crate::stream::CheckpointId;
use std::collections::BTreeMap;

/// Whether checkpoints are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// Not all tasks run.
    Suspended,
    /// All tasks run that have not finished.
    Running,
    /// The job is over, and a record is still being written.
    ShuttingDown(JobEnd),
    /// The job is over.
    ShutDown,
    /// Another coordinator has taken over.
    Fenced,
}

impl Activity {
    /// Whether nothing begins any more.
    pub(super) const fn is_over(self) -> bool {
        matches!(self, Self::ShuttingDown(_) | Self::ShutDown | Self::Fenced)
    }
}

/// Begins checkpoints, collects their parts, and says when one is complete.
///
/// It is a state machine: each of its inputs takes the time in nanoseconds of the job's clock since
/// the job was started, and returns the [`Effect`]s that are to be carried out. Besides, it wants
/// [`timer`](Self::timer) called at [`next_deadline_ns`](Self::next_deadline_ns).
///
/// # Examples
/// A job of one subtask, whose surroundings have no coordinators of operators, no hooks, and a storage
/// that is always done at once:
/// ```
/// use mailring::checkpoint::{
///     Acknowledge, CheckpointCoordinator, CheckpointSettings, CoordinatedJob, CoordinatorSetup,
///     Effect, Epoch, JobTopology, PromiseId, SubtaskCheckpointMetrics, SubtaskState, ToSubtask,
///     TopologyVertex,
/// };
/// use mailring::stream::CheckpointId;
///
/// let mut coordinator = CheckpointCoordinator::new(CoordinatorSetup {
///     job: CoordinatedJob {
///         name: "counts".into(),
///         max_parallelism: 128,
///         vertices: vec!["source".into()],
///         topology: JobTopology {
///             vertices: vec![TopologyVertex { parallelism: 1, is_source: true }],
///             edges: Vec::new(),
///         },
///     },
///     settings: CheckpointSettings::manual(),
///     epoch: Epoch(1),
///     first_id: CheckpointId::new(1).unwrap(),
///     recovered: Vec::new(),
///     restored: None,
///     clock_zero_ms: 0,
///     seed: 0,
///     history_max: 10,
/// });
///
/// let now_ns = 0;
/// let mut asked = coordinator.job_running(now_ns);
/// asked.extend(coordinator.trigger_checkpoint(PromiseId(1), now_ns));
/// let mut promised = None;
/// while let Some(effect) = asked.pop() {
///     asked.extend(match effect {
///         Effect::InitLocation { id, .. } => coordinator.location_initialized(id, Ok(()), now_ns),
///         Effect::SnapshotOperatorCoordinators(id) => {
///             coordinator.operator_coordinators_acknowledged(id, Ok(Vec::new()), now_ns)
///         }
///         Effect::CallMasterHooks(id) => {
///             coordinator.master_hooks_acknowledged(id, Ok(Vec::new()), now_ns)
///         }
///         Effect::Tell { subtask, message: ToSubtask::Trigger(barrier) } => {
///             let answer = Acknowledge {
///                 epoch: Epoch(1),
///                 id: barrier.id,
///                 subtask,
///                 state: SubtaskState::default(),
///                 is_finished: false,
///                 metrics: SubtaskCheckpointMetrics::default(),
///             };
///             coordinator.acknowledge(answer, now_ns)
///         }
///         Effect::Commit(checkpoint) => coordinator.committed(checkpoint.id, Ok(()), now_ns),
///         Effect::CompletePromise { result, .. } => {
///             promised = Some(result);
///             Vec::new()
///         }
///         _ => Vec::new(),
///     });
/// }
/// assert_eq!(promised.unwrap().unwrap().id.get(), 1);
/// ```
#[derive(Debug)]
pub struct CheckpointCoordinator {
    pub(super) job: CoordinatedJob,
    pub(super) settings: CheckpointSettings,
    pub(super) plans: CheckpointPlanCalculator,
    pub(super) epoch: Epoch,
    clock_zero_ms: i64,
    pub(super) activity: Activity,
    pub(super) tasks: TaskStatuses,
    next_id: Option<CheckpointId>,
    next_request: u64,
    pub(super) decider: CheckpointRequestDecider,
    /// By the number of the request that waits.
    pub(super) promises: BTreeMap<u64, PromiseId>,
    pub(super) schedule: Schedule,
    pub(super) pending: BTreeMap<CheckpointId, PendingCheckpoint>,
    pub(super) ended: EndedCheckpoints,
    pub(super) store: CompletedCheckpointStore,
    pub(super) failures: CheckpointFailureManager,
    pub(super) cleaning: CleaningCount,
    pub(super) last_completion_ns: Option<u64>,
    pub(super) statistics: CheckpointStatistics,
    pub(super) effects: Vec<Effect>,
}

impl CheckpointCoordinator {
    /// A coordinator of a job whose tasks do not run yet.
    #[must_use]
    pub fn new(setup: CoordinatorSetup) -> Self {
        let CoordinatorSetup {
            job,
            settings,
            epoch,
            first_id,
            recovered,
            restored,
            clock_zero_ms,
            seed,
            history_max,
        } = setup;
        let store = CompletedCheckpointStore::new(settings.retained, recovered);
        let mut statistics = CheckpointStatistics::new(history_max);
        if let Some(id) = restored {
            statistics.restored(RestoredCheckpoint {
                id,
                epoch,
                restored_ms: clock_zero_ms,
            });
        }
        let mut coordinator = Self {
            plans: CheckpointPlanCalculator::new(job.topology.clone(), settings.after_tasks_finish),
            tasks: TaskStatuses::new(&job.topology),
            decider: CheckpointRequestDecider::new(&settings),
            failures: CheckpointFailureManager::new(&settings),
            schedule: Schedule::new(&settings, seed),
            job,
            settings,
            epoch,
            clock_zero_ms,
            activity: Activity::Suspended,
            next_id: Some(first_id),
            next_request: 0,
            promises: BTreeMap::new(),
            pending: BTreeMap::new(),
            ended: EndedCheckpoints::default(),
            store,
            cleaning: CleaningCount::new(),
            last_completion_ns: None,
            statistics,
            effects: Vec::new(),
        };
        coordinator.skip_ids_up_to(restored);
        coordinator
    }

    /// The run whose messages are heeded.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number that the next checkpoint has; `None` if there is none left.
    #[must_use]
    pub const fn next_id(&self) -> Option<CheckpointId> {
        self.next_id
    }

    /// The last that was completed, or that storage had.
    #[must_use]
    pub fn latest_completed(&self) -> Option<&CompletedCheckpoint> {
        self.store.latest()
    }

    /// The completed ones that are kept.
    #[must_use]
    pub const fn completed(&self) -> &CompletedCheckpointStore {
        &self.store
    }

    /// How many are on their way.
    #[must_use]
    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// How many requests wait.
    #[must_use]
    pub fn queued_len(&self) -> usize {
        self.decider.queued()
    }

    /// Whether one is being begun: subtasks have not been told of it yet.
    #[must_use]
    pub fn is_triggering(&self) -> bool {
        self.pending.values().any(PendingCheckpoint::is_triggering)
    }

    /// When the checkpoint was begun that is waiting for the hooks of the job, in milliseconds since
    /// 1970-01-01 00:00; `None` where it is not, or not any more: they need not be called for it.
    #[must_use]
    pub fn master_hooks_called_at(&self, id: CheckpointId) -> Option<i64> {
        let pending = self.pending.get(&id);
        let pending = pending.filter(|pending| matches!(pending.stage, Stage::MasterHooks));
        pending.map(|pending| pending.begun_ms)
    }

    /// Whether a record is being written. Until that is answered, nobody knows which checkpoint is
    /// the latest.
    #[must_use]
    pub fn is_committing(&self) -> bool {
        self.pending.values().any(PendingCheckpoint::is_committing)
    }

    /// Whether checkpoints are taken: all tasks run that have not finished.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.activity == Activity::Running
    }

    /// Whether another coordinator has taken over.
    #[must_use]
    pub fn is_fenced(&self) -> bool {
        self.activity == Activity::Fenced
    }

    /// Whether the job is over and no record is being written any more.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        matches!(self.activity, Activity::ShutDown | Activity::Fenced)
    }

    /// What there is to tell of the job's checkpoints.
    #[must_use]
    pub fn statistics(&self, now_ns: u64) -> CheckpointStatistics {
        let pending = self.pending.values();
        let reports = pending.map(|pending| pending.report(CheckpointStatus::InProgress, now_ns));
        self.statistics.with_pending(reports)
    }

    /// When [`timer`](Self::timer) is to be called, in nanoseconds of the job's clock; `None` for
    /// never.
    #[must_use]
    pub fn next_deadline_ns(&self) -> Option<u64> {
        let pending = self.pending.values();
        let timeouts = pending
            .filter(|pending| !pending.is_committing())
            .map(|pending| pending.deadline_ns);
        let schedule = self.schedule.next_ns().filter(|_| self.is_running());
        timeouts.chain(schedule).min()
    }

    /// The time of day at `now_ns`, in milliseconds since 1970-01-01 00:00.
    pub(super) fn ms_at(&self, now_ns: u64) -> i64 {
        let ms = i64::try_from(now_ns / 1_000_000).unwrap_or(i64::MAX);
        self.clock_zero_ms.saturating_add(ms)
    }

    /// A number that no request has had.
    pub(super) fn take_request_number(&mut self) -> u64 {
        self.next_request += 1;
        self.next_request
    }

    /// A number that no checkpoint has had (C1).
    pub(super) fn take_id(&mut self) -> Option<CheckpointId> {
        let id = self.next_id?;
        self.next_id = id.get().checked_add(1).and_then(CheckpointId::new);
        Some(id)
    }

    /// No checkpoint gets a number up to the latest that is stored (C1), nor up to that of the one the
    /// job goes on from, wherever it is stored: subtasks take no notice of those.
    pub(super) fn skip_ids_up_to(&mut self, restored: Option<CheckpointId>) {
        let stored = self.store.latest().map(|latest| latest.id);
        if let (Some(highest), Some(next)) = (stored.max(restored), self.next_id)
            && next <= highest
        {
            self.next_id = highest.get().checked_add(1).and_then(CheckpointId::new);
        }
    }

    pub(super) fn load(&self) -> CoordinatorLoad {
        CoordinatorLoad {
            is_triggering: self.is_triggering(),
            pending: self.pending.len(),
            cleaning: self.cleaning.get(),
            last_completion_ns: self.last_completion_ns,
        }
    }

    /// Every input ends here: what can go on does, and the effects go out.
    #[must_use = "effects are to be carried out"]
    pub(super) fn settle(&mut self, now_ns: u64) -> Vec<Effect> {
        self.write_next_record();
        self.request_final(now_ns);
        self.begin_queued(now_ns);
        self.end_shutdown();
        self.assert_invariants();
        core::mem::take(&mut self.effects)
    }

    fn assert_invariants(&self) {
        let pending = || self.pending.values();
        debug_assert!(
            pending().filter(|pending| pending.is_triggering()).count() <= 1,
            "C2"
        );
        debug_assert!(
            pending().filter(|pending| pending.is_committing()).count() <= 1,
            "C4"
        );
        debug_assert!(
            pending().filter(|pending| !pending.is_savepoint()).count()
                <= self.settings.concurrent_max(),
            "more at once than are allowed"
        );
        debug_assert!(
            self.pending
                .keys()
                .last()
                .is_none_or(|last| self.next_id.is_none_or(|next| *last < next)),
            "C1"
        );
        debug_assert!(
            self.activity == Activity::Running || pending().all(PendingCheckpoint::is_committing),
            "only records are waited for while tasks do not run"
        );
        debug_assert!(
            self.activity == Activity::Running || self.decider.queued() == 0,
            "requests wait while tasks do not run"
        );
        debug_assert_eq!(
            self.statistics.counts.in_progress,
            self.pending.len() as u64,
            "what is pending is in progress"
        );
        debug_assert!(
            self.activity != Activity::Fenced || self.pending.is_empty(),
            "C6"
        );
    }
}

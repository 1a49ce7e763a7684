//! Has a job that is started take checkpoints.

use super::beside::{Beside, PatientPool};
use super::checkpointing::Checkpointing;
use super::handle::JobCheckpoints;
use super::keeper::{JobDescription, Keeper, KeeperParts, LastWords};
use super::observer::CheckpointObserver;
use crate::checkpoint::{
    CheckpointFailure, CheckpointFailureReason, CheckpointStatistics, CoordinatedJob,
    DistributionPattern, JobTopology, RestoreTarget, SubtaskId, TargetVertex, TopologyEdge,
    TopologyVertex,
};
use crate::job::error::JobError;
use crate::job::graph::Pattern;
use crate::job::master::Master;
use crate::job::plan::Blueprint;
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::stream::Origin;
use crate::sync::{Mutex, PlainArc, SetOnce, SharedClock};
use crate::task::{Engine, IoPool, TaskHandle};

/// A job's master, which there is not when its checkpoints begin.
type MasterCell = PlainArc<SetOnce<TaskHandle<Master>>>;

/// The checkpoints of a job that is being started.
pub(in crate::job) struct Started {
    pub(in crate::job) observer: CheckpointObserver,
    pub(in crate::job) checkpoints: JobCheckpoints,
    master: MasterCell,
}

impl Started {
    /// The job's master is told if checkpoints have the job fail.
    pub(in crate::job) fn of(&self, master: TaskHandle<Master>) {
        let _once = self.master.set(master);
    }
}

/// How many letters the keeper's mailbox holds: all that can be on their way, so that neither the master,
/// which is on the same thread, nor a task ever finds it full. A subtask says of each checkpoint on its
/// way that it is stored, or not, and beside that at most once what storage has failed to do; and twice
/// at most what becomes of itself. The rest is requests, and what becomes of the job.
fn mailbox(subtasks: usize, concurrent_max: usize) -> usize {
    let of_subtask = 2 * concurrent_max + 4;
    2 * JobCheckpoints::ASKING_MAX + subtasks * of_subtask
}

/// Starts the keeper of a job's checkpoints, on the thread of its master.
pub(in crate::job) fn start(
    blueprint: &Blueprint,
    checkpointing: Checkpointing,
    engine: &Engine,
    clock: &SharedClock,
    origin: Origin,
) -> Result<Started, JobError> {
    checkpointing.check()?;
    let job = PlainArc::new(describe(blueprint, &checkpointing));
    let subtasks: Vec<_> = job.coordinated.topology.subtasks().collect();
    let names = subtasks.iter().map(|subtask| name_of(blueprint, *subtask));
    let names: Vec<_> = names.collect();
    let concurrent_max = checkpointing.settings.concurrent_max();
    let mailbox = mailbox(subtasks.len(), concurrent_max);
    let pool = IoPool::builder()
        // Two more than store state: what is never answered leaves a thread to others.
        .threads(subtasks.len().clamp(1, 4) + 2)
        .queue(64 + 4 * subtasks.len() * concurrent_max)
        .name(format!("{}-io", blueprint.job));
    let pool = PatientPool::new(pool);
    let pool = pool.map_err(|error| JobError::Checkpoints(error.into()))?;
    let pool: PlainArc<dyn Beside> = PlainArc::new(pool);
    let hook_thread = PatientPool::of_hooks(&blueprint.job);
    let hook_thread = hook_thread.map_err(|error| JobError::Checkpoints(error.into()))?;
    let hook_thread: PlainArc<dyn Beside> = PlainArc::new(hook_thread);
    let master = MasterCell::default();
    let told = PlainArc::clone(&master);
    let fail = move |failure: CheckpointFailure| {
        if let Some(master) = told.get() {
            let is_final = matches!(
                failure.reason,
                CheckpointFailureReason::Fenced | CheckpointFailureReason::CoordinatorShutdown
            );
            let cause = Failure::error("checkpoint", BoxError::from(failure));
            // Urgent: the keeper cannot wait for room on the master's own thread. There is some, since
            // users do not post so, and each reason is told once of an attempt. A master that is gone
            // looks after nothing any more.
            let _gone = master.post_urgent(move |master| master.fail_job(cause, is_final));
        }
    };
    let parts = KeeperParts {
        checkpointing,
        job,
        clock: clock.clone(),
        started: origin.at,
        started_ms: origin.at_ms,
        fail: Box::new(fail),
    };
    let last_words = no_words();
    let told = PlainArc::clone(&last_words);
    let task = engine.task("checkpoint-coordinator").on_thread(0);
    let spawned = task.capacity(mailbox).try_spawn(move |cx| {
        let keeper = Keeper::new(parts, cx.executor(), pool, hook_thread, told);
        Ok::<_, BoxError>(keeper)
    });
    let keeper = spawned.map_err(|error| JobError::Spawn {
        task: "checkpoint-coordinator".to_owned(),
        error,
    })?;
    Ok(Started {
        observer: CheckpointObserver {
            keeper: keeper.clone(),
            subtasks,
            names,
        },
        checkpoints: JobCheckpoints {
            keeper: keeper.executor(),
            last_words,
            asking: PlainArc::default(),
        },
        master,
    })
}

/// Nothing to tell yet.
pub(super) fn no_words() -> LastWords {
    PlainArc::new(Mutex::new(CheckpointStatistics::new(Keeper::HISTORY_MAX)))
}

fn name_of(blueprint: &Blueprint, subtask: SubtaskId) -> String {
    let vertex = &blueprint.vertices[subtask.vertex as usize].name;
    format!("{}/{vertex}/{}", blueprint.job, subtask.index)
}

pub(super) fn describe(blueprint: &Blueprint, checkpointing: &Checkpointing) -> JobDescription {
    let edges = blueprint.edges().map(|(from, to, pattern)| TopologyEdge {
        from: from as u32,
        to: to as u32,
        pattern: match pattern {
            Pattern::AllToAll => DistributionPattern::AllToAll,
            Pattern::Pointwise => DistributionPattern::Pointwise,
        },
    });
    let edges: Vec<_> = edges.collect();
    let vertices = (0..).zip(&blueprint.vertices);
    let topology = JobTopology {
        vertices: vertices
            .map(|(index, vertex)| TopologyVertex {
                parallelism: vertex.parallelism,
                is_source: edges.iter().all(|edge| edge.to != index),
            })
            .collect(),
        edges,
    };
    let max_parallelism = blueprint.settings.max_parallelism;
    let vertices = blueprint.vertices.iter();
    JobDescription {
        coordinated: CoordinatedJob {
            name: blueprint.job.clone(),
            max_parallelism,
            vertices: vertices.clone().map(|vertex| vertex.name.clone()).collect(),
            topology: topology.clone(),
        },
        restored_as: RestoreTarget {
            max_parallelism,
            topology,
            master_hooks: checkpointing.hooks.identifiers(),
            vertices: vertices
                .map(|vertex| TargetVertex {
                    name: vertex.name.clone(),
                    operators: vertex.operators.iter().map(|&name| name.into()).collect(),
                })
                .collect(),
        },
    }
}

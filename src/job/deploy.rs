//! Starting a job: its graph becomes a blueprint, and that becomes tasks, from the sinks to the
//! sources, once for each attempt.

#[cfg(feature = "checkpoint")]
use super::checkpoints;
use super::error::JobError;
use super::graph::{BuildBody, Graph};
use super::handle::JobHandle;
use super::master::{Charge, Master};
use super::members::{LastWords, Member, Members};
use super::observer::{JobObserver, Restored, Unobserved};
use super::plan::{Blueprint, plan, task_name};
use crate::letter::BoxError;
use crate::mailbox::{Marker, TooManyMarkers};
use crate::stream::{Deployment, Origin, ProcessInput, StreamTask, TaskParts};
use crate::sync::{PlainArc, SetOnce, SharedClock};
use crate::task::{Context, Engine, EngineHandle, Placement, SpawnError};
use crate::wait::reply;
use core::task::Waker;
use std::task::Wake;

/// Where the tasks of a job may be.
pub(super) struct Places {
    pub(super) engine: EngineHandle,
    /// That of the master, whose threads from the second one on are those of subtasks that have their
    /// own.
    pub(super) beside: EngineHandle,
}

/// Where a subtask's task is to be.
struct Place {
    name: String,
    thread: usize,
    attempt: u32,
}

fn spawn(
    engine: &EngineHandle,
    place: &Place,
    deployment: Deployment,
    origin: Origin,
    build: BuildBody,
    master: Waker,
) -> Result<Member, SpawnError> {
    let last_words: LastWords = PlainArc::new(SetOnce::new());
    let told = PlainArc::clone(&last_words);
    let opened = PlainArc::new(SetOnce::new());
    let is_open = PlainArc::clone(&opened);
    let task = engine
        .task(&place.name)
        .attempt(place.attempt)
        .on_thread(place.thread)
        .action(ProcessInput);
    let handle = task.try_spawn(move |cx: &mut Context<'_, StreamTask>| {
        let executor = cx.executor();
        let parts = TaskParts::new(executor, |name, action| cx.marker(name, action))?;
        let last_words = Box::new(move |ending| {
            let _once = told.set(ending);
        });
        let task = StreamTask::new(parts, deployment, origin, build, last_words)?;
        let _once = is_open.set(());
        master.wake();
        Ok::<_, BoxError>(task)
    })?;
    Ok(Member {
        handle,
        last_words,
        opened,
    })
}

/// Deploys an attempt. Into `members` goes what was spawned, the last subtask of the last vertex first,
/// also where an error kept the rest from it.
pub(super) fn deploy(
    blueprint: &Blueprint,
    places: &Places,
    attempt: u32,
    origin: Origin,
    mut restored: Restored,
    master: &Waker,
    members: &mut Vec<Member>,
) -> Result<(), JobError> {
    let (needed, own_threads) = blueprint.subtasks();
    let engine = &places.engine;
    if let Some(free) = engine.free_slots().filter(|&free| free < needed) {
        return Err(JobError::TooFewSlots { needed, free });
    }
    let mut deployments = blueprint.deployments(attempt)?;
    for deployment in deployments.iter_mut().flatten() {
        restored(deployment).map_err(JobError::Recovery)?;
    }
    // The master has the first one.
    let mut free_beside = 1..1 + own_threads;
    let threads = engine.thread_count().max(1);
    // By the place of their first subtask, vertices take the threads in turn.
    let firsts: Vec<usize> = blueprint
        .vertices
        .iter()
        .scan(0, |next, vertex| {
            let first = *next;
            if !vertex.has_own_threads {
                *next += vertex.parallelism as usize;
            }
            Some(first)
        })
        .collect();
    let mut with_slot = 0;
    // Who takes before who gives: nobody waits for long for somebody to take.
    let vertices = blueprint.vertices.iter().zip(firsts).zip(deployments);
    for ((vertex, first), of_vertex) in vertices.rev() {
        let first = vertex.thread.unwrap_or(first);
        for (subtask, deployment) in of_vertex.into_iter().enumerate().rev() {
            let own_thread = match vertex.has_own_threads {
                true => free_beside.next(),
                false => None,
            };
            let place = Place {
                name: task_name(deployment.subtask()),
                thread: own_thread.unwrap_or((first + subtask) % threads),
                attempt,
            };
            let engine = own_thread.map_or(engine, |_| &places.beside);
            let build = vertex.body.make();
            match spawn(engine, &place, deployment, origin, build, master.clone()) {
                Ok(member) => members.push(member),
                Err(SpawnError::NoSlot { .. }) => {
                    let free = with_slot + engine.free_slots().unwrap_or(0);
                    return Err(JobError::TooFewSlots { needed, free });
                }
                Err(SpawnError::ShutDown) => return Err(JobError::ShutDown),
                Err(error) => {
                    return Err(JobError::Spawn {
                        task: place.name,
                        error,
                    });
                }
            }
            with_slot += usize::from(own_thread.is_none());
        }
    }
    Ok(())
}

/// Has the master look at its tasks.
struct Call(Marker<Master>);

impl Wake for Call {
    fn wake(self: PlainArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &PlainArc<Self>) {
        let _posted = self.0.post();
    }
}

/// Starts a job, and waits until its first attempt is deployed.
pub(super) fn start(graph: &Graph, engine: &EngineHandle) -> Result<JobHandle, JobError> {
    let blueprint = plan(graph)?;
    let clock = engine.clock().ok_or(JobError::ShutDown)?;
    let origin = blueprint.origin(&clock);
    let own_engine = own_engine(&blueprint, &clock)?;
    #[cfg(feature = "checkpoint")]
    let checkpoints = match &graph.settings.checkpointing {
        Some(checkpointing) => {
            let checkpointing = checkpointing.clone();
            let of_job = checkpoints::start(&blueprint, checkpointing, &own_engine, &clock, origin);
            Some(of_job?)
        }
        None => None,
    };
    #[cfg(feature = "checkpoint")]
    let observer: Box<dyn JobObserver> = match &checkpoints {
        Some(started) => Box::new(started.observer.clone()),
        None => Box::new(Unobserved),
    };
    #[cfg(not(feature = "checkpoint"))]
    let observer: Box<dyn JobObserver> = Box::new(Unobserved);
    #[cfg_attr(not(feature = "checkpoint"), allow(unused_mut))]
    let mut job = look_after(blueprint, engine, own_engine, clock, origin, observer)?;
    #[cfg(feature = "checkpoint")]
    if let Some(started) = checkpoints {
        started.of(job.master.clone());
        job.checkpoints = Some(started.checkpoints);
    }
    begin(&job)?;
    Ok(job)
}

/// The threads of the job itself: one that looks after it, and those that subtasks have for themselves.
pub(super) fn own_engine(blueprint: &Blueprint, clock: &SharedClock) -> Result<Engine, JobError> {
    let (_, own_threads) = blueprint.subtasks();
    let engine = Engine::builder()
        .threads(1 + own_threads)
        .placement(Placement::Unpinned)
        .name(format!("{}-master", blueprint.job))
        .clock(clock.clone());
    engine.build().map_err(JobError::Master)
}

/// Has a master look after the job, which does not begin by itself.
pub(super) fn look_after(
    blueprint: Blueprint,
    engine: &EngineHandle,
    own_engine: Engine,
    clock: SharedClock,
    origin: Origin,
    observer: Box<dyn JobObserver>,
) -> Result<JobHandle, JobError> {
    let name = blueprint.job.clone();
    let members = Members::default();
    let charge = Charge {
        blueprint,
        places: Places {
            engine: engine.clone(),
            beside: own_engine.handle(),
        },
        members: members.clone(),
        origin,
        clock: clock.clone(),
        observer,
    };
    let task = own_engine.task("job-master").on_thread(0);
    let spawned = task.try_spawn(move |cx| {
        let marker = cx.marker("task opened or ended", Master::look)?;
        let waker = Waker::from(PlainArc::new(Call(marker)));
        Ok::<_, TooManyMarkers>(Master::new(charge, cx.handle(), waker))
    });
    let master = spawned.map_err(|error| JobError::Spawn {
        task: "job-master".to_owned(),
        error,
    })?;
    Ok(JobHandle {
        name,
        #[cfg(feature = "checkpoint")]
        checkpoints: None,
        members,
        master,
        started: origin.at,
        clock,
        _engine: own_engine,
    })
}

/// Has the first attempt begin, and waits until it is deployed.
pub(super) fn begin(job: &JobHandle) -> Result<(), JobError> {
    let (starting, told) = reply();
    let begun = job.master.post(move |master| master.begin(starting));
    begun.map_err(|_| JobError::ShutDown)?;
    told.wait().map_err(|_| JobError::ShutDown)?
}

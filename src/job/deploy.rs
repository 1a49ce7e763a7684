//! Starting a job: its graph becomes tasks, from the sinks to the sources.

use super::error::JobError;
use super::graph::{BuildBody, Graph};
use super::handle::JobHandle;
use super::master::{LastWords, Master, Member};
use super::plan::{deployments, origin, plan, task_name};
use crate::mailbox::{Marker, TooManyMarkers};
use crate::stream::{Deployment, Origin, ProcessInput, StreamTask, TaskParts};
use crate::sync::{Clock as _, PlainArc, SetOnce, SharedClock};
use crate::task::{Context, Engine, EngineHandle, Placement, SpawnError, TaskHandle};
use core::task::Waker;
use std::task::Wake;

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
) -> Result<Member, SpawnError> {
    let last_words: LastWords = PlainArc::new(SetOnce::new());
    let told = PlainArc::clone(&last_words);
    let task = engine
        .task(&place.name)
        .attempt(place.attempt)
        .on_thread(place.thread)
        .action(ProcessInput);
    let handle = task.try_spawn(move |cx: &mut Context<'_, StreamTask>| {
        let executor = cx.executor();
        let parts = TaskParts::new(executor, |name, action| cx.marker(name, action))?;
        let last_words = Box::new(move |report| {
            let _once = told.set(report);
        });
        StreamTask::new(parts, deployment, origin, build, last_words)
    })?;
    Ok(Member { handle, last_words })
}

/// Has the master look at its tasks when one has ended.
struct Call(Marker<Master>);

impl Wake for Call {
    fn wake(self: PlainArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &PlainArc<Self>) {
        let _posted = self.0.post();
    }
}

/// Starts the thread that looks after the job, and beside it those that subtasks have for themselves.
fn master(
    graph: &Graph,
    clock: &SharedClock,
    origin: Origin,
    own_threads: usize,
) -> Result<(Engine, TaskHandle<Master>), JobError> {
    let engine = Engine::builder()
        .threads(1 + own_threads)
        .placement(Placement::Unpinned)
        .name(format!("{}-master", graph.name))
        .clock(clock.clone())
        .build()
        .map_err(JobError::Master)?;
    let name: Box<str> = graph.name.as_str().into();
    let clock = clock.clone();
    let task = engine.task("job-master").on_thread(0);
    let spawned = task.try_spawn(move |cx| {
        let marker = cx.marker("task ended", move |master: &mut Master| {
            master.task_ended(clock.now().saturating_duration_since(origin.at));
        })?;
        let waker = Waker::from(PlainArc::new(Call(marker)));
        Ok::<_, TooManyMarkers>(Master::new(name, waker))
    });
    let master = spawned.map_err(|error| JobError::Spawn {
        task: "job-master".to_owned(),
        error,
    })?;
    Ok((engine, master))
}

/// Starts a job.
pub(super) fn start(graph: &Graph, engine: &EngineHandle) -> Result<JobHandle, JobError> {
    let planned = plan(graph)?;
    let mut deployments = deployments(graph, &planned)?;
    let clock = engine.clock().ok_or(JobError::ShutDown)?;
    let has_own_threads = |vertex: usize| graph.with_own_threads.contains(&planned[vertex].id);
    let subtasks: usize = deployments.iter().map(Vec::len).sum();
    let of_own_threads = deployments.iter().enumerate();
    let own_threads: usize = of_own_threads
        .filter(|(vertex, _)| has_own_threads(*vertex))
        .map(|(_, of_vertex)| of_vertex.len())
        .sum();
    let needed = subtasks - own_threads;
    if let Some(free) = engine.free_slots().filter(|&free| free < needed) {
        return Err(JobError::TooFewSlots { needed, free });
    }
    let origin = origin(graph, &clock);
    let (own_engine, master) = master(graph, &clock, origin, own_threads)?;
    let beside = own_engine.handle();
    let mut free_beside = 1..1 + own_threads;
    let threads = engine.thread_count().max(1);
    let mut handle = JobHandle {
        name: graph.name.as_str().into(),
        members: Vec::new(),
        master,
        started: origin.at,
        clock,
        _engine: own_engine,
    };
    // By the place of their first subtask, vertices take the threads in turn.
    let firsts: Vec<usize> = deployments
        .iter()
        .enumerate()
        .scan(0, |next, (vertex, of_vertex)| {
            let first = *next;
            if !has_own_threads(vertex) {
                *next += of_vertex.len();
            }
            Some(first)
        })
        .collect();
    // Who takes before who gives: nobody waits for long for somebody to take.
    for (index, of_vertex) in deployments.iter_mut().enumerate().rev() {
        let vertex = planned[index].vertex;
        let first = vertex.draft.thread.unwrap_or(firsts[index]);
        for (subtask, deployment) in of_vertex.drain(..).enumerate().rev() {
            let own_thread = match has_own_threads(index) {
                true => free_beside.next(),
                false => None,
            };
            let engine = own_thread.map_or(engine, |_| &beside);
            let place = Place {
                name: task_name(deployment.subtask()),
                thread: own_thread.unwrap_or((first + subtask) % threads),
                attempt: graph.settings.attempt,
            };
            let spawned = spawn(engine, &place, deployment, origin, (vertex.body)());
            match spawned {
                Ok(member) => handle.members.push(member),
                // The handle cancels what was spawned.
                Err(SpawnError::NoSlot { .. }) => {
                    let without_slot = own_threads - free_beside.len();
                    let with_slot = handle.members.len() - without_slot;
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
        }
    }
    handle.members.reverse();
    let members = handle.members.clone();
    let clock = handle.clock.clone();
    let looked_after = handle.master.post(move |master| {
        let elapsed = clock.now().saturating_duration_since(origin.at);
        master.look_after(members, elapsed);
    });
    looked_after.map_err(|_| JobError::ShutDown)?;
    Ok(handle)
}

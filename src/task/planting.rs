//! How a task comes to its thread.
//!
//! A task's rings are made by who spawns it: so nobody waits, and what the last handle gives back comes
//! from where it goes. Where a machine has several NUMA nodes they are made by the task's own thread,
//! so that their memory is near to it; unless that does not get to it soon, or the spawner is a thread
//! that others may wait for: no thread of an engine waits for another.

use super::cell::{Cell, OnUndelivered};
use super::context::Context;
use super::cpu_set::CpuSet;
use super::crew::Crew;
use super::drive::Drive;
use super::here;
use super::hooks::Hooks;
use super::hub::{Crewed, Hub};
use super::hub_ref::HubRef;
use super::life::Life;
use super::port::Seat;
use super::spawn::Where;
use super::spawn_error::SpawnError;
use super::state::TaskState;
use crate::letter::{BoxError, Letter};
use crate::processor::{self, DefaultAction, Executor};
use crate::ring::CapacityError;
use crate::sync::{Arc, Mutex, PlainArc};
use crate::wait::{ReplyTimeout, WaitStrategy, reply};
use core::time::Duration;

/// How long a spawner waits for the task's thread to make the rings.
const PATIENCE: Duration = Duration::from_millis(1);

/// Finds a thread with a place for the task, and takes it.
pub(super) fn place(
    hub: &Hub,
    at: Where,
    slot: Option<&str>,
    name: &str,
    attempt: u32,
) -> Result<Arc<Life>, SpawnError> {
    let threads = hub.crews.len();
    let mut candidates: Vec<usize> = match at {
        Where::Thread(thread) if thread < threads => vec![thread],
        Where::Thread(asked) => return Err(SpawnError::NoThread { asked, threads }),
        Where::Cpu(cpu) => {
            let alone = CpuSet::from([cpu]);
            let infos = &hub.hooks.threads;
            let there = infos
                .iter()
                .filter(|info| info.pinned && info.cpus == alone);
            there.map(|info| info.index).collect()
        }
        Where::FewestTasks => (0..threads).collect(),
    };
    if let Where::Cpu(asked) = at
        && candidates.is_empty()
    {
        let cpus = hub.hooks.threads.iter().flat_map(|info| &info.cpus);
        return Err(SpawnError::NoThreadOnCpu {
            asked,
            cpus: cpus.collect(),
        });
    }
    candidates.sort_by_key(|thread| hub.crews[*thread].port.tasks());
    let mut no_slot = false;
    for thread in candidates {
        let crewed = &hub.crews[thread];
        if !crewed.port.take_place() {
            continue;
        }
        let life = hub.register(|id| Life::new(id, name.into(), attempt, thread, crewed.driver));
        let Some(life) = life else {
            crewed.port.give_place_back();
            return Err(SpawnError::ShutDown);
        };
        let needs_slot = slot.is_some() || crewed.slots.are_needed();
        if !needs_slot || crewed.slots.take(slot, life.id) {
            return Ok(life);
        }
        no_slot = true;
        hub.forget(&life);
        crewed.port.give_place_back();
    }
    let first = &hub.crews[0];
    Err(if no_slot {
        SpawnError::NoSlot {
            asked: slot.map(Into::into),
            slots: first.slots.names().to_vec(),
        }
    } else {
        SpawnError::TooManyTasks {
            tasks_max: first.port.tasks_max(),
        }
    })
}

/// All that a task grows from.
pub(super) struct Seed<O, L, A, F> {
    pub(super) builder: processor::Builder<O, L>,
    pub(super) life: Arc<Life>,
    pub(super) hub: HubRef,
    pub(super) hooks: Arc<Hooks>,
    pub(super) seat: Arc<Seat>,
    pub(super) init: F,
    pub(super) action: A,
    pub(super) idle: Option<Box<dyn WaitStrategy>>,
    pub(super) on_undelivered: Option<OnUndelivered<O, L>>,
    pub(super) driver: u64,
}

/// A task that takes letters, to be taken in by its crew.
struct Planted<T> {
    /// Makes the task, on its thread.
    task: T,
    idle: Option<Box<dyn WaitStrategy>>,
}

impl<O, L, A, F> Seed<O, L, A, F>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    A: DefaultAction<O> + Send + 'static,
    F: FnOnce(&mut Context<'_, O, L>) -> Result<O, BoxError> + Send + 'static,
{
    /// Makes its rings, on the calling thread.
    #[expect(clippy::type_complexity, reason = "the two halves of one thing")]
    fn plant(
        self,
    ) -> Result<
        (
            Planted<impl FnOnce() -> Box<dyn Drive> + Send + 'static>,
            Executor<O, L>,
        ),
        CapacityError,
    > {
        let prepared = self.builder.prepare()?;
        prepared.owned_by(self.driver);
        let executor = prepared.executor();
        self.life.reached_by(executor.clone());
        let Self {
            life,
            hub,
            hooks,
            seat,
            init,
            action,
            on_undelivered,
            idle,
            ..
        } = self;
        let task = move || -> Box<dyn Drive> {
            let parts = (prepared, init, action);
            Box::new(Cell::new(life, hub, hooks, seat, parts, on_undelivered))
        };
        Ok((Planted { task, idle }, executor))
    }
}

/// Makes its rings here; or has the task's thread make them, where memory may be far and that may be
/// waited for. The task's thread takes it in.
pub(super) fn plant<O, L, A, F>(
    crewed: &Crewed,
    seed: Seed<O, L, A, F>,
) -> Result<Executor<O, L>, SpawnError>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    A: DefaultAction<O> + Send + 'static,
    F: FnOnce(&mut Context<'_, O, L>) -> Result<O, BoxError> + Send + 'static,
{
    if !crewed.is_far || here::is_crew() {
        return plant_here(crewed, seed);
    }
    let place = PlainArc::new(Mutex::new(Some(seed)));
    let there = PlainArc::clone(&place);
    let (answer, planted) = reply();
    let errand = move |crew: &mut Crew| {
        let seed = there.lock().take();
        let Some(seed) = seed else { return };
        let _created = seed.life.step(TaskState::Created, TaskState::Deploying);
        let planted = seed.plant().map(|(planted, executor)| {
            take_in(crew, planted);
            executor
        });
        let _gone = answer.send(planted);
    };
    if crewed.port.send(Box::new(errand)).is_err() {
        return Err(SpawnError::ShutDown);
    }
    let waited = planted.wait_timeout(PATIENCE);
    let told = match waited {
        Ok(told) => told,
        Err(ReplyTimeout::Timeout(planted)) => {
            let seed = place.lock().take();
            match seed {
                Some(seed) => return plant_here(crewed, seed),
                // It is at it.
                None => planted.wait().map_err(|_| SpawnError::ShutDown)?,
            }
        }
        Err(_) => return Err(SpawnError::ShutDown),
    };
    told.map_err(SpawnError::Capacity)
}

fn plant_here<O, L, A, F>(
    crewed: &Crewed,
    seed: Seed<O, L, A, F>,
) -> Result<Executor<O, L>, SpawnError>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    A: DefaultAction<O> + Send + 'static,
    F: FnOnce(&mut Context<'_, O, L>) -> Result<O, BoxError> + Send + 'static,
{
    let (planted, executor) = seed.plant().map_err(SpawnError::Capacity)?;
    let errand = move |crew: &mut Crew| take_in(crew, planted);
    match crewed.port.send(Box::new(errand)) {
        Ok(()) => Ok(executor),
        Err(_) => Err(SpawnError::ShutDown),
    }
}

fn take_in(crew: &mut Crew, planted: Planted<impl FnOnce() -> Box<dyn Drive>>) {
    let index = crew.add((planted.task)());
    if let Some(strategy) = planted.idle {
        crew.waits().also(index, strategy);
    }
}

//! Makes an engine: plans, starts its threads, and tells what went wrong.

use super::crew::Crew;
use super::engine::{Engine, EngineWarning};
use super::hooks::{Hooks, Stuck, TaskEvent, ThreadInfo};
use super::hub::{Crewed, Hub, Tasks, Watched};
use super::io_pool::{IoBuildError, IoBuilder, IoPool};
use super::pin_error::{OnPinFailure, PinError};
use super::placement::Placement;
use super::placement_error::PlacementError;
use super::plan::Plan;
use super::shutdown::Ending;
use super::slots::Slots;
use super::steward;
use super::topology::Topology;
use super::waits::Waits;
use crate::ring::CapacityError;
use crate::sync::{
    Arc, AtomicU64, Clock, JoinHandle, Mutex, Parker, PlainArc, SharedClock, spawn_named,
    this_thread,
};
use crate::wait::{Answer, Parking, WaitStrategy, reply};
use core::fmt;
use core::time::Duration;
use std::io;
use std::num::NonZeroUsize;
use std::time::Instant;

/// An engine was not built; no thread of it is left.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// Its threads cannot be where they were wanted.
    Placement(PlacementError),
    /// A thread could not be pinned, and that was to be an error.
    Pin {
        /// The thread, counted from 0.
        thread: usize,
        /// Why.
        error: PinError,
    },
    /// A thread could not be started.
    Thread {
        /// The thread, counted from 0.
        thread: usize,
        /// Why.
        error: io::Error,
    },
    /// No threads, or no tasks, were asked for.
    Zero {
        /// Of what.
        what: &'static str,
    },
    /// More tasks a thread were asked for than can be told apart, or memory is short.
    Capacity(CapacityError),
    /// Two slots have one name.
    SameSlot {
        /// The name.
        name: Box<str>,
    },
    /// Its pool for blocking work cannot be like this.
    Io(IoBuildError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placement(error) => error.fmt(f),
            Self::Pin { thread, error } => write!(f, "thread {thread}: {error}"),
            Self::Thread { thread, error } => {
                write!(f, "thread {thread} could not be started: {error}")
            }
            Self::Zero { what } => write!(f, "an engine needs at least one {what}"),
            Self::Capacity(error) => write!(f, "so many tasks a thread are too many: {error}"),
            Self::SameSlot { name } => write!(f, "two slots of a thread are called {name}"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Placement(error) => Some(error),
            Self::Pin { error, .. } => Some(error),
            Self::Thread { error, .. } => Some(error),
            Self::Capacity(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::Zero { .. } | Self::SameSlot { .. } => None,
        }
    }
}

/// Settings of an engine; [`Engine::builder`] makes one.
#[must_use = "settings start no thread by themselves"]
pub struct EngineBuilder {
    placement: Placement,
    threads: Option<usize>,
    name: String,
    on_pin_failure: OnPinFailure,
    idle: Box<dyn WaitStrategy>,
    clock: SharedClock,
    topology: Option<Topology>,
    slots: Vec<Box<str>>,
    tasks_max: usize,
    hooks: Hooks,
    cancel_timeout: Duration,
    io: IoBuilder,
}

impl EngineBuilder {
    const TASKS_MAX: usize = 16_384;
    const CANCEL_TIMEOUT: Duration = Duration::from_secs(30);

    pub(super) fn new() -> Self {
        Self {
            placement: Placement::default(),
            threads: None,
            name: "mailring".to_owned(),
            on_pin_failure: OnPinFailure::default(),
            idle: Box::new(Parking::default()),
            clock: SharedClock::default(),
            topology: None,
            slots: Vec::new(),
            tasks_max: Self::TASKS_MAX,
            hooks: Hooks::default(),
            cancel_timeout: Self::CANCEL_TIMEOUT,
            io: IoPool::builder(),
        }
    }

    /// Where the threads are to run; one on each core without this.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// How many threads; as many as the placement means without this. More than there are places
    /// share them in turn.
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = Some(count);
        self
    }

    /// What the threads are called: `name-0`, `name-1` and so on, in `top -H` too, which shows 15
    /// bytes; `mailring` without this.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What is done where a thread cannot be pinned; [`OnPinFailure::Warn`] without this:
    /// [`Engine::warnings`] tells.
    pub fn on_pin_failure(mut self, policy: OnPinFailure) -> Self {
        self.on_pin_failure = policy;
        self
    }

    /// How the threads wait for something to do; [`Parking`] without this.
    pub fn idle(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.idle = Box::new(strategy);
        self
    }

    /// Where the time of timers comes from; the system's monotonic clock without this.
    pub fn clock(mut self, clock: impl Clock + Send + Sync + 'static) -> Self {
        self.clock = SharedClock::new(clock);
        self
    }

    /// The machine to plan for; this one without this.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Slots that each thread has. Each holds one task, and a task needs one; see
    /// [`TaskBuilder::slot`](super::TaskBuilder::slot).
    pub fn slots<N: Into<Box<str>>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.slots = names.into_iter().map(Into::into).collect();
        self
    }

    /// How many tasks each thread may have; 16,384 without this. Each takes 16 bytes of its thread's
    /// ready ring, whether it is there or not.
    pub fn tasks_max(mut self, count: usize) -> Self {
        self.tasks_max = count;
        self
    }

    /// Called on each thread when it starts, before any task. A panic of this hook, or of any other,
    /// is counted and does no harm.
    pub fn on_thread_start(mut self, hook: impl Fn(&ThreadInfo) + Send + Sync + 'static) -> Self {
        self.hooks.start = Some(Box::new(hook));
        self
    }

    /// Called on each thread when it stops, after its last task.
    pub fn on_thread_stop(mut self, hook: impl Fn(&ThreadInfo) + Send + Sync + 'static) -> Self {
        self.hooks.stop = Some(Box::new(hook));
        self
    }

    /// Called on each thread before it goes to sleep.
    pub fn on_park(mut self, hook: impl Fn(&ThreadInfo) + Send + Sync + 'static) -> Self {
        self.hooks.park = Some(Box::new(hook));
        self
    }

    /// Called on each thread when it wakes.
    pub fn on_unpark(mut self, hook: impl Fn(&ThreadInfo) + Send + Sync + 'static) -> Self {
        self.hooks.unpark = Some(Box::new(hook));
        self
    }

    /// Called for each state that a task comes to, in order, on the task's thread.
    pub fn on_task_state(mut self, hook: impl Fn(&TaskEvent<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_state = Some(Box::new(hook));
        self
    }

    /// How long a task that was cancelled, or failed from outside, may go on before
    /// [`on_stuck`](Self::on_stuck) is told, and again after as long; 30 seconds without this.
    pub fn cancel_timeout(mut self, timeout: Duration) -> Self {
        self.cancel_timeout = timeout;
        self
    }

    /// Called, on a thread of its own, for each task that goes on for too long after it was told to
    /// end.
    pub fn on_stuck(mut self, hook: impl Fn(&Stuck) + Send + Sync + 'static) -> Self {
        self.hooks.stuck = Some(Box::new(hook));
        self
    }

    /// How many threads the pool for blocking work, [`Engine::io`], has at most; 4 without this. They
    /// are started when they are needed, and called `name-io-0`, `name-io-1` and so on.
    pub fn io_threads(mut self, count: usize) -> Self {
        self.io = self.io.threads(count);
        self
    }

    /// How many jobs may wait for a thread of that pool; 128 without this.
    pub fn io_queue(mut self, jobs: usize) -> Self {
        self.io = self.io.queue(jobs);
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// [`BuildError`]; then no thread is left.
    pub fn build(self) -> Result<Engine, BuildError> {
        let threads = match self.threads {
            None => None,
            Some(count) => {
                Some(NonZeroUsize::new(count).ok_or(BuildError::Zero { what: "thread" })?)
            }
        };
        if self.tasks_max == 0 {
            return Err(BuildError::Zero { what: "task" });
        }
        for (at, name) in self.slots.iter().enumerate() {
            if self.slots[..at].contains(name) {
                return Err(BuildError::SameSlot { name: name.clone() });
            }
        }
        // As at the process's start, whatever thread this is.
        let topology = Topology::of_process();
        let topology = self.topology.as_ref().unwrap_or(topology);
        let plan = self
            .placement
            .plan(topology, threads)
            .map_err(BuildError::Placement)?;
        let are_far = topology.nodes().len() > 1;
        self.start(plan, are_far)
    }

    /// `are_far`: the machine has several nodes.
    fn start(self, plan: Plan, are_far: bool) -> Result<Engine, BuildError> {
        let count = plan.threads().get();
        let steward = Arc::new(Parker::new());
        let io = self.io.name(format!("{}-io", self.name));
        let io = io.build_telling(&steward).map_err(BuildError::Io)?;
        let name = |thread: usize| format!("{}-{thread}", self.name);
        let infos = plan.iter().enumerate().map(|(index, cpus)| ThreadInfo {
            index,
            name: name(index).into(),
            cpus: cpus.clone(),
            pinned: plan.is_pinned(),
        });
        let mut hooks = self.hooks;
        hooks.threads = infos.collect();
        let cpus = hooks.threads.iter().flat_map(|info| &info.cpus);
        let crowded = count > cpus.collect::<super::CpuSet>().len();
        let setup = PlainArc::new(Setup {
            plan,
            are_far,
            hooks: Arc::new(hooks),
            strategy: Arc::new(self.idle),
            clock: self.clock.clone(),
            tasks_max: self.tasks_max,
            crowded,
            on_pin_failure: self.on_pin_failure,
        });
        let mut started = Started::default();
        for thread in 0..count {
            let (answer, ready) = reply();
            let of_thread = PlainArc::clone(&setup);
            let spawned = spawn_named(&name(thread), move || run(&of_thread, thread, answer));
            let handle = spawned.map_err(|error| BuildError::Thread { thread, error })?;
            started.handles.push(handle);
            let ready = ready.wait().map_err(|_| BuildError::Thread {
                thread,
                error: io::Error::other("it ended at once"),
            })?;
            let (crewed, warning) = ready?;
            started
                .warnings
                .extend(warning.map(|error| EngineWarning::Pin { thread, error }));
            let slots = Slots::new(&self.slots);
            started.crews.push(Crewed { slots, ..crewed });
        }
        let plan_warnings = setup.plan.warnings().iter().cloned();
        let mut warnings: Vec<_> = plan_warnings.map(EngineWarning::Plan).collect();
        warnings.append(&mut started.warnings);
        let hub = PlainArc::new(Hub {
            name: self.name.as_str().into(),
            started: Instant::now(),
            crews: core::mem::take(&mut started.crews),
            hooks: Arc::clone(&setup.hooks),
            clock: self.clock,
            tasks: Mutex::new(Tasks::default()),
            watched: Mutex::new(Watched::default()),
            ending: Mutex::new(Ending::default()),
            steward,
            steward_thread: AtomicU64::new(0),
            cancel_timeout: self.cancel_timeout,
            threads: Mutex::new(core::mem::take(&mut started.handles)),
            io,
        });
        let watching = PlainArc::clone(&hub);
        let steward = spawn_named(&format!("{}-steward", self.name), move || {
            steward::watch(&watching);
        });
        match steward {
            Ok(steward) => {
                #[cfg(feature = "tracing")]
                hub.hooks
                    .call(|| super::tracing::engine_started(&hub, &warnings));
                Ok(Engine {
                    hub,
                    steward: Mutex::new(Some(steward)),
                    warnings,
                })
            }
            Err(error) => {
                for crew in &hub.crews {
                    let _gone = crew.port.send(Box::new(|crew| crew.stop()));
                }
                for handle in core::mem::take(&mut *hub.threads.lock()) {
                    let _panic = handle.join();
                }
                Err(BuildError::Thread {
                    thread: count,
                    error,
                })
            }
        }
    }
}

/// What all threads start with.
struct Setup {
    plan: Plan,
    are_far: bool,
    hooks: Arc<Hooks>,
    strategy: Arc<Box<dyn WaitStrategy>>,
    clock: SharedClock,
    tasks_max: usize,
    crowded: bool,
    on_pin_failure: OnPinFailure,
}

/// Threads that run, and stop where the engine is not built.
#[derive(Default)]
struct Started {
    crews: Vec<Crewed>,
    handles: Vec<JoinHandle<()>>,
    warnings: Vec<EngineWarning>,
}

impl Drop for Started {
    fn drop(&mut self) {
        for crew in &self.crews {
            let _gone = crew.port.send(Box::new(|crew| crew.stop()));
        }
        for handle in self.handles.drain(..) {
            let _panic = handle.join();
        }
    }
}

type Ready = Result<(Crewed, Option<PinError>), BuildError>;

/// One thread of an engine, from its start to its end.
fn run(setup: &Setup, thread: usize, answer: Answer<Ready>) {
    let weighed = setup.on_pin_failure.weigh(setup.plan.pin(thread));
    let warning = match weighed {
        Ok(warning) => warning,
        Err(error) => {
            let _gone = answer.send(Err(BuildError::Pin { thread, error }));
            return;
        }
    };
    let waits = Waits::new(
        Arc::clone(&setup.strategy),
        setup.crowded,
        Arc::clone(&setup.hooks),
        thread,
    );
    let mut crew = match Crew::new(setup.tasks_max, setup.clock.clone(), waits) {
        Ok(crew) => crew,
        Err(error) => {
            let error = match error {
                // By what was asked for.
                CapacityError::TooLarge { .. } => CapacityError::TooLarge {
                    capacity: setup.tasks_max,
                },
                error => error,
            };
            let _gone = answer.send(Err(BuildError::Capacity(error)));
            return;
        }
    };
    setup.hooks.start(thread);
    let crewed = Crewed {
        port: crew.port().clone(),
        driver: this_thread().get(),
        is_far: setup.are_far,
        slots: Slots::new(&[]),
        stats: Arc::clone(&crew.stats),
    };
    let _gone = answer.send(Ok((crewed, warning)));
    crew.run();
    drop(crew);
    setup.hooks.stop(thread);
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("placement", &self.placement)
            .field("threads", &self.threads)
            .field("name", &self.name)
            .field("on_pin_failure", &self.on_pin_failure)
            .field("idle", &self.idle)
            .field("slots", &self.slots)
            .field("tasks_max", &self.tasks_max)
            .finish_non_exhaustive()
    }
}

//! The engine: threads that each drive many tasks.

use super::context::Context;
use super::engine_builder::EngineBuilder;
use super::engine_handle::EngineHandle;
use super::handle::TaskHandle;
use super::hooks::ThreadInfo;
use super::hub::Hub;
use super::hub_ref::HubRef;
use super::io_pool::IoPool;
use super::pin_error::PinError;
use super::shutdown::{Report, Shutdown, ShutdownError};
use super::snapshot::EngineSnapshot;
use super::spawn::TaskBuilder;
use super::spawn_error::SpawnError;
use super::warning::Warning;
use crate::sync::{JoinHandle, Mutex, PlainArc};
use core::fmt;

/// Threads that each drive many tasks.
///
/// A task is a processor: a state that one thread alone touches, and a mailbox. Waking one touches
/// that task only, whatever their number; an idle task costs memory and no time. Tasks of one thread
/// take turns: a turn is 256 letters or calls of the default action, or 50 µs, whatever comes first,
/// and at least one letter. Timers are looked for between turns, about once a microsecond, and after 64
/// turns at the latest.
///
/// Dropping the engine is [`Shutdown::now`], waited for as long as its
/// [`grace`](Shutdown::grace) says.
///
/// ```
/// use mailring::task::{Engine, Placement, Shutdown};
/// use std::time::Duration;
///
/// let engine = Engine::builder().placement(Placement::PerCore).build()?;
/// let counter = engine.spawn("counter", |_cx| 0_u64)?;
/// counter.post(|sum| *sum += 42)?;
/// assert_eq!(counter.ask(|sum| *sum)?.wait()?, 42);
/// let report = engine.shutdown(Shutdown::drain_within(Duration::from_secs(60)))?;
/// assert!(report.is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engine {
    pub(super) hub: PlainArc<Hub>,
    pub(super) steward: Mutex<Option<JoinHandle<()>>>,
    pub(super) warnings: Vec<EngineWarning>,
}

/// Something that is doubtful about an engine that runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineWarning {
    /// About where its threads are.
    Plan(Warning),
    /// A thread is not where it was to be.
    Pin {
        /// The thread, counted from 0.
        thread: usize,
        /// Why.
        error: PinError,
    },
}

impl fmt::Display for EngineWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(warning) => warning.fmt(f),
            Self::Pin { thread, error } => write!(f, "thread {thread}: {error}"),
        }
    }
}

impl Engine {
    /// Settings of an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// Spawns a task: `init` builds its state, on the task's own thread. The mailbox is small; see
    /// [`task`](Self::task) for more.
    ///
    /// Returns when the task takes letters; `init` is run later.
    ///
    /// # Errors
    /// [`SpawnError`].
    pub fn spawn<O: 'static>(
        &self,
        name: &str,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> Result<TaskHandle<O>, SpawnError> {
        self.task(name).spawn(init)
    }

    /// Settings of a task that is to be spawned.
    pub fn task(&self, name: &str) -> TaskBuilder {
        TaskBuilder::new(HubRef::new(&self.hub), name)
    }

    /// A handle for tasks, and for others who do not own the engine.
    #[must_use]
    pub fn handle(&self) -> EngineHandle {
        EngineHandle::new(HubRef::new(&self.hub))
    }

    /// The engine's threads.
    #[must_use]
    pub fn threads(&self) -> &[ThreadInfo] {
        &self.hub.hooks.threads
    }

    /// What is doubtful about where the threads are.
    #[must_use]
    pub fn warnings(&self) -> &[EngineWarning] {
        &self.warnings
    }

    /// What the engine, its threads and its tasks have done so far; stops none of them.
    #[must_use]
    pub fn snapshot(&self) -> EngineSnapshot {
        EngineSnapshot::take(&self.hub)
    }

    /// The engine's pool for work that blocks; no thread of it is started before the first job.
    ///
    /// It is closed by the shutdown when all tasks have ended, and no task waits for a job to do so:
    /// results that come later are dropped and counted. In one that drains, jobs that were
    /// accepted are run until the time is over; what was not started then, or when one does not
    /// drain, is dropped, and the [`Report`] tells how much.
    #[must_use]
    pub fn io(&self) -> &IoPool {
        &self.hub.io
    }

    /// Ends the engine, and waits for that. Called again, it hastens a shutdown that has begun, or
    /// returns the report of one that is done.
    ///
    /// # Errors
    /// [`ShutdownError::Stuck`] where a task, or a job of the I/O pool, does not end; [`ShutdownError::WouldDeadlock`] on one
    /// of the engine's own threads, where the shutdown only begins.
    pub fn shutdown(&self, shutdown: Shutdown) -> Result<Report, ShutdownError> {
        self.hub.begin_shutdown(shutdown);
        self.wait()
    }

    /// Waits for the engine to be ended, by whoever does: for a main thread that has nothing else to
    /// do.
    ///
    /// # Errors
    /// As [`shutdown`](Self::shutdown), on the engine's own threads also where none has begun.
    pub fn wait(&self) -> Result<Report, ShutdownError> {
        if self.hub.is_own_thread() {
            return Err(ShutdownError::WouldDeadlock);
        }
        let ended = self.hub.ending.lock().ended();
        let report = match ended {
            Ok(told) => told.wait().unwrap_or_default(),
            Err(report) => report,
        };
        let steward = self.steward.lock().take();
        if let Some(steward) = steward {
            let _panic = steward.join();
        }
        if report.goes_on() {
            Err(ShutdownError::Stuck(report))
        } else {
            Ok(report)
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _report = self.shutdown(Shutdown::now());
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

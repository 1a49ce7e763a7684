//! A job that is written down: its settings, its sources, and starting it.

use super::deploy;
use super::error::{JobError, RunError};
use super::graph::{Graph, GraphRef};
use super::handle::JobHandle;
use super::part::FromSource;
use super::report::JobReport;
use super::restart::RestartStrategy;
use super::settings::Settings;
use super::stream::Stream;
use crate::stream::SourceFactory;
use crate::task::{Engine, EngineHandle};
use core::cell::RefCell;
use core::time::Duration;
use std::rc::Rc;

/// A job: streams from sources through operators to sinks. It is written down first, and does nothing
/// before it is [run](Self::run) or [started](Self::start).
///
/// Clones are the same job.
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) graph: GraphRef,
}

impl Job {
    /// A job without any stream yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::of(GraphRef(Rc::new(RefCell::new(Graph {
            name: name.to_owned(),
            settings: Settings::default(),
            vertices: Vec::new(),
            edges: Vec::new(),
            faults: Vec::new(),
            with_own_threads: Vec::new(),
        }))))
    }

    pub(super) fn of(graph: GraphRef) -> Self {
        Self { graph }
    }

    fn set(self, set: impl FnOnce(&mut Settings)) -> Self {
        set(&mut self.graph.0.borrow_mut().settings);
        self
    }

    /// How many subtasks a vertex has that says nothing itself, sources excepted, which have one; 1
    /// without this.
    #[must_use]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.set(|settings| settings.parallelism = subtasks)
    }

    /// How many key groups there are, and so how many subtasks a keyed vertex can ever have; 128
    /// without this. State that was stored can be restored by jobs of the same number alone.
    #[must_use]
    pub fn max_parallelism(self, key_groups: u32) -> Self {
        self.set(|settings| settings.max_parallelism = key_groups)
    }

    /// How many records a task processes at most before its thread's other tasks have their turn; 8,192
    /// without this, and at least 1. It is fewer where they take longer than 20 µs.
    #[must_use]
    pub fn records_per_turn(self, records: usize) -> Self {
        self.set(|settings| settings.pace.records_max = records.max(1))
    }

    /// How many records a task processes between two looks at its letters, at least 1. Without this it is
    /// what it does in a microsecond, or one record where that takes longer, by the pace of its last
    /// turn.
    #[must_use]
    pub fn records_per_look(self, records: usize) -> Self {
        self.set(|settings| settings.pace.records_per_look = Some(records.max(1)))
    }

    /// How many elements a channel between two subtasks holds; 1,024 without this.
    #[must_use]
    pub fn channel_capacity(self, elements: usize) -> Self {
        self.set(|settings| settings.pace.channel_capacity = elements)
    }

    /// How many elements are put out for another task before it is shown them, at most; 128 without
    /// this, and at least 1.
    #[must_use]
    pub fn batch_max(self, elements: usize) -> Self {
        self.set(|settings| settings.pace.batch_max = elements.max(1))
    }

    /// How long elements that were put out wait for more, at most, before another task is shown them;
    /// without this, until the end of the turn in which they were made.
    #[must_use]
    pub fn flush_timeout(self, timeout: Duration) -> Self {
        self.set(|settings| settings.pace.flush_timeout = timeout)
    }

    /// How often each source makes a latency marker; never without this.
    #[must_use]
    pub fn latency_every(self, interval: Duration) -> Self {
        self.set(|settings| settings.pace.latency_every = Some(interval))
    }

    /// What the number of the first attempt is, for names and reports; 1 without this. Each restart is
    /// the next one.
    #[must_use]
    pub fn attempt(self, attempt: u32) -> Self {
        self.set(|settings| settings.attempt = attempt)
    }

    /// When the job is run again after a failure; never without this.
    ///
    /// A failure of a task ends all others. When all have ended, and the strategy's delay has passed by
    /// the engine's clock, the whole job is deployed anew: new tasks of the same names, with new channels
    /// and operators. Where it cannot be deployed again, for want of slots as an example, that is a
    /// failure like another. Sources begin anew, too, but where they go on from a checkpoint; a
    /// [`feed`](crate::stream::feed) goes on with what it has not given yet. A loop of a
    /// [`LegacySource`](crate::stream::LegacySource) that does not end keeps the next attempt waiting.
    ///
    /// A job that was asked to stop, or is cancelled, is not run again; nor one that failed to start, nor
    /// one whose engine was shut down. A [job on this thread](Self::on_this_thread) never is.
    ///
    /// ```
    /// use mailring::job::{Job, RestartStrategy};
    /// use mailring::stream::{Discard, FromIter};
    /// use mailring::task::{Engine, Shutdown};
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// let engine = Engine::builder().threads(1).build()?;
    /// let has_failed = Arc::new(AtomicBool::new(false));
    /// let report = Job::new("numbers")
    ///     .restart(RestartStrategy::fixed_delay(3, Duration::from_millis(1)))
    ///     .source("numbers", FromIter::new(0..100))
    ///     .try_map(move |number| match has_failed.swap(true, Ordering::Relaxed) {
    ///         true => Ok(number),
    ///         false => Err("there is a first time"),
    ///     })
    ///     .sink("discard", Discard)
    ///     .run(&engine)?;
    /// assert_eq!((report.restarts, report.records_in("numbers")), (1, 100));
    /// assert!(report.failures[0].cause.to_string().contains("first time"));
    /// # engine.shutdown(Shutdown::now())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn restart(self, strategy: impl Into<RestartStrategy>) -> Self {
        self.set(|settings| settings.restart = strategy.into())
    }

    /// Has the job take checkpoints, and begin with the latest one that there is.
    ///
    /// An operator that [chooses](crate::stream::TwoInputOperator::selection) which inputs it takes from
    /// leaves out none that has not ended, or fails its task by an
    /// [`InputLeftOut`](crate::stream::InputLeftOut).
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn checkpoints(self, checkpointing: super::Checkpointing) -> Self {
        self.set(|settings| settings.checkpointing = Some(checkpointing))
    }

    /// What processing time begins at, in milliseconds since 1970-01-01 00:00; the system's time when
    /// the job is started, without this. It goes on by the engine's clock.
    #[must_use]
    pub fn start_time_ms(self, start_ms: i64) -> Self {
        self.set(|settings| settings.start_ms = Some(start_ms))
    }

    /// Begins a stream with a source, such as [`FromIter`](crate::stream::FromIter). It has one subtask,
    /// unless [`Stream::parallelism`] says otherwise.
    pub fn source<F: SourceFactory>(&self, name: &str, sources: F) -> Stream<FromSource<F>> {
        let stream = Stream::new(self.graph.clone(), name, FromSource(sources)).parallelism(1);
        if F::NEEDS_OWN_THREAD {
            let mut graph = self.graph.0.borrow_mut();
            graph.with_own_threads.push(stream.vertex);
        }
        stream
    }

    /// Starts the job on an engine's threads and waits for its end.
    ///
    /// # Errors
    /// [`RunError::NotStarted`] with why, [`RunError::Failed`] with the first failure of a task in the
    /// last attempt, or [`RunError::Canceled`].
    pub fn run(&self, engine: &Engine) -> Result<JobReport, RunError> {
        self.start(engine).map_err(RunError::NotStarted)?.wait()
    }

    /// Starts the job on an engine's threads; returns when all of it is deployed.
    ///
    /// Every subtask is a task of the engine, called `job/vertex/subtask`. Where the engine has slots,
    /// each takes one. One more thread, without a core of its own, looks after the job; and each subtask
    /// of a [`LegacySource`](crate::stream::LegacySource) has a thread like that, and no slot.
    ///
    /// # Errors
    /// [`JobError`]; nothing of the job is left then.
    pub fn start(&self, engine: &Engine) -> Result<JobHandle, JobError> {
        self.start_on(&engine.handle())
    }

    /// As [`start`](Self::start), for who does not own the engine.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_on(&self, engine: &EngineHandle) -> Result<JobHandle, JobError> {
        deploy::start(&self.graph.0.borrow(), engine)
    }
}

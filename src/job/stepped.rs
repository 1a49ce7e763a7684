//! A job without an engine: its tasks are stepped by whoever has it.

use super::Job;
use super::error::JobError;
use super::plan::{plan, task_name};
use super::report::{JobFailure, JobReport, JobState};
use super::stepped_task::SteppedTask;
use crate::processor::{Ended, Executor, Failure, Step};
use crate::ring::Budget;
use crate::stream::{StopMode, StreamTask};
use crate::sync::{Clock, SharedClock};
use crate::task::SpawnError;
use std::time::Instant;

impl Job {
    /// Deploys the job without an engine: nothing of it runs but in the calls of
    /// [`SteppedJob::step`], on the thread that calls. For loops of somebody else's, such as a game's,
    /// and for tests: `clock` may be a [`ManualClock`](crate::ManualClock).
    ///
    /// # Errors
    /// [`JobError`].
    pub fn on_this_thread(
        &self,
        clock: impl Clock + Send + Sync + 'static,
    ) -> Result<SteppedJob, JobError> {
        let graph = self.graph.0.borrow();
        let clock = SharedClock::new(clock);
        let blueprint = plan(&graph)?;
        let origin = blueprint.origin(&clock);
        let attempt = blueprint.settings.attempt;
        let deployments = blueprint.deployments(attempt)?;
        let mut tasks = Vec::new();
        for (planned, of_vertex) in blueprint.vertices.iter().zip(deployments) {
            for deployment in of_vertex {
                let name = task_name(deployment.subtask());
                let build = planned.body.make();
                let task = SteppedTask::new(name.clone(), clock.clone(), deployment, origin, build);
                tasks.push(task.map_err(|error| JobError::Spawn {
                    task: name,
                    error: SpawnError::Capacity(error),
                })?);
            }
        }
        Ok(SteppedJob {
            name: blueprint.job,
            tasks,
            attempt,
            state: JobState::Running,
            failure: None,
            stop: None,
            started: origin.at,
            ended: None,
            clock,
        })
    }
}

/// A job whose tasks are stepped by whoever has it, on one thread: [`Job::on_this_thread`] makes one.
///
/// Its tasks are numbered from 0, by vertex in the order in which these were declared, and then by
/// subtask. The first step of a task opens it. A task that fails ends the job: all others are
/// cancelled before the step that failed returns. Dropping the job cancels it.
///
/// ```
/// use mailring::ManualClock;
/// use mailring::job::Job;
/// use mailring::processor::Step;
/// use mailring::ring::Budget;
/// use mailring::stream::{Collect, FromIter};
///
/// let doubled = Collect::new();
/// let mut job = Job::new("doubles")
///     .source("numbers", FromIter::new(0..3))
///     .forward()
///     .map(|number| 2 * number)
///     .sink("collect", doubled.clone())
///     .on_this_thread(ManualClock::new())?;
/// assert_eq!(job.name(1), "doubles/forward/0");
///
/// // A frame of the host's loop: a little of each task.
/// for task in 0..job.tasks() {
///     let _step = job.step(task, Budget::letters(10))?;
/// }
/// // Or all that there is to do just now.
/// assert!(matches!(job.run_until_idle()?, Step::Ended(_)));
/// assert!(job.is_finished());
/// assert_eq!(doubled.take(), [0, 2, 4]);
/// assert_eq!(job.report().records_in("forward"), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SteppedJob {
    name: Box<str>,
    tasks: Vec<SteppedTask>,
    attempt: u32,
    state: JobState,
    failure: Option<JobFailure>,
    /// What the sources were asked to do, for those that are opened later.
    stop: Option<StopMode>,
    started: Instant,
    ended: Option<Instant>,
    clock: SharedClock,
}

impl SteppedJob {
    /// What each task may do in a round of [`run_until_idle`](Self::run_until_idle).
    const ROUND: Budget = Budget::letters(256);

    /// How many tasks there are.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// What task number `task` is called: `job/vertex/subtask`.
    ///
    /// # Panics
    /// If there is no such task.
    #[must_use]
    pub fn name(&self, task: usize) -> &str {
        self.tasks[task].name()
    }

    /// By which any thread posts letters to task number `task`, also before it is opened. Its mailbox
    /// holds 1,024; where it is full, a post on this thread is an error and waits for nothing.
    ///
    /// # Panics
    /// If there is no such task.
    #[must_use]
    pub fn executor(&self, task: usize) -> Executor<StreamTask> {
        self.tasks[task].executor()
    }

    /// Runs letters and the input of task number `task` within a budget; never waits. A call of the
    /// task's default action, which processes up to
    /// [`records_per_turn`](Job::records_per_turn) records, counts as a letter.
    ///
    /// [`Step::Idle`]: it has no letter and no input, or no room for its output, until another task
    /// was stepped, somebody posts, or the time goes on. [`Step::Ended`]: it has finished
    /// ([`Ended::AllDone`]) or was cancelled ([`Ended::Closed`]).
    ///
    /// # Errors
    /// Why the task failed; the job has ended then. Also when it is stepped again.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn step(&mut self, task: usize, budget: Budget) -> Result<Step, Failure> {
        let step = self.tasks[task].step(budget, self.stop);
        match &step {
            Err(cause) => {
                if self.state == JobState::Running {
                    let now = self.clock.now();
                    self.failure = Some(JobFailure {
                        task: self.tasks[task].name().into(),
                        cause: cause.clone(),
                        attempt: self.attempt,
                        after: now.saturating_duration_since(self.started),
                    });
                }
                self.end(JobState::Failed);
            }
            // Somebody ended that task alone: the job is not what it was without it.
            Ok(Step::Ended(Ended::Closed)) => self.end(JobState::Canceled),
            Ok(Step::Ended(_)) if self.tasks.iter().all(SteppedTask::has_finished) => {
                self.end(JobState::Finished);
            }
            Ok(_) => {}
        }
        step
    }

    /// Steps all tasks in turn until none has anything to do, [`Step::Idle`], or the job has ended. Does
    /// not return while there is a source that always has something.
    ///
    /// # Errors
    /// Why a task failed.
    pub fn run_until_idle(&mut self) -> Result<Step, Failure> {
        loop {
            for task in 0..self.tasks.len() {
                let _one = self.step(task, Self::ROUND)?;
            }
            match self.state {
                JobState::Finished => return Ok(Step::Ended(Ended::AllDone)),
                JobState::Canceled => return Ok(Step::Ended(Ended::Closed)),
                // One that was idle may have been woken by those after it.
                _ if self.tasks.iter().all(SteppedTask::is_idle) => return Ok(Step::Idle),
                _ => {}
            }
        }
    }

    /// When to step again at the latest, for a host that sleeps while all is idle: when the next timer is
    /// due by the job's clock, or somewhat before; `None` where no timer is armed.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        self.tasks.iter().filter_map(SteppedTask::next_timer).min()
    }

    /// Where the job is.
    #[must_use]
    pub fn state(&self) -> JobState {
        self.state
    }

    /// Whether all tasks have ended, however: [`state`](Self::state) says how.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state != JobState::Running
    }

    /// What the tasks have done so far, those that were opened.
    #[must_use]
    pub fn report(&mut self) -> JobReport {
        let until = self.ended.unwrap_or_else(|| self.clock.now());
        JobReport {
            job: self.name.clone(),
            state: self.state,
            duration: until.saturating_duration_since(self.started),
            restarts: 0,
            failures: self.failure.iter().cloned().collect(),
            tasks: self
                .tasks
                .iter_mut()
                .filter_map(SteppedTask::report)
                .collect(),
        }
    }

    /// Has the sources stop: what they have made goes all the way when the tasks are stepped, and with
    /// [`StopMode::Drain`] windows fire and operators finish. The first call counts.
    pub fn stop(&mut self, mode: StopMode) {
        if self.stop.is_none() {
            self.stop = Some(mode);
            for task in &mut self.tasks {
                task.stop(mode);
            }
        }
    }

    /// Cancels the job: its tasks are closed before this returns, and what is under way is lost. What
    /// fails while they are closed is told to nobody.
    pub fn cancel(&mut self) {
        self.end(JobState::Canceled);
    }

    fn end(&mut self, state: JobState) {
        if self.state == JobState::Running {
            self.state = state;
            for task in &mut self.tasks {
                task.cancel();
            }
            self.ended = Some(self.clock.now());
        }
    }
}

impl Drop for SteppedJob {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl core::fmt::Debug for SteppedJob {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SteppedJob")
            .field("name", &self.name)
            .field("state", &self.state)
            .field("tasks", &self.tasks.len())
            .finish_non_exhaustive()
    }
}

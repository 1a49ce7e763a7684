//! A job without an engine: its tasks are stepped by whoever has it.

use super::Job;
#[cfg(feature = "checkpoint")]
use super::checkpoints::{CheckpointPromise, SteppedCheckpoints};
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
        #[cfg_attr(not(feature = "checkpoint"), allow(unused_mut))]
        let mut deployments = blueprint.deployments(attempt)?;
        #[cfg(feature = "checkpoint")]
        let checkpoints = match &graph.settings.checkpointing {
            Some(checkpointing) => {
                let checkpointing = checkpointing.clone();
                let (checkpoints, mut restored) =
                    SteppedCheckpoints::new(&blueprint, checkpointing, &clock, origin)?;
                for deployment in deployments.iter_mut().flatten() {
                    restored(deployment).map_err(JobError::Recovery)?;
                }
                Some(checkpoints)
            }
            None => None,
        };
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
            #[cfg(feature = "checkpoint")]
            checkpoints,
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
    #[cfg(feature = "checkpoint")]
    checkpoints: Option<SteppedCheckpoints>,
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
        let had_finished = self.tasks[task].has_finished();
        let step = self.tasks[task].step(budget, self.stop);
        #[cfg(feature = "checkpoint")]
        self.tell_checkpoints(task, had_finished, &step);
        #[cfg(not(feature = "checkpoint"))]
        let _ = had_finished;
        match &step {
            Err(cause) => self.fail(self.tasks[task].name().into(), cause),
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
            let is_at_rest = self.run_checkpoints()?;
            match self.state {
                // What the end has left to be done for checkpoints is done first.
                _ if !is_at_rest => {}
                JobState::Finished => return Ok(Step::Ended(Ended::AllDone)),
                JobState::Canceled => return Ok(Step::Ended(Ended::Closed)),
                // One that was idle may have been woken by those after it.
                _ if self.tasks.iter().all(SteppedTask::is_idle) => return Ok(Step::Idle),
                _ => {}
            }
        }
    }

    /// Does all that there is to do for checkpoints just now; whether more is not to be expected.
    #[cfg(feature = "checkpoint")]
    fn run_checkpoints(&mut self) -> Result<bool, Failure> {
        let _step = self.step_checkpoints(Self::ROUND)?;
        while self.run_beside() {}
        let checkpoints = self.checkpoints.as_ref();
        Ok(checkpoints.is_none_or(SteppedCheckpoints::is_idle))
    }

    #[cfg(not(feature = "checkpoint"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as where there are some"
    )]
    fn run_checkpoints(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }

    /// Tells the checkpoints what a step of a task has come to.
    #[cfg(feature = "checkpoint")]
    fn tell_checkpoints(&mut self, task: usize, had_finished: bool, step: &Result<Step, Failure>) {
        let Some(checkpoints) = &mut self.checkpoints else {
            return;
        };
        if self.tasks.iter().all(SteppedTask::is_opened) {
            checkpoints.all_open(self.tasks.iter().map(SteppedTask::executor));
        }
        match step {
            Err(cause) if self.state == JobState::Running => checkpoints.task_failed(task, cause),
            Ok(_) if !had_finished && self.tasks[task].has_finished() => {
                checkpoints.task_finished(task);
            }
            _ => {}
        }
    }

    /// Runs letters of the coordinator of checkpoints within a budget; [`Step::Idle`] where the job takes
    /// none.
    ///
    /// # Errors
    /// Why checkpoints have the job fail; it has ended then.
    #[cfg(feature = "checkpoint")]
    pub fn step_checkpoints(&mut self, budget: Budget) -> Result<Step, Failure> {
        let Some(checkpoints) = &mut self.checkpoints else {
            return Ok(Step::Idle);
        };
        let step = checkpoints.step(budget);
        let failure = checkpoints.take_failure();
        match step.and_then(|step| failure.map_or(Ok(step), Err)) {
            Ok(step) => Ok(step),
            Err(cause) => {
                self.fail(self.name.clone(), &cause);
                Err(cause)
            }
        }
    }

    /// Runs one thing that checkpoints have to do beside the tasks, which may block: to store state, to
    /// write a record, to delete. Whether there was one.
    #[cfg(feature = "checkpoint")]
    pub fn run_beside(&mut self) -> bool {
        let checkpoints = self.checkpoints.as_mut();
        checkpoints.is_some_and(SteppedCheckpoints::run_beside)
    }

    /// What there is to tell of the job's checkpoints; `None` where it takes none.
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn checkpoint_statistics(&mut self) -> Option<crate::checkpoint::CheckpointStatistics> {
        self.checkpoints
            .as_mut()
            .map(SteppedCheckpoints::statistics)
    }

    /// Asks for a checkpoint, which is taken as all is stepped; `None` where the job takes none.
    #[cfg(feature = "checkpoint")]
    pub fn trigger_checkpoint(&mut self) -> Option<CheckpointPromise> {
        self.checkpoints.as_mut().map(SteppedCheckpoints::trigger)
    }

    /// When to step again at the latest, for a host that sleeps while all is idle: when the next timer is
    /// due by the job's clock, or somewhat before; `None` where no timer is armed.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        let of_tasks = self.tasks.iter().filter_map(SteppedTask::next_timer).min();
        #[cfg(feature = "checkpoint")]
        let of_checkpoints = self
            .checkpoints
            .as_ref()
            .and_then(SteppedCheckpoints::next_timer);
        #[cfg(not(feature = "checkpoint"))]
        let of_checkpoints = None;
        of_tasks.into_iter().chain(of_checkpoints).min()
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
            #[cfg(feature = "checkpoint")]
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.stopping(mode);
            }
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

    fn fail(&mut self, task: Box<str>, cause: &Failure) {
        if self.state == JobState::Running {
            let now = self.clock.now();
            self.failure = Some(JobFailure {
                task,
                cause: cause.clone(),
                attempt: self.attempt,
                after: now.saturating_duration_since(self.started),
            });
        }
        self.end(JobState::Failed);
    }

    fn end(&mut self, state: JobState) {
        if self.state == JobState::Running {
            self.state = state;
            #[cfg(feature = "checkpoint")]
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.ended(match state {
                    JobState::Finished => crate::checkpoint::JobEnd::Finished,
                    JobState::Failed => crate::checkpoint::JobEnd::Failed,
                    _ => crate::checkpoint::JobEnd::Cancelled,
                });
            }
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

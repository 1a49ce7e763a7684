//! Who looks after a job: it deploys each attempt, is told of each task's end, and ends the others
//! where one has failed. What follows what is the supervision's; here it is done.

use super::deploy::{Places, deploy};
use super::error::{JobError, RunError};
use super::members::{Member, Members};
use super::observer::{JobObserver, Recovery, Restored};
use super::plan::Blueprint;
use super::report::{JobReport, JobState};
use super::supervision::{Next, Supervision};
use crate::letter::BoxError;
use crate::mailbox::PostError;
use crate::processor::{Failure, Timer};
use crate::stream::{Origin, StopMode};
use crate::sync::{Clock as _, SharedClock};
use crate::task::{Ended, Outcome, Report, TaskHandle, TaskState};
use crate::wait::{Answer, Reply};
use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Who waits for the end of the job.
pub(super) type Waiting = Answer<Result<JobReport, RunError>>;

/// What can be told of the job just now.
pub(super) struct Status {
    pub(super) state: JobState,
    /// How long the job has taken so far; how long it took, if it is over.
    pub(super) duration: Duration,
    pub(super) restarts: u32,
    pub(super) failures: Vec<super::JobFailure>,
    /// The tasks of the present attempt, by vertex and subtask.
    pub(super) members: Vec<Member>,
}

/// A task of the present attempt.
struct Watched {
    member: Member,
    /// `None`: ended.
    ended: Option<Ended>,
    is_open: bool,
}

/// What a master begins with.
pub(super) struct Charge {
    pub(super) blueprint: Blueprint,
    pub(super) places: Places,
    pub(super) members: Members,
    pub(super) origin: Origin,
    pub(super) clock: SharedClock,
    pub(super) observer: Box<dyn JobObserver>,
}

/// See above.
pub(super) struct Master {
    job: Box<str>,
    me: TaskHandle<Self>,
    /// Wakes the master when a task is open, or has ended.
    waker: Waker,
    /// `None` when no attempt will follow.
    blueprint: Option<Blueprint>,
    places: Places,
    origin: Origin,
    clock: SharedClock,
    observer: Box<dyn JobObserver>,
    supervision: Supervision,
    members: Members,
    watched: Vec<Watched>,
    /// `None`: the engine has ended.
    engine_ended: Option<Reply<Report>>,
    /// Ends the delay before the next attempt.
    timer: Option<Timer>,
    /// Whether the observer is to be told that the attempt runs no longer.
    is_running: bool,
    /// Who waits for the first deployment.
    starting: Option<Answer<Result<(), JobError>>>,
    waiting: Vec<Waiting>,
    /// Who waits for the end, and asks no more.
    watching: Vec<Answer<()>>,
}

impl Master {
    pub(super) fn new(charge: Charge, me: TaskHandle<Self>, waker: Waker) -> Self {
        let settings = &charge.blueprint.settings;
        let strategy = settings.restart.clone();
        Self {
            job: charge.blueprint.job.clone(),
            supervision: Supervision::new(strategy, settings.attempt, charge.origin.at),
            me,
            waker,
            blueprint: Some(charge.blueprint),
            engine_ended: charge.places.engine.ended(),
            places: charge.places,
            origin: charge.origin,
            clock: charge.clock,
            observer: charge.observer,
            members: charge.members,
            watched: Vec::new(),
            timer: None,
            is_running: false,
            starting: None,
            waiting: Vec::new(),
            watching: Vec::new(),
        }
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Begins the first attempt; `starting` is told when it is deployed.
    pub(super) fn begin(&mut self, starting: Answer<Result<(), JobError>>) {
        self.starting = Some(starting);
        self.carry_out(Next::Recover);
    }

    pub(super) fn status(&self) -> Status {
        let watched = self.watched.iter();
        Status {
            state: self.supervision.state(),
            duration: self.supervision.duration(self.now()),
            restarts: self.supervision.restarts(),
            failures: self.supervision.failures().cloned().collect(),
            members: watched.map(|watched| watched.member.clone()).collect(),
        }
    }

    /// Cancels the job, unless it is ending.
    pub(super) fn cancel(&mut self) {
        let next = self.supervision.cancel(self.now());
        self.carry_out(next);
    }

    /// Has the sources stop.
    pub(super) fn stop(&mut self, mode: StopMode) {
        self.observer.stopping(mode);
        let next = self.supervision.stop(mode, self.now());
        self.carry_out(next);
    }

    /// Never waits for a task: one whose mailbox is full is told when it has room.
    fn stop_task(&self, index: usize, mode: StopMode) {
        let Some(watched) = self.watched.get(index) else {
            return;
        };
        let handle = &watched.member.handle;
        let told = handle.try_post(move |task| {
            task.stop(mode);
        });
        // One that takes no letters has ended.
        if let Err(PostError::Full(_)) = told {
            handle.when_room(&self.me, move |master| master.stop_task(index, mode));
        }
    }

    /// Has `waiting` told of the end.
    pub(super) fn tell(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.tell_all();
    }

    /// Has `watching` told when the job has ended.
    pub(super) fn tell_watching(&mut self, watching: Answer<()>) {
        self.watching.retain(Answer::is_wanted);
        self.watching.push(watching);
        self.tell_all();
    }

    /// It is known what that attempt begins with.
    pub(super) fn recovered(&mut self, attempt: u32, restored: Result<Restored, BoxError>) {
        if !self.supervision.is_recovering(attempt) {
            // The job was ended meanwhile.
            return;
        }
        match restored {
            Ok(restored) => self.deploy(restored),
            Err(error) => self.not_deployed(JobError::Recovery(error)),
        }
    }

    fn deploy(&mut self, restored: Restored) {
        let Some(blueprint) = &self.blueprint else {
            return;
        };
        let attempt = self.supervision.attempt();
        let (places, origin, waker) = (&self.places, self.origin, &self.waker);
        let mut members = Vec::new();
        // Factories are the caller's.
        let deployed = catch_unwind(AssertUnwindSafe(|| {
            deploy(
                blueprint,
                places,
                attempt,
                origin,
                restored,
                waker,
                &mut members,
            )
        }));
        let deployed = deployed.unwrap_or_else(|payload| {
            let panicked = Failure::panic("deployment", payload);
            Err(JobError::Deployment(panicked))
        });
        members.reverse();
        let watched = members.iter().map(|member| Watched {
            member: member.clone(),
            ended: Some(member.handle.ended()),
            is_open: false,
        });
        self.watched = watched.collect();
        self.members.replace(members);
        match deployed {
            Ok(()) => {
                self.supervision.deployed(self.watched.len());
                self.is_running = true;
                if !self.supervision.may_restart() {
                    self.drop_blueprint();
                }
                if let Some(starting) = self.starting.take() {
                    let _gone = starting.send(Ok(()));
                }
                self.look();
            }
            Err(error) => self.not_deployed(error),
        }
    }

    /// The attempt was not deployed in full.
    fn not_deployed(&mut self, error: JobError) {
        let is_shut_down = matches!(error, JobError::ShutDown);
        let cause = match self.starting.take() {
            Some(starting) => {
                let cause = Failure::error("deployment", error.to_string().into());
                let _gone = starting.send(Err(error));
                cause
            }
            None => match error {
                JobError::Deployment(failure) => failure,
                JobError::Recovery(error) => Failure::error("recovery", error),
                error => Failure::error("deployment", error.into()),
            },
        };
        let job = self.job.clone();
        self.fail(&job, cause);
        if is_shut_down {
            self.supervision.give_up();
        }
        self.look();
    }

    /// The job is to fail, though none of its tasks has; for good, where it `is_final`.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(super) fn fail_job(&mut self, cause: Failure, is_final: bool) {
        let (job, now) = (self.job.clone(), self.now());
        let next = match is_final {
            true => self.supervision.failed_for_good(&job, cause, now),
            // What fails an attempt that has ended meanwhile does not fail the next one.
            false if self.supervision.state() != JobState::Running => Next::Nothing,
            false => self.supervision.failed(&job, cause, now),
        };
        self.has_failed(next);
        self.look();
    }

    fn fail(&mut self, task: &str, cause: Failure) {
        let next = self.supervision.failed(task, cause, self.now());
        self.has_failed(next);
    }

    fn has_failed(&mut self, next: Next) {
        if next == Next::CancelTasks
            && let Some(failure) = self.supervision.failures().last()
        {
            self.observer.failed(failure);
        }
        self.carry_out(next);
    }

    /// Some task may be open, or have ended.
    pub(super) fn look(&mut self) {
        for index in 0..self.watched.len() {
            let watched = &mut self.watched[index];
            if !watched.is_open && watched.member.opened.get().is_some() {
                watched.is_open = true;
                let next = self.supervision.task_opened(self.clock.now());
                self.carry_out(next);
            }
            let mut cx = Context::from_waker(&self.waker);
            let ended = self.watched[index].ended.as_mut();
            if let Some(Poll::Ready(outcome)) = ended.map(|ended| Pin::new(ended).poll(&mut cx)) {
                self.watched[index].ended = None;
                self.meet(index, outcome);
            }
        }
        if self.watched.iter().all(|watched| watched.ended.is_none()) {
            let next = self.supervision.all_ended(self.now());
            self.carry_out(next);
        }
        self.look_at_engine();
    }

    /// A job that waits to be deployed again need not wait where its engine has ended.
    fn look_at_engine(&mut self) {
        let mut cx = Context::from_waker(&self.waker);
        let ended = self.engine_ended.as_mut();
        if ended.is_some_and(|ended| Pin::new(ended).poll(&mut cx).is_pending()) {
            return;
        }
        self.engine_ended = None;
        if self.supervision.is_waiting() {
            let (job, now) = (self.job.clone(), self.now());
            let cause = Failure::error("deployment", JobError::ShutDown.into());
            let next = self.supervision.failed_for_good(&job, cause, now);
            self.carry_out(next);
        }
    }

    fn meet(&mut self, index: usize, outcome: Outcome) {
        let ending = self.watched[index].member.last_words.get();
        // An engine that drains has tasks finish that have not.
        let has_done_all = ending.is_some_and(|ending| ending.has_done_all);
        match (outcome.state, outcome.cause) {
            (TaskState::Finished, _) if has_done_all => {
                let attempt = self.supervision.attempt();
                self.observer.task_finished(attempt, index);
            }
            (TaskState::Failed, Some(cause)) => self.fail(&outcome.name, cause),
            _ => {
                let next = self.supervision.task_canceled(self.now());
                self.carry_out(next);
            }
        }
    }

    fn delay_over(&mut self) {
        self.timer = None;
        let next = self.supervision.delay_over();
        self.carry_out(next);
    }

    fn carry_out(&mut self, next: Next) {
        if self.is_running && self.supervision.state() != JobState::Running {
            self.is_running = false;
            self.observer.left_running(self.supervision.attempt());
        }
        match next {
            Next::Nothing => {}
            Next::Recover => {
                let attempt = self.supervision.attempt();
                let recovery = Recovery::new(self.me.clone(), attempt);
                self.observer.recover(attempt, recovery);
            }
            Next::AllRunning => {
                let members = self.members.now();
                let attempt = self.supervision.attempt();
                self.observer.all_running(attempt, &members);
            }
            Next::StopSources(mode) => {
                for index in 0..self.watched.len() {
                    self.stop_task(index, mode);
                }
            }
            Next::CancelTasks => {
                for watched in &self.watched {
                    watched.member.handle.cancel();
                }
            }
            Next::Wait(delay) => {
                let executor = self.me.executor();
                self.timer = Some(executor.run_after(delay, Self::delay_over));
            }
            Next::End => self.end(),
        }
    }

    fn end(&mut self) {
        if let Some(timer) = self.timer.take() {
            timer.cancel();
        }
        self.drop_blueprint();
        if let Some(starting) = self.starting.take() {
            let failure = self.supervision.failures().last();
            let _gone = starting.send(Err(failure.map_or(JobError::ShutDown, |failure| {
                JobError::Recovery(failure.cause.clone().into())
            })));
        }
        // Who finds that the job has ended may do at once what the observer must not take for a part of it.
        self.observer.ended(self.supervision.state());
        self.members.end();
        self.tell_all();
    }

    /// What the job was made of is the caller's, who may wait for it to go; what panics on the way is told
    /// to nobody.
    fn drop_blueprint(&mut self) {
        let vertices = self.blueprint.take().map(|blueprint| blueprint.vertices);
        for vertex in vertices.into_iter().flatten() {
            let _panicked = catch_unwind(AssertUnwindSafe(|| drop(vertex)));
        }
    }

    fn tell_all(&mut self) {
        if !self.supervision.has_ended() {
            return;
        }
        for watching in core::mem::take(&mut self.watching) {
            let _gone = watching.send(());
        }
        for waiting in core::mem::take(&mut self.waiting) {
            let _gone = waiting.send(self.result());
        }
    }

    fn result(&self) -> Result<JobReport, RunError> {
        let Status {
            state,
            duration,
            restarts,
            failures,
            members,
        } = self.status();
        let last = failures.last().cloned();
        let report = JobReport {
            job: self.job.clone(),
            state,
            duration,
            restarts,
            failures,
            tasks: members
                .iter()
                .filter_map(|member| Some(member.last_words.get()?.report.clone()))
                .collect(),
        };
        match (last, state) {
            (_, JobState::Finished) => Ok(report),
            (Some(last), JobState::Failed) => Err(RunError::Failed {
                task: last.task,
                cause: last.cause,
                report: Box::new(report),
            }),
            _ => Err(RunError::Canceled(Box::new(report))),
        }
    }
}

impl Drop for Master {
    /// Whoever had the job has dropped it: nobody else ends its tasks.
    fn drop(&mut self) {
        for watched in &self.watched {
            watched.member.handle.cancel();
        }
        self.members.end();
    }
}

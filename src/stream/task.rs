//! A stream task: the owner of a subtask's mailbox, whose default action processes its input.
//!
//! K1. Letters run between records, never inside one: a body gives way after the record that it is
//!     at.
//! K2. The default action is suspended only after it was arranged that somebody resumes it: the gate's
//!     channels, the output's, or who waits itself.
//! K3. Operators finish one in each call of the default action, the first one first, so that letters
//!     that one of them has posted are run before the next one finishes.
//! K4. Checkpoints are taken between records, by who takes part in them for the task; never while
//!     operators finish, nor while the chain has unfinished work: a barrier is read when it has none,
//!     and what is triggered here waits for its place. The task ends when who takes part lets it.
//! K5. The operators are closed exactly once, the last one first: at the end of the input, or else when
//!     the task is dropped, which is on its own thread.

use super::body::{Body, InputStatus, Turn};
use super::checkpointing::CheckpointNotice;
use super::deployment::{Deployment, Pace};
use super::element::{CheckpointBarrier, Event, StopMode};
use super::output::Readiness;
use super::pace::TurnPace;
use super::report::{Reports, SuspendedFor, TaskReport, Times};
use super::setting::{Setting, Subtask, Surroundings};
use super::surroundings::{Origin, TaskSurroundings, waker_of};
use super::taking_part::{Hand, Progression, TakingPart};
use crate::letter::{BoxError, Outcome};
use crate::mailbox::Marker;
use crate::processor::{Controller, DefaultAction, Executor, Reason, Suspension};
use core::task::{Context as WakerContext, Waker};
use core::time::Duration;
use std::rc::Rc;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Input is processed.
    Running,
    /// The data has ended, and operators finish (K3), from this one on.
    Finishing { operator: usize },
    /// All that follows is events.
    DataEnded,
    /// The input is over.
    Leaving,
    /// All is done.
    Done,
}

/// The owner of a stream task's mailbox.
pub struct StreamTask {
    body: Box<dyn Body>,
    taking_part: TakingPart,
    /// Its operators had finished in the checkpoint that it is restored from.
    is_restored_finished: bool,
    have_operators_finished: bool,
    subtask: Rc<Subtask>,
    surroundings: Rc<TaskSurroundings>,
    /// Wakes the task when there is input.
    input: Waker,
    /// Wakes the task when there is room.
    room: Waker,
    pace: Pace,
    turn_pace: TurnPace,
    stage: Stage,
    suspension: Option<Suspension>,
    times: Times,
    has_flush_timer: bool,
    last_words: Option<LastWords>,
}

/// Builds a task's body, on the task's own thread.
pub(crate) type BuildBody =
    Box<dyn FnOnce(&mut Deployment) -> Result<Box<dyn Body>, BoxError> + Send>;

/// Is told how a task has ended.
pub(crate) type LastWords = Box<dyn FnOnce(TaskEnding) + Send>;

/// How a task has ended.
pub(crate) struct TaskEnding {
    /// What it has done.
    pub(crate) report: TaskReport,
    /// Whether that was all that it had to do; else somebody has ended it, or it has failed.
    pub(crate) has_done_all: bool,
}

/// A task's own handles, which there are before the task.
pub(crate) struct TaskParts {
    executor: Executor<StreamTask>,
    input: Marker<StreamTask>,
    room: Marker<StreamTask>,
}

impl TaskParts {
    /// Those of a task whose markers are registered by `marker`.
    pub(crate) fn new<E>(
        executor: Executor<StreamTask>,
        mut marker: impl FnMut(&'static str, fn(&mut StreamTask)) -> Result<Marker<StreamTask>, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            executor,
            input: marker("input available", StreamTask::resume)?,
            room: marker("room available", StreamTask::resume)?,
        })
    }
}

impl StreamTask {
    /// Opens what `build` builds, on the task's own thread.
    pub(crate) fn new(
        parts: TaskParts,
        deployment: Deployment,
        origin: Origin,
        build: BuildBody,
        last_words: LastWords,
    ) -> Result<Self, BoxError> {
        let mut deployment = deployment;
        let subtask = Rc::new(deployment.subtask().clone());
        let pace = deployment.pace();
        let input = waker_of(parts.input);
        let surroundings = TaskSurroundings::new(parts.executor, origin, input.clone());
        let surroundings = Rc::new(surroundings);
        let restored = deployment.take_restored().map(Rc::new);
        let is_restored_finished = restored.as_ref().is_some_and(|from| from.is_finished);
        let participant = deployment.take_participant();
        let takes_checkpoints = participant.is_some();
        let mut body = build(&mut deployment)?;
        if is_restored_finished {
            // What they had not been called for when they finished, they never are.
            surroundings.quiesce(body.operators());
        }
        let taking_part = TakingPart::new(
            participant,
            &mut Hand {
                body: &mut *body,
                surroundings: &surroundings,
                progression: Progression::Running,
                is_restored_finished,
                have_operators_finished: false,
            },
        );
        let mut task = Self {
            body,
            taking_part,
            is_restored_finished,
            have_operators_finished: false,
            times: Times::new(surroundings.now()),
            subtask: Rc::clone(&subtask),
            surroundings: Rc::clone(&surroundings),
            input,
            room: waker_of(parts.room),
            pace,
            turn_pace: TurnPace::new(pace.records_max, pace.records_per_look),
            stage: Stage::Running,
            suspension: None,
            has_flush_timer: false,
            last_words: Some(last_words),
        };
        // From here on it is closed whatever happens (K5).
        let setting = Setting::new(subtask, 0, surroundings)
            .restoring(restored)
            .taking_checkpoints(takes_checkpoints);
        task.body.open(&setting)?;
        if let Some(every) = pace.latency_every {
            task.surroundings.mark_latency_after(every);
        }
        Ok(task)
    }

    /// What the subtask has done so far.
    pub(crate) fn report(&self) -> TaskReport {
        let mut reports = Reports::default();
        let input = self.body.report(&mut reports);
        let now = self.surroundings.now();
        TaskReport::new(&self.subtask, input, reports, self.times.until(now))
    }

    /// Whether it has done all that it had to do, and ends by itself.
    pub(crate) fn has_done_all(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Has the source stop; whether the task has one.
    pub(crate) fn stop(&mut self, mode: StopMode) -> bool {
        let has_source = self.body.stop(mode);
        self.taking_part.stop();
        self.resume();
        has_source
    }

    /// Lends the task to who takes part in checkpoints for it (K4).
    fn take_part(
        &mut self,
        act: impl FnOnce(&mut TakingPart, &mut Hand<'_>) -> Outcome,
    ) -> Outcome {
        let progression = match self.stage {
            Stage::Running => Progression::Running,
            Stage::Finishing { .. } => Progression::Finishing,
            Stage::DataEnded | Stage::Leaving => Progression::DataEnded,
            Stage::Done => Progression::Over,
        };
        let mut hand = Hand {
            body: &mut *self.body,
            surroundings: &self.surroundings,
            progression,
            is_restored_finished: self.is_restored_finished,
            have_operators_finished: self.have_operators_finished,
        };
        act(&mut self.taking_part, &mut hand)
    }

    /// The coordinator has a checkpoint begin here.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(crate) fn trigger_checkpoint(&mut self, barrier: CheckpointBarrier) -> Outcome {
        self.take_part(|taking_part, task| taking_part.trigger(barrier, task))?;
        self.resume();
        Ok(())
    }

    /// Has checkpoints begin that were triggered here and have waited for their place; whether there
    /// was one.
    fn trigger_waiting(&mut self) -> Result<bool, BoxError> {
        let mut has_begun = false;
        if self.taking_part.is_trigger_waiting() {
            self.take_part(|taking_part, task| {
                has_begun = taking_part.trigger_waiting(task)?;
                Ok(())
            })?;
        }
        Ok(has_begun)
    }

    /// The coordinator tells of a checkpoint.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(crate) fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.take_part(|taking_part, task| taking_part.notify(notice, task))?;
        self.resume();
        Ok(())
    }

    /// Has the default action called again (K2).
    fn resume(&mut self) {
        if let Some(suspension) = self.suspension.take() {
            self.times.resumed(self.surroundings.now());
            suspension.resume();
        }
    }

    fn suspend(&mut self, controller: &mut Controller<'_>, what_for: SuspendedFor) {
        let reason = match what_for {
            SuspendedFor::Input => Reason::NoInput,
            SuspendedFor::Output => Reason::NoOutput,
        };
        self.times.suspended(what_for, self.surroundings.now());
        self.suspension = Some(controller.suspend_for(reason));
    }

    /// The moment has come that an operator asked for.
    pub(crate) fn moment_of(&mut self, operator: usize) -> Outcome {
        if let Some(now_ms) = self.surroundings.take_due(operator) {
            // It works again, whatever it waits for.
            self.times.resumed(self.surroundings.now());
            self.body.processing_time(operator, now_ms)?;
            self.flush();
        }
        // It may have left something unfinished, or be a source that is to be polled.
        self.resume();
        Ok(())
    }

    pub(crate) fn mark_latency(&mut self) -> Outcome {
        let Some(every) = self
            .pace
            .latency_every
            .filter(|_| self.stage == Stage::Running)
        else {
            return Ok(());
        };
        self.body.mark_latency(self.surroundings.since_start_ns())?;
        self.flush();
        self.surroundings.mark_latency_after(every);
        Ok(())
    }

    pub(crate) fn flush_now(&mut self) {
        self.has_flush_timer = false;
        self.body.flush();
    }

    /// Shows others what was put out for them, or sees to it that they are shown it in time.
    #[inline]
    fn flush(&mut self) {
        if self.pace.flush_timeout == Duration::ZERO {
            self.body.flush();
        } else if !self.has_flush_timer {
            self.has_flush_timer = true;
            self.surroundings.flush_after(self.pace.flush_timeout);
        }
    }

    /// Calls the body once more, or says what it waits for.
    fn wait_for(&mut self, controller: &mut Controller<'_>, status: InputStatus) -> Outcome {
        match status {
            InputStatus::NotReady(Readiness::Unfinished) => self.body.advance()?,
            InputStatus::NotReady(Readiness::NoRoom) => {
                let mut cx = WakerContext::from_waker(&self.room);
                if self.body.poll_room(&mut cx).is_pending() {
                    self.suspend(controller, SuspendedFor::Output);
                }
            }
            // Who waits has the task woken.
            InputStatus::NotReady(_) => self.suspend(controller, SuspendedFor::Output),
            InputStatus::NothingAvailable => {
                // Nobody waits for what it keeps back.
                self.body.flush();
                if self.trigger_waiting()? {
                    // The source may have given nothing for the sake of that.
                    return Ok(());
                }
                let mut cx = WakerContext::from_waker(&self.input);
                if self.body.poll_input(&mut cx).is_pending() {
                    self.suspend(controller, SuspendedFor::Input);
                }
            }
            InputStatus::MoreAvailable => {}
            InputStatus::Event(from, event) => {
                self.take_part(|taking_part, task| taking_part.event(event, from, task))?;
            }
            InputStatus::Placed(id) => {
                self.take_part(|taking_part, task| taking_part.placed(id, task))?;
            }
            InputStatus::EndOfData(mode) => self.end_data(mode)?,
            InputStatus::EndOfInput => self.stage = Stage::Leaving,
        }
        Ok(())
    }

    /// No record comes any more.
    fn end_data(&mut self, mode: StopMode) -> Outcome {
        self.body.end_data(mode)?;
        match mode {
            StopMode::Drain if !self.is_restored_finished => {
                self.stage = Stage::Finishing { operator: 0 };
            }
            _ => {
                self.surroundings.quiesce(self.body.operators());
                self.tell_end_of_data(mode)?;
            }
        }
        Ok(())
    }

    fn tell_end_of_data(&mut self, mode: StopMode) -> Outcome {
        self.body.event(Event::EndOfData(mode))?;
        self.body.flush();
        self.stage = Stage::DataEnded;
        self.take_part(|taking_part, task| taking_part.data_ended(task))
    }

    /// Has the next operator finish (K3).
    fn finish(&mut self, operator: usize) -> Outcome {
        if operator == self.body.operators() {
            self.have_operators_finished = true;
            return self.tell_end_of_data(StopMode::Drain);
        }
        self.surroundings.quiesce(operator + 1);
        self.stage = Stage::Finishing {
            operator: operator + 1,
        };
        self.body.finish(operator)
    }

    /// Closes the operators, and ends the task's partitions.
    fn leave(&mut self, controller: &mut Controller<'_>) -> Outcome {
        let mut cx = WakerContext::from_waker(&self.input);
        if self.taking_part.poll_leave(&mut cx).is_pending() {
            // Barriers that it puts out meanwhile may wait for room, and others for them.
            let mut cx = WakerContext::from_waker(&self.room);
            let _moved = self.body.poll_room(&mut cx);
            self.suspend(controller, SuspendedFor::Input);
            return Ok(());
        }
        let mut failed = Ok(());
        self.surroundings.quiesce(self.body.operators());
        self.body.close(&mut failed);
        failed?;
        self.body.event(Event::EndOfPartition)?;
        self.body.flush();
        self.stage = Stage::Done;
        self.is_done(controller)
    }

    /// Ends the task, when all it put out has found room.
    fn is_done(&mut self, controller: &mut Controller<'_>) -> Outcome {
        let mut cx = WakerContext::from_waker(&self.room);
        if self.body.poll_room(&mut cx).is_pending() {
            self.suspend(controller, SuspendedFor::Output);
        } else {
            controller.all_done();
        }
        Ok(())
    }

    /// One call of the default action.
    fn act(&mut self, controller: &mut Controller<'_>) -> Outcome {
        // Resumed by others than a letter of ours, it is so all the same.
        if self.suspension.take().is_some() {
            self.times.resumed(self.surroundings.now());
        }
        self.trigger_waiting()?;
        let status = match self.stage {
            Stage::Running if self.taking_part.is_source_blocked() => match self.body.readiness() {
                // What a timer has set off goes on.
                readiness @ (Readiness::Unfinished | Readiness::NoRoom) => {
                    InputStatus::NotReady(readiness)
                }
                Readiness::Ready | Readiness::Waiting => {
                    self.suspend(controller, SuspendedFor::Input);
                    return Ok(());
                }
            },
            Stage::Running | Stage::DataEnded => {
                let turn = Turn {
                    stride: self.turn_pace.stride(),
                    surroundings: &self.surroundings,
                };
                let begun = self.surroundings.now();
                let before = self.body.elements();
                let status = self.body.poll(&turn)?;
                let processed = self.body.elements() - before;
                if processed > 0 {
                    let time = self.surroundings.now().saturating_duration_since(begun);
                    self.turn_pace.turn_was(processed as usize, time);
                }
                status
            }
            Stage::Finishing { operator } => match self.body.readiness() {
                Readiness::Ready => {
                    self.finish(operator)?;
                    InputStatus::MoreAvailable
                }
                readiness => InputStatus::NotReady(readiness),
            },
            Stage::Leaving => return self.leave(controller),
            Stage::Done => return self.is_done(controller),
        };
        self.flush();
        self.wait_for(controller, status)
    }
}

impl Drop for StreamTask {
    fn drop(&mut self) {
        // K5. What the task failed by came first, and is told.
        self.surroundings.quiesce(self.body.operators());
        // Of what ends nobody is told that storing its state failed.
        self.taking_part.close();
        self.body.close(&mut Ok(()));
        if let Some(last_words) = self.last_words.take() {
            last_words(TaskEnding {
                report: self.report(),
                has_done_all: self.has_done_all(),
            });
        }
    }
}

impl core::fmt::Debug for StreamTask {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StreamTask")
            .field("subtask", &self.subtask)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// What a stream task does between letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessInput;

impl DefaultAction<StreamTask> for ProcessInput {
    fn run(&mut self, task: &mut StreamTask, controller: &mut Controller<'_>) -> Outcome {
        task.act(controller)
    }
}

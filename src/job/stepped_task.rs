//! One task of a job that is stepped by hand: how it is opened, driven and ended.

use super::graph::BuildBody;
use super::members::LastWords;
use crate::letter::Mail;
use crate::mailbox::MarkerOptions;
use crate::processor::{Ended, Executor, Failure, MailboxProcessor, Prepared, Step};
use crate::ring::{Budget, CapacityError};
use crate::stream::{
    Deployment, Origin, ProcessInput, StopMode, StreamTask, TaskParts, TaskReport,
};
use crate::sync::{PlainArc, SetOnce, SharedClock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

type Processor = MailboxProcessor<StreamTask, Mail<StreamTask>, ProcessInput>;

/// See above.
pub(super) struct SteppedTask {
    name: Box<str>,
    executor: Executor<StreamTask>,
    last_words: LastWords,
    stage: Stage,
}

enum Stage {
    /// It takes letters, and is opened by its first step.
    Created(Box<Seed>),
    Running(Box<Processor>),
    /// Its input has ended; letters that it took are left.
    Finishing(Box<Processor>),
    Finished,
    Failed(Failure),
    Canceled,
}

/// What a task grows from.
struct Seed {
    prepared: Prepared<StreamTask, Mail<StreamTask>>,
    deployment: Deployment,
    origin: Origin,
    build: BuildBody,
}

impl Seed {
    fn open(mut self, last_words: &LastWords) -> Result<Processor, Failure> {
        let told = PlainArc::clone(last_words);
        let last_words = Box::new(move |ending| {
            let _once = told.set(ending);
        });
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let executor = self.prepared.executor();
            let prepared = &mut self.prepared;
            let parts = TaskParts::new(executor, |name, action| {
                prepared.marker_with(name, MarkerOptions::new(), action)
            })?;
            StreamTask::new(parts, self.deployment, self.origin, self.build, last_words)
        }));
        match opened {
            Ok(Ok(task)) => Ok(self.prepared.build_with(task, ProcessInput)),
            Ok(Err(error)) => Err(Failure::error("initialization", error)),
            Err(payload) => Err(Failure::panic("initialization", payload)),
        }
    }
}

impl SteppedTask {
    pub(super) fn new(
        name: String,
        clock: SharedClock,
        deployment: Deployment,
        origin: Origin,
        build: BuildBody,
    ) -> Result<Self, CapacityError> {
        let prepared = MailboxProcessor::builder().shared_clock(clock).prepare()?;
        prepared.owned_by_this_thread();
        Ok(Self {
            name: name.into(),
            executor: prepared.executor(),
            last_words: PlainArc::new(SetOnce::new()),
            stage: Stage::Created(Box::new(Seed {
                prepared,
                deployment,
                origin,
                build,
            })),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn executor(&self) -> Executor<StreamTask> {
        self.executor.clone()
    }

    /// Whether it goes on, and nothing was asked of it.
    pub(super) fn is_live(&self) -> bool {
        matches!(
            self.stage,
            Stage::Created(_) | Stage::Running(_) | Stage::Finishing(_)
        )
    }

    /// Whether it was opened, whatever became of it.
    #[cfg(feature = "checkpoint")]
    pub(super) fn is_opened(&self) -> bool {
        !matches!(self.stage, Stage::Created(_))
    }

    pub(super) fn has_finished(&self) -> bool {
        matches!(self.stage, Stage::Finished)
    }

    /// Whether a step would do nothing, as far as letters and input go.
    pub(super) fn is_idle(&self) -> bool {
        match &self.stage {
            Stage::Created(_) | Stage::Finishing(_) => false,
            Stage::Running(processor) => processor.is_idle(),
            Stage::Finished | Stage::Failed(_) | Stage::Canceled => true,
        }
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Running(processor) => processor.next_timer(),
            _ => None,
        }
    }

    /// Opens the task at its first step; `stop`: whether its job was asked to stop before that.
    pub(super) fn step(&mut self, budget: Budget, stop: Option<StopMode>) -> Result<Step, Failure> {
        match core::mem::replace(&mut self.stage, Stage::Canceled) {
            Stage::Created(seed) => match seed.open(&self.last_words) {
                Ok(processor) => {
                    self.stage = Stage::Running(Box::new(processor));
                    if let Some(mode) = stop {
                        self.stop(mode);
                    }
                }
                Err(failure) => return Err(self.fail(failure)),
            },
            stage => self.stage = stage,
        }
        match &mut self.stage {
            Stage::Running(processor) => match processor.step(budget) {
                Ok(Step::Ended(Ended::Suspended)) => Ok(Step::More),
                Ok(Step::Ended(_)) => Ok(self.ended()),
                Ok(step) => Ok(step),
                Err(failure) => Err(self.fail(failure)),
            },
            Stage::Finishing(_) => self.finish(budget),
            Stage::Finished => Ok(Step::Ended(Ended::AllDone)),
            Stage::Failed(failure) => Err(failure.clone()),
            Stage::Created(_) | Stage::Canceled => Ok(Step::Ended(Ended::Closed)),
        }
    }

    /// The loop has ended: the task is to finish, or somebody has ended it.
    fn ended(&mut self) -> Step {
        let stage = core::mem::replace(&mut self.stage, Stage::Canceled);
        if let Stage::Running(mut processor) = stage {
            if processor.with_owner(|task| task.has_done_all()) {
                self.stage = Stage::Finishing(processor);
                return Step::More;
            }
            end(Stage::Running(processor));
        }
        Step::Ended(Ended::Closed)
    }

    fn finish(&mut self, budget: Budget) -> Result<Step, Failure> {
        let Stage::Finishing(processor) = &mut self.stage else {
            return Ok(Step::More);
        };
        let Some(finished) = processor.finish_within(budget) else {
            return Ok(Step::More);
        };
        if let Some(failure) = finished.failure {
            return Err(self.fail(failure));
        }
        end(core::mem::replace(&mut self.stage, Stage::Finished));
        Ok(Step::Ended(Ended::AllDone))
    }

    fn fail(&mut self, failure: Failure) -> Failure {
        end(core::mem::replace(
            &mut self.stage,
            Stage::Failed(failure.clone()),
        ));
        failure
    }

    pub(super) fn cancel(&mut self) {
        if self.is_live() {
            end(core::mem::replace(&mut self.stage, Stage::Canceled));
        }
    }

    /// Has its source stop, in a letter, so that what fails there fails the task.
    pub(super) fn stop(&mut self, mode: StopMode) {
        if let Stage::Running(processor) = &mut self.stage {
            let executor = &self.executor;
            processor.with_owner(|_| {
                // One that takes no letters has ended.
                let _ended = executor.execute(move |task: &mut StreamTask| {
                    task.stop(mode);
                });
            });
        }
    }

    /// What it has done so far; `None` before it was opened.
    pub(super) fn report(&mut self) -> Option<TaskReport> {
        match &mut self.stage {
            Stage::Running(processor) | Stage::Finishing(processor) => {
                Some(processor.with_owner(|task| task.report()))
            }
            _ => self.last_words.get().map(|ending| ending.report.clone()),
        }
    }
}

/// Drops what a task was. What panics on the way is told to nobody, as what fails while a task is
/// closed after its end: its other values are dropped all the same.
fn end(stage: Stage) {
    let _panicked = catch_unwind(AssertUnwindSafe(|| drop(stage)));
}

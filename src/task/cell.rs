//! One task with its types: how it is built, driven and ended on its thread.

use super::context::Context;
use super::drive::{Drive, Turned};
use super::handle::TaskHandle;
use super::here;
use super::hooks::{Hooks, TaskEvent};
use super::hub_ref::HubRef;
use super::life::Life;
use super::port::Seat;
use super::state::{TaskState, Transition};
use crate::letter::{BoxError, Letter};
use crate::mailbox::Undelivered;
use crate::processor::{DefaultAction, Ended, Failure, MailboxProcessor, Near, Prepared, Step};
use crate::ring::Budget;
use crate::ring::mpsc::Rested;
use crate::sync::Arc;
use core::any::Any;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What is done with a task's letters that were accepted and not run.
pub(super) type OnUndelivered<O, L> = Box<dyn FnOnce(Undelivered<O, L>) + Send>;

/// See above.
pub(super) struct Cell<O, L: Letter<O>, A, F> {
    life: Arc<Life>,
    hub: HubRef,
    hooks: Arc<Hooks>,
    seat: Arc<Seat>,
    stage: Stage<O, L, A, F>,
    on_undelivered: Option<OnUndelivered<O, L>>,
    is_listed: bool,
    index: u32,
    /// Its last turn did not end by itself: letters come fast, or take long.
    is_busy: bool,
    told: Option<TaskState>,
}

enum Stage<O, L: Letter<O>, A, F> {
    New(Box<(Prepared<O, L>, F, A)>),
    Built(MailboxProcessor<O, L, A>),
    Finishing(MailboxProcessor<O, L, A>),
    /// With how many letters that were not delivered.
    Finished(MailboxProcessor<O, L, A>, usize),
    Over(usize),
}

/// Letters of a turn before the clock is looked at.
const UNTIMED: Budget = Budget::letters(8);
/// The rest of a turn.
const LETTERS_MAX: usize = 248;
const TIME_MAX: Duration = Duration::from_micros(50);

impl<O, L, A, F> Cell<O, L, A, F>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    A: DefaultAction<O>,
    F: FnOnce(&mut Context<'_, O, L>) -> Result<O, BoxError>,
{
    pub(super) fn new(
        life: Arc<Life>,
        hub: HubRef,
        hooks: Arc<Hooks>,
        seat: Arc<Seat>,
        parts: (Prepared<O, L>, F, A),
        on_undelivered: Option<OnUndelivered<O, L>>,
    ) -> Self {
        Self {
            life,
            hub,
            hooks,
            seat,
            stage: Stage::New(Box::new(parts)),
            on_undelivered,
            is_listed: false,
            index: 0,
            is_busy: true,
            told: None,
        }
    }

    /// Tells the hook which state the task has come to, once each, in order.
    fn tell(&mut self, state: TaskState) {
        if self.told.replace(state) == Some(state) {
            return;
        }
        self.hooks.task_state(&TaskEvent {
            name: &self.life.name,
            attempt: self.life.attempt,
            thread: self.life.thread,
            state,
            outcome: None,
        });
    }

    /// Makes a step of a life without trouble; `false`: somebody has ended it.
    fn step_to(&mut self, from: TaskState, to: TaskState) -> bool {
        let made = self.life.step(from, to) == Transition::Made;
        if made {
            self.tell(to);
        }
        made
    }

    /// Builds the state; `false`: the task is over.
    fn build(&mut self) -> bool {
        // Its thread may have stepped to `Deploying` when it made its rings.
        let deploys = match self.life.step(TaskState::Created, TaskState::Deploying) {
            Transition::Made => true,
            Transition::Not(found) => found == TaskState::Deploying,
        };
        if deploys {
            self.tell(TaskState::Deploying);
        }
        let begins = deploys && self.step_to(TaskState::Deploying, TaskState::Initializing);
        if !begins {
            return false;
        }
        let Stage::New(parts) = core::mem::replace(&mut self.stage, Stage::Over(0)) else {
            return false;
        };
        let (mut prepared, init, action) = *parts;
        let executor = prepared.executor();
        let handle = TaskHandle::new(executor, Arc::clone(&self.life), self.hub.clone());
        let built = catch_unwind(AssertUnwindSafe(|| {
            init(&mut Context::new(&mut prepared, &handle))
        }));
        let failure = match built {
            Ok(Ok(owner)) => {
                let mut processor = prepared.build_with(owner, action);
                processor.settle(Near {
                    list: here::list,
                    index: self.index,
                });
                // On the list as the crew sees it, so that neighbours do not list it twice.
                if self.is_listed {
                    processor.put_on_list();
                }
                self.stage = Stage::Built(processor);
                return self.step_to(TaskState::Initializing, TaskState::Running);
            }
            Ok(Err(error)) => Failure::error("initialization", error),
            Err(payload) => Failure::panic("initialization", payload),
        };
        let _first = self.life.fail(failure);
        self.stage = Stage::Over(self.close(prepared.close()));
        self.drop_guarded(prepared);
        self.drop_guarded(action);
        false
    }

    fn step(&mut self) -> Turned {
        let Stage::Built(processor) = &mut self.stage else {
            return Turned::Ended;
        };
        let mut step = if self.is_busy {
            Ok(Step::More)
        } else {
            processor.step(UNTIMED)
        };
        if matches!(step, Ok(Step::More)) {
            step = processor.step(Budget::letters(LETTERS_MAX).and_time(TIME_MAX));
            self.is_busy = matches!(step, Ok(Step::More));
        }
        match step {
            Ok(Step::Idle) => Turned::Idle,
            Ok(Step::More | Step::Ended(Ended::Suspended)) => Turned::More,
            Ok(Step::Ended(ended)) => self.ended(ended),
            Err(failure) => {
                let _first = self.life.fail(failure);
                Turned::Ended
            }
        }
    }

    /// The loop has ended: somebody ends the task, or it is to finish.
    fn ended(&mut self, ended: Ended) -> Turned {
        if self.life.state() != TaskState::Running {
            return Turned::Ended;
        }
        let Stage::Built(processor) = core::mem::replace(&mut self.stage, Stage::Over(0)) else {
            return Turned::Ended;
        };
        self.stage = Stage::Finishing(processor);
        if ended == Ended::AllDone {
            // In turns of its own: there may be a lot to do.
            return Turned::More;
        }
        self.finish()
    }

    fn finish(&mut self) -> Turned {
        let start = Instant::now();
        let mut letters_left = LETTERS_MAX;
        let finished = loop {
            // Whoever ends it has the letter that runs be its last.
            if self.life.state() != TaskState::Running {
                return Turned::Ended;
            }
            let Stage::Finishing(processor) = &mut self.stage else {
                return Turned::Ended;
            };
            if let Some(finished) = processor.finish_within(Budget::letters(1)) {
                break finished;
            }
            letters_left -= 1;
            if letters_left == 0 || start.elapsed() >= TIME_MAX {
                return Turned::More;
            }
        };
        match finished.failure {
            Some(failure) => drop(self.life.fail(failure)),
            None => drop(self.life.step(TaskState::Running, TaskState::Finished)),
        }
        let undelivered = self.close((finished.undelivered, Vec::<()>::new()));
        if let Stage::Finishing(processor) = core::mem::replace(&mut self.stage, Stage::Over(0)) {
            self.stage = Stage::Finished(processor, undelivered);
        }
        Turned::Ended
    }

    /// Hands back what was not delivered, or drops it; how many. Timers are dropped.
    fn close<T>(&mut self, (undelivered, timers): (Undelivered<O, L>, Vec<T>)) -> usize {
        let count = undelivered.len();
        for timer in timers {
            self.drop_guarded(timer);
        }
        match self.on_undelivered.take() {
            Some(take) if count > 0 => self.hooks.call(move || take(undelivered)),
            take => {
                self.drop_guarded(take);
                // One by one: several may panic.
                undelivered.for_each(|letter| self.drop_guarded(letter));
            }
        }
        count
    }

    /// Drops caller's values; a panic of theirs is counted with those of hooks.
    fn drop_guarded<T>(&self, value: T) {
        self.hooks.call(move || drop(value));
    }

    fn processor(&mut self) -> Option<&mut MailboxProcessor<O, L, A>> {
        match &mut self.stage {
            Stage::Built(processor)
            | Stage::Finishing(processor)
            | Stage::Finished(processor, _) => Some(processor),
            Stage::New(_) | Stage::Over(_) => None,
        }
    }
}

impl<O, L, A, F> Drive for Cell<O, L, A, F>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    A: DefaultAction<O>,
    F: FnOnce(&mut Context<'_, O, L>) -> Result<O, BoxError>,
{
    fn seated(&mut self, index: u32) {
        self.index = index;
        self.seat.is(index);
        self.tell(TaskState::Created);
    }

    #[inline]
    fn turn(&mut self) -> Turned {
        match &mut self.stage {
            Stage::Built(processor) => {
                processor.taken_off_list();
                self.step()
            }
            Stage::Finishing(processor) => {
                processor.taken_off_list();
                self.finish()
            }
            Stage::New(_) => {
                self.is_listed = false;
                if self.build() {
                    self.step()
                } else {
                    Turned::Ended
                }
            }
            Stage::Finished(..) | Stage::Over(_) => Turned::Ended,
        }
    }

    #[cold]
    fn panicked(&mut self, payload: Box<dyn Any + Send>) {
        let late = self.life.fail(Failure::panic("failure hook", payload));
        self.drop_guarded(late);
    }

    fn put_on_list(&mut self) -> bool {
        match self.processor() {
            Some(processor) => processor.put_on_list(),
            None => !core::mem::replace(&mut self.is_listed, true),
        }
    }

    fn called(&mut self) {
        if let Some(processor) = self.processor() {
            processor.called();
        }
    }

    #[inline]
    fn has_work(&self) -> bool {
        match &self.stage {
            Stage::Built(processor) => processor.has_work(),
            _ => true,
        }
    }

    fn rest(&mut self) -> Rested {
        match &mut self.stage {
            Stage::Built(processor) => processor.rest_once(),
            _ => Rested::Look,
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Built(processor) => processor.next_timer(),
            _ => None,
        }
    }

    fn end(&mut self) -> bool {
        if self.life.state() == TaskState::Canceling {
            self.tell(TaskState::Canceling);
        }
        let mut is_owed = false;
        let undelivered;
        match core::mem::replace(&mut self.stage, Stage::Over(0)) {
            Stage::New(parts) => {
                let (mut prepared, init, action) = *parts;
                undelivered = self.close(prepared.close());
                self.drop_guarded(prepared);
                self.drop_guarded(init);
                self.drop_guarded(action);
            }
            Stage::Built(mut processor) | Stage::Finishing(mut processor) => {
                is_owed = processor.end_rest();
                undelivered = self.close(processor.close_apart());
                self.drop_guarded(processor);
            }
            Stage::Finished(mut processor, count) => {
                is_owed = processor.end_rest();
                undelivered = count;
                self.drop_guarded(processor);
            }
            Stage::Over(count) => undelivered = count,
        }
        if self.life.state().is_live() {
            // Only where its crew goes without having ended it.
            self.life.cancel();
        }
        if !is_owed {
            self.seat.give_place_back();
        }
        self.tell_the_end(undelivered);
        is_owed
    }
}

impl<O, L: Letter<O>, A, F> Cell<O, L, A, F> {
    fn tell_the_end(&mut self, undelivered: usize) {
        self.hub.is_over(&self.life);
        let outcome = self.life.end(undelivered);
        self.hooks.task_state(&TaskEvent {
            name: &self.life.name,
            attempt: self.life.attempt,
            thread: self.life.thread,
            state: outcome.state,
            outcome: Some(&outcome),
        });
        self.hub.has_ended(&self.life, outcome);
    }
}

//! The life of one task, as its thread and everybody else share it.
//!
//! L1. The state is one word, changed by compare-exchange alone: the first of those that cancel,
//!     fail or finish a task decides what becomes of it.
//! L2. A cause is stored with the step to `Failed`, under one lock: who sees the state and takes the
//!     lock finds the cause.
//! L3. The end is told once, by the task's thread, after all of the task was dropped.

use super::outcome::{JoinError, Outcome};
use super::state::{TaskState, Transition};
use crate::letter::Letter;
use crate::processor::{Activity, Counters, Executor, Failure};
use crate::sync::{AtomicU32, Mutex, SetOnce, Tally, order, this_thread};
use crate::wait::{Answer, Reply, ReplyTimeout, reply};
use core::time::Duration;
#[cfg(not(mailring_loom))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// See above.
pub(super) struct Life {
    pub(super) id: u64,
    pub(super) name: Box<str>,
    pub(super) attempt: u32,
    pub(super) thread: usize,
    pub(super) spawned: Instant,
    /// The number of the thread that drives it.
    driver: u64,
    state: AtomicU32,
    /// Beside the state: it is to finish.
    finish: AtomicU32,
    cause: Mutex<Option<Failure>>,
    /// 1 while its state is being built, whatever was asked of it meanwhile.
    building: Tally,
    /// When it was cancelled or failed from outside.
    asked_to_end: Mutex<Option<Instant>>,
    end: Mutex<End>,
    remote: SetOnce<Box<dyn Remote>>,
}

#[derive(Default)]
struct End {
    outcome: Option<Outcome>,
    waiting: Vec<Answer<()>>,
}

/// What can be done to a task's processor without knowing its types.
pub(super) trait Remote: Send + Sync {
    /// Has its thread look at its life.
    fn have_it_look(&self);
    fn counters(&self) -> Counters;
    /// Letters that wait in its mailbox's ring.
    fn waiting(&self) -> usize;
    /// What it runs just now, as far as can be told.
    fn running(&self) -> Option<&'static str>;
}

impl<O: 'static, L: Letter<O> + Send + 'static> Remote for Executor<O, L> {
    fn have_it_look(&self) {
        self.all_done();
    }

    fn counters(&self) -> Counters {
        Executor::counters(self)
    }

    fn waiting(&self) -> usize {
        Executor::waiting(self)
    }

    fn running(&self) -> Option<&'static str> {
        match self.activity()? {
            Activity::Running(what) => Some(what),
            _ => None,
        }
    }
}

impl Life {
    pub(super) fn new(id: u64, name: Box<str>, attempt: u32, thread: usize, driver: u64) -> Self {
        Self {
            id,
            name,
            attempt,
            thread,
            spawned: Instant::now(),
            driver,
            state: AtomicU32::new(TaskState::Created.word()),
            finish: AtomicU32::new(0),
            cause: Mutex::new(None),
            building: Tally::default(),
            asked_to_end: Mutex::new(None),
            end: Mutex::new(End::default()),
            remote: SetOnce::new(),
        }
    }

    pub(super) fn state(&self) -> TaskState {
        // Acquire: pairs with `step`; what was done before the step is seen.
        TaskState::from_word(self.state.load(order!(z, Acquire)))
    }

    /// Makes the step from `from` to `to`, unless the task is elsewhere.
    pub(super) fn step(&self, from: TaskState, to: TaskState) -> Transition {
        // Both steps are its thread's alone, which also tries the second where somebody else came first.
        match to {
            TaskState::Initializing => self.building.set(1),
            TaskState::Running => self.building.set(0),
            _ => {}
        }
        // Release / Acquire: pairs with `state` and steps that come too late; what was done before is
        // seen. One that is made needs no more: its thread has looked at the state it comes from.
        match self.state.compare_exchange(
            from.word(),
            to.word(),
            order!(z1, Release),
            order!(z, Acquire),
        ) {
            Ok(_) => Transition::Made,
            Err(found) => Transition::Not(TaskState::from_word(found)),
        }
    }

    /// What it runs just now, as far as can be told.
    pub(super) fn running(&self) -> Option<&'static str> {
        if self.building.get() == 1 {
            return Some("initialization");
        }
        self.remote().and_then(|remote| remote.running())
    }

    /// Steps to `to` from whichever state a task can be ended in.
    fn step_from_live(&self, to: TaskState) -> Transition {
        let mut from = self.state();
        while from.is_live() {
            match self.step(from, to) {
                Transition::Made => return Transition::Made,
                Transition::Not(found) => from = found,
            }
        }
        Transition::Not(from)
    }

    /// Cancels the task; whether this call did it.
    pub(super) fn cancel(&self) -> bool {
        let made = self.step_from_live(TaskState::Canceling) == Transition::Made;
        if made {
            self.is_asked_to_end();
        }
        made
    }

    /// Fails the task from outside; the cause is handed back where another step came first.
    pub(super) fn fail_from_outside(&self, cause: Failure) -> Result<(), Failure> {
        self.fail(cause)?;
        self.is_asked_to_end();
        Ok(())
    }

    /// Fails the task; the cause is handed back where another step came first.
    pub(super) fn fail(&self, cause: Failure) -> Result<(), Failure> {
        let mut first = self.cause.lock();
        match self.step_from_live(TaskState::Failed) {
            Transition::Made => {
                *first = Some(cause);
                Ok(())
            }
            Transition::Not(_) => Err(cause),
        }
    }

    fn is_asked_to_end(&self) {
        *self.asked_to_end.lock() = Some(Instant::now());
        self.have_it_look();
    }

    /// When it was cancelled or failed from outside, if it was and has not ended.
    pub(super) fn ending_since(&self) -> Option<Instant> {
        if self.has_ended() {
            return None;
        }
        *self.asked_to_end.lock()
    }

    /// Has the task finish: run what it has accepted, and end.
    pub(super) fn ask_to_finish(&self) {
        // AcqRel: pairs with itself in `reached_by`: whichever is later finds what the other did first.
        self.finish.fetch_or(1, order!(z2, AcqRel));
        self.have_it_look();
    }

    /// How its thread is reached; known once the task is deployed.
    pub(super) fn reached_by(&self, remote: impl Remote + 'static) {
        let _again = self.remote.set(Box::new(remote));
        // AcqRel: pairs with itself in `ask_to_finish`.
        let is_to_finish = self.finish.fetch_or(0, order!(z2, AcqRel)) != 0;
        // One that was cancelled or failed need not be told: its first turn looks.
        if is_to_finish {
            self.have_it_look();
        }
    }

    pub(super) fn remote(&self) -> Option<&dyn Remote> {
        self.remote.get().map(|remote| &**remote)
    }

    fn have_it_look(&self) {
        if let Some(remote) = self.remote() {
            remote.have_it_look();
        }
    }

    pub(super) fn cause(&self) -> Option<Failure> {
        self.cause.lock().clone()
    }

    /// The end of the task, told by its thread: from `Canceling` it is cancelled for good; whoever
    /// waits is told.
    pub(super) fn end(&self, undelivered: usize) -> Outcome {
        let _elsewhere = self.step(TaskState::Canceling, TaskState::Canceled);
        let outcome = Outcome {
            name: self.name.clone(),
            attempt: self.attempt,
            thread: self.thread,
            state: self.state(),
            cause: self.cause(),
            undelivered,
        };
        debug_assert!(
            outcome.state.is_terminal(),
            "L3: ended in {}",
            outcome.state
        );
        let waiting = {
            let mut end = self.end.lock();
            end.outcome = Some(outcome.clone());
            core::mem::take(&mut end.waiting)
        };
        for answer in waiting {
            let _gone = answer.send(());
        }
        outcome
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.end.lock().outcome.clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.lock().outcome.is_some()
    }

    /// What will be answered at the end; `None` where it has ended.
    pub(super) fn tell_of_the_end(&self) -> Option<Reply<()>> {
        let mut end = self.end.lock();
        if end.outcome.is_some() {
            return None;
        }
        let (answer, told) = reply();
        end.waiting.retain(Answer::is_wanted);
        end.waiting.push(answer);
        Some(told)
    }

    /// Waits for the end, for at most `timeout` where there is one.
    pub(super) fn join(&self, timeout: Option<Duration>) -> Result<Outcome, JoinError> {
        if let Some(outcome) = self.outcome() {
            return Ok(outcome);
        }
        if this_thread().get() == self.driver {
            return Err(JoinError::WouldDeadlock);
        }
        let Some(told) = self.tell_of_the_end() else {
            return self.outcome().ok_or(JoinError::Timeout);
        };
        match timeout {
            None => drop(told.wait()),
            Some(timeout) => {
                if let Err(ReplyTimeout::Timeout(_)) = told.wait_timeout(timeout) {
                    return self.outcome().ok_or(JoinError::Timeout);
                }
            }
        }
        self.outcome().ok_or(JoinError::Timeout)
    }
}

#[cfg(not(mailring_loom))]
impl Drop for Life {
    /// The last to know of a task may be any thread, in the midst of other work. What the task failed by
    /// is the caller's, and may panic when it is dropped: that ends here.
    fn drop(&mut self) {
        let cause = self.cause.lock().take();
        let outcome = self.end.lock().outcome.take();
        let dropped = catch_unwind(AssertUnwindSafe(move || drop((cause, outcome))));
        if let Err(panic) = dropped {
            // Its payload may panic in turn.
            core::mem::forget(panic);
        }
    }
}

impl core::fmt::Debug for Life {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Life")
            .field("name", &self.name)
            .field("attempt", &self.attempt)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

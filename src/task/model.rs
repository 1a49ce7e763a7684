//! What models see of tasks: a crew that tasks are seated in by hand, their lives, and a ready ring
//! alone. There is no engine: a crew is one thread of the model.

use super::cell::Cell;
use super::context::Context;
use super::crew;
use super::handle::TaskHandle;
use super::hooks::Hooks;
use super::hub_ref::HubRef;
use super::life;
use super::outcome::{JoinError, Outcome};
use super::port;
use super::state::{TaskState, Transition};
use super::waits::Waits;
use crate::letter::{BoxError, Mail};
use crate::mailbox;
use crate::processor::{Executor, Failure, MailboxProcessor, NoAction, Prepared};
use crate::ring::mpsc::{self, Consumer};
use crate::sync::{Arc, ManualClock, SharedClock, this_thread};
use crate::wait::{Parking, WaitStrategy};
use core::time::Duration;

/// The tasks of the calling thread.
pub struct Crew {
    crew: crew::Crew,
    port: Port,
}

/// Where a crew is reached from other threads.
#[derive(Clone)]
pub struct Port {
    port: port::Port,
    clock: SharedClock,
    driver: u64,
}

/// The life of one task, from before it is planted.
#[derive(Clone)]
pub struct Life(Arc<life::Life>);

/// The crew takes no tasks any more, or has no place for one.
#[derive(Debug)]
pub struct Refused;

fn at_once() -> Parking {
    Parking::after(Duration::ZERO)
}

impl Crew {
    /// A crew that sleeps after the first empty look, on a clock that stands still.
    #[must_use]
    pub fn new(tasks_max: usize) -> Self {
        let clock = SharedClock::new(ManualClock::new());
        let strategy: Box<dyn WaitStrategy> = Box::new(at_once());
        let hooks = Arc::new(Hooks::default());
        let waits = Waits::new(Arc::new(strategy), false, hooks, 0);
        let crew = crew::Crew::new(tasks_max, clock.clone(), waits).expect("a small one");
        let port = Port {
            port: crew.port().clone(),
            clock,
            driver: this_thread().get(),
        };
        Self { crew, port }
    }

    /// Where it is reached.
    #[must_use]
    pub fn port(&self) -> Port {
        self.port.clone()
    }

    /// Seats a task with room for `capacity` letters, which is built by its first turn.
    pub fn seat<O: 'static>(
        &mut self,
        capacity: usize,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> TaskHandle<O> {
        assert!(self.port.port.take_place(), "there is a place");
        let life = self.port.life();
        let planted = self.port.plant(&life, capacity, init);
        let handle = planted.handle(&life);
        self.crew.add((planted.task)());
        handle
    }

    /// The loop ends when no task is left.
    pub fn stop(&mut self) {
        self.crew.stop();
    }

    /// Drives tasks until it is stopped and none is left.
    pub fn run(&mut self) {
        self.crew.run();
    }

    /// Drives tasks until none has anything to do; whether it is to be called again.
    pub fn go_on(&mut self) -> bool {
        self.crew.go_on()
    }
}

/// A task to be taken in, and its handle.
struct Planted<O> {
    task: Box<dyn FnOnce() -> Box<dyn super::drive::Drive> + Send>,
    executor: Executor<O>,
}

impl<O: 'static> Planted<O> {
    fn handle(&self, life: &Life) -> TaskHandle<O> {
        TaskHandle::new(
            self.executor.clone(),
            Arc::clone(&life.0),
            HubRef::default(),
        )
    }
}

impl Port {
    /// The life of a task of this crew, before the task is planted.
    #[must_use]
    pub fn life(&self) -> Life {
        Life(Arc::new(life::Life::new(
            0,
            "task".into(),
            1,
            0,
            self.driver,
        )))
    }

    fn plant<O: 'static>(
        &self,
        life: &Life,
        capacity: usize,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> Planted<O> {
        let mailbox = mailbox::Builder::new(capacity)
            .urgent_capacity(1)
            .markers(0)
            .urgent_markers(0)
            .batch_max(2)
            .sender_wait(at_once());
        let seat = port::Seat::new(&self.port);
        let called = Arc::clone(&seat);
        let prepared: Prepared<O, Mail<O>> = MailboxProcessor::<O>::builder()
            .mailbox(mailbox)
            .wake_by(move || called.call())
            .clock(self.clock.clone())
            .prepare()
            .expect("a small one");
        prepared.owned_by(self.driver);
        let executor = prepared.executor();
        life.0.reached_by(executor.clone());
        let life = Arc::clone(&life.0);
        let task = move || -> Box<dyn super::drive::Drive> {
            let init = |cx: &mut Context<'_, O>| Ok::<O, BoxError>(init(cx));
            let parts = (prepared, init, NoAction);
            let hooks = Arc::new(Hooks::default());
            Box::new(Cell::new(life, HubRef::default(), hooks, seat, parts, None))
        };
        Planted {
            task: Box::new(task),
            executor,
        }
    }

    /// Plants a task here and sends it to the crew.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn spawn<O: 'static>(
        &self,
        life: &Life,
        capacity: usize,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> Result<TaskHandle<O>, Refused> {
        if !self.port.take_place() {
            return Err(Refused);
        }
        let planted = self.plant(life, capacity, init);
        let handle = planted.handle(life);
        let task = planted.task;
        let errand = move |crew: &mut crew::Crew| {
            crew.add(task());
        };
        match self.port.send(Box::new(errand)) {
            Ok(()) => Ok(handle),
            Err(_) => {
                self.port.give_place_back();
                Err(Refused)
            }
        }
    }

    /// Has the crew do `errand` between turns.
    ///
    /// # Errors
    /// [`Refused`], where it has gone; `errand` was dropped then.
    pub fn send(&self, errand: impl FnOnce() + Send + 'static) -> Result<(), Refused> {
        self.port
            .send(Box::new(move |_| errand()))
            .map_err(|_| Refused)
    }

    /// Has the crew end when no task is left.
    ///
    /// # Errors
    /// [`Refused`], where it has gone.
    pub fn stop(&self) -> Result<(), Refused> {
        self.port
            .send(Box::new(|crew| crew.stop()))
            .map_err(|_| Refused)
    }

    /// Places for tasks that are taken.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.port.tasks()
    }
}

impl Life {
    /// One without a crew, driven by the calling thread.
    #[must_use]
    pub fn new() -> Self {
        let driver = this_thread().get();
        Self(Arc::new(life::Life::new(0, "task".into(), 1, 0, driver)))
    }

    /// As [`TaskHandle::cancel`].
    #[must_use]
    pub fn cancel(&self) -> bool {
        self.0.cancel()
    }

    /// As [`TaskHandle::fail`]; whether it did.
    #[must_use]
    pub fn fail(&self, cause: &'static str) -> bool {
        let cause = Failure::error("reported", cause.into());
        self.0.fail_from_outside(cause).is_ok()
    }

    /// As [`TaskHandle::finish`].
    pub fn finish(&self) {
        self.0.ask_to_finish();
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.0.state()
    }

    /// Why it has failed.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        self.0.cause().map(|cause| cause.to_string())
    }

    /// Makes a step as its thread does; whether no other came first.
    #[must_use]
    pub fn step(&self, from: TaskState, to: TaskState) -> bool {
        self.0.step(from, to) == Transition::Made
    }

    /// Tells the end, as its thread does.
    pub fn end(&self) -> Outcome {
        self.0.end(0)
    }

    /// As [`TaskHandle::join`].
    ///
    /// # Errors
    /// As [`TaskHandle::join`].
    pub fn join(&self) -> Result<Outcome, JoinError> {
        self.0.join(None)
    }
}

impl Default for Life {
    fn default() -> Self {
        Self::new()
    }
}

/// A ready ring without a crew.
pub struct Ready {
    /// What is taken from it are indices.
    pub ring: Consumer<u32>,
    _open: mpsc::Producer<u32>,
    port: port::Port,
}

impl Ready {
    /// For `tasks` tasks and the errands; `hook` is called where its rest is ended.
    #[must_use]
    pub fn new(tasks: usize, hook: impl Fn() + Send + Sync + 'static) -> Self {
        let (open, ring) = mpsc::Builder::new(1)
            .rights(tasks + 1)
            .consumer_wait(at_once())
            .wake_by(hook)
            .build::<u32>()
            .expect("a small one");
        let port = port::Port::new(open.downgrade(), tasks);
        Self {
            ring,
            _open: open,
            port,
        }
    }

    /// The hook of a mailbox, and what tells it of its index before it rests.
    pub fn seat(&self) -> (impl Fn() + Send + Sync + 'static, impl Fn(u32) + 'static) {
        let seat = port::Seat::new(&self.port);
        let told = Arc::clone(&seat);
        (move || seat.call(), move |index| told.is(index))
    }
}

macro_rules! debug_by_name {
    ($($name:ident)*) => {$(
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug_by_name!(Crew Port Life Ready);

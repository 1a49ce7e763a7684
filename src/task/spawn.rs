//! Settings of a task, and spawning it.

use super::cell::OnUndelivered;
use super::context::Context;
use super::handle::TaskHandle;
use super::hub_ref::HubRef;
use super::planting::{Seed, place, plant};
use super::port::Seat;
use super::spawn_error::SpawnError;
use crate::letter::{BoxError, Letter, Mail};
use crate::mailbox::{self, Undelivered};
use crate::processor::{DefaultAction, Failure, Hook, MailboxProcessor, NoAction, OnFailure};
use crate::sync::Arc;
use crate::wait::WaitStrategy;
use core::any::Any;
use core::fmt;

/// Where a task is to run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    FewestTasks,
    Thread(usize),
    Cpu(usize),
}

/// Settings of a task; [`Engine::task`](super::Engine::task) makes one.
///
/// ```
/// use mailring::processor::{Controller, OnFailure};
/// use mailring::task::{Engine, Shutdown};
/// use std::time::Duration;
///
/// let engine = Engine::builder().threads(1).build()?;
/// let task = engine
///     .task("reader")
///     .capacity(256)
///     .on_failure(OnFailure::Skip)
///     .action(|read: &mut u32, controller: &mut Controller<'_>| {
///         *read += 1;
///         if *read == 10 {
///             controller.all_done();
///         }
///     })
///     .spawn(|_cx| 0_u32)?;
/// assert!(task.join()?.finished().is_ok());
/// engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "settings spawn nothing by themselves"]
pub struct TaskBuilder<A = NoAction> {
    hub: HubRef,
    name: Box<str>,
    attempt: u32,
    at: Where,
    slot: Option<Box<str>>,
    mailbox: mailbox::Builder,
    on_failure: OnFailure,
    failure_hook: Option<Hook>,
    time_letters: bool,
    follow_ups_max: Option<usize>,
    idle: Option<Box<dyn WaitStrategy>>,
    /// An `OnUndelivered` of the task's types.
    on_undelivered: Option<Box<dyn Any + Send>>,
    action: A,
}

impl TaskBuilder {
    /// How many ordinary letters a task's mailbox holds without further ado, so that an idle task is
    /// small.
    pub const CAPACITY: usize = 28;
    const URGENT_CAPACITY: usize = 6;
    const MARKERS: usize = 4;
    const URGENT_MARKERS: usize = 2;

    pub(super) fn new(hub: HubRef, name: &str) -> Self {
        Self {
            hub,
            name: name.into(),
            attempt: 1,
            at: Where::FewestTasks,
            slot: None,
            mailbox: mailbox::Builder::new(Self::CAPACITY)
                .urgent_capacity(Self::URGENT_CAPACITY)
                .markers(Self::MARKERS)
                .urgent_markers(Self::URGENT_MARKERS)
                .lean(),
            on_failure: OnFailure::default(),
            failure_hook: None,
            time_letters: false,
            follow_ups_max: None,
            idle: None,
            on_undelivered: None,
            action: NoAction,
        }
    }

    /// What the task does between letters.
    pub fn action<A>(self, action: A) -> TaskBuilder<A> {
        TaskBuilder {
            hub: self.hub,
            name: self.name,
            attempt: self.attempt,
            at: self.at,
            slot: self.slot,
            mailbox: self.mailbox,
            on_failure: self.on_failure,
            failure_hook: self.failure_hook,
            time_letters: self.time_letters,
            follow_ups_max: self.follow_ups_max,
            idle: self.idle,
            on_undelivered: self.on_undelivered,
            action,
        }
    }
}

impl<A> TaskBuilder<A> {
    /// How many ordinary letters its mailbox holds; [`CAPACITY`](TaskBuilder::CAPACITY) without this.
    pub fn capacity(mut self, letters: usize) -> Self {
        self.mailbox = self.mailbox.capacity(letters);
        self
    }

    /// The mailbox's settings, all of them. How the owner waits, and what wakes it, is the engine's.
    pub fn mailbox(mut self, mailbox: mailbox::Builder) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// On the engine's thread number `thread`, counted from 0; without this, on the one with the fewest
    /// tasks.
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.at = Where::Thread(thread);
        self
    }

    /// On a thread that runs on this CPU alone, by the system's number.
    pub fn on_cpu(mut self, cpu: usize) -> Self {
        self.at = Where::Cpu(cpu);
        self
    }

    /// In the slot of this name, on a thread where it is free. In an engine with slots a task without
    /// this takes any that is free.
    pub fn slot(mut self, name: &str) -> Self {
        self.slot = Some(name.into());
        self
    }

    /// Which attempt of that name this is, for whoever spawns a failed task again; 1 without this.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// What is done when a letter or the default action fails: [`OnFailure::Stop`] without this, which
    /// fails the task. [`OnFailure::Propagate`] is the same here: the panic is in the
    /// [`Outcome`](super::Outcome), to be resumed by whoever joins.
    pub fn on_failure(mut self, policy: OnFailure) -> Self {
        self.on_failure = policy;
        self
    }

    /// Sees each failure of the task's letters, timers and default action, on its thread, whatever is
    /// done about it. A panic of the hook fails the task.
    pub fn failure_hook(mut self, hook: impl FnMut(&Failure) + Send + 'static) -> Self {
        self.failure_hook = Some(Box::new(hook));
        self
    }

    /// How the thread waits while this task lives: whichever of its own strategy and those of its tasks
    /// comes soonest back.
    pub fn idle(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.idle = Some(Box::new(strategy));
        self
    }

    /// Times every letter; see
    /// [`Builder::time_letters`](crate::processor::Builder::time_letters).
    pub fn time_letters(mut self) -> Self {
        self.time_letters = true;
        self
    }

    /// How many letters that the task posts to itself while it finishes are run still; see
    /// [`Builder::follow_ups_max`](crate::processor::Builder::follow_ups_max).
    pub fn follow_ups_max(mut self, letters: usize) -> Self {
        self.follow_ups_max = Some(letters);
        self
    }

    /// Where letters go that were accepted and not run, if there are any: called on the task's thread
    /// at its end. Without this they are dropped there, and those who ask are told. The types are the
    /// task's, and checked when it is spawned.
    pub fn on_undelivered<O: 'static, L: 'static>(
        mut self,
        take: impl FnOnce(Undelivered<O, L>) + Send + 'static,
    ) -> Self {
        let take: OnUndelivered<O, L> = Box::new(take);
        self.on_undelivered = Some(Box::new(take));
        self
    }

    /// Spawns the task: `init` builds its state, on the task's own thread, so that need not be `Send`.
    ///
    /// Returns when the task takes letters; `init` is run later.
    ///
    /// # Errors
    /// [`SpawnError`].
    pub fn spawn<O: 'static>(
        self,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> Result<TaskHandle<O>, SpawnError>
    where
        A: DefaultAction<O> + Send + 'static,
    {
        self.spawn_letters::<O, Mail<O>>(init)
    }

    /// As [`spawn`](Self::spawn), for letters of a type of one's own.
    ///
    /// # Errors
    /// [`SpawnError`].
    pub fn spawn_letters<O: 'static, L: Letter<O> + Send + 'static>(
        self,
        init: impl FnOnce(&mut Context<'_, O, L>) -> O + Send + 'static,
    ) -> Result<TaskHandle<O, L>, SpawnError>
    where
        A: DefaultAction<O> + Send + 'static,
    {
        self.try_spawn(|cx: &mut Context<'_, O, L>| Ok::<O, BoxError>(init(cx)))
    }

    /// As [`spawn_letters`](Self::spawn_letters), with an `init` that may fail, and so fails the task.
    ///
    /// # Errors
    /// [`SpawnError`]; the error of `init` is the cause in the [`Outcome`](super::Outcome).
    pub fn try_spawn<O: 'static, L: Letter<O> + Send + 'static, E: Into<BoxError>>(
        self,
        init: impl FnOnce(&mut Context<'_, O, L>) -> Result<O, E> + Send + 'static,
    ) -> Result<TaskHandle<O, L>, SpawnError>
    where
        A: DefaultAction<O> + Send + 'static,
    {
        let hub = self.hub.hub().ok_or(SpawnError::ShutDown)?;
        let init = |cx: &mut Context<'_, O, L>| init(cx).map_err(Into::into);
        let on_undelivered = match self.on_undelivered {
            None => None,
            Some(any) => match any.downcast::<OnUndelivered<O, L>>() {
                Ok(take) => Some(*take),
                Err(_) => return Err(SpawnError::OtherTypes),
            },
        };
        let life = place(
            &hub,
            self.at,
            self.slot.as_deref(),
            &self.name,
            self.attempt,
        )?;
        let crewed = &hub.crews[life.thread];
        let seat = Seat::new(&crewed.port);
        let called = Arc::clone(&seat);
        let mut builder = MailboxProcessor::<O, L>::builder()
            .mailbox(self.mailbox)
            .wake_by(move || called.call())
            .shared_clock(hub.clock.clone())
            .on_failure(match self.on_failure {
                OnFailure::Propagate => OnFailure::Stop,
                policy => policy,
            });
        if let Some(hook) = self.failure_hook {
            builder = builder.failure_hook(hook);
        }
        if self.time_letters {
            builder = builder.time_letters();
        }
        if let Some(letters) = self.follow_ups_max {
            builder = builder.follow_ups_max(letters);
        }
        let seed = Seed {
            builder,
            life: Arc::clone(&life),
            hub: self.hub.clone(),
            hooks: Arc::clone(&hub.hooks),
            seat,
            init,
            action: self.action,
            idle: self.idle,
            on_undelivered,
            driver: crewed.driver,
        };
        let planted = plant(crewed, seed);
        if planted.is_err() {
            hub.is_over(&life);
            hub.forget(&life);
            crewed.port.give_place_back();
        }
        Ok(TaskHandle::new(planted?, life, self.hub))
    }
}

impl<A> fmt::Debug for TaskBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskBuilder")
            .field("name", &self.name)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

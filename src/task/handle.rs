//! The handle of a task, for any thread.

#[cfg(any(not(mailring_loom), mailring_shuttle))]
use super::engine_handle::EngineHandle;
use super::hub_ref::HubRef;
use super::life::Life;
use super::outcome::{JoinError, Outcome};
use super::state::TaskState;
use crate::letter::{BoxError, IntoOutcome, Letter, Mail};
use crate::mailbox::{Marker, MarkerOptions, PostError, Sender};
use crate::processor::{Counters, Executor, Failure, RegisterError, Unposted};
use crate::sync::Arc;
use crate::wait::Reply;
use core::time::Duration;

/// A task, as anybody reaches it; `Clone + Send + Sync`. Dropping it does nothing to the task.
///
/// Posts from the task itself, while it runs, go to its own queue and always fit. Posts from other
/// tasks of its thread go past the rings to the same queue, up to the mailbox's capacity, and then
/// into the ring. All others go through the ring.
///
/// No post waits on a thread that drives the task: where one would have to, it returns
/// [`PostError::WouldDeadlock`] with what was posted, and [`join`](Self::join) an error. A task that
/// waits for a task of *another* thread holds up all tasks of its own thread meanwhile.
pub struct TaskHandle<O, L = Mail<O>> {
    executor: Executor<O, L>,
    life: Arc<Life>,
    hub: HubRef,
}

impl<O: 'static, L: Letter<O> + Send + 'static> TaskHandle<O, L> {
    pub(super) fn life(&self) -> &Arc<Life> {
        &self.life
    }

    pub(super) fn new(executor: Executor<O, L>, life: Arc<Life>, hub: HubRef) -> Self {
        Self {
            executor,
            life,
            hub,
        }
    }

    /// Has the task do `action`, in turn; waits for room.
    ///
    /// # Errors
    /// [`PostError::Closed`] where the task takes no more letters, [`PostError::WouldDeadlock`] where
    /// its mailbox is full and the calling thread is its own; both with the mail.
    #[inline]
    pub fn post<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.executor.execute(action)
    }

    /// As [`post`](Self::post), and does not compile where the action would be boxed.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    #[inline]
    pub fn post_inline<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.executor.post_inline(action)
    }

    /// As [`post`](Self::post), but never waits.
    ///
    /// # Errors
    /// [`PostError::Full`] or [`PostError::Closed`], with the mail.
    #[inline]
    pub fn try_post<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.executor.try_execute(action)
    }

    /// Has the task do `action` before all that is not urgent.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub fn post_urgent<F, R>(&self, action: F) -> Result<(), PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.executor.execute_urgent(action)
    }

    /// Posts a letter, in turn; waits for room.
    ///
    /// # Errors
    /// As [`post`](Self::post), with the letter.
    #[inline]
    pub fn post_letter(&self, letter: L) -> Result<(), PostError<L>> {
        self.executor.post(letter)
    }

    /// Posts a letter if there is room.
    ///
    /// # Errors
    /// As [`try_post`](Self::try_post), with the letter.
    #[inline]
    pub fn try_post_letter(&self, letter: L) -> Result<(), PostError<L>> {
        self.executor.try_post(letter)
    }

    /// Posts letters in turn, as [`Sender::post_batch`] does; returns how many: all.
    ///
    /// # Errors
    /// As [`post`](Self::post), with the letters that were not posted.
    ///
    /// # Panics
    /// If the iterator does; see [`Sender::post_batch`].
    pub fn post_batch(
        &self,
        letters: impl IntoIterator<Item = L>,
    ) -> Result<usize, PostError<Vec<L>>> {
        self.executor.post_batch(letters)
    }

    /// Has the task do `action` and answer with what it returns; waits for room, not for the answer.
    ///
    /// Where the action panics or is never run, the reply says so.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub fn ask<F, T>(&self, action: F) -> Result<Reply<T>, PostError<Unposted<O, L>>>
    where
        F: FnOnce(&mut O) -> T + Send + 'static,
        T: Send + 'static,
    {
        self.executor.ask(action)
    }

    /// Registers a marker: a letter that always fits and is pending at most once. On the task's own
    /// thread at once; on others it is waited for.
    ///
    /// # Errors
    /// [`RegisterError`]; as a rule a task has four markers, and two urgent ones.
    pub fn marker<R: IntoOutcome>(
        &self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, RegisterError> {
        self.executor.marker(name, action)
    }

    /// Registers a marker that is urgent, or has a priority.
    ///
    /// # Errors
    /// As [`marker`](Self::marker).
    pub fn marker_with<R: IntoOutcome>(
        &self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, RegisterError> {
        self.executor.marker_with(name, options, action)
    }

    /// Tells `asker` when this task's mailbox has room, or takes no more letters: `then` is posted to
    /// it as a letter, once. For a task that must not wait; see [`Executor::when_room`].
    pub fn when_room<P, M, F, R>(&self, asker: &TaskHandle<P, M>, then: F)
    where
        P: 'static,
        M: Letter<P> + Send + 'static,
        F: FnOnce(&mut P) -> R + Send + 'static,
        R: IntoOutcome,
    {
        self.executor.when_room(&asker.executor, then);
    }

    /// An executor: timers, yields, priorities, probes.
    ///
    /// A task's `try_yield` runs letters of its own; `yield_now` waits for one with the whole thread,
    /// so that no other task of it runs meanwhile.
    #[must_use]
    pub fn executor(&self) -> Executor<O, L> {
        self.executor.clone()
    }

    /// A producer for hot loops on other threads: it always goes through the ring.
    #[must_use]
    pub fn producer(&self) -> Sender<O, L> {
        self.executor.sender()
    }

    /// Has the task run what it has accepted, and finish.
    pub fn finish(&self) {
        self.life.ask_to_finish();
    }

    /// Cancels the task: it ends after the letter that runs, and what is left is not delivered. A task
    /// that was not built yet never is. Whether this call did it: not where the task has ended, was
    /// cancelled or has failed before.
    pub fn cancel(&self) -> bool {
        let made = self.life.cancel();
        if made {
            self.hub.watch(&self.life);
        }
        made
    }

    /// Fails the task: as [`cancel`](Self::cancel), with a cause.
    ///
    /// # Errors
    /// The cause, where the task has ended, was cancelled or has failed before.
    pub fn fail(&self, error: impl Into<BoxError>) -> Result<(), Failure> {
        let cause = Failure::error("reported", error.into());
        self.life.fail_from_outside(cause)?;
        self.hub.watch(&self.life);
        Ok(())
    }

    /// Waits for the task to end, and all of it to be dropped.
    ///
    /// # Errors
    /// [`JoinError::WouldDeadlock`] on the task's own thread, where it goes on.
    pub fn join(&self) -> Result<Outcome, JoinError> {
        self.life.join(None)
    }

    /// As [`join`](Self::join), for at most `timeout`.
    ///
    /// # Errors
    /// As [`join`](Self::join), and [`JoinError::Timeout`].
    pub fn join_timeout(&self, timeout: Duration) -> Result<Outcome, JoinError> {
        self.life.join(Some(timeout))
    }
}

impl<O, L> TaskHandle<O, L> {
    /// Where the task is in its life.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.life.state()
    }

    /// How the task ended, if it has.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.life.outcome()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.life.name
    }

    /// Which attempt of that name it is, as it was spawned.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.life.attempt
    }

    /// The place of its thread in the engine, counted from 0.
    #[must_use]
    pub fn thread(&self) -> usize {
        self.life.thread
    }

    /// The engine's handle.
    #[cfg(any(not(mailring_loom), mailring_shuttle))]
    #[must_use]
    pub fn engine(&self) -> EngineHandle {
        EngineHandle::new(self.hub.clone())
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static> TaskHandle<O, L> {
    /// What has happened at the task's processor. Its times idle and busy mean nothing here: its thread
    /// waits for all of its tasks together. See [`ThreadSnapshot::utilisation`] for that.
    ///
    /// [`ThreadSnapshot::utilisation`]: super::ThreadSnapshot::utilisation
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.executor.counters()
    }
}

impl<O, L> Clone for TaskHandle<O, L> {
    fn clone(&self) -> Self {
        Self {
            executor: self.executor.clone(),
            life: Arc::clone(&self.life),
            hub: self.hub.clone(),
        }
    }
}

impl<O, L> core::fmt::Debug for TaskHandle<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaskHandle")
            .field("name", &self.life.name)
            .field("attempt", &self.life.attempt)
            .field("state", &self.life.state())
            .finish_non_exhaustive()
    }
}

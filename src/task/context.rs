//! What a task's state is built with.

#[cfg(any(not(mailring_loom), mailring_shuttle))]
use super::engine_handle::EngineHandle;
use super::handle::TaskHandle;
use crate::letter::{IntoOutcome, Letter, Mail};
use crate::mailbox::{Marker, MarkerOptions, TooManyMarkers};
use crate::processor::{Executor, Prepared};

/// What a task's state is built with, on the task's thread: its own handles, and its markers.
///
/// What is posted here goes into the mailbox's ring, and runs when the state is built; where that is
/// full, a post that would wait returns [`WouldDeadlock`](crate::mailbox::PostError::WouldDeadlock).
pub struct Context<'a, O, L = Mail<O>> {
    prepared: &'a mut Prepared<O, L>,
    handle: &'a TaskHandle<O, L>,
}

impl<'a, O: 'static, L: Letter<O> + Send + 'static> Context<'a, O, L> {
    pub(super) fn new(prepared: &'a mut Prepared<O, L>, handle: &'a TaskHandle<O, L>) -> Self {
        Self { prepared, handle }
    }

    /// The task's handle.
    #[must_use]
    pub fn handle(&self) -> TaskHandle<O, L> {
        self.handle.clone()
    }

    /// An executor of the task, for its state to keep: timers, yields, its own posts.
    #[must_use]
    pub fn executor(&self) -> Executor<O, L> {
        self.handle.executor()
    }

    /// The engine's handle.
    #[cfg(any(not(mailring_loom), mailring_shuttle))]
    #[must_use]
    pub fn engine(&self) -> EngineHandle {
        self.handle.engine()
    }

    /// The task's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handle.name()
    }

    /// Which attempt of that name this is.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.handle.attempt()
    }

    /// The place of its thread in the engine, counted from 0.
    #[must_use]
    pub fn thread(&self) -> usize {
        self.handle.thread()
    }

    /// Registers a marker: a letter that always fits and is pending at most once.
    ///
    /// # Errors
    /// [`TooManyMarkers`] beyond what the mailbox was built for.
    pub fn marker<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.marker_with(name, MarkerOptions::new(), action)
    }

    /// Registers a marker that is urgent, or has a priority.
    ///
    /// # Errors
    /// As [`marker`](Self::marker).
    pub fn marker_with<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.prepared.marker_with(name, options, action)
    }
}

impl<O, L> core::fmt::Debug for Context<'_, O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Context")
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

//! What an engine's user has called on its threads. A hook that panics harms nobody: it is counted.

use super::cpu_set::CpuSet;
use super::outcome::Outcome;
use super::state::TaskState;
use crate::sync::Counter;
use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One thread of an engine, as its hooks see it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its place in the engine, counted from 0.
    pub index: usize,
    /// Its name, as the system shows it.
    pub name: Box<str>,
    /// The CPUs it is to run on.
    pub cpus: CpuSet,
    /// Whether it is held there.
    pub pinned: bool,
}

/// A task has come to another state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskEvent<'a> {
    /// Its name.
    pub name: &'a str,
    /// Which attempt of that name it is.
    pub attempt: u32,
    /// Its thread's place in the engine.
    pub thread: usize,
    /// The state it has come to.
    pub state: TaskState,
    /// How it ended, if it has.
    pub outcome: Option<&'a Outcome>,
}

/// A task that was cancelled, or failed from outside, and goes on. With the feature `serde` it can be
/// serialized.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stuck {
    /// Its name.
    pub name: Box<str>,
    /// Which attempt of that name it is.
    pub attempt: u32,
    /// Its thread's place in the engine.
    pub thread: usize,
    /// The description of the letter that its processor has run last or runs just now; `None` where
    /// it has not come so far, or cannot be told.
    pub running: Option<&'static str>,
    /// How long ago it was told to end.
    pub since: core::time::Duration,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            thread,
            since,
            ..
        } = self;
        write!(
            f,
            "task {name} on thread {thread} was told to end {since:?} ago and goes on"
        )?;
        match self.running {
            Some(running) => write!(f, ", in {running}"),
            None => Ok(()),
        }
    }
}

type OfThread = Box<dyn Fn(&ThreadInfo) + Send + Sync>;
type OfTask = Box<dyn Fn(&TaskEvent<'_>) + Send + Sync>;
type OfStuck = Box<dyn Fn(&Stuck) + Send + Sync>;

/// See above.
#[derive(Default)]
pub(super) struct Hooks {
    pub(super) start: Option<OfThread>,
    pub(super) stop: Option<OfThread>,
    pub(super) park: Option<OfThread>,
    pub(super) unpark: Option<OfThread>,
    pub(super) task_state: Option<OfTask>,
    pub(super) stuck: Option<OfStuck>,
    pub(super) threads: Vec<ThreadInfo>,
    /// Calls that have panicked.
    pub(super) panics: Counter,
}

impl Hooks {
    /// Calls `hook`, and counts a panic of it.
    pub(super) fn call(&self, hook: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(hook)) {
            self.panics.increment();
            // Its payload may panic in turn.
            if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(panic))) {
                self.panics.increment();
                core::mem::forget(again);
            }
        }
    }

    fn of_thread(&self, hook: &Option<OfThread>, thread: usize) {
        if let (Some(hook), Some(info)) = (hook, self.threads.get(thread)) {
            self.call(|| hook(info));
        }
    }

    /// Tells of something that happened on a thread; a subscriber is a hook as any.
    #[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
    fn trace(&self, thread: usize, tell: impl FnOnce(&ThreadInfo)) {
        if let Some(info) = self.threads.get(thread) {
            self.call(|| tell(info));
        }
    }

    pub(super) fn start(&self, thread: usize) {
        #[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
        self.trace(thread, super::tracing::thread_started);
        self.of_thread(&self.start, thread);
    }

    pub(super) fn stop(&self, thread: usize) {
        self.of_thread(&self.stop, thread);
        #[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
        self.trace(thread, super::tracing::thread_stopped);
    }

    #[inline]
    pub(super) fn park(&self, thread: usize) {
        self.of_thread(&self.park, thread);
    }

    #[inline]
    pub(super) fn unpark(&self, thread: usize) {
        self.of_thread(&self.unpark, thread);
    }

    pub(super) fn task_state(&self, event: &TaskEvent<'_>) {
        #[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
        self.trace(event.thread, |thread| {
            super::tracing::task_state(event, thread);
        });
        if let Some(hook) = &self.task_state {
            self.call(|| hook(event));
        }
    }

    pub(super) fn stuck(&self, stuck: &Stuck) {
        #[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
        self.trace(stuck.thread, |thread| super::tracing::stuck(stuck, thread));
        if let Some(hook) = &self.stuck {
            self.call(|| hook(stuck));
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

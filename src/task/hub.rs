//! What all threads of an engine share: where its crews are, which tasks live, and how it ends.

use super::hooks::{Hooks, Stuck};
use super::io_pool::IoPool;
use super::life::Life;
use super::outcome::Outcome;
use super::port::Port;
use super::shutdown::{Ending, Report, Shutdown};
use super::slots::Slots;
use super::state::TaskState;
use super::watch::CrewStats;
use crate::sync::{Arc, AtomicU64, JoinHandle, Mutex, Parker, SharedClock, this_thread};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Instant;

/// See above.
pub(crate) struct Hub {
    pub(super) name: Box<str>,
    pub(super) started: Instant,
    pub(super) crews: Vec<Crewed>,
    pub(super) hooks: Arc<Hooks>,
    pub(super) clock: SharedClock,
    pub(super) tasks: Mutex<Tasks>,
    pub(super) watched: Mutex<Watched>,
    pub(super) ending: Mutex<Ending>,
    /// Has the steward look.
    pub(super) steward: Arc<Parker>,
    /// The number of its thread; 0 until it has begun.
    pub(super) steward_thread: AtomicU64,
    pub(super) cancel_timeout: Duration,
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
    pub(super) io: IoPool,
}

/// One thread of the engine, as others reach it.
pub(super) struct Crewed {
    pub(super) port: Port,
    /// The number of its thread.
    pub(super) driver: u64,
    /// Memory that is near to others may be far from it.
    pub(super) is_far: bool,
    pub(super) slots: Slots,
    pub(super) stats: Arc<CrewStats>,
}

/// The tasks that have not ended.
#[derive(Default)]
pub(super) struct Tasks {
    pub(super) live: BTreeMap<u64, Arc<Life>>,
    pub(super) spawned: u64,
    /// Of those, the ones that were not after all.
    pub(super) refused: u64,
    pub(super) ended: Ended,
    /// No more are taken in.
    pub(super) closed: bool,
}

/// How many tasks have ended, and how.
#[derive(Clone, Copy, Default)]
pub(super) struct Ended {
    pub(super) finished: u64,
    pub(super) canceled: u64,
    pub(super) failed: u64,
}

impl Ended {
    fn add(&mut self, state: TaskState) {
        match state {
            TaskState::Finished => self.finished += 1,
            TaskState::Canceled => self.canceled += 1,
            TaskState::Failed => self.failed += 1,
            _ => debug_assert!(false, "no end: {state}"),
        }
    }
}

/// Tasks that were told to end and have not, by when to report them.
#[derive(Default)]
pub(super) struct Watched {
    by_deadline: BTreeMap<(Instant, u64), Arc<Life>>,
    deadlines: BTreeMap<u64, Instant>,
    /// The steward knows that there are some.
    is_armed: bool,
}

impl Hub {
    /// Takes a task in, under a number of its own.
    pub(super) fn register(&self, make: impl FnOnce(u64) -> Life) -> Option<Arc<Life>> {
        let mut tasks = self.tasks.lock();
        if tasks.closed {
            return None;
        }
        let id = tasks.spawned;
        tasks.spawned += 1;
        let life = Arc::new(make(id));
        tasks.live.insert(id, Arc::clone(&life));
        Some(life)
    }

    /// All of the task was dropped, and nobody was told yet.
    pub(super) fn is_over(&self, life: &Life) {
        self.crews[life.thread].slots.free(life.id);
        let mut watched = self.watched.lock();
        if let Some(deadline) = watched.deadlines.remove(&life.id) {
            watched.by_deadline.remove(&(deadline, life.id));
        }
    }

    /// Whoever waits for a task was told. In a shutdown its end is in the report before the task is no
    /// more to be waited for.
    pub(super) fn has_ended(&self, life: &Life, outcome: Outcome) {
        let state = outcome.state;
        self.ending.lock().add(life.id, outcome);
        // A shutdown closes the engine before it begins: one that finds the task here, and so waits for
        // it, has done so, also where it began after the lines above.
        let is_ending = {
            let mut tasks = self.tasks.lock();
            tasks.ended.add(state);
            tasks.live.remove(&life.id);
            tasks.closed
        };
        if is_ending {
            self.steward.unpark();
        }
    }

    /// The task was registered, and not spawned after all.
    pub(super) fn forget(&self, life: &Life) {
        let is_ending = {
            let mut tasks = self.tasks.lock();
            tasks.live.remove(&life.id);
            tasks.refused += 1;
            tasks.closed
        };
        if is_ending {
            self.steward.unpark();
        }
    }

    /// The task was told to end: the steward reports it where it goes on for too long.
    pub(super) fn watch(&self, life: &Arc<Life>) {
        let Some(deadline) = Instant::now().checked_add(self.cancel_timeout) else {
            return;
        };
        let mut watched = self.watched.lock();
        if life.has_ended() {
            return;
        }
        watched.deadlines.insert(life.id, deadline);
        watched
            .by_deadline
            .insert((deadline, life.id), Arc::clone(life));
        if !core::mem::replace(&mut watched.is_armed, true) {
            drop(watched);
            self.steward.unpark();
        }
    }

    /// Reports the tasks that are overdue, and returns when the next may be.
    pub(super) fn report_stuck(&self, now: Instant) -> Option<Instant> {
        let mut overdue = Vec::new();
        let next = {
            let mut watched = self.watched.lock();
            while let Some((&(deadline, id), life)) = watched.by_deadline.first_key_value()
                && deadline <= now
            {
                let life = Arc::clone(life);
                overdue.push(Arc::clone(&life));
                watched.by_deadline.pop_first();
                // And again, while it goes on: one may have ended before it was watched.
                match now.checked_add(self.cancel_timeout) {
                    Some(again) if self.cancel_timeout > Duration::ZERO && !life.has_ended() => {
                        watched.deadlines.insert(id, again);
                        watched.by_deadline.insert((again, id), life);
                    }
                    _ => drop(watched.deadlines.remove(&id)),
                }
            }
            let next = watched.by_deadline.first_key_value().map(|(key, _)| key.0);
            watched.is_armed = next.is_some();
            next
        };
        for life in overdue {
            if let Some(stuck) = stuck(&life, now) {
                self.hooks.stuck(&stuck);
            }
        }
        next
    }

    /// The tasks that have not ended.
    pub(super) fn lives(&self) -> Vec<Arc<Life>> {
        self.tasks.lock().live.values().map(Arc::clone).collect()
    }

    /// As `lives`, the first `count` after task `after`.
    pub(super) fn lives_after(&self, after: Option<u64>, count: usize) -> Vec<Arc<Life>> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let tasks = self.tasks.lock();
        let lives = tasks.live.range((after, Bound::Unbounded));
        lives
            .take(count)
            .map(|(_, life)| Arc::clone(life))
            .collect()
    }

    /// Begins to end the engine; a second call can only hasten it.
    pub(super) fn begin_shutdown(&self, shutdown: Shutdown) {
        self.tasks.lock().closed = true;
        let lives = self.lives().into_iter();
        let ended_before = lives.filter(|life| life.has_ended()).map(|life| life.id);
        let ended_before = ended_before.collect();
        let begun = self
            .ending
            .lock()
            .begin(shutdown, Instant::now(), ended_before);
        if !begun {
            return;
        }
        #[cfg(feature = "tracing")]
        self.hooks
            .call(|| super::tracing::shutdown_begun(self, shutdown));
        let is_now = shutdown.is_now();
        for life in self.lives() {
            if is_now {
                self.cancel(&life);
            } else {
                life.ask_to_finish();
            }
        }
        self.steward.unpark();
    }

    pub(super) fn cancel(&self, life: &Arc<Life>) {
        if life.cancel() {
            self.watch(life);
        }
    }

    /// Whether the calling thread is one that the end of the engine waits for.
    pub(super) fn is_own_thread(&self) -> bool {
        let this = this_thread().get();
        // Relaxed: a thread that stored its own number reads it back.
        this == self.steward_thread.load(Relaxed)
            || self.crews.iter().any(|crew| crew.driver == this)
            || self.io.is_own_thread()
    }

    /// Starts no more jobs of the I/O pool, and drops those that were not started.
    pub(super) fn drop_jobs(&self) {
        let unrun = self.io.close_now();
        self.ending.lock().has_dropped_jobs(unrun.len());
        for job in unrun {
            self.hooks.call(move || drop(job));
        }
    }

    /// What has become of all tasks that ended, and of those that have not.
    pub(super) fn report(&self, now: Instant) -> Report {
        let stuck = self.lives();
        let stuck = stuck.iter().filter_map(|life| stuck_or_live(life, now));
        let stuck = stuck.collect();
        let io_running = self.io.counters().running;
        self.ending.lock().report(stuck, io_running)
    }
}

fn stuck(life: &Life, now: Instant) -> Option<Stuck> {
    let since = life.ending_since()?;
    Some(describe(life, now.saturating_duration_since(since)))
}

fn stuck_or_live(life: &Life, now: Instant) -> Option<Stuck> {
    stuck(life, now).or_else(|| (!life.has_ended()).then(|| describe(life, Duration::ZERO)))
}

fn describe(life: &Life, since: Duration) -> Stuck {
    Stuck {
        name: life.name.clone(),
        attempt: life.attempt,
        thread: life.thread,
        running: life.running(),
        since,
    }
}

impl core::fmt::Debug for Hub {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

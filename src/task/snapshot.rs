//! What an engine, its threads and its tasks have done, as plain values at one moment.
//!
//! N1. Whoever takes one reads counters that their owners write plainly, and stops nobody. The list
//!     of tasks is read a part at a time, so that whoever spawns one waits for a part at most.
//! N2. All spans of a snapshot end at one moment, read before anything else, so that they compare:
//!     whoever takes it may be held up between a thread and its tasks. A task spawned after that
//!     moment has a span of zero.

use super::cpu_set::CpuSet;
use super::hub::{Crewed, Hub};
use super::io_pool::IoCounters;
use super::life::Life;
use super::state::TaskState;
use crate::letter::Kind;
use crate::processor::Counters;
use core::time::Duration;
use std::collections::BTreeMap;
use std::time::Instant;

/// Tasks of one part of the list (N1).
const PART: usize = 256;

/// What an engine has done, taken by [`Engine::snapshot`](super::Engine::snapshot) without stopping
/// it: values that change meanwhile may be a little out of step with one another.
///
/// Counts are since the start, or, in the difference that [`since`](Self::since) makes, of the time
/// between; `span` says how long that is. Displayed, it is a table of 80 columns; a precision, as in
/// `{:.10}`, is the most tasks it shows.
///
/// With the feature `serde` it can be serialized and read back. Durations are serde's own: an object
/// of `secs` and `nanos`. A set of CPUs is its list, as `"0-3,8"`.
///
/// ```
/// use mailring::task::{Engine, Shutdown};
/// use std::time::Duration;
///
/// let engine = Engine::builder().threads(1).build()?;
/// let counter = engine.spawn("counter", |_cx| 0_u64)?;
/// let before = engine.snapshot();
/// counter.post(|sum| *sum += 42)?;
/// assert_eq!(counter.ask(|sum| *sum)?.wait()?, 42);
/// let between = engine.snapshot().since(&before);
/// assert_eq!(between.tasks[0].letters(), 2);
/// println!("{between}");
/// assert!((0.0..=1.0).contains(&between.threads[0].utilisation()));
/// engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EngineSnapshot {
    /// The engine's name.
    pub name: Box<str>,
    /// The time that all this is about.
    pub span: Duration,
    /// Its threads, by their place.
    pub threads: Vec<ThreadSnapshot>,
    /// The tasks that have not ended, in the order in which they were spawned.
    pub tasks: Vec<TaskSnapshot>,
    /// Tasks that were spawned.
    pub spawned: u64,
    /// Tasks that have finished.
    pub finished: u64,
    /// Tasks that were cancelled and have ended.
    pub canceled: u64,
    /// Tasks that have failed and ended.
    pub failed: u64,
    /// Panics of hooks, and of what was dropped at a task's end.
    pub hook_panics: u64,
    /// The engine's pool for blocking work.
    pub io: IoCounters,
}

/// What one thread of an engine has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ThreadSnapshot {
    /// Its place in the engine, counted from 0.
    pub index: usize,
    /// Its name, as the system shows it.
    pub name: Box<str>,
    /// The CPUs it is to run on.
    pub cpus: CpuSet,
    /// The time that all this is about.
    pub span: Duration,
    /// Tasks that it drives, those about to come or to go included.
    pub tasks: usize,
    /// Tasks that wait for their turn, as of the last few turns, and those called since.
    pub ready: u64,
    /// The most tasks it has met waiting, ever.
    pub ready_max: u64,
    /// Turns that tasks have taken.
    pub turns: u64,
    /// How often it went to sleep.
    pub parks: u64,
    /// How often others had to wake it.
    pub wakes: u64,
    /// Time spent asleep, or looking for something to do. Short looks are estimated.
    pub idle: Duration,
}

/// What one task has done.
///
/// There is no time that a task was busy or idle: turns are short and the clock is not read for
/// each. How busy a *thread* is can be told, [`ThreadSnapshot::utilisation`]; a task's part in it is
/// to be judged by its letters and the longest of them. Nor is a task of an engine ever
/// back-pressured by itself: one that waits for room goes on when its thread gets to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TaskSnapshot {
    /// Its number in the engine, which no other task ever has.
    pub id: u64,
    /// Its name.
    pub name: Box<str>,
    /// Which attempt of that name it is, as it was spawned.
    pub attempt: u32,
    /// Its thread's place in the engine.
    pub thread: usize,
    /// Where it is in its life.
    pub state: TaskState,
    /// The time that all this is about; since it was spawned.
    pub span: Duration,
    /// How long ago it was cancelled, or failed from outside.
    pub ending_for: Option<Duration>,
    /// The description of what it runs, or is about to; `None` where it is idle, or that cannot be
    /// told.
    pub running: Option<Box<str>>,
    /// Ordinary letters that wait in its mailbox; those of its own thread's tasks go another way, and
    /// are not seen here.
    pub depth: u64,
    /// The most letters it has met at once, ever.
    pub depth_max: u64,
    /// Letters run, by [`Kind`].
    pub letters_by_kind: [u64; Kind::COUNT],
    /// Runs of markers.
    pub markers: u64,
    /// Timer callbacks run.
    pub timers: u64,
    /// Calls of the default action.
    pub actions: u64,
    /// Letters, timers and default actions that failed, and failures reported.
    pub failures: u64,
    /// Posts that were refused: full, closed, or late.
    pub rejected: u64,
    /// Time that senders have waited for room, summed over them.
    pub blocked: Duration,
    /// How often a post called it from its rest, by its thread's ready ring.
    pub wakes: u64,
    /// The longest letter that was timed, ever; see
    /// [`Counters::longest_letter`](crate::processor::Counters::longest_letter).
    pub longest_letter: Duration,
    /// Probe letters run; see [`Executor::probe`](crate::processor::Executor::probe).
    pub probes: u64,
    /// How long the last probe was in the mailbox; zero before the first.
    pub in_mailbox_last: Duration,
    /// How long any probe was, at most, ever.
    pub in_mailbox_max: Duration,
}

impl EngineSnapshot {
    pub(super) fn take(hub: &Hub) -> Self {
        Self::take_at(hub, Instant::now())
    }

    /// As at `now` (N2).
    pub(super) fn take_at(hub: &Hub, now: Instant) -> Self {
        let threads = hub.crews.iter().enumerate();
        let threads = threads.map(|(index, crewed)| ThreadSnapshot::take(hub, index, crewed, now));
        let threads = threads.collect();
        let mut tasks = Vec::new();
        let mut after = None;
        loop {
            let part = hub.lives_after(after, PART);
            let Some(last) = part.last() else { break };
            after = Some(last.id);
            tasks.extend(part.iter().map(|life| TaskSnapshot::take(life, now)));
        }
        let (spawned, ended) = {
            let tasks = hub.tasks.lock();
            (tasks.spawned - tasks.refused, tasks.ended)
        };
        Self {
            name: hub.name.clone(),
            span: now.saturating_duration_since(hub.started),
            threads,
            tasks,
            spawned,
            finished: ended.finished,
            canceled: ended.canceled,
            failed: ended.failed,
            hook_panics: hub.hooks.panics.get(),
            io: hub.io.counters(),
        }
    }

    /// What has happened since `earlier`, a snapshot of the same engine: rates and utilisation of the
    /// time between. States, depths and the like are those of this snapshot, and so is what is said
    /// to be the most or the longest ever. Tasks that have ended meanwhile are in neither.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let tasks: BTreeMap<u64, &TaskSnapshot> =
            earlier.tasks.iter().map(|task| (task.id, task)).collect();
        Self {
            name: self.name.clone(),
            span: self.span.saturating_sub(earlier.span),
            threads: self
                .threads
                .iter()
                .map(|thread| match earlier.threads.get(thread.index) {
                    Some(before) => thread.since(before),
                    None => thread.clone(),
                })
                .collect(),
            tasks: self
                .tasks
                .iter()
                .map(|task| match tasks.get(&task.id) {
                    Some(before) => task.since(before),
                    None => task.clone(),
                })
                .collect(),
            spawned: self.spawned.saturating_sub(earlier.spawned),
            finished: self.finished.saturating_sub(earlier.finished),
            canceled: self.canceled.saturating_sub(earlier.canceled),
            failed: self.failed.saturating_sub(earlier.failed),
            hook_panics: self.hook_panics.saturating_sub(earlier.hook_panics),
            io: io_since(&self.io, &earlier.io),
        }
    }
}

fn io_since(later: &IoCounters, earlier: &IoCounters) -> IoCounters {
    IoCounters {
        threads: later.threads,
        queued: later.queued,
        running: later.running,
        threads_refused: later
            .threads_refused
            .saturating_sub(earlier.threads_refused),
        accepted: later.accepted.saturating_sub(earlier.accepted),
        done: later.done.saturating_sub(earlier.done),
        panicked: later.panicked.saturating_sub(earlier.panicked),
        results_dropped: later
            .results_dropped
            .saturating_sub(earlier.results_dropped),
        returned: later.returned.saturating_sub(earlier.returned),
    }
}

impl ThreadSnapshot {
    fn take(hub: &Hub, index: usize, crewed: &Crewed, now: Instant) -> Self {
        let Crewed { port, stats, .. } = crewed;
        let info = &hub.hooks.threads[index];
        let (called, ring) = port.ready();
        let span = now.saturating_duration_since(stats.started);
        let ready = stats.listed.get() + called as u64;
        Self {
            index,
            name: info.name.clone(),
            cpus: info.cpus.clone(),
            span,
            tasks: port.tasks(),
            ready,
            ready_max: stats.listed_max.get().max(ready),
            turns: stats.turns.get(),
            parks: stats.parks.get(),
            wakes: ring.wakes,
            idle: stats.idle(now).min(span),
        }
    }

    /// Time that was not idle.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.span.saturating_sub(self.idle)
    }

    /// The part of the time that was not idle, 0 to 1; 0 of no time.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        if self.span.is_zero() {
            return 0.0;
        }
        self.busy().as_secs_f64() / self.span.as_secs_f64()
    }

    fn since(&self, earlier: &Self) -> Self {
        let span = self.span.saturating_sub(earlier.span);
        Self {
            span,
            turns: self.turns.saturating_sub(earlier.turns),
            parks: self.parks.saturating_sub(earlier.parks),
            wakes: self.wakes.saturating_sub(earlier.wakes),
            idle: self.idle.saturating_sub(earlier.idle).min(span),
            ..self.clone()
        }
    }
}

impl TaskSnapshot {
    fn take(life: &Life, now: Instant) -> Self {
        let remote = life.remote();
        let counters = remote.map_or_else(Counters::default, |remote| remote.counters());
        Self {
            id: life.id,
            name: life.name.clone(),
            attempt: life.attempt,
            thread: life.thread,
            state: life.state(),
            span: now.saturating_duration_since(life.spawned),
            ending_for: life
                .ending_since()
                .map(|since| now.saturating_duration_since(since)),
            running: life.running().map(Into::into),
            depth: remote.map_or(0, |remote| remote.waiting()) as u64,
            depth_max: counters.mailbox.depth_max,
            letters_by_kind: counters.letters_by_kind,
            markers: counters.markers,
            timers: counters.timers,
            actions: counters.actions,
            failures: counters.failures,
            rejected: counters.mailbox.rejected,
            blocked: Duration::from_nanos(counters.mailbox.blocked_ns),
            wakes: counters.mailbox.wakes,
            longest_letter: counters.longest_letter,
            probes: counters.probes,
            in_mailbox_last: counters.in_mailbox_last,
            in_mailbox_max: counters.in_mailbox_max,
        }
    }

    /// Letters of all kinds together.
    #[must_use]
    pub fn letters(&self) -> u64 {
        self.letters_by_kind.iter().sum()
    }

    /// Letters run per second, on average; 0 of no time.
    #[must_use]
    pub fn letters_per_second(&self) -> f64 {
        if self.span.is_zero() {
            return 0.0;
        }
        self.letters() as f64 / self.span.as_secs_f64()
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            span: self.span.saturating_sub(earlier.span),
            letters_by_kind: core::array::from_fn(|kind| {
                self.letters_by_kind[kind].saturating_sub(earlier.letters_by_kind[kind])
            }),
            markers: self.markers.saturating_sub(earlier.markers),
            timers: self.timers.saturating_sub(earlier.timers),
            actions: self.actions.saturating_sub(earlier.actions),
            failures: self.failures.saturating_sub(earlier.failures),
            rejected: self.rejected.saturating_sub(earlier.rejected),
            blocked: self.blocked.saturating_sub(earlier.blocked),
            wakes: self.wakes.saturating_sub(earlier.wakes),
            probes: self.probes.saturating_sub(earlier.probes),
            ..self.clone()
        }
    }
}

//! Snapshots pushed to a recorder of the `metrics` facade, from a side thread.

use super::engine::Engine;
use super::hub_ref::HubRef;
use super::io_pool::IoCounters;
use super::snapshot::{EngineSnapshot, TaskSnapshot, ThreadSnapshot};
use crate::sync::{JoinHandle, Mutex, Parker, PlainArc, spawn_named};
use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, Unit, with_recorder};
use core::fmt;
use core::time::Duration;
use std::io;
use std::time::Instant;

/// Pushes snapshots for as long as it lives; see [`Engine::publish_metrics`].
#[must_use = "dropped, it publishes no more"]
pub struct MetricsPublisher {
    shared: PlainArc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    is_stopped: Mutex<bool>,
    parker: Parker,
}

impl Engine {
    /// Pushes a snapshot to the global recorder of the `metrics` facade, at once, `every` so often, and
    /// a last time when the publisher is dropped, which waits for that. Intervals below 1 ms are that.
    ///
    /// It has a thread of its own, called `name-metrics`, and costs the engine's threads nothing. When
    /// the engine is gone it ends by itself. A recorder that panics is counted among the hooks.
    ///
    /// Counters are totals since the start. All have the label `engine`; a thread's also `thread`, and
    /// a task's `task` and `attempt`, so that tasks of one name and attempt cannot be told apart. Ten
    /// thousand tasks make a hundred thousand series: let the recorder filter.
    ///
    /// | of | counters | gauges |
    /// |---|---|---|
    /// | engine | `mailring_tasks_spawned_total`, `mailring_tasks_ended_total` by `state`, `mailring_hook_panics_total` | `mailring_tasks` |
    /// | its I/O pool | `mailring_io_accepted_total`, `mailring_io_done_total`, `mailring_io_panicked_total`, `mailring_io_results_dropped_total`, `mailring_io_returned_total` | `mailring_io_threads`, `mailring_io_queued`, `mailring_io_running` |
    /// | thread | `mailring_thread_turns_total`, `mailring_thread_parks_total`, `mailring_thread_wakes_total`, `mailring_thread_idle_nanoseconds_total`, `mailring_thread_busy_nanoseconds_total` | `mailring_thread_tasks`, `mailring_thread_ready`, `mailring_thread_ready_max`, `mailring_thread_utilisation` (0 to 1, since the push before) |
    /// | task | `mailring_task_letters_total` by `kind`, `mailring_task_markers_total`, `mailring_task_timers_total`, `mailring_task_actions_total`, `mailring_task_failures_total`, `mailring_task_rejected_total`, `mailring_task_blocked_nanoseconds_total`, `mailring_task_wakes_total` | `mailring_task_depth`, `mailring_task_depth_max`, `mailring_task_longest_letter_seconds` |
    ///
    /// ```
    /// use mailring::task::Engine;
    /// use std::time::Duration;
    ///
    /// let engine = Engine::builder().threads(1).build()?;
    /// let publisher = engine.publish_metrics(Duration::from_secs(10))?;
    /// // The engine works, and somebody's recorder is told.
    /// drop(publisher);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The system's, where it has no thread to give.
    pub fn publish_metrics(&self, every: Duration) -> io::Result<MetricsPublisher> {
        let shared = PlainArc::new(Shared {
            is_stopped: Mutex::new(false),
            parker: Parker::new(),
        });
        let of_thread = PlainArc::clone(&shared);
        let hub = HubRef::new(&self.hub);
        let every = every.max(Duration::from_millis(1));
        let thread = spawn_named(&format!("{}-metrics", self.hub.name), move || {
            publish(&hub, &of_thread, every);
        })?;
        Ok(MetricsPublisher {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for MetricsPublisher {
    fn drop(&mut self) {
        *self.shared.is_stopped.lock() = true;
        self.shared.parker.unpark();
        if let Some(thread) = self.thread.take() {
            let _panic = thread.join();
        }
    }
}

impl fmt::Debug for MetricsPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsPublisher").finish_non_exhaustive()
    }
}

fn publish(hub: &HubRef, shared: &Shared, every: Duration) {
    with_recorder(describe);
    let mut before = None;
    loop {
        // Asked first: the snapshot after it is the last.
        let is_last = *shared.is_stopped.lock();
        {
            let Some(hub) = hub.hub() else { return };
            let snapshot = EngineSnapshot::take(&hub);
            hub.hooks
                .call(|| with_recorder(|recorder| push(recorder, &snapshot, before.as_ref())));
            before = Some(snapshot);
        }
        if is_last {
            return;
        }
        // An end past the end of time is none.
        let next = Instant::now().checked_add(every);
        while !*shared.is_stopped.lock() && next.is_none_or(|next| Instant::now() < next) {
            shared.parker.park(next);
        }
    }
}

const METADATA: Metadata<'static> = Metadata::new("mailring", Level::INFO, Some(module_path!()));

/// Counters and gauges of one thing, with its labels.
struct Of<'a> {
    recorder: &'a dyn Recorder,
    labels: Vec<Label>,
}

impl Of<'_> {
    fn with(&self, name: &'static str, value: &str) -> Self {
        let mut labels = self.labels.clone();
        labels.push(Label::new(name, value.to_owned()));
        Self { labels, ..*self }
    }

    fn key(&self, name: &'static str) -> Key {
        Key::from_parts(name, self.labels.clone())
    }

    fn counter(&self, name: &'static str, value: u64) {
        let counter = self.recorder.register_counter(&self.key(name), &METADATA);
        counter.absolute(value);
    }

    fn nanoseconds(&self, name: &'static str, value: Duration) {
        self.counter(name, u64::try_from(value.as_nanos()).unwrap_or(u64::MAX));
    }

    fn gauge(&self, name: &'static str, value: f64) {
        let gauge = self.recorder.register_gauge(&self.key(name), &METADATA);
        gauge.set(value);
    }
}

fn push(recorder: &dyn Recorder, snapshot: &EngineSnapshot, before: Option<&EngineSnapshot>) {
    let all = Of {
        recorder,
        labels: Vec::new(),
    };
    let engine = all.with("engine", &snapshot.name);
    engine.gauge("mailring_tasks", snapshot.tasks.len() as f64);
    engine.counter("mailring_tasks_spawned_total", snapshot.spawned);
    for (state, tasks) in [
        ("finished", snapshot.finished),
        ("canceled", snapshot.canceled),
        ("failed", snapshot.failed),
    ] {
        let by_state = engine.with("state", state);
        by_state.counter("mailring_tasks_ended_total", tasks);
    }
    engine.counter("mailring_hook_panics_total", snapshot.hook_panics);
    push_io(&engine, &snapshot.io);
    let latest = before.map(|before| snapshot.since(before));
    let latest = latest.as_ref().unwrap_or(snapshot);
    for (thread, latest) in snapshot.threads.iter().zip(&latest.threads) {
        push_thread(&engine, thread, latest.utilisation());
    }
    for task in &snapshot.tasks {
        push_task(&engine, task);
    }
}

fn push_io(engine: &Of<'_>, io: &IoCounters) {
    engine.gauge("mailring_io_threads", io.threads as f64);
    engine.gauge("mailring_io_queued", io.queued as f64);
    engine.gauge("mailring_io_running", io.running as f64);
    engine.counter("mailring_io_accepted_total", io.accepted);
    engine.counter("mailring_io_done_total", io.done);
    engine.counter("mailring_io_panicked_total", io.panicked);
    engine.counter("mailring_io_results_dropped_total", io.results_dropped);
    engine.counter("mailring_io_returned_total", io.returned);
}

fn push_thread(engine: &Of<'_>, thread: &ThreadSnapshot, utilisation: f64) {
    let of = engine.with("thread", &thread.name);
    of.gauge("mailring_thread_tasks", thread.tasks as f64);
    of.gauge("mailring_thread_ready", thread.ready as f64);
    of.gauge("mailring_thread_ready_max", thread.ready_max as f64);
    of.gauge("mailring_thread_utilisation", utilisation);
    of.counter("mailring_thread_turns_total", thread.turns);
    of.counter("mailring_thread_parks_total", thread.parks);
    of.counter("mailring_thread_wakes_total", thread.wakes);
    of.nanoseconds("mailring_thread_idle_nanoseconds_total", thread.idle);
    of.nanoseconds("mailring_thread_busy_nanoseconds_total", thread.busy());
}

fn push_task(engine: &Of<'_>, task: &TaskSnapshot) {
    let of = engine.with("task", &task.name);
    let of = of.with("attempt", &task.attempt.to_string());
    for (kind, letters) in task.letters_by_kind.iter().enumerate() {
        // Most letters have few kinds.
        if *letters > 0 {
            let by_kind = of.with("kind", &kind.to_string());
            by_kind.counter("mailring_task_letters_total", *letters);
        }
    }
    of.counter("mailring_task_markers_total", task.markers);
    of.counter("mailring_task_timers_total", task.timers);
    of.counter("mailring_task_actions_total", task.actions);
    of.counter("mailring_task_failures_total", task.failures);
    of.counter("mailring_task_rejected_total", task.rejected);
    of.counter("mailring_task_wakes_total", task.wakes);
    of.nanoseconds("mailring_task_blocked_nanoseconds_total", task.blocked);
    of.gauge("mailring_task_depth", task.depth as f64);
    of.gauge("mailring_task_depth_max", task.depth_max as f64);
    let longest = task.longest_letter.as_secs_f64();
    of.gauge("mailring_task_longest_letter_seconds", longest);
}

fn describe(recorder: &dyn Recorder) {
    use Unit::{Count, Nanoseconds, Seconds};
    let counters = [
        ("tasks_spawned_total", Count, "Tasks that were spawned"),
        (
            "tasks_ended_total",
            Count,
            "Tasks that have ended, by state",
        ),
        ("hook_panics_total", Count, "Panics of hooks"),
        (
            "io_accepted_total",
            Count,
            "Jobs that the I/O pool has accepted",
        ),
        ("io_done_total", Count, "Jobs that were run"),
        ("io_panicked_total", Count, "Jobs that have panicked"),
        (
            "io_results_dropped_total",
            Count,
            "Results that did not reach their owner",
        ),
        ("io_returned_total", Count, "Jobs that were never started"),
        ("thread_turns_total", Count, "Turns that tasks have taken"),
        (
            "thread_parks_total",
            Count,
            "How often the thread went to sleep",
        ),
        (
            "thread_wakes_total",
            Count,
            "How often others had to wake the thread",
        ),
        (
            "thread_idle_nanoseconds_total",
            Nanoseconds,
            "Time with nothing to do",
        ),
        (
            "thread_busy_nanoseconds_total",
            Nanoseconds,
            "Time with something to do",
        ),
        ("task_letters_total", Count, "Letters run, by kind"),
        ("task_markers_total", Count, "Runs of markers"),
        ("task_timers_total", Count, "Timer callbacks run"),
        ("task_actions_total", Count, "Calls of the default action"),
        (
            "task_failures_total",
            Count,
            "Letters, timers and actions that failed",
        ),
        ("task_rejected_total", Count, "Posts that were refused"),
        (
            "task_wakes_total",
            Count,
            "How often a post called the task from its rest",
        ),
        (
            "task_blocked_nanoseconds_total",
            Nanoseconds,
            "Time that senders waited for room",
        ),
    ];
    for (name, unit, text) in counters {
        recorder.describe_counter(named(name), Some(unit), text.into());
    }
    let gauges = [
        ("tasks", Count, "Tasks that have not ended"),
        ("io_threads", Count, "Threads of the I/O pool"),
        ("io_queued", Count, "Jobs that wait for a thread"),
        ("io_running", Count, "Jobs that run"),
        ("thread_tasks", Count, "Tasks of the thread"),
        ("thread_ready", Count, "Tasks that wait for their turn"),
        (
            "thread_ready_max",
            Count,
            "The most tasks that have waited for their turn",
        ),
        (
            "thread_utilisation",
            Count,
            "Part of the time that was not idle, 0 to 1",
        ),
        ("task_depth", Count, "Letters that wait"),
        ("task_depth_max", Count, "The most letters met at once"),
        (
            "task_longest_letter_seconds",
            Seconds,
            "The longest letter that was timed",
        ),
    ];
    for (name, unit, text) in gauges {
        recorder.describe_gauge(named(name), Some(unit), text.into());
    }
}

fn named(name: &str) -> KeyName {
    format!("mailring_{name}").into()
}

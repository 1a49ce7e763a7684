//! Events of the lives of engines, threads and tasks, for the `tracing` facade; none for a letter.
//!
//! They have the target `mailring`. Those of engines are at level `INFO`, those of threads and tasks at
//! `DEBUG`, and what needs somebody's eye is at `WARN`: a task that fails or goes on when told to end,
//! a thread that is not where it was to be.

use super::engine::EngineWarning;
use super::hooks::{Stuck, TaskEvent, ThreadInfo};
use super::hub::Hub;
use super::shutdown::{Report, Shutdown};
use super::state::TaskState;
use ::tracing::{debug, info, warn};

const TARGET: &str = "mailring";

pub(super) fn engine_started(hub: &Hub, warnings: &[EngineWarning]) {
    let engine = &*hub.name;
    for warning in warnings {
        warn!(target: TARGET, engine, %warning, "engine warning");
    }
    info!(target: TARGET, engine, threads = hub.crews.len(), "engine started");
}

pub(super) fn shutdown_begun(hub: &Hub, shutdown: Shutdown) {
    info!(target: TARGET, engine = &*hub.name, %shutdown, "shutdown begun");
}

pub(super) fn engine_ended(hub: &Hub, report: &Report) {
    let engine = &*hub.name;
    if report.goes_on() {
        warn!(target: TARGET, engine, %report, "engine ended, but not all of it");
    } else {
        info!(target: TARGET, engine, %report, "engine ended");
    }
}

pub(super) fn thread_started(thread: &ThreadInfo) {
    let ThreadInfo {
        name, cpus, pinned, ..
    } = thread;
    debug!(target: TARGET, thread = &**name, %cpus, pinned, "thread started");
}

pub(super) fn thread_stopped(thread: &ThreadInfo) {
    debug!(target: TARGET, thread = &*thread.name, "thread stopped");
}

pub(super) fn task_state(event: &TaskEvent<'_>, thread: &ThreadInfo) {
    let &TaskEvent {
        name: task,
        attempt,
        state,
        outcome,
        ..
    } = event;
    let thread = &*thread.name;
    let Some(outcome) = outcome else {
        debug!(target: TARGET, task, attempt, thread, %state, "task state");
        return;
    };
    let undelivered = outcome.undelivered;
    match &outcome.cause {
        Some(cause) if state == TaskState::Failed => {
            warn!(target: TARGET, task, attempt, thread, %state, undelivered, %cause, "task state");
        }
        _ => debug!(target: TARGET, task, attempt, thread, %state, undelivered, "task state"),
    }
}

pub(super) fn stuck(stuck: &Stuck, thread: &ThreadInfo) {
    let since_ms = u64::try_from(stuck.since.as_millis()).unwrap_or(u64::MAX);
    warn!(
        target: TARGET,
        task = &*stuck.name,
        attempt = stuck.attempt,
        thread = &*thread.name,
        running = stuck.running,
        since_ms,
        "task goes on when told to end"
    );
}

//! The steward: the side thread of an engine, which watches tasks that were told to end, and ends
//! the engine.
//!
//! It sleeps but for that.

use super::hub::Hub;
use super::pin::unpin;
use super::shutdown::{Ending, Report, after};
use crate::sync::{PlainArc, this_thread};
use core::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What there is to do about the shutdown.
enum Todo {
    /// Nothing yet.
    Wait(Option<Instant>),
    /// The time to drain is over.
    CancelAll,
    /// Every task has ended, and the jobs of the I/O pool are still to be run.
    DrainJobs,
    /// Every task has ended, and no more jobs are to be started.
    DropJobs,
    /// All has ended, or was waited for long enough.
    Finish,
}

/// Watches until the engine has ended.
pub(super) fn watch(hub: &PlainArc<Hub>) {
    unpin();
    // Relaxed: asked by a thread of itself.
    hub.steward_thread.store(this_thread().get(), Relaxed);
    loop {
        let now = Instant::now();
        let next_stuck = hub.report_stuck(now);
        let next = match todo(hub, now) {
            Todo::Finish => {
                finish(hub, now);
                return;
            }
            Todo::CancelAll => {
                for life in hub.lives() {
                    hub.cancel(&life);
                }
                continue;
            }
            Todo::DrainJobs => {
                hub.io.drain();
                continue;
            }
            Todo::DropJobs => {
                hub.drop_jobs();
                continue;
            }
            Todo::Wait(next) => next,
        };
        let next = [next_stuck, next].into_iter().flatten().min();
        hub.steward.park(next);
    }
}

fn todo(hub: &Hub, now: Instant) -> Todo {
    let mut ending = hub.ending.lock();
    let Ending::Begun {
        drained_by,
        grace,
        left_by,
        report,
        ..
    } = &mut *ending
    else {
        return Todo::Wait(None);
    };
    // Only now: until the shutdown has begun there may be more.
    let all_ended = hub.tasks.lock().live.is_empty();
    if all_ended && hub.io.has_ended() {
        return Todo::Finish;
    }
    if let Some(deadline) = *drained_by
        && now >= deadline
    {
        *drained_by = None;
        *left_by = Some(after(now, *grace));
        report.timed_out = true;
        return Todo::CancelAll;
    }
    if left_by.is_some_and(|deadline| now >= deadline) {
        return Todo::Finish;
    }
    if all_ended && drained_by.is_some() && !hub.io.is_closed() {
        return Todo::DrainJobs;
    }
    if all_ended && drained_by.is_none() && !hub.io.is_stopped() {
        return Todo::DropJobs;
    }
    Todo::Wait(drained_by.or(*left_by))
}

/// Stops the crews, and tells whoever waits.
fn finish(hub: &Hub, now: Instant) {
    for crew in &hub.crews {
        let _gone = crew.port.send(Box::new(|crew| crew.stop()));
    }
    hub.drop_jobs();
    if !hub.io.has_ended() {
        hub.io.give_up();
    }
    let mut report = hub.report(now);
    if report.stuck.is_empty() {
        for thread in core::mem::take(&mut *hub.threads.lock()) {
            let _panic = thread.join();
        }
        // A task may have been about to hand over what became of it.
        report = hub.report(now);
    }
    #[cfg(feature = "tracing")]
    hub.hooks
        .call(|| super::tracing::engine_ended(hub, &report));
    let before = core::mem::replace(&mut *hub.ending.lock(), Ending::Done(report.clone()));
    if let Ending::Begun { waiting, .. } = before {
        for answer in waiting {
            let _gone = answer.send(Report::clone(&report));
        }
    }
}

//! A job that is looked at on its way.

use super::SUMS;
use crate::report::{Checkpointed, Course, Stretch};
use mailring::checkpoint::{
    CheckpointCause, CheckpointReport, CheckpointStatistics, CheckpointStatus,
};
use mailring::job::JobHandle;
use mailring::stream::CheckpointId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// From one look at a job to the next. More checkpoints than a job remembers do not fit in between.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The same, where something is waited for.
pub(super) const LOOK_SOON: Duration = Duration::from_millis(10);

/// How long until the next look at a job that is watched until then, or until there is what is waited for.
pub(super) fn next_look(until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    left.clamp(LOOK_SOON, LOOK_EVERY)
}

/// The course of a job that has just begun, until its end.
pub(super) fn watch(job: &JobHandle) -> Course {
    let began = Instant::now();
    let began_ms = since_1970_ms();
    let mut course = Course::default();
    let mut checkpoints = BTreeMap::new();
    let (mut looked_ms, mut records) = (0.0, 0);
    for look in 1.. {
        let due = began + LOOK_EVERY * look;
        let has_ended = job.wait_timeout(due.saturating_duration_since(Instant::now()));
        if let Some(checkpoints_of) = job.checkpoints() {
            for report in completed(&checkpoints_of.statistics()) {
                let begun_ms = report.begun_ms as f64 - began_ms;
                checkpoints.insert(report.id, checkpointed(report, begun_ms));
            }
        }
        if has_ended {
            break;
        }
        let now_records = job.snapshot().records_in(SUMS);
        let now_ms = began.elapsed().as_secs_f64() * 1e3;
        course.records.push(Stretch {
            from_ms: looked_ms,
            to_ms: now_ms,
            // A task that did not answer in time is missing in the sum.
            records: now_records.saturating_sub(records),
        });
        (looked_ms, records) = (now_ms, records.max(now_records));
    }
    // The end waits for a last checkpoint, and no record with it.
    while course.records.pop_if(|last| last.records == 0).is_some() {}
    course.checkpoints = checkpoints.into_values().collect();
    course
}

/// Those that are complete, and during which records came.
pub(super) fn completed(
    statistics: &CheckpointStatistics,
) -> impl Iterator<Item = &CheckpointReport> {
    statistics.history.iter().filter(|report| {
        report.status == CheckpointStatus::Completed && report.cause != CheckpointCause::Final
    })
}

/// The last of them, if there is one.
pub(super) fn last_begun(statistics: &CheckpointStatistics) -> Option<CheckpointId> {
    statistics.history.iter().map(|report| report.id).max()
}

fn checkpointed(report: &CheckpointReport, begun_ms: f64) -> Checkpointed {
    let of_subtasks = report.summary();
    let ms = |ns: u64| ns as f64 / 1e6;
    Checkpointed {
        begun_ms: begun_ms.max(0.0),
        duration_ms: ms(report.duration_ns),
        sync_ms: ms(of_subtasks.sync_ns.max()),
        async_ms: ms(of_subtasks.async_ns.max()),
        state_bytes: report.state_bytes,
    }
}

fn since_1970_ms() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64() * 1e3)
}

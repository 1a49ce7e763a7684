//! What the coordinator is told of a job on an engine: that a task has finished, and how the job has ended;
//! and that requests which were answered are on their way no more.

use super::engine;
use super::kit::Shelf;
use super::watchdog::{until, watched};
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStorage, RetentionPolicy,
};
use mailring::job::{Checkpointing, Job, JobHandle};
use mailring::stream::{Discard, FromIter, Generator, StopMode};
use mailring::task::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The next checkpoints do without it.
#[test]
fn a_task_that_has_finished_is_known_to_have() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let settings = CheckpointSettings::manual().tolerable_failures(u32::MAX);
        let job = Job::new("two sources").checkpoints(Checkpointing::new(storage, settings));
        let ended = job.source("ended", FromIter::new(0..3_u64));
        let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
        let open = job.source("open", numbers);
        let job = open.union(ended).named("all").sink("discard", Discard);
        let engine = engine(2);
        let job = job.start(&engine).unwrap();
        let checkpoints = job.checkpoints().unwrap();
        // Its end waits for one that begins behind it, and is known some time later.
        until(|| {
            let without_it = |report: &mailring::checkpoint::CheckpointReport| {
                report.subtasks_awaited == 2 && report.subtasks.len() == 2
            };
            let _outcome = checkpoints.trigger().wait();
            let last = checkpoints.statistics().last_completed;
            last.is_some_and(|last| without_it(&last))
        });
        checkpoints.trigger().wait().unwrap();
        job.stop(StopMode::Drain);
        job.wait().unwrap();
    });
}

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Finished,
    Cancelled,
    Failed,
    Suspended,
}

fn end(job: JobHandle, fails: &AtomicBool, end: End) {
    match end {
        End::Finished => job.stop(StopMode::Drain),
        End::Suspended => job.stop(StopMode::NoDrain),
        End::Cancelled => job.cancel(),
        End::Failed => fails.store(true, Ordering::Relaxed),
    }
    let is_well = matches!(end, End::Finished | End::Suspended);
    assert_eq!(job.wait().is_ok(), is_well, "{end:?}");
}

/// Whether state is left of a job that has ended so.
fn is_kept(engine: &Engine, policy: RetentionPolicy, how: End) -> bool {
    let (shelf, fails) = (Shelf::new(), Arc::<AtomicBool>::default());
    let settings = CheckpointSettings::manual()
        .inline_state_max(0)
        .retention(policy);
    let failing = Arc::clone(&fails);
    let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
    let job = Job::new("numbers")
        .checkpoints(Checkpointing::new(shelf.storage(), settings))
        .source("numbers", numbers)
        .try_map(move |number| match failing.load(Ordering::Relaxed) {
            true => Err("on purpose"),
            false => Ok(number),
        })
        .sink("discard", Discard)
        .start(engine)
        .unwrap();
    let checkpoints = job.checkpoints().unwrap();
    until(|| checkpoints.trigger().wait().is_ok());
    end(job, &fails, how);
    // What was to be deleted is: who waits for the job waits for that.
    shelf.files().iter().any(|file| file.starts_with("chk-"))
}

#[test]
fn what_is_kept_depends_on_how_a_job_on_an_engine_has_ended() {
    watched(|| {
        let engine = engine(1);
        let all = [
            (RetentionPolicy::Never, End::Suspended, true),
            (RetentionPolicy::Never, End::Failed, false),
            (RetentionPolicy::OnFailure, End::Failed, true),
            (RetentionPolicy::OnFailure, End::Cancelled, false),
            (RetentionPolicy::OnCancellation, End::Cancelled, true),
            (RetentionPolicy::OnCancellation, End::Finished, false),
            (RetentionPolicy::Always, End::Finished, true),
        ];
        for (policy, end, expected) in all {
            let is_kept = is_kept(&engine, policy, end);
            assert_eq!(is_kept, expected, "{policy:?} {end:?}");
        }
    });
}

/// Each that is answered makes room for another, whatever the answer is.
#[test]
fn requests_that_are_answered_are_on_their_way_no_more() {
    watched(|| {
        let (feeder, open) = mailring::stream::feed::<u64>(16).unwrap();
        let settings = CheckpointSettings::manual().without_finished_tasks();
        let storage = CheckpointStorage::in_memory();
        let job = Job::new("two sources").checkpoints(Checkpointing::new(storage, settings));
        let ended = job.source("ended", FromIter::new(0..3_u64));
        let all = job.source("open", open).union(ended);
        let job = all.named("all").sink("discard", Discard);
        let engine = engine(1);
        let job = job.start(&engine).unwrap();
        let checkpoints = job.checkpoints().unwrap();
        // None begins any more, once the one has finished.
        until(|| {
            let refused = checkpoints.trigger().wait().err();
            refused.is_some_and(|refused| refused.detail.contains("has finished"))
        });
        for _ in 0..1_100 {
            let refused = checkpoints.trigger().wait().unwrap_err();
            assert_eq!(
                refused.reason,
                CheckpointFailureReason::NotAllRequiredTasksRunning
            );
        }
        feeder.close();
        job.wait().unwrap();
    });
}

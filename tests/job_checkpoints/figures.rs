//! What is told of a job's checkpoints is what happened, by a clock that is moved by hand.

use super::kit::{At, Passing, Stand};
use super::watchdog::watched;
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointCause, CheckpointSettings, CheckpointStatus, CheckpointStorage, SubtaskId,
};
use mailring::job::{Checkpointing, Job};
use mailring::ring::Budget;
use mailring::stream::{Discard, feed};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const MS: u64 = 1_000_000;

#[test]
fn delays_alignment_and_work_are_measured_by_the_jobs_clock() {
    watched(|| {
        let (_left, left) = feed::<u64>(16).unwrap();
        let (_right, right) = feed::<u64>(16).unwrap();
        // The copy takes 2 ms, and its encoding 3 ms.
        let clock: Arc<Mutex<Option<ManualClock>>> = Arc::default();
        let of_passing = Arc::clone(&clock);
        let passing = Passing::new(move |at, _| {
            let ms = match at {
                At::Snapshot => 2,
                At::Encode => 3,
                _ => 0,
            };
            if let Some(clock) = &*of_passing.lock().unwrap() {
                clock.advance(Duration::from_millis(ms));
            }
            Ok(())
        });
        let storage = CheckpointStorage::in_memory();
        let job = Job::new("two")
            .start_time_ms(1_000_000)
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()));
        let right = job.source("right", right);
        let job = job
            .source("left", left)
            .union(right)
            .named("both")
            .transform("passing", move || passing)
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        *clock.lock().unwrap() = Some(stand.clock.clone());
        let names = ["two/left/0", "two/right/0", "two/both/0"];
        let [left, right, both] = names.map(|name| stand.task(name));

        stand.advance_ms(100);
        let mut promise = stand.trigger();
        stand.advance_ms(5);
        stand.step_without(&[right, both]).unwrap();
        stand.step_without(&[right]).unwrap();
        stand.advance_ms(7);
        stand.step_without(&[both]).unwrap();
        stand.step_without(&[]).unwrap();
        let now = stand.statistics();
        let report = now.history.iter().last().unwrap().clone();
        assert_eq!(report.status, CheckpointStatus::InProgress);
        assert_eq!((report.subtasks_awaited, report.subtasks.len()), (3, 0));
        assert_eq!(now.counts.in_progress, 1);
        stand.go_on();

        let summary = promise.try_take().unwrap().unwrap();
        let statistics = stand.statistics();
        let report = statistics.last_completed.unwrap();
        assert_eq!((summary.id, summary.epoch), (report.id, report.epoch));
        assert_eq!(summary.duration_ns, report.duration_ns);
        assert_eq!(report.cause, CheckpointCause::Manual);
        assert_eq!(report.begun_ms, 1_000_100);
        let of = |task: usize| {
            let vertex = task as u32;
            let subtask = SubtaskId { vertex, index: 0 };
            let mut subtasks = report.subtasks.iter();
            subtasks.find(|(of, _)| *of == subtask).unwrap().1
        };
        assert_eq!(of(left).start_delay_ns, 5 * MS);
        assert_eq!(of(right).start_delay_ns, 12 * MS);
        for source in [left, right] {
            assert_eq!((of(source).alignment_ns, of(source).sync_ns), (0, 0));
        }
        let both = of(both);
        assert_eq!(both.start_delay_ns, 5 * MS);
        assert_eq!(both.alignment_ns, 7 * MS);
        assert_eq!((both.sync_ns, both.async_ns), (2 * MS, 3 * MS));
        // A count of records below 128 is a byte.
        assert_eq!(both.state_bytes, 1);
        let all: u64 = report.subtasks.iter().map(|(_, of)| of.state_bytes).sum();
        assert_eq!((report.state_bytes, summary.state_bytes), (all, all));
        // 5 + 7 + 2 + 3.
        assert_eq!(report.acknowledged_ns, Some(17 * MS));
        assert_eq!(report.duration_ns, 17 * MS);
        let summed = statistics.subtasks;
        assert_eq!(summed.alignment_ns.max(), 7 * MS);
        assert_eq!(summed.start_delay_ns.count(), 3);
        assert_eq!(statistics.duration_ns.max(), 17 * MS);
    });
}

#[test]
fn what_is_told_of_a_checkpoint_on_its_way_grows_with_its_answers() {
    watched(|| {
        let (_feeder, numbers) = feed::<u64>(16).unwrap();
        let storage = CheckpointStorage::in_memory();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .forward()
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let _promise = stand.trigger();
        for answers in 0..=2 {
            stand.step_without(&[]).unwrap();
            let report = stand.statistics().history.iter().last().unwrap().clone();
            assert_eq!(report.subtasks.len(), answers);
            assert_eq!(report.acknowledged_ns.is_some(), answers == 2);
            assert_eq!(report.status, CheckpointStatus::InProgress);
            assert!(stand.job.run_beside());
        }
        let _step = stand.job.step_checkpoints(Budget::letters(50)).unwrap();
        let statistics = stand.statistics();
        assert_eq!(statistics.counts.completed, 1);
        let table = statistics.to_string();
        assert!(
            table.starts_with("checkpoints: 1 begun, 0 in progress, 1 completed"),
            "{table}"
        );
    });
}

#[test]
fn a_promise_is_waited_for_within_a_bound_or_as_a_future() {
    watched(|| {
        let (_feeder, numbers) = feed::<u64>(16).unwrap();
        let storage = CheckpointStorage::in_memory();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
            .source("numbers", numbers)
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let promise = stand.trigger();
        let promise = promise.wait_timeout(Duration::ZERO).unwrap_err();
        let mut awaited = stand.trigger();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut awaited).poll(&mut context).is_pending());
        stand.go_on();
        let first = promise.wait_timeout(Duration::ZERO).unwrap().unwrap();
        assert_eq!(first.id.get(), 1);
        // The next one begins when it is complete.
        stand.go_on();
        match Pin::new(&mut awaited).poll(&mut context) {
            Poll::Ready(second) => assert_eq!(second.unwrap().id.get(), 2),
            Poll::Pending => panic!("it is complete"),
        }
        let gone = stand.trigger();
        drop(stand);
        // The job's end has broken it.
        assert!(gone.wait_timeout(Duration::ZERO).unwrap().is_err());
    });
}

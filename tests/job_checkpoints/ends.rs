//! How jobs with checkpoints begin and end: T125, T129, T131, T180, T187.

use super::engine;
use super::kit::{At, Passing, Stand, Visible, asked};
use super::watchdog::watched;
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointFailureReason, CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, JobState};
use mailring::letter::{BoxError, Outcome};
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::{
    CheckpointId, Collect, Discard, FromIter, Generator, OperatorSnapshot, Polled, Record, Setting,
    Source, SourceFactory, StopMode, Stopping, Subtask, feed,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

fn manual() -> CheckpointSettings {
    CheckpointSettings::manual().tolerable_failures(u32::MAX)
}

/// A source that comes to its end, and a task behind it.
fn short(storage: CheckpointStorage, settings: CheckpointSettings) -> Stand {
    let job = Job::new("short")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("one", FromIter::new(0..10_u64))
        .forward()
        .named("two")
        .sink("discard", Discard);
    Stand::new(&job)
}

#[test]
fn t125_tasks_whose_data_has_ended_wait_for_a_last_checkpoint() {
    watched(|| {
        let records = AtomicU32::new(0);
        // The takeover's, and then three that are refused: the last checkpoint fails once.
        let storage = asked(move |file| {
            !file.starts_with("chain/")
                || !(1..4).contains(&records.fetch_add(1, Ordering::Relaxed))
        });
        let mut stand = short(storage, manual());
        stand.step_without(&[]).unwrap();
        // T129: its parts wait to be stored.
        assert_eq!(stand.job.report().records_in("two"), 10);
        assert_eq!(stand.job.state(), JobState::Running);
        stand.go_on();
        assert_eq!(stand.statistics().counts.failed.total(), 1);
        assert_eq!(stand.job.state(), JobState::Running);
        stand.advance_ms(2_000);
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
        let counts = stand.statistics().counts;
        assert_eq!((counts.triggered, counts.completed), (2, 1));
    });
}

#[test]
fn t129_a_task_waits_for_what_is_being_stored_though_it_needs_no_last_checkpoint() {
    watched(|| {
        let settings = manual().without_finished_tasks();
        let mut stand = short(CheckpointStorage::in_memory(), settings);
        for task in 0..2 {
            let _opened = stand.job.step(task, Budget::letters(0)).unwrap();
        }
        let mut promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        assert_eq!(stand.job.report().records_in("two"), 10);
        assert_eq!(stand.job.state(), JobState::Running);
        assert!(promise.try_take().is_none());
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
        assert!(promise.try_take().is_some());
    });
}

/// T187: whatever has come of the checkpoint, its promise is kept and the job ends.
#[test]
fn t187_all_tasks_finish_while_their_answers_are_collected() {
    watched(|| {
        for goes_on in [true, false] {
            let settings = match goes_on {
                true => manual(),
                false => manual().without_finished_tasks(),
            };
            let mut stand = short(CheckpointStorage::in_memory(), settings);
            for task in 0..2 {
                let _opened = stand.job.step(task, Budget::letters(0)).unwrap();
            }
            let mut promise = stand.trigger();
            // Answers come one by one, while tasks do all that they can.
            while !stand.job.is_finished() {
                for task in 0..2 {
                    let _step = stand.job.step(task, Budget::letters(100)).unwrap();
                }
                stand.job.run_beside();
                let _step = stand.job.step_checkpoints(Budget::letters(1)).unwrap();
            }
            assert!(matches!(stand.job.run_until_idle(), Ok(Step::Ended(_))));
            let outcome = promise.try_take().expect("it is kept");
            if goes_on {
                outcome.unwrap();
            }
            assert_eq!(stand.statistics().counts.in_progress, 0);
        }
    });
}

/// Opens only when it is told to.
fn gated() -> (Sender<()>, Passing) {
    let (open, opened) = channel();
    let opened: Mutex<Receiver<()>> = Mutex::new(opened);
    let passing = Passing::new(move |at, _| {
        if at == At::Open {
            // One that is dropped opens all the same.
            let _gone = opened.lock().unwrap().recv();
        }
        Ok(())
    });
    (open, passing)
}

#[test]
fn t131_none_begins_before_all_tasks_run_nor_after_the_job() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let (open, passing) = gated();
        let numbers = Generator::new(|number| number).per_second(100).unwrap();
        let engine = engine(2);
        let job = Job::new("gated")
            .checkpoints(Checkpointing::new(storage, manual()))
            .source("one", numbers)
            .forward()
            .named("two")
            .on_thread(1)
            .transform("passing", move || passing)
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        let early = checkpoints.trigger().wait().unwrap_err();
        assert_eq!(early.id, None);
        assert_eq!(
            early.to_string(),
            "a checkpoint was not begun: not all tasks that take part are running"
        );
        assert_eq!(checkpoints.statistics().counts.in_progress, 0);
        open.send(()).unwrap();
        let first = loop {
            match checkpoints.trigger().wait() {
                Ok(summary) => break summary,
                Err(failure) => assert_eq!(
                    failure.reason,
                    CheckpointFailureReason::NotAllRequiredTasksRunning
                ),
            }
        };
        // Those that were refused have no number.
        assert_eq!(first.id.get(), 1);
        job.stop(StopMode::Drain);
        job.wait().unwrap();
        let late = checkpoints.trigger().wait().unwrap_err();
        assert_eq!(late.reason, CheckpointFailureReason::CoordinatorShutdown);
        let completed = checkpoints.statistics().counts.completed;
        assert_eq!(completed, 2, "the first, and the last");
    });
}

#[test]
fn t131_where_checkpoints_end_with_the_first_task_none_begins_after_it() {
    watched(|| {
        let (feeder, open) = feed::<u64>(16).unwrap();
        let settings = manual().without_finished_tasks();
        let storage = CheckpointStorage::in_memory();
        let job = Job::new("two sources").checkpoints(Checkpointing::new(storage, settings));
        let ended = job.source("ended", FromIter::new(0..3_u64));
        let all = job.source("open", open).union(ended);
        let job = all.named("all").sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let failure = stand.trigger();
        stand.go_on();
        assert_eq!(
            failure.wait().unwrap_err().to_string(),
            "a checkpoint was not begun: not all tasks that take part are running: subtask ended/0 has \
             finished, and no checkpoint is taken once one has"
        );
        feeder.close();
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
    });
}

#[test]
fn t180_none_begins_while_tasks_are_restored() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let out = Collect::new();
        let job = || {
            let job = Job::new("both").checkpoints(Checkpointing::new(storage.clone(), manual()));
            let left = job.source("left", Generator::new(|number| number).count(100));
            let right = job.source("right", Generator::new(|number| number).count(100));
            left.connect(right)
                .map(|left| left, |right| right)
                .sink("collect", out.clone())
        };
        {
            let mut stand = Stand::new(&job());
            for task in 0..3 {
                let _step = stand.job.step(task, Budget::letters(1)).unwrap();
            }
            stand.job.stop(StopMode::NoDrain);
            stand.go_on();
            assert_eq!(stand.job.state(), JobState::Finished);
        }
        let mut job = job().on_this_thread(ManualClock::new()).unwrap();
        // Each task in its turn is open; the last one is not.
        for task in 0..3 {
            let promise = job.trigger_checkpoint().unwrap();
            let failure = promise.wait().unwrap_err();
            assert_eq!(
                failure.reason,
                CheckpointFailureReason::NotAllRequiredTasksRunning
            );
            let _opened = job.step(task, Budget::letters(0)).unwrap();
        }
        let mut promise = job.trigger_checkpoint().unwrap();
        let _ended = job.run_until_idle().unwrap();
        promise.try_take().unwrap().unwrap();
        assert_eq!(job.checkpoint_statistics().unwrap().counts.restored, 1);
    });
}

/// A task whose input is over still puts out barriers: those that found no room come when there is some.
#[test]
fn barriers_of_a_task_that_waits_for_its_last_checkpoint_find_room() {
    watched(|| {
        let (feeder, open) = feed::<u64>(16).unwrap();
        let storage = CheckpointStorage::in_memory();
        let settings = manual().max_concurrent(8);
        let job = Job::new("two sources")
            .channel_capacity(1)
            .checkpoints(Checkpointing::new(storage, settings));
        let ended = job.source("ended", FromIter::new(0..1_u64));
        let all = job.source("open", open).union(ended);
        let job = all.named("all").sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let all = stand.task("two sources/all/0");
        let promises: Vec<_> = (0..8).map(|_| stand.trigger()).collect();
        stand.step_without(&[all]).unwrap();
        assert!(matches!(stand.job.run_until_idle(), Ok(Step::Idle)));
        for mut promise in promises {
            promise.try_take().expect("it is kept").unwrap();
        }
        feeder.close();
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
    });
}

/// A checkpoint that is asked for while a job ends that is to go on later has the states of all tasks, or
/// there is none.
#[test]
fn t122_a_job_that_is_stopped_goes_on_whatever_is_asked_for_meanwhile() {
    watched(|| {
        for asked_after in 0..60 {
            let storage = CheckpointStorage::in_memory();
            let visible = Visible::new();
            let job = || {
                let settings = manual().max_concurrent(3);
                let job = Job::new("numbers")
                    .channel_capacity(2)
                    .checkpoints(Checkpointing::new(storage.clone(), settings));
                let left = job.source("left", Generator::new(|number| number).count(50));
                let right = job.source("right", Generator::new(|number| 50 + number).count(50));
                left.union(right).sink("visible", visible.clone())
            };
            let mut stand = Stand::new(&job());
            for task in 0..3 {
                let _step = stand.job.step(task, Budget::letters(1)).unwrap();
            }
            let mut promises = vec![stand.trigger()];
            stand.job.stop(StopMode::NoDrain);
            // The left source is ahead of the right one all the time.
            let mut steps = 0;
            while !stand.job.is_finished() {
                for task in [0, 0, 0, 2, 1] {
                    let _step = stand.job.step(task, Budget::letters(1)).unwrap();
                    stand.job.run_beside();
                    let _step = stand.job.step_checkpoints(Budget::letters(1)).unwrap();
                    steps += 1;
                    if steps == asked_after {
                        promises.push(stand.trigger());
                    }
                }
            }
            stand.go_on();
            assert_eq!(stand.job.state(), JobState::Finished);
            drop(stand);
            let mut stand = Stand::new(&job());
            stand.go_on();
            stand.advance_ms(Duration::from_secs(2).as_millis() as u64);
            stand.go_on();
            assert_eq!(stand.job.state(), JobState::Finished, "{asked_after}");
            assert!((0..100).eq(visible.sorted()), "{asked_after}");
        }
    });
}

/// Two sources, of which the left one may be ahead, and one task behind both.
fn two_sources(storage: &CheckpointStorage, visible: &Visible<u64>) -> Stand {
    let settings = manual().max_concurrent(3);
    let job = Job::new("numbers")
        .channel_capacity(2)
        .records_per_turn(1)
        .checkpoints(Checkpointing::new(storage.clone(), settings));
    let left = job.source("left", Generator::new(|number| number).count(50));
    let right = job.source("right", Lingering::default());
    let job = left.union(right).named("all");
    Stand::new(&job.sink("visible", visible.clone()))
}

/// The job goes on from what it was stopped at, and each number is visible once.
fn check_that_it_goes_on(storage: &CheckpointStorage, visible: &Visible<u64>) {
    let begun = visible.values().len();
    assert!(begun < 100, "it was stopped in its midst");
    let mut stand = two_sources(storage, visible);
    assert!(matches!(stand.job.run_until_idle(), Ok(Step::Ended(_))));
    assert!((0..100).eq(visible.sorted()));
}

const LETTERS: Budget = Budget::letters(50);

#[test]
fn t122_none_is_completed_without_the_state_of_a_task_that_has_ended_and_goes_on_later() {
    watched(|| {
        let (storage, visible) = (CheckpointStorage::in_memory(), Visible::new());
        let mut stand = two_sources(&storage, &visible);
        let names = ["numbers/left/0", "numbers/right/0", "numbers/all/0"];
        let [left, right, all] = names.map(|name| stand.task(name));
        stand.step_without(&[]).unwrap();
        stand.job.stop(StopMode::NoDrain);
        while stand.statistics().counts.completed == 0 {
            for task in [left, right, all] {
                let _step = stand.job.step(task, LETTERS).unwrap();
            }
            stand.job.run_beside();
            let _step = stand.job.step_checkpoints(LETTERS).unwrap();
        }
        // All are told that it is complete; the left one ends by it.
        while !matches!(stand.job.step(left, LETTERS), Ok(Step::Ended(_))) {}
        let promise = stand.trigger();
        let _step = stand.job.step_checkpoints(LETTERS).unwrap();
        assert_eq!(
            promise.wait().unwrap_err().to_string(),
            "a checkpoint was not begun: not all tasks that take part are running: subtask left/0 is \
             not running but Suspended"
        );
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
        check_that_it_goes_on(&storage, &visible);
    });
}

/// Counts up from 50; one that is to stop has a few left to give.
#[derive(Clone, Default)]
struct Lingering {
    given: u64,
    to: Option<u64>,
}

impl Source for Lingering {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let restored = setting.restored();
        if let Some(bytes) = restored.and_then(|of| of.managed_operator.first()) {
            self.given = postcard::from_bytes(bytes)?;
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Polled<u64>, BoxError> {
        if self.given == self.to.unwrap_or(50) {
            return Ok(Polled::End);
        }
        self.given += 1;
        Ok(Polled::Record(Record::new(49 + self.given)))
    }

    fn stop(&mut self, _mode: StopMode) -> Stopping {
        self.to = Some(self.given + 3);
        Stopping::WhenItEnds
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let given = self.given;
        Ok(OperatorSnapshot::operator(move || {
            Ok(postcard::to_stdvec(&given)?)
        }))
    }
}

impl SourceFactory for Lingering {
    type Out = u64;
    type Source = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

/// The left source takes it behind its end, and the right one ahead of it: the next one needs both.
#[test]
fn t122_one_that_began_before_the_end_of_all_sources_is_not_the_last() {
    watched(|| {
        let (storage, visible) = (CheckpointStorage::in_memory(), Visible::new());
        let mut stand = two_sources(&storage, &visible);
        let names = ["numbers/left/0", "numbers/right/0", "numbers/all/0"];
        let [left, right, all] = names.map(|name| stand.task(name));
        for task in [left, right, all] {
            let _opened = stand.job.step(task, Budget::letters(0)).unwrap();
        }
        stand.job.stop(StopMode::NoDrain);
        let _step = stand.job.step(left, LETTERS).unwrap();
        let mut promise = stand.trigger();
        let _step = stand.job.step_checkpoints(LETTERS).unwrap();
        let _step = stand.job.step(right, Budget::letters(2)).unwrap();
        for _ in 0..4 {
            stand.step_without(&[right]).unwrap();
            while stand.job.run_beside() {}
        }
        promise.try_take().expect("it is kept").unwrap();
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Finished);
        assert_eq!(stand.statistics().counts.completed, 2);
        check_that_it_goes_on(&storage, &visible);
    });
}

//! A job that has ended, whose last attempt still waits for a record.

use super::{Progress, Unanswered};
use crate::checkpoint::{
    CheckpointSettings, CheckpointStorage, CommitChain, CompletedCheckpoint, RestoreFrom, Writers,
};
use crate::job::checkpoints::recovering::RecoveryJob;
use crate::job::checkpoints::starting::describe;
use crate::job::plan::plan;
use crate::job::{Checkpointing, Job, JobState, RestartStrategy};
use crate::stream::{Discard, Generator};
use crate::sync::{ManualClock, Mutex, PlainArc, thread};
use crate::task::Engine;
use crate::wait::{Reply, reply};
use core::time::Duration;
use std::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(1);
/// What a hang is told by.
const LIMIT: Duration = Duration::from_secs(240);

#[test]
fn what_was_given_up_is_not_any_more_when_it_is_answered() {
    let mut storage = Unanswered {
        given_up: 2,
        ..Unanswered::default()
    };
    for is_left in [true, false] {
        assert!(storage.answered(7).is_none());
        assert_eq!(storage.has_given_up(), is_left);
    }
}

#[test]
fn who_waits_for_rest_is_told_when_an_attempt_that_waits_is_given_up() {
    let clock = ManualClock::new();
    let held_up: PlainArc<Mutex<Option<Reply<()>>>> = PlainArc::default();
    let gate = PlainArc::clone(&held_up);
    let storage = CheckpointStorage::in_memory().request_timeout(TIMEOUT);
    // With all state in it, the record is all that is written.
    let storage = storage.driven_by(move |work| {
        let opened = gate.lock().take();
        if let Some(opened) = opened {
            let _opened = opened.wait();
        }
        pollster::block_on(work);
    });
    let engine = Engine::builder().threads(1).clock(clock.clone());
    let engine = engine.build().unwrap();
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    let job = Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
        .restart(RestartStrategy::fixed_delay(1_000, Duration::ZERO))
        .source("numbers", numbers)
        .sink("discard", Discard)
        .start(&engine)
        .unwrap();
    let checkpoints = job.checkpoints().unwrap();
    let until = |holds: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < LIMIT, "hangs: that is not so");
            thread::yield_now();
        }
    };
    // What was asked before has been done by then.
    let has_come_there = || {
        let told = checkpoints.keeper.ask(|_| ()).unwrap();
        told.wait_timeout(LIMIT).unwrap();
    };
    let tell_at_rest = || {
        let (answer, told) = reply();
        let asked = checkpoints.keeper.execute(|of| of.tell_at_rest(answer));
        asked.unwrap();
        told
    };
    until(&|| checkpoints.trigger().wait().is_ok());
    // Nothing else comes by the store then.
    tell_at_rest().wait_timeout(LIMIT).unwrap();
    let (open, opened) = reply::<()>();
    *held_up.lock() = Some(opened);
    let _promise = checkpoints.trigger();
    until(&|| held_up.lock().is_none());
    clock.advance(TIMEOUT);
    until(&|| job.snapshot().restarts == 1);
    job.cancel();
    until(&|| job.snapshot().state == JobState::Canceled);
    has_come_there();
    let mut told = tell_at_rest();
    has_come_there();
    assert!(told.try_take().unwrap().is_none(), "the attempt waits");
    clock.advance(TIMEOUT);
    told.wait_timeout(LIMIT).unwrap();
    assert!(open.send(()).is_ok());
}

/// Also where its last request fails: it does not look whether that is another coordinator's doing.
#[test]
fn u2_a_recovery_that_was_given_up_asks_for_nothing_more() {
    for last in 1.. {
        let storage = CheckpointStorage::in_memory();
        let taken = CommitChain::take_over(&storage, "job", 1, RestoreFrom::Latest);
        let (mut chain, _) = taken.unwrap();
        let checkpoint = CompletedCheckpoint {
            job: "job".into(),
            epoch: chain.epoch(),
            id: chain.next_id(),
            begun_ms: 0,
            options: Default::default(),
            duration_ns: 0,
            max_parallelism: 1,
            vertices: Vec::new(),
            coordinator_states: Vec::new(),
            master_states: Vec::new(),
        };
        chain.commit(checkpoint).unwrap();
        let (progress, asked) = (Progress::default(), PlainArc::new(Mutex::new(0)));
        let (given_up, counted) = (progress.clone(), PlainArc::clone(&asked));
        let storage = storage.driven_by(move |work| {
            let mut asked = counted.lock();
            *asked += 1;
            match *asked == last {
                // The request fails by that.
                true => assert!(given_up.give_up(given_up.steps())),
                false => pollster::block_on(work),
            }
        });
        let checkpointing = Checkpointing::new(storage, CheckpointSettings::manual());
        let job = Job::new("job")
            .checkpoints(checkpointing.clone())
            .source("numbers", Generator::new(|number| number))
            .sink("discard", Discard);
        let blueprint = plan(&job.graph.0.borrow()).unwrap();
        let recovery = RecoveryJob {
            job: PlainArc::new(describe(&blueprint, &checkpointing)),
            checkpointing,
            is_first: false,
            chain: PlainArc::default(),
            writers: Writers::first(),
            progress,
        };
        let _loaded = recovery.run();
        let asked = *asked.lock();
        if asked < last {
            assert!(
                last > 5,
                "a listing of each, the head, the take-over, the state"
            );
            break;
        }
        assert_eq!(asked, last);
    }
}

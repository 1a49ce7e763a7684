//! A keeper that has no room, and one that is no more.

use super::{Keeper, KeeperParts, LastWords};
use crate::checkpoint::{CheckpointSettings, CheckpointStorage, Overtaken, StorageError, Writers};
use crate::job::checkpoints::beside::{Beside, ByHand, Job as Work, Refused};
use crate::job::checkpoints::starting::{describe, no_words};
use crate::job::plan::plan;
use crate::job::{Checkpointing, Job, RestartStrategy, RunError};
use crate::letter::Mail;
use crate::processor::MailboxProcessor;
use crate::ring::Budget;
use crate::stream::{Discard, Generator};
use crate::sync::{Clock as _, ManualClock, Mutex, PlainArc, SetOnce, SharedClock};
use crate::task::Engine;
use crate::wait::reply;
use core::pin::Pin;
use core::task::{Context, Waker};
use core::time::Duration;
use std::task::Wake;

fn endless() -> Job {
    let storage = CheckpointStorage::in_memory();
    let checkpointing = Checkpointing::new(storage, CheckpointSettings::manual());
    Job::new("job")
        .checkpoints(checkpointing)
        .restart(RestartStrategy::fixed_delay(9, Duration::ZERO))
        .source("numbers", Generator::new(|number| number))
        .sink("discard", Discard)
}

/// A pool that has no room at first.
#[derive(Default)]
struct Crowded {
    has_room: Mutex<bool>,
    asked: Mutex<usize>,
}

impl Beside for Crowded {
    fn try_run(&self, job: Work) -> Result<(), Refused> {
        *self.asked.lock() += 1;
        if *self.has_room.lock() {
            job();
            Ok(())
        } else {
            Err(Refused { job, is_full: true })
        }
    }
}

/// A keeper that is stepped, on a manual clock.
fn keeper(
    clock: &ManualClock,
    pool: PlainArc<dyn Beside>,
) -> MailboxProcessor<Keeper, Mail<Keeper>> {
    let shared = SharedClock::new(clock.clone());
    let prepared = MailboxProcessor::<Keeper, Mail<Keeper>>::builder().shared_clock(shared.clone());
    let prepared = prepared.prepare().unwrap();
    prepared.owned_by_this_thread();
    let job = endless();
    let graph = job.graph.0.borrow();
    let checkpointing = graph.settings.checkpointing.clone().unwrap();
    let parts = KeeperParts {
        job: PlainArc::new(describe(&plan(&graph).unwrap(), &checkpointing)),
        checkpointing,
        clock: shared,
        started: clock.now(),
        started_ms: 0,
        fail: Box::new(|_failure| {}),
    };
    let me = prepared.executor();
    let hook_thread = PlainArc::clone(&pool);
    let keeper = Keeper::new(parts, me, pool, hook_thread, no_words());
    prepared.build_with(keeper, crate::processor::NoAction)
}

/// What storage fails for after a later attempt of the job has taken the chain over: whoever has looked knows
/// only of those before.
#[test]
fn a_later_attempt_of_the_job_itself_is_no_other_coordinator() {
    let mut processor = keeper(&ManualClock::new(), PlainArc::new(ByHand::default()));
    processor.with_owner(|keeper| {
        let _first = keeper.recover_here().unwrap();
        let before = keeper.writers.clone().unwrap();
        let second = before.clone().next();
        keeper.writers = Some(second.clone());
        let cause = StorageError::Missing {
            file: "chk-1/0-0".into(),
        };
        let is_fenced = |keeper: &mut Keeper, writer| {
            let by = Overtaken {
                number: 2,
                record: "chain/2".into(),
                writer,
            };
            keeper.overtaken(&by, &cause);
            keeper.coordinator.as_ref().unwrap().is_fenced()
        };
        assert!(!is_fenced(keeper, before.last()));
        assert!(!is_fenced(keeper, second.last()));
        assert!(is_fenced(keeper, Writers::first().last()));
    });
}

#[test]
fn what_a_pool_has_no_room_for_is_tried_again_by_one_timer_and_run_in_order() {
    let clock = ManualClock::new();
    let pool = PlainArc::new(Crowded::default());
    let mut processor = keeper(&clock, pool.clone());
    let done = PlainArc::new(Mutex::new(Vec::new()));
    processor.with_owner(|keeper| {
        for number in 0..5 {
            let done = PlainArc::clone(&done);
            keeper.beside(move || done.lock().push(number), |_keeper, ()| {});
        }
    });
    let asked = || *pool.asked.lock();
    assert_eq!(asked(), 1, "those behind the first do not ask");
    for round in 2..5 {
        clock.advance(Keeper::RETRY_AFTER);
        let _step = processor.step(Budget::letters(100)).unwrap();
        assert_eq!(asked(), round, "the first asks once each time");
    }
    *pool.has_room.lock() = true;
    clock.advance(Keeper::RETRY_AFTER);
    let _step = processor.step(Budget::letters(100)).unwrap();
    assert_eq!(*done.lock(), [0, 1, 2, 3, 4]);
    assert_eq!(processor.with_owner(|keeper| keeper.unanswered), 0);
}

#[test]
fn a_call_of_hooks_that_their_thread_has_no_room_for_is_tried_again() {
    let clock = ManualClock::new();
    let thread = PlainArc::new(Crowded::default());
    let mut processor = keeper(&clock, thread.clone());
    let calls = PlainArc::new(Mutex::new(0));
    let called = PlainArc::clone(&calls);
    let call: Work = Box::new(move || *called.lock() += 1);
    processor.with_owner(|keeper| keeper.submit_hook_call(call));
    for has_room in [false, true, true] {
        *thread.has_room.lock() = has_room;
        clock.advance(Keeper::RETRY_AFTER);
        let _step = processor.step(Budget::letters(100)).unwrap();
        assert_eq!(*calls.lock(), u32::from(has_room));
    }
    assert_eq!(*thread.asked.lock(), 3, "no more than it takes");
}

/// Asks how many requests were refused, when it is called.
struct Asks {
    last_words: LastWords,
    told: SetOnce<u64>,
}

impl Wake for Asks {
    fn wake(self: PlainArc<Self>) {
        let refused = self.last_words.lock().counts.refused.total();
        self.told.set(refused).unwrap();
    }
}

#[test]
fn whoever_is_answered_finds_it_in_what_is_told_without_the_keeper() {
    let mut processor = keeper(&ManualClock::new(), PlainArc::new(Crowded::default()));
    let last_words = processor.with_owner(|keeper| {
        keeper.recover_here().map(drop).unwrap();
        PlainArc::clone(&keeper.statistics)
    });
    let asks = PlainArc::new(Asks {
        last_words,
        told: SetOnce::new(),
    });
    let waker = Waker::from(PlainArc::clone(&asks));
    let (answer, mut promise) = reply();
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut promise).poll(&mut cx).is_pending());
    // No task runs.
    processor.with_owner(|keeper| keeper.trigger(answer));
    assert_eq!(asks.told.get(), Some(&1));
}

#[test]
fn a_job_whose_keeper_is_no_more_has_failed_for_good() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let job = endless().start(&engine).unwrap();
    let keeper = job.checkpoints().unwrap().keeper;
    let panics = |_: &mut Keeper| std::panic::resume_unwind(Box::new("on purpose"));
    keeper.execute(panics).unwrap();
    assert!(job.wait_timeout(Duration::from_secs(60)), "it goes on");
    let RunError::Failed { cause, report, .. } = job.wait().unwrap_err() else {
        panic!("it has failed");
    };
    assert!(
        cause.to_string().contains("ended before the job"),
        "{cause}"
    );
    assert_eq!(report.restarts, 0);
}

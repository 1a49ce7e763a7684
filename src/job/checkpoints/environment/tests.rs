//! A keeper whose mailbox is full, and pools that have no room: what subtasks say gets through, and what users
//! ask is bounded.

use super::TaskEnvironment;
use crate::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStatistics, CheckpointStorage, Decline,
    Epoch, SubtaskEnvironment, SubtaskId, ToCoordinator,
};
use crate::job::checkpoints::beside::{Beside, ByHand, Job as Work, Refused};
use crate::job::checkpoints::handle::JobCheckpoints;
use crate::job::checkpoints::keeper::{Keeper, KeeperParts};
use crate::job::checkpoints::starting::{describe, no_words};
use crate::job::plan::plan;
use crate::job::{Checkpointing, Job};
use crate::letter::Mail;
use crate::processor::{MailboxProcessor, NoAction};
use crate::ring::Budget;
use crate::stream::{CheckpointId, Discard, Generator};
use crate::sync::{Clock as _, ManualClock, Mutex, PlainArc, SetOnce, SharedClock, thread};
use core::sync::atomic::Ordering::Relaxed;

type Processor = MailboxProcessor<Keeper, Mail<Keeper>>;

/// A pool without room, for now or for good.
#[derive(Default)]
struct Full {
    is_closed: bool,
    was_asked: SetOnce<()>,
}

impl Beside for Full {
    fn try_run(&self, job: Work) -> Result<(), Refused> {
        let _again = self.was_asked.set(());
        Err(Refused {
            job,
            is_full: !self.is_closed,
        })
    }
}

/// A keeper that is stepped, with room for so many letters, and what surrounds a subtask.
fn stand(capacity: usize, pool: &PlainArc<dyn Beside>) -> (Processor, TaskEnvironment) {
    let clock = SharedClock::new(ManualClock::new());
    let storage = CheckpointStorage::in_memory();
    let checkpointing = Checkpointing::new(storage.clone(), CheckpointSettings::manual());
    let job = Job::new("job")
        .checkpoints(checkpointing.clone())
        .source("numbers", Generator::new(|number| number))
        .sink("discard", Discard);
    let prepared = MailboxProcessor::builder().shared_clock(clock.clone());
    let prepared = prepared.mailbox(crate::mailbox::Builder::new(capacity));
    let prepared = prepared.prepare().unwrap();
    prepared.owned_by_this_thread();
    let started = clock.now();
    let blueprint = plan(&job.graph.0.borrow()).unwrap();
    let parts = KeeperParts {
        job: PlainArc::new(describe(&blueprint, &checkpointing)),
        checkpointing,
        clock: clock.clone(),
        started,
        started_ms: 0,
        fail: Box::new(|_failure| {}),
    };
    let me = prepared.executor();
    let environment = TaskEnvironment {
        clock,
        started,
        pool: PlainArc::downgrade(pool),
        storage,
        writers: None,
        keeper: me.clone(),
    };
    let beside: PlainArc<dyn Beside> = PlainArc::new(ByHand::default());
    let keeper = Keeper::new(parts, me, PlainArc::clone(&beside), beside, no_words());
    (prepared.build_with(keeper, NoAction), environment)
}

/// What a subtask says of a checkpoint that nobody has begun: it is counted.
fn late() -> ToCoordinator {
    ToCoordinator::Decline(Decline {
        epoch: Epoch(1),
        id: CheckpointId::new(7).unwrap(),
        subtask: SubtaskId {
            vertex: 0,
            index: 0,
        },
        reason: CheckpointFailureReason::AsyncException,
        detail: "".into(),
    })
}

fn heard(processor: &mut Processor) -> u64 {
    processor.with_owner(|keeper| keeper.statistics().counts.ignored.total())
}

fn step(processor: &mut Processor) {
    let _step = processor.step(Budget::letters(100_000)).unwrap();
}

/// A full keeper with a coordinator. Its letters come from another thread: it never waits for itself.
fn full(pool: &PlainArc<dyn Beside>) -> (Processor, TaskEnvironment) {
    let (mut processor, environment) = stand(4, pool);
    processor.with_owner(|keeper| keeper.recover_here().map(drop).unwrap());
    let keeper = environment.keeper.clone();
    let filling = thread::spawn(move || while keeper.try_execute(|_: &mut Keeper| ()).is_ok() {});
    filling.join().unwrap();
    (processor, environment)
}

#[test]
fn what_a_subtask_says_to_a_full_keeper_waits_beside_the_subtask() {
    let by_hand = ByHand::default();
    let pool: PlainArc<dyn Beside> = PlainArc::new(by_hand.clone());
    let (mut processor, environment) = full(&pool);
    // It does not wait: nobody steps the keeper meanwhile.
    let says = thread::spawn(move || environment.respond(late()));
    says.join().unwrap();
    assert_eq!(by_hand.len(), 1);
    step(&mut processor);
    assert_eq!(heard(&mut processor), 0);
    let waits = thread::spawn(move || assert!(by_hand.run_one()));
    waits.join().unwrap();
    step(&mut processor);
    assert_eq!(heard(&mut processor), 1);
}

#[test]
fn what_a_subtask_says_is_not_lost_where_nothing_can_wait_beside_it_either() {
    for is_closed in [false, true] {
        let full_pool = PlainArc::new(Full {
            is_closed,
            ..Full::default()
        });
        let pool: PlainArc<dyn Beside> = full_pool.clone();
        let (mut processor, environment) = full(&pool);
        let says = thread::spawn(move || environment.respond(late()));
        // There is room only when it was found that there is none.
        while full_pool.was_asked.get().is_none() {
            thread::yield_now();
        }
        while !says.is_finished() {
            step(&mut processor);
            thread::yield_now();
        }
        says.join().unwrap();
        step(&mut processor);
        assert_eq!(heard(&mut processor), 1);
    }
}

#[test]
fn a_part_that_there_is_no_room_for_is_refused_and_why() {
    let pool: PlainArc<dyn Beside> = PlainArc::new(Full::default());
    let (_processor, environment) = stand(4, &pool);
    let submit = || environment.submit(Box::new(|| ())).unwrap_err().to_string();
    assert_eq!(submit(), "too many parts wait to be stored");
    drop(pool);
    assert_eq!(submit(), "nothing is stored any more: the job ends");
}

#[test]
fn a_thousand_requests_may_be_on_their_way_and_no_more() {
    let pool: PlainArc<dyn Beside> = PlainArc::new(Full::default());
    let (mut processor, environment) = stand(2 * JobCheckpoints::ASKING_MAX, &pool);
    // Another than the keeper's own, to be told apart.
    let last_words = CheckpointStatistics::new(1);
    let checkpoints = JobCheckpoints {
        keeper: environment.keeper.clone(),
        last_words: PlainArc::new(Mutex::new(last_words.clone())),
        asking: PlainArc::default(),
    };
    let on_their_way = || checkpoints.asking.load(Relaxed);
    // Those that have come there are not on their way any more, nor are those that were refused.
    for _ in 0..2 {
        let (asked, last_words) = (checkpoints.clone(), last_words.clone());
        let asking = thread::spawn(move || {
            let promises = (0..JobCheckpoints::ASKING_MAX).map(|_| asked.trigger());
            let promises: Vec<_> = promises.collect();
            for _ in 0..3 {
                let failure = asked.trigger().try_take().expect("at once").unwrap_err();
                let reason = CheckpointFailureReason::TooManyCheckpointRequests;
                assert_eq!(failure.reason, reason);
                assert_eq!(asked.statistics(), last_words);
            }
            promises
        });
        let promises = asking.join().unwrap();
        assert_eq!(on_their_way(), JobCheckpoints::ASKING_MAX);
        step(&mut processor);
        assert_eq!(on_their_way(), 0);
        for mut promise in promises {
            let failure = promise.try_take().expect("it was asked").unwrap_err();
            // There is no coordinator.
            let reason = CheckpointFailureReason::NotAllRequiredTasksRunning;
            assert_eq!(failure.reason, reason);
        }
    }
    // Asked while the keeper does nothing, what was written down last is told; the question is still there.
    let asked = checkpoints.clone();
    let told = thread::spawn(move || asked.statistics()).join().unwrap();
    assert_eq!(told, last_words);
    assert_eq!(on_their_way(), 1);
    step(&mut processor);
    assert_eq!(on_their_way(), 0);
}

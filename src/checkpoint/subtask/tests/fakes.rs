//! What is around a subtask's coordinator: a task and an environment that write down what they are
//! asked for.

use super::super::coordinator::{SubtaskCheckpointCoordinator, SubtaskOptions};
use super::super::environment::{EncodedOperator, SubtaskEnvironment};
use super::super::error::CheckpointError;
use super::{barrier, id};
use crate::checkpoint::{
    CheckpointBarrierHandler, CheckpointBarrierTracker, Epoch, OperatorSubtaskState,
    SingleCheckpointBarrierHandler, StateHandle, SubtaskId, SubtaskState, ToCoordinator,
};
use crate::letter::{BoxError, Outcome};
use crate::stream::{
    ChainSnapshot, ChannelId, CheckpointBarrier, CheckpointId, CheckpointNotice, Checkpointed,
    Event, OperatorSnapshot, Participant,
};
use crate::sync::{Mutex, PlainArc};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::task::Wake;

/// What happened, in order.
#[derive(Clone, Default)]
pub(super) struct Log(PlainArc<Mutex<Vec<String>>>);

impl Log {
    pub(super) fn add(&self, what: impl Into<String>) {
        self.0.lock().push(what.into());
    }

    /// Takes what happened.
    pub(super) fn take(&self) -> Vec<String> {
        core::mem::take(&mut *self.0.lock())
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Wake for Log {
    fn wake(self: PlainArc<Self>) {
        self.add("wake");
    }
}

pub(super) const SUBTASK: SubtaskId = SubtaskId {
    vertex: 3,
    index: 1,
};

pub(super) const EPOCH: Epoch = Epoch(7);

/// What becomes of state that is to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Storage {
    /// It is stored.
    #[default]
    Works,
    /// Storing fails, and says nothing of its own.
    Fails,
    /// Storing fails, and says what the checkpoint is declined as.
    FailsBy(CheckpointError),
    Panics,
    /// Nobody stores anything.
    Refuses,
}

type Job = Box<dyn FnOnce() + Send>;

/// Writes down what it is asked for; what is to be run is run by hand.
pub(super) struct FakeEnvironment {
    pub(super) log: Log,
    jobs: Mutex<VecDeque<Job>>,
    now_ns: Mutex<u64>,
    /// How much later it is after each look at the clock.
    tick_ns: Mutex<u64>,
    storage: Mutex<Storage>,
    on_store: Mutex<Option<Job>>,
    on_answer: Mutex<Option<Job>>,
    told: Mutex<Vec<ToCoordinator>>,
    stored: Mutex<Vec<(CheckpointId, Vec<EncodedOperator>)>>,
}

impl FakeEnvironment {
    pub(super) fn new(log: &Log) -> PlainArc<Self> {
        PlainArc::new(Self {
            log: log.clone(),
            jobs: Mutex::new(VecDeque::new()),
            now_ns: Mutex::new(0),
            tick_ns: Mutex::new(0),
            storage: Mutex::new(Storage::Works),
            on_store: Mutex::new(None),
            on_answer: Mutex::new(None),
            told: Mutex::new(Vec::new()),
            stored: Mutex::new(Vec::new()),
        })
    }

    pub(super) fn set_storage(&self, storage: Storage) {
        *self.storage.lock() = storage;
    }

    /// Has `act` called when something is to be stored next.
    pub(super) fn on_store(&self, act: impl FnOnce() + Send + 'static) {
        *self.on_store.lock() = Some(Box::new(act));
    }

    /// Takes back what was to be called then, if it was not.
    pub(super) fn take_on_store(&self) -> Option<Job> {
        self.on_store.lock().take()
    }

    /// Has `act` called before the coordinator is told something next.
    pub(super) fn on_answer(&self, act: impl FnOnce() + Send + 'static) {
        *self.on_answer.lock() = Some(Box::new(act));
    }

    pub(super) fn set_now_ns(&self, now_ns: u64) {
        *self.now_ns.lock() = now_ns;
    }

    pub(super) fn set_tick_ns(&self, tick_ns: u64) {
        *self.tick_ns.lock() = tick_ns;
    }

    /// Takes a part that waits to be run.
    pub(super) fn take_job(&self, place: usize) -> Option<Job> {
        self.jobs.lock().remove(place)
    }

    /// Runs all parts that wait.
    pub(super) fn run_jobs(&self) {
        while let Some(job) = self.take_job(0) {
            job();
        }
    }

    /// Takes what the coordinator was told.
    pub(super) fn take_told(&self) -> Vec<ToCoordinator> {
        core::mem::take(&mut *self.told.lock())
    }

    /// Takes what was stored.
    pub(super) fn take_stored(&self) -> Vec<(CheckpointId, Vec<EncodedOperator>)> {
        core::mem::take(&mut *self.stored.lock())
    }
}

/// What the handles of stored bytes say.
fn handle(bytes: Option<Vec<u8>>) -> Option<StateHandle> {
    bytes.map(StateHandle::Inline)
}

impl SubtaskEnvironment for FakeEnvironment {
    fn now_ns(&self) -> u64 {
        let mut now_ns = self.now_ns.lock();
        let then_ns = *now_ns + *self.tick_ns.lock();
        core::mem::replace(&mut *now_ns, then_ns)
    }

    fn submit(&self, job: Job) -> Result<(), BoxError> {
        if *self.storage.lock() == Storage::Refuses {
            return Err("nobody stores anything".into());
        }
        self.log.add("submit");
        self.jobs.lock().push_back(job);
        Ok(())
    }

    fn store(
        &self,
        epoch: Epoch,
        id: CheckpointId,
        subtask: SubtaskId,
        operators: Vec<EncodedOperator>,
    ) -> Result<SubtaskState, BoxError> {
        assert_eq!((epoch, subtask), (EPOCH, SUBTASK));
        let act = self.on_store.lock().take();
        if let Some(act) = act {
            act();
        }
        let storage = self.storage.lock().clone();
        match storage {
            Storage::Works | Storage::Refuses => {}
            Storage::Fails => return Err("the disk is full".into()),
            Storage::FailsBy(error) => return Err(error.into()),
            Storage::Panics => panic!("the storage panics on purpose"),
        }
        self.log.add(format!("store {id}"));
        self.stored.lock().push((id, operators.clone()));
        let operators = operators.into_iter().map(|operator| {
            let state = OperatorSubtaskState {
                managed_keyed: handle(operator.managed_keyed),
                raw_keyed: handle(operator.raw_keyed),
                managed_operator: handle(operator.managed_operator),
                raw_operator: handle(operator.raw_operator),
            };
            (operator.name, state)
        });
        Ok(SubtaskState {
            operators: operators.collect(),
        })
    }

    fn discard(&self, _state: SubtaskState) {
        self.log.add("discard");
    }

    fn respond(&self, message: ToCoordinator) {
        let act = self.on_answer.lock().take();
        if let Some(act) = act {
            act();
        }
        match &message {
            ToCoordinator::Acknowledge(ack) => {
                assert_eq!((ack.epoch, ack.subtask), (EPOCH, SUBTASK));
                self.log.add(format!("ack {}", ack.id));
            }
            ToCoordinator::Decline(decline) => {
                assert_eq!((decline.epoch, decline.subtask), (EPOCH, SUBTASK));
                self.log
                    .add(format!("decline {}: {:?}", decline.id, decline.reason));
            }
        }
        self.told.lock().push(message);
    }

    fn data_ended(&self, epoch: Epoch, subtask: SubtaskId) {
        assert_eq!((epoch, subtask), (EPOCH, SUBTASK));
        self.log.add("data ended");
    }
}

/// What a fake task fails at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailsAt {
    Nothing,
    Prepare,
    Broadcast,
    Snapshot,
    Notify,
}

/// A task that writes down what is done to it.
pub(super) struct FakeTask {
    pub(super) log: Log,
    pub(super) channels: Vec<u32>,
    pub(super) is_over: bool,
    pub(super) is_restored_finished: bool,
    pub(super) have_operators_finished: bool,
    pub(super) is_induced: bool,
    pub(super) fails_at: FailsAt,
    /// What its two operators' states hold; none without it.
    pub(super) state: Option<PlainArc<Vec<u8>>>,
    /// The barrier that went out last.
    pub(super) barrier: Option<CheckpointBarrier>,
}

impl FakeTask {
    fn at(&self, step: FailsAt, what: String) -> Outcome {
        self.log.add(what);
        if self.fails_at == step {
            return Err(format!("{step:?} fails on purpose").into());
        }
        Ok(())
    }

    fn state(&self) -> OperatorSnapshot {
        self.state
            .clone()
            .map_or_else(OperatorSnapshot::stateless, |state| {
                OperatorSnapshot::operator(move || Ok(state.to_vec()))
            })
    }
}

impl Checkpointed for FakeTask {
    fn channels(&self) -> Vec<u32> {
        self.channels.clone()
    }

    fn elements(&self) -> u64 {
        0
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn is_restored_finished(&self) -> bool {
        self.is_restored_finished
    }

    fn have_operators_finished(&self) -> bool {
        self.have_operators_finished
    }

    fn is_induced(&self) -> bool {
        self.is_induced
    }

    fn waker(&self) -> Waker {
        Waker::from(PlainArc::new(self.log.clone()))
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.at(FailsAt::Prepare, format!("prepare {id}"))
    }

    fn broadcast(&mut self, event: Event) -> Outcome {
        let what = match event {
            Event::Barrier(barrier) => {
                self.barrier = Some(barrier);
                format!("barrier {}", barrier.id)
            }
            Event::CancelBarrier(id) => format!("cancel {id}"),
            Event::EndOfData(_) | Event::EndOfPartition => panic!("none of its business"),
        };
        self.at(FailsAt::Broadcast, what)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<ChainSnapshot, BoxError> {
        let _head = self.state();
        self.at(FailsAt::Snapshot, format!("snapshot {id}"))?;
        Ok(vec![("head", self.state()), ("tail", self.state())])
    }

    fn notify(&mut self, notice: CheckpointNotice) -> Outcome {
        let what = match notice {
            CheckpointNotice::Complete(id) => format!("complete {id}"),
            CheckpointNotice::Aborted { id, .. } => format!("aborted {id}"),
            CheckpointNotice::Subsumed(id) => format!("subsumed {id}"),
        };
        self.at(FailsAt::Notify, what)
    }

    fn resume_consumption(&mut self, from: ChannelId) -> Outcome {
        self.log.add(format!("resume {}", from.channel));
        Ok(())
    }
}

/// A subtask's coordinator and what is around it.
pub(super) struct Rig {
    pub(super) log: Log,
    pub(super) environment: PlainArc<FakeEnvironment>,
    pub(super) task: FakeTask,
    pub(super) coordinator: SubtaskCheckpointCoordinator,
}

impl Rig {
    /// A source.
    pub(super) fn source() -> Self {
        Self::new(|_| {}, |_| {})
    }

    /// A source that places checkpoints itself.
    pub(super) fn induced() -> Self {
        Self::new(|task| task.is_induced = true, |_| {})
    }

    /// A task with a gate of so many channels.
    pub(super) fn with_channels(channels: u32) -> Self {
        Self::new(|task| task.channels = vec![channels], |_| {})
    }

    /// The same, by whose channels records may count twice.
    pub(super) fn tracking(channels: u32) -> Self {
        let mut rig = Self::with_channels(channels);
        let tracker = CheckpointBarrierTracker::new(&rig.task.channels);
        let around = PlainArc::clone(&rig.environment);
        let handler = Some(Box::new(tracker) as Box<dyn CheckpointBarrierHandler>);
        rig.coordinator = SubtaskCheckpointCoordinator::new(options(), around, handler, &rig.task);
        rig
    }

    pub(super) fn new(
        change_task: impl FnOnce(&mut FakeTask),
        change_options: impl FnOnce(&mut SubtaskOptions),
    ) -> Self {
        let log = Log::default();
        let environment = FakeEnvironment::new(&log);
        let mut task = FakeTask {
            log: log.clone(),
            channels: Vec::new(),
            is_over: false,
            is_restored_finished: false,
            have_operators_finished: false,
            is_induced: false,
            fails_at: FailsAt::Nothing,
            state: None,
            barrier: None,
        };
        change_task(&mut task);
        let mut options = options();
        change_options(&mut options);
        let handler = (!task.channels.is_empty()).then(|| {
            let handler = SingleCheckpointBarrierHandler::new(&task.channels);
            Box::new(handler) as Box<dyn CheckpointBarrierHandler>
        });
        let around = PlainArc::clone(&environment);
        let coordinator = SubtaskCheckpointCoordinator::new(options, around, handler, &task);
        Self {
            log,
            environment,
            task,
            coordinator,
        }
    }

    /// Takes what happened.
    pub(super) fn take(&self) -> Vec<String> {
        self.log.take()
    }

    pub(super) fn trigger(&mut self, number: u64) -> Outcome {
        self.coordinator.trigger(barrier(number), &mut self.task)
    }

    /// As `trigger`, after all sources have come to their end.
    pub(super) fn trigger_final(&mut self, number: u64) -> Outcome {
        let mut barrier = barrier(number);
        barrier.options.is_final = true;
        self.coordinator.trigger(barrier, &mut self.task)
    }

    pub(super) fn event(&mut self, event: Event, channel: u32) -> Outcome {
        let from = ChannelId { gate: 0, channel };
        self.coordinator.event(event, from, &mut self.task)
    }

    pub(super) fn barrier(&mut self, number: u64, channel: u32) {
        self.event(Event::Barrier(barrier(number)), channel)
            .expect("works");
    }

    pub(super) fn cancel(&mut self, number: u64, channel: u32) {
        self.event(Event::CancelBarrier(id(number)), channel)
            .expect("works");
    }

    pub(super) fn end(&mut self, channel: u32) {
        self.event(Event::EndOfPartition, channel).expect("works");
    }

    pub(super) fn placed(&mut self, number: u64) {
        self.coordinator
            .placed(id(number), &mut self.task)
            .expect("works");
    }

    pub(super) fn notify(&mut self, notice: CheckpointNotice) -> Outcome {
        self.coordinator.notify(notice, &mut self.task)
    }

    pub(super) fn complete(&mut self, number: u64) {
        self.notify(CheckpointNotice::Complete(id(number)))
            .expect("works");
    }

    /// Checkpoint `number` is aborted; the latest completed is `latest`, 0 for none.
    pub(super) fn abort(&mut self, number: u64, latest: u64) {
        let notice = CheckpointNotice::Aborted {
            id: id(number),
            latest_completed: CheckpointId::new(latest),
        };
        self.notify(notice).expect("works");
    }

    /// The data ends; the operators have finished where it was drained.
    pub(super) fn end_data(&mut self, drained: bool) {
        self.task.have_operators_finished = drained;
        self.coordinator.data_ended(&mut self.task).expect("works");
    }

    /// Whether the task may end.
    pub(super) fn may_leave(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.coordinator.poll_leave(&mut cx) == Poll::Ready(())
    }
}

pub(super) fn options() -> SubtaskOptions {
    SubtaskOptions {
        epoch: EPOCH,
        subtask: SUBTASK,
        restored: None,
        waits_for_final: true,
    }
}

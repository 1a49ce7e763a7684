//! Whole tasks on the test's own thread: a source or channels, a chain that writes down what it is
//! given, and letters, all in the test's hand.

use super::chain::Plan;
use super::fakes::{FakeEnvironment, Log, options};
use super::{barrier, id};
use crate::checkpoint::{
    CheckpointBarrierHandler, SingleCheckpointBarrierHandler, SubtaskCheckpointCoordinator,
};
use crate::letter::{BoxError, Mail};
use crate::mailbox::MarkerOptions;
use crate::processor::{Executor, Failure, MailboxProcessor, Step};
use crate::ring::{Budget, spsc};
use crate::stream::{
    Body, CheckpointId, CheckpointNotice, Checkpointed, Deployment, EdgeId, Element, Event,
    InputGate, LinkFactory, OneInput, Origin, Pace, Participant, ProcessInput, Record,
    RestoredOperator, RestoredSubtask, SourceBody, SourceFactory, StopMode, StreamTask, Subtask,
    TaskParts,
};
use crate::sync::{Clock as _, ManualClock, PlainArc, SetOnce};

/// A task, and all that is around it.
pub(super) struct Stand {
    pub(super) log: Log,
    pub(super) environment: PlainArc<FakeEnvironment>,
    pub(super) executor: Executor<StreamTask>,
    pub(super) senders: Vec<spsc::Staging<Element<u64>>>,
    pub(super) clock: ManualClock,
    processor: MailboxProcessor<StreamTask, Mail<StreamTask>, ProcessInput>,
}

/// How a task is set up.
pub(super) struct SetUp {
    pub(super) log: Log,
    /// How many records are processed between two looks at the letters.
    pub(super) look: usize,
    pub(super) waits_for_final: bool,
    pub(super) restored: Option<RestoredSubtask>,
    /// Is set as soon as there is a task.
    pub(super) executor: PlainArc<SetOnce<Executor<StreamTask>>>,
}

type BuildBody = Box<dyn FnOnce(&mut Deployment) -> Result<Box<dyn Body>, BoxError> + Send>;

impl SetUp {
    pub(super) fn new() -> Self {
        Self {
            log: Log::default(),
            look: 1,
            waits_for_final: true,
            restored: None,
            executor: PlainArc::new(SetOnce::new()),
        }
    }

    pub(super) fn look(self, look: usize) -> Self {
        Self { look, ..self }
    }

    /// It waits for no checkpoint at its end.
    pub(super) fn waiting_for_none(self) -> Self {
        Self {
            waits_for_final: false,
            ..self
        }
    }

    /// It is restored from what operators of a checkpoint have stored.
    pub(super) fn restored(self, operators: Vec<Vec<u8>>, is_finished: bool) -> Self {
        let operators = operators.into_iter().map(|bytes| RestoredOperator {
            managed_operator: vec![bytes.into()],
            ..RestoredOperator::default()
        });
        let restored = RestoredSubtask {
            checkpoint: id(1),
            operators: operators.collect(),
            is_finished,
        };
        Self {
            restored: Some(restored),
            ..self
        }
    }

    pub(super) fn plan(&self, name: &'static str) -> Plan {
        Plan::new(&self.log, name)
    }

    /// A task whose one gate has so many channels, and the other ends of these.
    pub(super) fn channels(self, channels: usize, chain: impl LinkFactory<u64>) -> Stand {
        let ends = (0..channels).map(|_| spsc::bounded(64).expect("small"));
        let (producers, consumers): (Vec<_>, Vec<_>) = ends.unzip();
        let build: BuildBody = Box::new(|deployment| {
            let link = chain.build(deployment)?;
            let channels = deployment.take_input::<u64>(EdgeId(0));
            Ok(Box::new(OneInput::new(InputGate::new(channels), link)))
        });
        let mut stand = self.task(build, |deployment| {
            deployment.add_input(EdgeId(0), consumers)
        });
        stand.senders = producers.into_iter().map(spsc::Staging::new).collect();
        stand
    }

    /// A task with a source.
    pub(super) fn source<F: SourceFactory<Out = u64>>(
        self,
        sources: F,
        chain: impl LinkFactory<u64>,
    ) -> Stand {
        let build: BuildBody = Box::new(|deployment| {
            let link = chain.build(deployment)?;
            let source = sources.create(deployment.subtask())?;
            Ok(Box::new(SourceBody::new(
                source,
                link,
                deployment.subtask(),
            )))
        });
        self.task(build, |_| {})
    }

    fn task(self, build: BuildBody, add_ends: impl FnOnce(&mut Deployment)) -> Stand {
        let clock = ManualClock::new();
        let origin = Origin {
            at: clock.now(),
            at_ms: 0,
        };
        let builder = MailboxProcessor::<StreamTask>::builder().clock(clock.clone());
        let mut prepared = builder.prepare().expect("small");
        prepared.owned_by_this_thread();
        let executor = prepared.executor();
        let _first = self.executor.set(executor.clone());
        let parts = TaskParts::new(executor.clone(), |name, action| {
            prepared.marker_with(name, MarkerOptions::new(), action)
        });
        let pace = Pace {
            records_per_look: Some(self.look),
            ..Pace::default()
        };
        let mut deployment = Deployment::new(Subtask::alone("job", "vertex"), pace);
        add_ends(&mut deployment);
        let environment = FakeEnvironment::new(&self.log);
        let mut options = options();
        options.waits_for_final = self.waits_for_final;
        options.restored = self.restored.as_ref().map(|restored| restored.checkpoint);
        if let Some(restored) = self.restored {
            deployment.restore(restored);
        }
        let around = PlainArc::clone(&environment);
        deployment.take_part(Box::new(move |task: &mut dyn Checkpointed| {
            let channels = task.channels();
            let handler = (!channels.is_empty()).then(|| {
                let handler = SingleCheckpointBarrierHandler::new(&channels);
                Box::new(handler) as Box<dyn CheckpointBarrierHandler>
            });
            let part = SubtaskCheckpointCoordinator::new(options, around, handler, task);
            Box::new(part) as Box<dyn Participant>
        }));
        let parts = parts.expect("two markers");
        let task = StreamTask::new(parts, deployment, origin, build, Box::new(|_| {}));
        Stand {
            log: self.log,
            environment,
            executor,
            senders: Vec::new(),
            clock,
            processor: prepared.build_with(task.expect("opens"), ProcessInput),
        }
    }
}

impl Stand {
    /// Takes what happened.
    pub(super) fn take(&self) -> Vec<String> {
        self.log.take()
    }

    /// Puts an element where the task sees it; whether there was room.
    pub(super) fn try_send(&mut self, channel: usize, element: Element<u64>) -> bool {
        let sender = &mut self.senders[channel];
        let has_room = sender.try_stage(element).is_ok();
        sender.publish().expect("somebody takes it");
        has_room
    }

    pub(super) fn send(&mut self, channel: usize, element: Element<u64>) {
        assert!(self.try_send(channel, element), "there is room");
    }

    /// Ends a channel's data, and it.
    pub(super) fn end(&mut self, channel: usize) {
        self.send(channel, Element::Event(Event::EndOfData(StopMode::Drain)));
        self.send(channel, Element::Event(Event::EndOfPartition));
    }

    /// Posts the task a letter that it is to begin a checkpoint.
    pub(super) fn trigger(&self, number: u64) {
        let trigger = move |task: &mut StreamTask| task.trigger_checkpoint(barrier(number));
        self.executor.try_execute(trigger).expect("there is room");
    }

    /// Posts the task a notice, as the coordinator does.
    pub(super) fn notify(&self, notice: CheckpointNotice) {
        let notify = move |task: &mut StreamTask| task.notify_checkpoint(notice);
        self.executor
            .try_execute_urgent(notify)
            .expect("there is room");
    }

    /// Posts the task a letter that is written down when it is run; whether there was room.
    pub(super) fn letter(&self, name: &'static str, is_urgent: bool) -> bool {
        let log = self.log.clone();
        let act = move |_: &mut StreamTask| log.add(name);
        let posted = match is_urgent {
            true => self.executor.try_execute_urgent(act),
            false => self.executor.try_execute(act),
        };
        posted.is_ok()
    }

    /// Runs one letter, or calls the default action once.
    pub(super) fn step(&mut self) {
        let _step = self.processor.step(Budget::letters(1)).expect("works");
    }

    /// Runs the task until it has nothing to do.
    pub(super) fn run(&mut self) {
        let _step = self.run_to();
    }

    /// Runs the task until it has nothing to do; whether it has ended.
    pub(super) fn run_to(&mut self) -> Step {
        self.try_run().expect("works")
    }

    pub(super) fn try_run(&mut self) -> Result<Step, Failure> {
        self.processor.run_until_idle()
    }

    /// The state of an operator of the checkpoint that was stored last.
    pub(super) fn stored(&self, operator: usize) -> (CheckpointId, Vec<u8>) {
        let mut stored = self.environment.take_stored();
        let (id, operators) = stored.pop().expect("something was stored");
        let state = operators[operator].managed_operator.clone();
        (id, state.expect("it has state"))
    }
}

pub(super) fn record(value: u64) -> Element<u64> {
    Element::Record(Record::new(value))
}

pub(super) fn barrier_of(number: u64) -> Element<u64> {
    Element::Event(Event::Barrier(barrier(number)))
}

//! Whole tasks on the test's own thread, and a chain that tells what it was given.

use crate::letter::{BoxError, Mail, Outcome};
use crate::mailbox::MarkerOptions;
use crate::processor::{Executor, Failure, MailboxProcessor, Step};
use crate::ring::Budget;
use crate::stream::body::Body;
use crate::stream::report::Reports;
use crate::stream::task::{ProcessInput, StreamTask, TaskParts};
use crate::stream::{
    ChainSnapshot, CheckpointId, CheckpointNotice, Deployment, Event, InputSelection,
    LatencyMarker, Link, Origin, Output, Pace, Readiness, Record, RestoredSubtask, Setting,
    StopMode, Subtask, TwoInputOperator, Watermark, WatermarkStatus,
};
use crate::sync::{Clock as _, ManualClock};
use core::cell::{Cell, RefCell};
use core::task::{Context, Poll, Waker};
use std::rc::Rc;

/// What a chain was given, and what else happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Record(u64),
    Watermark(i64),
    Status(WatermarkStatus),
    EndInput(usize),
    Finish,
    Event(Event),
    Letter,
    Close,
}

impl Seen {
    pub(super) const END_DRAINED: Self = Self::Event(Event::EndOfData(StopMode::Drain));
    pub(super) const END_NOT_DRAINED: Self = Self::Event(Event::EndOfData(StopMode::NoDrain));
    pub(super) const END_OF_PARTITION: Self = Self::Event(Event::EndOfPartition);
}

/// What a test and its chain share.
#[derive(Clone)]
pub(super) struct Stage(Rc<Shared>);

/// Called with the value of each record.
type OnRecord = Box<dyn FnMut(u64) -> Outcome>;

struct Shared {
    seen: RefCell<Vec<Seen>>,
    /// How many more records there is room for.
    room: Cell<usize>,
    room_waker: RefCell<Option<Waker>>,
    on_record: RefCell<Option<OnRecord>>,
    on_flush: RefCell<Option<Box<dyn FnOnce()>>>,
    selection: Cell<InputSelection>,
    executor: RefCell<Option<Executor<StreamTask>>>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self(Rc::new(Shared {
            seen: RefCell::default(),
            room: Cell::new(usize::MAX),
            room_waker: RefCell::default(),
            on_record: RefCell::default(),
            on_flush: RefCell::default(),
            selection: Cell::new(InputSelection::ALL),
            executor: RefCell::default(),
        }))
    }

    pub(super) fn note(&self, seen: Seen) {
        self.0.seen.borrow_mut().push(seen);
    }

    /// Takes what was seen.
    pub(super) fn take(&self) -> Vec<Seen> {
        core::mem::take(&mut *self.0.seen.borrow_mut())
    }

    /// Takes the values of the records that were seen.
    pub(super) fn take_records(&self) -> Vec<u64> {
        let values = self.take().into_iter().filter_map(|seen| match seen {
            Seen::Record(value) => Some(value),
            _ => None,
        });
        values.collect()
    }

    pub(super) fn select(&self, selection: InputSelection) {
        self.0.selection.set(selection);
    }

    /// Has `act` called with the value of each record.
    pub(super) fn on_record(&self, act: impl FnMut(u64) -> Outcome + 'static) {
        *self.0.on_record.borrow_mut() = Some(Box::new(act));
    }

    /// Has `act` called at the next flush.
    pub(super) fn on_flush(&self, act: impl FnOnce() + 'static) {
        *self.0.on_flush.borrow_mut() = Some(Box::new(act));
    }

    /// Leaves room for so many more records, and tells who waits.
    pub(super) fn leave_room_for(&self, records: usize) {
        self.0.room.set(records);
        if let Some(waker) = self.0.room_waker.take() {
            waker.wake();
        }
    }

    /// Posts the task a letter that is seen when it is run.
    pub(super) fn post_letter(&self) {
        // What a letter carries goes to any thread, and what this one writes to does not.
        thread_local! {
            static STAGES: RefCell<Vec<Stage>> = const { RefCell::new(Vec::new()) };
        }
        STAGES.with_borrow_mut(|stages| stages.insert(0, self.clone()));
        let executor = self.0.executor.borrow();
        let executor = executor.as_ref().expect("the task is there");
        let note = |_: &mut StreamTask| {
            let stage = STAGES.with_borrow_mut(Vec::pop).expect("one for each");
            stage.note(Seen::Letter);
        };
        executor.execute(note).expect("there is room");
    }
}

/// The end of a chain.
pub(super) struct Probe(pub(super) Stage);

impl Output<u64> for Probe {
    fn record(&mut self, record: Record<u64>) -> Outcome {
        let Shared {
            room, on_record, ..
        } = &*self.0.0;
        room.set(room.get().saturating_sub(1));
        self.0.note(Seen::Record(record.value));
        match &mut *on_record.borrow_mut() {
            Some(act) => act(record.value),
            None => Ok(()),
        }
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.0.note(Seen::Watermark(watermark.0));
        Ok(())
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.0.note(Seen::Status(status));
        Ok(())
    }

    fn latency(&mut self, _marker: LatencyMarker) -> Outcome {
        Ok(())
    }

    fn readiness(&self) -> Readiness {
        match self.0.0.room.get() {
            0 => Readiness::NoRoom,
            _ => Readiness::Ready,
        }
    }
}

impl Link<u64> for Probe {
    fn open(&mut self, _setting: &Setting) -> Outcome {
        Ok(())
    }

    fn operators(&self) -> usize {
        1
    }

    fn advance(&mut self) -> Outcome {
        Ok(())
    }

    fn processing_time(&mut self, _operator: usize, _now_ms: i64) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, _operator: usize) -> Outcome {
        self.0.note(Seen::Finish);
        Ok(())
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.0.note(Seen::Event(event));
        Ok(())
    }

    fn flush(&mut self) {
        let act = self.0.0.on_flush.take();
        if let Some(act) = act {
            act();
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.readiness().is_ready() {
            return Poll::Ready(());
        }
        *self.0.0.room_waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    fn snapshot(&mut self, _id: CheckpointId, _into: &mut ChainSnapshot) -> Outcome {
        Ok(())
    }

    fn notify(&mut self, _notice: CheckpointNotice, _failed: &mut Outcome) {}

    fn close(&mut self, _failed: &mut Outcome) {
        self.0.note(Seen::Close);
    }

    fn report(&self, _reports: &mut Reports) {}
}

/// Passes left values on as they are, and right ones with 100 added.
pub(super) struct Beside(pub(super) Stage);

impl TwoInputOperator<u64, u64> for Beside {
    type Out = u64;

    fn process_left(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn process_right(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record.map(|value| 100 + value))
    }

    fn end_input(&mut self, input: usize, _out: &mut impl Output<u64>) -> Outcome {
        self.0.note(Seen::EndInput(input));
        Ok(())
    }

    fn selection(&self) -> InputSelection {
        self.0.0.selection.get()
    }
}

/// A whole task.
pub(super) struct Rig {
    processor: MailboxProcessor<StreamTask, Mail<StreamTask>, ProcessInput>,
}

impl Rig {
    /// A task with this body that looks at its letters after each record.
    pub(super) fn new(stage: &Stage, body: impl Body + 'static) -> Self {
        Self::with_look(stage, body, 1)
    }

    /// A task that looks at its letters after so many records.
    pub(super) fn with_look(stage: &Stage, body: impl Body + 'static, records: usize) -> Self {
        Self::restored(stage, body, records, None)
    }

    /// A task whose operators had finished in the checkpoint that it is restored from.
    pub(super) fn restored_finished(stage: &Stage, body: impl Body + 'static) -> Self {
        let restored = RestoredSubtask {
            checkpoint: CheckpointId::new(1).expect("not 0"),
            operators: Vec::new(),
            is_finished: true,
        };
        Self::restored(stage, body, 1, Some(restored))
    }

    fn restored(
        stage: &Stage,
        body: impl Body + 'static,
        records: usize,
        restored: Option<RestoredSubtask>,
    ) -> Self {
        // What builds a body goes to any thread, and this one does not.
        thread_local! {
            static BODY: RefCell<Option<Box<dyn Body>>> = const { RefCell::new(None) };
        }
        BODY.set(Some(Box::new(body)));
        let build = |_: &mut Deployment| -> Result<Box<dyn Body>, BoxError> {
            Ok(BODY.take().expect("the one that was just put there"))
        };
        let clock = ManualClock::new();
        let origin = Origin {
            at: clock.now(),
            at_ms: 0,
        };
        let builder = MailboxProcessor::<StreamTask>::builder().clock(clock);
        let mut prepared = builder.prepare().expect("small");
        prepared.owned_by_this_thread();
        let executor = prepared.executor();
        *stage.0.executor.borrow_mut() = Some(executor.clone());
        let parts = TaskParts::new(executor, |name, action| {
            prepared.marker_with(name, MarkerOptions::new(), action)
        });
        let pace = Pace {
            records_per_look: Some(records),
            ..Pace::default()
        };
        let mut deployment = Deployment::new(Subtask::alone("job", "vertex"), pace);
        if let Some(restored) = restored {
            deployment.restore(restored);
        }
        let parts = parts.expect("two markers");
        let task = StreamTask::new(parts, deployment, origin, Box::new(build), Box::new(|_| {}));
        Self {
            processor: prepared.build_with(task.expect("opens"), ProcessInput),
        }
    }

    /// Runs one letter, or calls the default action once.
    pub(super) fn step(&mut self) -> Result<Step, Failure> {
        self.processor.step(Budget::letters(1))
    }

    /// Runs the task until it has nothing to do.
    pub(super) fn run(&mut self) -> Result<Step, Failure> {
        self.processor.run_until_idle()
    }

    /// Whether nobody has anything for it to do.
    pub(super) fn is_idle(&self) -> bool {
        self.processor.is_idle()
    }
}

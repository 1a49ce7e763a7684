//! The operators, sources and sinks of the jobs under test, with state: what they do with records is said
//! beside the tests of jobs without checkpoints.

#[path = "../job_steps/parts.rs"]
#[allow(dead_code, reason = "each test crate takes what it needs")]
mod plain;

pub(crate) use plain::{AtHome, Both, Buffer, Callers, FailsAt, Fault, Line};

use crate::item::Item;
use crate::ledger::{Ledger, Place};
use crate::world::{self, Step};
use mailring::checkpoint::TwoPhaseCommit;
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, CheckpointNotice, Operator, OperatorSnapshot, Output, Polled, Progress,
    Readiness, Record, Setting, Sink, SinkFactory, Source, SourceFactory, Subtask, Watermark,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// State that is encoded beside the task, where that may fail.
fn state(value: impl Serialize + Send + 'static) -> OperatorSnapshot {
    OperatorSnapshot::operator(move || {
        world::meets(Step::Encode)?;
        Ok(postcard::to_stdvec(&value)?)
    })
}

fn restored<T: DeserializeOwned>(setting: &Setting) -> Result<Option<T>, BoxError> {
    let bytes = setting.restored();
    let bytes = bytes.and_then(|restored| restored.managed_operator.first());
    Ok(bytes.map(|bytes| postcard::from_bytes(bytes)).transpose()?)
}

/// Passes all on, and counts it.
pub(crate) struct Probe {
    inner: plain::Probe,
    place: Place,
    passed: u64,
}

impl Probe {
    pub(crate) fn new(
        ledger: &Ledger,
        operator: u32,
        is_head: bool,
        is_in_time: bool,
        fault: Option<(u32, Fault)>,
    ) -> Self {
        Self {
            inner: plain::Probe::new(ledger, operator, is_head, is_in_time, fault),
            place: ledger.place(operator),
            passed: 0,
        }
    }
}

impl Operator<Item> for Probe {
    type Out = Item;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.passed = restored(setting)?.unwrap_or(0);
        self.inner.open(setting)
    }

    fn process(&mut self, record: Record<Item>, out: &mut impl Output<Item>) -> Outcome {
        self.passed += 1;
        self.inner.process(record, out)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<Item>,
    ) -> Result<Progress, BoxError> {
        self.inner.watermark(watermark, out)
    }

    fn end_input(&mut self, input: usize, out: &mut impl Output<Item>) -> Outcome {
        self.inner.end_input(input, out)
    }

    fn finish(&mut self, out: &mut impl Output<Item>) -> Outcome {
        self.inner.finish(out)
    }

    fn prepare_snapshot_pre_barrier(
        &mut self,
        _id: CheckpointId,
        _out: &mut impl Output<Item>,
    ) -> Outcome {
        world::meets(Step::Prepare)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        world::meets(Step::Snapshot)?;
        world::with(|world| world.takes(self.place, id, self.passed));
        Ok(state(self.passed))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        world::meets(Step::Notice)?;
        if let CheckpointNotice::Complete(id) = notice {
            world::with(|world| world.completes(id));
        }
        Ok(())
    }

    fn close(&mut self) -> Outcome {
        self.inner.close()
    }
}

/// Sources that do what is written, for each subtask, and go on from where they were.
#[derive(Clone)]
pub(crate) struct Scripts {
    pub(crate) ledger: Ledger,
    pub(crate) lines: Arc<Vec<Vec<Line>>>,
    pub(crate) callers: Callers,
    pub(crate) emitted: Arc<Mutex<Vec<Item>>>,
}

impl SourceFactory for Scripts {
    type Out = Item;
    type Source = Script;

    fn create(self, subtask: &Subtask) -> Result<Script, BoxError> {
        Ok(Script {
            place: self.ledger.place(0),
            lines: self.lines[subtask.index as usize].len(),
            scripts: self,
            opened: None,
        })
    }
}

pub(crate) struct Script {
    scripts: Scripts,
    place: Place,
    /// How many there are.
    lines: usize,
    opened: Option<plain::Script>,
}

impl Script {
    fn opened(&mut self) -> Result<&mut plain::Script, BoxError> {
        self.opened.as_mut().ok_or("it is not open".into())
    }

    /// How many lines it has done; one that is waited at is done.
    fn position(&mut self) -> Result<usize, BoxError> {
        let left = self.opened()?.lines.len();
        let position = self.lines - left;
        let place = (self.place.vertex, self.place.subtask);
        world::with(|world| world.comes_to(place, position));
        Ok(position)
    }
}

impl Source for Script {
    type Out = Item;

    fn open(&mut self, setting: &Setting) -> Outcome {
        if setting.is_restored_finished() {
            return Ok(());
        }
        let position: u64 = restored(setting)?.unwrap_or(0);
        let mut lines = (*self.scripts.lines).clone();
        lines[setting.subtask().index as usize].drain(..position as usize);
        let scripts = plain::Scripts {
            ledger: self.scripts.ledger.clone(),
            lines: Arc::new(lines),
            callers: self.scripts.callers.clone(),
            emitted: Arc::clone(&self.scripts.emitted),
        };
        let opened = self.opened.insert(scripts.create(setting.subtask())?);
        opened.open(setting)?;
        self.position()?;
        Ok(())
    }

    fn poll(&mut self) -> Result<Polled<Item>, BoxError> {
        let polled = self.opened()?.poll()?;
        self.position()?;
        Ok(polled)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        world::meets(Step::Snapshot)?;
        let position = self.position()? as u64;
        world::with(|world| world.takes(self.place, id, position));
        Ok(state(position))
    }

    fn notify_checkpoint(&mut self, _notice: CheckpointNotice) -> Outcome {
        world::meets(Step::Notice)
    }

    fn close(&mut self) -> Outcome {
        match &mut self.opened {
            Some(opened) => opened.close(),
            None => Ok(()),
        }
    }
}

/// Sinks that take a rest now and then, and make visible what a completed checkpoint covers.
#[derive(Clone)]
pub(crate) struct Slow {
    pub(crate) ledger: Ledger,
    pub(crate) operator: u32,
    pub(crate) callers: Callers,
    pub(crate) rests_after: usize,
    pub(crate) kept: Arc<Mutex<Vec<Item>>>,
}

impl SinkFactory<Item> for Slow {
    type Sink = SlowSink;

    fn create(self, subtask: &Subtask) -> Result<SlowSink, BoxError> {
        let inner = plain::Slow {
            ledger: self.ledger,
            operator: self.operator,
            callers: self.callers,
            rests_after: self.rests_after,
            kept: Arc::clone(&self.kept),
        };
        Ok(SlowSink {
            inner: inner.create(subtask)?,
            arrived: self.kept,
            transactions: TwoPhaseCommit::new(),
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Transaction {
    number: u64,
    items: Vec<Item>,
}

impl Transaction {
    fn begin() -> Self {
        Self {
            number: world::with(world::World::next_transaction),
            items: Vec::new(),
        }
    }

    fn commit(&self) -> Outcome {
        world::with(|world| world.commit(self.number, &self.items));
        Ok(())
    }
}

pub(crate) struct SlowSink {
    inner: plain::SlowSink,
    /// Where the inner one puts what comes.
    arrived: Arc<Mutex<Vec<Item>>>,
    transactions: TwoPhaseCommit<Transaction>,
}

impl SlowSink {
    fn complete(&mut self, id: CheckpointId) -> Outcome {
        self.transactions.complete(id, Transaction::commit)
    }
}

impl Sink<Item> for SlowSink {
    fn open(&mut self, setting: &Setting) -> Outcome {
        if let (Some(id), Some(pre_committed)) = (
            setting.restored_checkpoint(),
            restored::<Vec<Transaction>>(setting)?,
        ) {
            self.transactions = TwoPhaseCommit::restored(id, pre_committed);
            self.complete(id)?;
        }
        self.inner.open(setting)
    }

    fn record(&mut self, record: Record<Item>) -> Outcome {
        self.inner.record(record)?;
        if self.transactions.pending() == 0 {
            self.transactions.begin(Transaction::begin());
        }
        let mut arrived = self.arrived.lock().unwrap();
        if let Some(transaction) = self.transactions.current() {
            transaction.items.append(&mut arrived);
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.inner.watermark(watermark)
    }

    fn finish(&mut self) -> Outcome {
        self.inner.finish()
    }

    fn prepare_snapshot_pre_barrier(&mut self, _id: CheckpointId) -> Outcome {
        world::meets(Step::Prepare)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        world::meets(Step::Snapshot)?;
        self.transactions.pre_commit(id, Ok::<_, BoxError>)?;
        let transactions: Vec<_> = self.transactions.pre_committed().cloned().collect();
        Ok(state(transactions))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        world::meets(Step::Notice)?;
        match notice {
            CheckpointNotice::Complete(id)
            | CheckpointNotice::Aborted {
                latest_completed: Some(id),
                ..
            } => self.complete(id),
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> Outcome {
        self.inner.close()
    }

    fn readiness(&self) -> Readiness {
        self.inner.readiness()
    }
}

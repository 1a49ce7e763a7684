//! The operators, sources and sinks of the jobs under test: they write down their lives, and fail where
//! they are told to.

use crate::item::Item;
use crate::ledger::{Ledger, Place, Seen};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    FiredTimer, KeyedContext, KeyedProcessFunction, KeyedStates, Operator, Output, Polled,
    Progress, Readiness, Record, Setting, Sink, SinkFactory, Source, SourceFactory, Subtask,
    TwoInputOperator, ValueState, Watermark, WatermarkStatus,
};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Waker;

thread_local! {
    /// How many operators this thread is inside of.
    pub(crate) static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// At which call an operator fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailsAt {
    Open,
    Record(u32),
    Finish,
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: FailsAt,
    pub(crate) panics: bool,
}

impl Fault {
    pub(crate) fn strike(self) -> Outcome {
        if self.panics {
            // Without the panic hook, which would print thousands of backtraces.
            std::panic::resume_unwind(Box::new("as planned"));
        }
        Err("as planned".into())
    }
}

/// Writes down the life of one operator.
struct Witness {
    ledger: Ledger,
    place: Place,
    fault: Option<Fault>,
    records: u32,
}

impl Witness {
    fn new(ledger: &Ledger, operator: u32, fault: Option<(u32, Fault)>) -> Self {
        let place = ledger.place(operator);
        ledger.write(place, Seen::Made);
        Self {
            ledger: ledger.clone(),
            place,
            fault: fault
                .filter(|(subtask, _)| *subtask == place.subtask)
                .map(|(_, fault)| fault),
            records: 0,
        }
    }

    fn meets(&mut self, at: FailsAt) -> Outcome {
        match self.fault {
            Some(fault) if fault.at == at => {
                self.fault = None;
                fault.strike()
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self) -> Outcome {
        self.meets(FailsAt::Open)?;
        self.ledger.write(self.place, Seen::Opened);
        Ok(())
    }

    fn record(&mut self) -> Outcome {
        self.ledger.write(self.place, Seen::Record);
        self.records += 1;
        self.meets(FailsAt::Record(self.records))
    }

    fn finish(&mut self) -> Outcome {
        self.ledger.write(self.place, Seen::Finished);
        self.meets(FailsAt::Finish)
    }

    fn close(&mut self) -> Outcome {
        self.ledger.write(self.place, Seen::Closed);
        self.meets(FailsAt::Close)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.ledger.write(self.place, Seen::Dropped);
    }
}

/// Passes all on, and looks at it.
pub(crate) struct Probe {
    witness: Witness,
    /// It is the first of its chain.
    is_head: bool,
    /// No record is late.
    is_in_time: bool,
    watermark: Watermark,
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
            witness: Witness::new(ledger, operator, fault),
            is_head,
            is_in_time,
            watermark: Watermark::MIN,
        }
    }
}

impl Operator<Item> for Probe {
    type Out = Item;

    fn open(&mut self, _setting: &Setting) -> Outcome {
        self.witness.open()
    }

    fn process(&mut self, record: Record<Item>, out: &mut impl Output<Item>) -> Outcome {
        self.witness.record()?;
        let place = self.witness.place;
        if let Some(at_ms) = record.timestamp_ms()
            && self.is_in_time
            && at_ms <= self.watermark.0
        {
            let watermark = self.watermark;
            let late = format!("{place:?} has {record:?} behind {watermark:?}");
            self.witness.ledger.wrong(late);
        }
        let is_head = self.is_head;
        INSIDE.set(INSIDE.get() + 1);
        let passed = out.record(record.map(|mut item| {
            if is_head {
                item.way.push((place.vertex, place.subtask));
            }
            item
        }));
        INSIDE.set(INSIDE.get() - 1);
        passed
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<Item>,
    ) -> Result<Progress, BoxError> {
        let Witness { ledger, place, .. } = &self.witness;
        ledger.write(*place, Seen::Watermark);
        if watermark <= self.watermark {
            let before = self.watermark;
            ledger.wrong(format!("{place:?} has {watermark:?} after {before:?}"));
        }
        self.watermark = watermark;
        out.watermark(watermark)?;
        Ok(Progress::Done)
    }

    fn end_input(&mut self, _input: usize, _out: &mut impl Output<Item>) -> Outcome {
        let Witness { ledger, place, .. } = &self.witness;
        ledger.write(*place, Seen::EndOfInput);
        if self.watermark != Watermark::MAX {
            let watermark = self.watermark;
            ledger.wrong(format!("{place:?} is drained at {watermark:?}"));
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut impl Output<Item>) -> Outcome {
        self.witness.finish()
    }

    fn close(&mut self) -> Outcome {
        self.witness.close()
    }
}

/// Passes on what comes of a key, where that key is at home.
pub(crate) struct AtHome;

impl KeyedProcessFunction<u32, Item> for AtHome {
    type Out = Item;

    fn process(
        &mut self,
        record: Record<Item>,
        cx: &mut KeyedContext<'_, u32>,
        out: &mut impl Output<Item>,
    ) -> Outcome {
        assert_eq!(**cx.key(), record.value.key);
        out.record(record)
    }
}

/// Passes on what comes of two streams.
pub(crate) struct Both;

impl TwoInputOperator<Item, Item> for Both {
    type Out = Item;

    fn process_left(&mut self, record: Record<Item>, out: &mut impl Output<Item>) -> Outcome {
        out.record(record)
    }

    fn process_right(&mut self, record: Record<Item>, out: &mut impl Output<Item>) -> Outcome {
        out.record(record)
    }
}

/// Holds back what comes of a key, and gives how many and their sum when a timer is due, of either kind.
pub(crate) struct Buffer {
    held: ValueState<u32, (u32, i64)>,
}

impl Buffer {
    pub(crate) fn new(states: &mut KeyedStates<u32>) -> Result<Self, BoxError> {
        Ok(Self {
            held: states.value("held")?,
        })
    }
}

impl KeyedProcessFunction<u32, Item> for Buffer {
    type Out = Item;

    fn process(
        &mut self,
        record: Record<Item>,
        cx: &mut KeyedContext<'_, u32>,
        _out: &mut impl Output<Item>,
    ) -> Outcome {
        let item = record.value;
        {
            let mut held = self.held.get_or_default(cx.key());
            *held = (held.0 + 1, held.1 + item.value);
        }
        cx.register_event_time_timer(item.at_ms + 10);
        if item.value % 2 == 0 {
            let at_ms = cx.now_ms() + 4;
            cx.register_processing_time_timer(at_ms);
        }
        Ok(())
    }

    fn on_timer(
        &mut self,
        _timer: FiredTimer,
        cx: &mut KeyedContext<'_, u32>,
        out: &mut impl Output<Item>,
    ) -> Outcome {
        match self.held.remove(cx.key()) {
            Some((count, sum)) => out.record(Record::new(Item::new(**cx.key(), sum, count))),
            None => Ok(()),
        }
    }
}

/// What a source does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Record(Item),
    Watermark(i64),
    Status(WatermarkStatus),
    /// Nothing for so many milliseconds.
    Wait(i64),
    /// Nothing until somebody calls.
    Call,
}

/// Those who wait to be called from outside.
#[derive(Clone, Default)]
pub(crate) struct Callers(Arc<Mutex<Vec<Caller>>>);

/// Who waits, and whether they were called.
type Caller = (Arc<AtomicBool>, Waker);

impl Callers {
    fn wait(&self, waker: Waker) -> Arc<AtomicBool> {
        let called = Arc::new(AtomicBool::new(false));
        let mut waiting = self.0.lock().unwrap();
        waiting.push((Arc::clone(&called), waker));
        called
    }

    /// Calls one of them, if there is any.
    pub(crate) fn call(&self, pick: impl FnOnce(usize) -> usize) {
        let mut waiting = self.0.lock().unwrap();
        if !waiting.is_empty() {
            let index = pick(waiting.len());
            let (called, waker) = waiting.swap_remove(index);
            called.store(true, Relaxed);
            waker.wake();
        }
    }
}

/// What a source or a sink waits for.
enum Until {
    Time(i64),
    Call(Arc<AtomicBool>),
}

impl Until {
    fn is_over(&self, setting: &Setting) -> bool {
        match self {
            Self::Time(at_ms) => setting.now_ms() >= *at_ms,
            Self::Call(called) => called.load(Relaxed),
        }
    }
}

/// Sources that do what is written, for each subtask.
#[derive(Clone)]
pub(crate) struct Scripts {
    pub(crate) ledger: Ledger,
    pub(crate) lines: Arc<Vec<Vec<Line>>>,
    pub(crate) callers: Callers,
    /// What has come out of them.
    pub(crate) emitted: Arc<Mutex<Vec<Item>>>,
}

impl SourceFactory for Scripts {
    type Out = Item;
    type Source = Script;

    fn create(self, subtask: &Subtask) -> Result<Script, BoxError> {
        Ok(Script {
            witness: Witness::new(&self.ledger, 0, None),
            lines: self.lines[subtask.index as usize].clone().into(),
            callers: self.callers,
            emitted: self.emitted,
            setting: None,
            until: None,
        })
    }
}

pub(crate) struct Script {
    witness: Witness,
    pub(crate) lines: VecDeque<Line>,
    callers: Callers,
    emitted: Arc<Mutex<Vec<Item>>>,
    setting: Option<Setting>,
    until: Option<Until>,
}

impl Source for Script {
    type Out = Item;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        self.witness.open()
    }

    fn poll(&mut self) -> Result<Polled<Item>, BoxError> {
        let setting = self.setting.as_ref().ok_or("polled before it is opened")?;
        loop {
            if let Some(until) = &self.until {
                if !until.is_over(setting) {
                    return Ok(Polled::Pending);
                }
                self.until = None;
            }
            return Ok(match self.lines.pop_front() {
                None => Polled::End,
                Some(Line::Record(item)) => {
                    self.emitted.lock().unwrap().push(item.clone());
                    let at_ms = item.at_ms;
                    Polled::Record(Record::at(item, at_ms))
                }
                Some(Line::Watermark(at_ms)) => Polled::Watermark(Watermark(at_ms)),
                Some(Line::Status(status)) => Polled::Status(status),
                Some(Line::Wait(ms)) => {
                    let at_ms = setting.now_ms() + ms;
                    setting.wake_at(at_ms);
                    self.until = Some(Until::Time(at_ms));
                    continue;
                }
                Some(Line::Call) => {
                    self.until = Some(Until::Call(self.callers.wait(setting.waker())));
                    continue;
                }
            });
        }
    }

    fn close(&mut self) -> Outcome {
        self.witness.close()
    }
}

/// Sinks that keep what comes, and take a rest now and then.
#[derive(Clone)]
pub(crate) struct Slow {
    pub(crate) ledger: Ledger,
    pub(crate) operator: u32,
    pub(crate) callers: Callers,
    /// After how many records it rests; never where it is 0.
    pub(crate) rests_after: usize,
    pub(crate) kept: Arc<Mutex<Vec<Item>>>,
}

impl SinkFactory<Item> for Slow {
    type Sink = SlowSink;

    fn create(self, _subtask: &Subtask) -> Result<SlowSink, BoxError> {
        Ok(SlowSink {
            witness: Witness::new(&self.ledger, self.operator, None),
            slow: self,
            setting: None,
            until: None,
            records: 0,
        })
    }
}

pub(crate) struct SlowSink {
    witness: Witness,
    slow: Slow,
    setting: Option<Setting>,
    until: Option<Until>,
    records: usize,
}

impl Sink<Item> for SlowSink {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        self.witness.open()
    }

    fn record(&mut self, record: Record<Item>) -> Outcome {
        self.witness.record()?;
        self.slow.kept.lock().unwrap().push(record.value);
        self.records += 1;
        let Some(setting) = &self.setting else {
            return Err("a record before it is opened".into());
        };
        if self.slow.rests_after > 0 && self.records.is_multiple_of(self.slow.rests_after) {
            self.until = Some(if self.records.is_multiple_of(2) {
                let at_ms = setting.now_ms() + 3;
                setting.wake_at(at_ms);
                Until::Time(at_ms)
            } else {
                Until::Call(self.slow.callers.wait(setting.waker()))
            });
        }
        Ok(())
    }

    fn watermark(&mut self, _watermark: Watermark) -> Outcome {
        let Witness { ledger, place, .. } = &self.witness;
        ledger.write(*place, Seen::Watermark);
        Ok(())
    }

    fn finish(&mut self) -> Outcome {
        self.witness.finish()
    }

    fn close(&mut self) -> Outcome {
        self.witness.close()
    }

    fn readiness(&self) -> Readiness {
        match (&self.until, &self.setting) {
            (Some(until), Some(setting)) if !until.is_over(setting) => Readiness::Waiting,
            _ => Readiness::Ready,
        }
    }
}

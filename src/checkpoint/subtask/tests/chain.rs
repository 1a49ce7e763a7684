//! Chains that write down what they are given and asked for.

use super::fakes::Log;
use crate::letter::{BoxError, Outcome};
use crate::stream::{
    ChainSnapshot, ChainedFactory, CheckpointId, CheckpointNotice, Deployment, Event,
    LatencyMarker, Link, LinkFactory, Operator, OperatorSnapshot, Output, Progress, Readiness,
    Record, Reports, Setting, Watermark, WatermarkStatus,
};
use crate::sync::{Mutex, PlainArc};
use core::task::{Context, Poll, Waker};

/// The end of a chain, which writes down what it is given.
#[derive(Clone)]
pub(super) struct Tail {
    log: Log,
    tells_flushes: bool,
    room: Room,
    /// An event has found no room.
    waits: bool,
}

/// Whether there is room behind the end of a chain.
#[derive(Clone, Default)]
pub(super) struct Room(PlainArc<Mutex<Space>>);

#[derive(Default)]
struct Space {
    is_full: bool,
    is_full_at_end: bool,
    waker: Option<Waker>,
}

impl Room {
    /// There is none from now on.
    pub(super) fn fill(&self) {
        self.0.lock().is_full = true;
    }

    /// There is none for the end of the partition.
    pub(super) fn fill_at_end(&self) {
        self.0.lock().is_full_at_end = true;
    }

    /// There is room, and who waits for it is told.
    pub(super) fn empty(&self) {
        let waker = core::mem::take(&mut *self.0.lock()).waker;
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Output<u64> for Tail {
    fn record(&mut self, record: Record<u64>) -> Outcome {
        self.log.add(format!("record {}", record.value));
        Ok(())
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.log.add(format!("{watermark:?}"));
        Ok(())
    }

    fn status(&mut self, _status: WatermarkStatus) -> Outcome {
        Ok(())
    }

    fn latency(&mut self, _marker: LatencyMarker) -> Outcome {
        Ok(())
    }

    fn readiness(&self) -> Readiness {
        match self.waits {
            true => Readiness::NoRoom,
            false => Readiness::Ready,
        }
    }
}

impl Link<u64> for Tail {
    fn open(&mut self, _setting: &Setting) -> Outcome {
        Ok(())
    }

    fn operators(&self) -> usize {
        0
    }

    fn advance(&mut self) -> Outcome {
        Ok(())
    }

    fn processing_time(&mut self, _operator: usize, _now_ms: i64) -> Outcome {
        Ok(())
    }

    fn finish(&mut self, _operator: usize) -> Outcome {
        Ok(())
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.log.add(match event {
            Event::Barrier(barrier) => format!("barrier {}", barrier.id),
            Event::CancelBarrier(id) => format!("cancel {id}"),
            Event::EndOfData(mode) => format!("end of data: {mode:?}"),
            Event::EndOfPartition => "end of partition".to_owned(),
        });
        let mut space = self.room.0.lock();
        space.is_full |= space.is_full_at_end && event == Event::EndOfPartition;
        self.waits |= space.is_full;
        Ok(())
    }

    fn flush(&mut self) {
        if self.tells_flushes {
            self.log.add("flush");
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = self.room.0.lock();
        if self.waits && space.is_full {
            space.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if core::mem::take(&mut self.waits) {
            self.log.add("moved");
        }
        Poll::Ready(())
    }

    fn snapshot(&mut self, _id: CheckpointId, _into: &mut ChainSnapshot) -> Outcome {
        Ok(())
    }

    fn notify(&mut self, _notice: CheckpointNotice, _failed: &mut Outcome) {}

    fn close(&mut self, _failed: &mut Outcome) {}

    fn report(&self, _reports: &mut Reports) {}
}

impl LinkFactory<u64> for Tail {
    type Link = Self;

    fn names(&self, _names: &mut Vec<&'static str>) {}

    fn build(self, _deployment: &mut Deployment) -> Result<Self, BoxError> {
        Ok(self)
    }
}

/// How far apart the values of two channels are.
pub(super) const APART: u64 = 10_000;

type OnRecord = PlainArc<dyn Fn(u64) + Send + Sync>;

/// What a [`Sums`] does besides.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) name: &'static str,
    pub(super) log: Log,
    /// It holds back records until a checkpoint.
    pub(super) holds: bool,
    /// It arms a timer just before the barrier, for so much later.
    pub(super) timer_after_ms: Option<i64>,
    /// It arms one when it is opened, for that moment.
    pub(super) arms_at_open: bool,
    /// What watermarks and timers set off is left for when it is advanced, for the second time.
    pub(super) is_slow: bool,
    /// The step that it fails at.
    pub(super) fails_at: &'static str,
    pub(super) on_record: Option<OnRecord>,
    /// Each time that what was put out is shown to others is written down.
    pub(super) tells_flushes: bool,
    pub(super) room: Room,
}

impl Plan {
    pub(super) fn new(log: &Log, name: &'static str) -> Self {
        Self {
            name,
            log: log.clone(),
            holds: false,
            timer_after_ms: None,
            arms_at_open: false,
            is_slow: false,
            fails_at: "",
            on_record: None,
            tells_flushes: false,
            room: Room::default(),
        }
    }

    fn at(&self, step: &str, detail: impl core::fmt::Display) -> Outcome {
        self.log.add(format!("{}: {step}{detail}", self.name));
        if self.fails_at == step {
            return Err(format!("{} fails at {step}", self.name).into());
        }
        Ok(())
    }

    /// The operator, and what is behind it.
    pub(super) fn before<Next: LinkFactory<u64>>(self, next: Next) -> impl LinkFactory<u64> {
        let name = self.name;
        ChainedFactory::new(name, move || Sums::new(self), next)
    }

    /// The only operator.
    pub(super) fn alone(self) -> impl LinkFactory<u64> {
        let tail = Tail {
            log: self.log.clone(),
            tells_flushes: self.tells_flushes,
            room: self.room.clone(),
            waits: false,
        };
        self.before(tail)
    }
}

/// Sums up the values of each of two channels, and passes them on.
struct Sums {
    plan: Plan,
    sums: [u64; 2],
    held: Vec<u64>,
    unfinished: Option<Watermark>,
    is_half_done: bool,
    setting: Option<Setting>,
}

impl Sums {
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            sums: [0; 2],
            held: Vec::new(),
            unfinished: None,
            is_half_done: false,
            setting: None,
        }
    }
}

impl Operator<u64> for Sums {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        if let Some(restored) = setting.restored() {
            self.sums = postcard::from_bytes(&restored.managed_operator[0])?;
        }
        self.setting = Some(setting.clone());
        if self.plan.arms_at_open {
            setting.wake_at(setting.now_ms());
        }
        Ok(())
    }

    fn process(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        assert!(self.unfinished.is_none(), "it is given no record meanwhile");
        let value = record.value;
        self.sums[(value / APART) as usize] += value % APART;
        if let Some(on_record) = &self.plan.on_record {
            on_record(value);
        }
        if self.plan.holds {
            self.held.push(value);
            return Ok(());
        }
        out.record(record)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<u64>,
    ) -> Result<Progress, BoxError> {
        if self.plan.is_slow && watermark != Watermark::MAX {
            self.unfinished = Some(watermark);
            self.plan.at("unfinished", "")?;
            return Ok(Progress::Unfinished);
        }
        out.watermark(watermark)?;
        Ok(Progress::Done)
    }

    fn processing_time(
        &mut self,
        now_ms: i64,
        _out: &mut impl Output<u64>,
    ) -> Result<Progress, BoxError> {
        self.plan.at("timer", "")?;
        if self.plan.is_slow {
            self.unfinished = Some(Watermark(now_ms));
            return Ok(Progress::Unfinished);
        }
        Ok(Progress::Done)
    }

    fn advance(&mut self, out: &mut impl Output<u64>) -> Result<Progress, BoxError> {
        self.is_half_done = !self.is_half_done;
        if self.is_half_done {
            self.plan.at("half done", "")?;
            return Ok(Progress::Unfinished);
        }
        if let Some(watermark) = self.unfinished.take() {
            self.plan.at("advanced", "")?;
            out.watermark(watermark)?;
        }
        Ok(Progress::Done)
    }

    fn finish(&mut self, _out: &mut impl Output<u64>) -> Outcome {
        self.plan.at("finish", "")
    }

    fn prepare_snapshot_pre_barrier(
        &mut self,
        _id: CheckpointId,
        out: &mut impl Output<u64>,
    ) -> Outcome {
        self.plan.at("pre", "")?;
        if let (Some(after_ms), Some(setting)) = (self.plan.timer_after_ms, &self.setting) {
            setting.wake_at(setting.now_ms() + after_ms);
        }
        self.held
            .drain(..)
            .try_for_each(|value| out.record(Record::new(value)))
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.plan.at("snapshot", "")?;
        let sums = self.sums;
        Ok(OperatorSnapshot::operator(move || {
            Ok(postcard::to_stdvec(&sums)?)
        }))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        match notice {
            CheckpointNotice::Complete(id) => self.plan.at("complete", format_args!(" {id}")),
            CheckpointNotice::Aborted { id, .. } => self.plan.at("aborted", format_args!(" {id}")),
            CheckpointNotice::Subsumed(id) => self.plan.at("subsumed", format_args!(" {id}")),
        }
    }

    fn close(&mut self) -> Outcome {
        self.plan.at("close", "")
    }

    fn readiness(&self) -> Readiness {
        match self.unfinished {
            Some(_) => Readiness::Unfinished,
            None => Readiness::Ready,
        }
    }
}

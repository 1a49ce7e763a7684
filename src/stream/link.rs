//! Chains: operators composed by type, so that a chained record is a function call.

use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::closing::close_one;
use super::element::{CheckpointId, Event, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::operator::Operator;
use super::output::{Output, Progress, Readiness};
use super::report::{OperatorReport, Reports};
use super::setting::Setting;
use super::watermark::StatusOutput;
use crate::letter::{BoxError, Outcome};
use core::marker::PhantomData;
use core::task::{Context, Poll};

/// A chain from one of its operators on: that operator, and where its output goes; or the end of a
/// chain. Operators are counted from 0 at the link that is asked.
pub trait Link<T>: Output<T> {
    /// Opens the operators, the last one first. `setting` is the first one's.
    ///
    /// # Errors
    /// What an operator failed by.
    fn open(&mut self, setting: &Setting) -> Outcome;

    /// How many operators there are.
    fn operators(&self) -> usize;

    /// Goes on with what was left unfinished, the last operator first.
    ///
    /// # Errors
    /// What an operator failed by.
    fn advance(&mut self) -> Outcome;

    /// The moment has come that operator number `operator` asked for.
    ///
    /// # Errors
    /// What the operator failed by.
    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome;

    /// Has operator number `operator` finish; all before it have, and it has no input any more.
    ///
    /// # Errors
    /// What the operator failed by.
    fn finish(&mut self, operator: usize) -> Outcome;

    /// Sends an event to all other tasks that this chain gives to.
    ///
    /// # Errors
    /// What the output failed by.
    fn event(&mut self, event: Event) -> Outcome;

    /// Shows other tasks what was put out for them; not in the midst of a record.
    fn flush(&mut self);

    /// Whether there is room for output. Where there is none, `cx` is woken when there is some.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Checkpoint `id` is about to be taken: operators put out what they hold back, the first one
    /// first.
    ///
    /// # Errors
    /// What an operator failed by.
    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        let _ = id;
        Ok(())
    }

    /// Adds each operator's state to `into`, the last one first.
    ///
    /// # Errors
    /// What an operator failed by.
    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome;

    /// Tells each operator, the last one first, whatever becomes of the others. The first error is kept
    /// in `failed`.
    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome);

    /// Closes the operators, the last one first, each of them whatever becomes of the others. The
    /// first error is kept in `failed`.
    fn close(&mut self, failed: &mut Outcome);

    /// Tells what each operator has done.
    fn report(&self, reports: &mut Reports);
}

/// What a subtask's link is built from, on the subtask's own thread.
pub trait LinkFactory<T>: Clone + Send + 'static {
    /// The link.
    type Link: Link<T> + 'static;

    /// Adds the names of its operators, the first one first.
    fn names(&self, names: &mut Vec<&'static str>);

    /// Builds it.
    ///
    /// # Errors
    /// Why it cannot be built: it fails the task.
    fn build(self, deployment: &mut super::Deployment) -> Result<Self::Link, BoxError>;
}

/// An operator and what it gives to.
pub(crate) struct Chained<In, Op, Next> {
    operator: Op,
    next: StatusOutput<Next>,
    report: OperatorReport,
    setting: Option<Setting>,
    input: PhantomData<fn(In)>,
}

impl<In, Op: Operator<In>, Next: Link<Op::Out>> Chained<In, Op, Next> {
    pub(crate) fn new(name: &'static str, operator: Op, next: Next) -> Self {
        Self {
            operator,
            next: StatusOutput::new(next),
            report: OperatorReport::new(name),
            setting: None,
            input: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn operator(&self) -> &Op {
        &self.operator
    }

    /// Whether the operator had finished in the checkpoint that it is restored from.
    fn is_finished(&self) -> bool {
        let setting = self.setting.as_ref();
        setting.is_some_and(Setting::is_restored_finished)
    }

    /// The operator, and where its output goes.
    pub(crate) fn head(&mut self) -> (&mut Op, &mut StatusOutput<Next>) {
        (&mut self.operator, &mut self.next)
    }

    /// What is unfinished must be seen by who looks whether there is more to do.
    #[inline]
    fn check(&self, progress: Progress) {
        debug_assert!(
            progress == Progress::Done || !self.operator.readiness().is_ready(),
            "an operator that is unfinished says so by its readiness"
        );
    }
}

impl<In, Op: Operator<In>, Next: Link<Op::Out>> Output<In> for Chained<In, Op, Next> {
    #[inline(always)]
    fn record(&mut self, record: Record<In>) -> Outcome {
        self.operator.process(record, &mut self.next)
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.report.watermark_ms = watermark.0;
        if self.is_finished() {
            // It has done what the end of event time asks for.
            return self.next.watermark(watermark);
        }
        let progress = self.operator.watermark(watermark, &mut self.next)?;
        self.check(progress);
        Ok(())
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.operator.status(status, &mut self.next)
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        if let Some(setting) = &self.setting {
            self.report.latency.add(marker, setting.since_start_ns());
        }
        self.operator.latency(marker, &mut self.next)
    }

    #[inline(always)]
    fn readiness(&self) -> Readiness {
        self.operator.readiness().max(self.next.readiness())
    }
}

impl<In, Op: Operator<In>, Next: Link<Op::Out>> Link<In> for Chained<In, Op, Next> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        self.next.get_mut().open(&setting.next())?;
        self.operator.open(setting)
    }

    fn operators(&self) -> usize {
        1 + self.next.get_ref().operators()
    }

    fn advance(&mut self) -> Outcome {
        if self.next.readiness() == Readiness::Unfinished {
            self.next.get_mut().advance()?;
        }
        if self.operator.readiness() == Readiness::Unfinished && self.next.readiness().is_ready() {
            let progress = self.operator.advance(&mut self.next)?;
            self.check(progress);
        }
        Ok(())
    }

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome {
        match operator.checked_sub(1) {
            Some(of_next) => self.next.get_mut().processing_time(of_next, now_ms),
            None => {
                let progress = self.operator.processing_time(now_ms, &mut self.next)?;
                self.check(progress);
                Ok(())
            }
        }
    }

    fn finish(&mut self, operator: usize) -> Outcome {
        match operator.checked_sub(1) {
            Some(of_next) => self.next.get_mut().finish(of_next),
            None => {
                self.operator.end_input(0, &mut self.next)?;
                self.operator.finish(&mut self.next)
            }
        }
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.next.get_mut().event(event)
    }

    #[inline]
    fn flush(&mut self) {
        self.next.get_mut().flush();
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.next.get_mut().poll_room(cx)
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.operator
            .prepare_snapshot_pre_barrier(id, &mut self.next)?;
        self.next.get_mut().prepare_snapshot(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        self.next.get_mut().snapshot(id, into)?;
        into.push((self.report.name, self.operator.snapshot(id)?));
        Ok(())
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        self.next.get_mut().notify(notice, failed);
        close_one(failed, || self.operator.notify_checkpoint(notice));
    }

    fn close(&mut self, failed: &mut Outcome) {
        self.next.get_mut().close(failed);
        close_one(failed, || self.operator.close());
    }

    fn report(&self, reports: &mut Reports) {
        reports.add(&self.report);
        self.next.get_ref().report(reports);
    }
}

/// Builds a [`Chained`]: what makes the operator, and what builds what comes behind it.
pub(crate) struct ChainedFactory<In, Make, Next> {
    name: &'static str,
    make: Make,
    next: Next,
    input: PhantomData<fn(In)>,
}

impl<In, Make, Next> ChainedFactory<In, Make, Next> {
    pub(crate) fn new(name: &'static str, make: Make, next: Next) -> Self {
        Self {
            name,
            make,
            next,
            input: PhantomData,
        }
    }
}

impl<In, Make: Clone, Next: Clone> Clone for ChainedFactory<In, Make, Next> {
    fn clone(&self) -> Self {
        Self::new(self.name, self.make.clone(), self.next.clone())
    }
}

impl<In, Op, Make, Next> LinkFactory<In> for ChainedFactory<In, Make, Next>
where
    In: 'static,
    Op: Operator<In> + 'static,
    Make: FnOnce() -> Op + Clone + Send + 'static,
    Next: LinkFactory<Op::Out>,
{
    type Link = Chained<In, Op, Next::Link>;

    fn names(&self, names: &mut Vec<&'static str>) {
        names.push(self.name);
        self.next.names(names);
    }

    fn build(self, deployment: &mut super::Deployment) -> Result<Self::Link, BoxError> {
        let next = self.next.build(deployment)?;
        Ok(Chained::new(self.name, (self.make)(), next))
    }
}

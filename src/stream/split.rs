//! A chain that goes two ways.

use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::deployment::Deployment;
use super::element::{CheckpointId, Event, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::link::{Link, LinkFactory};
use super::output::{Output, Readiness};
use super::report::Reports;
use super::setting::Setting;
use crate::letter::{BoxError, Outcome};
use core::marker::PhantomData;
use core::task::{Context, Poll};

/// Gives of each value one part to the main way and one to the other, or either. Time and events go
/// both ways, latency markers the main one. The operators of the main way are counted first.
pub(crate) struct Split<T, D, Main, Side> {
    divide: D,
    main: Main,
    side: Side,
    values: PhantomData<fn(T)>,
}

impl<T, A, B, D, Main, Side> Output<T> for Split<T, D, Main, Side>
where
    D: FnMut(T) -> (Option<A>, Option<B>),
    Main: Output<A>,
    Side: Output<B>,
{
    #[inline]
    fn record(&mut self, record: Record<T>) -> Outcome {
        let no_value = record.with(());
        let (main, side) = (self.divide)(record.value);
        if let Some(side) = side {
            self.side.record(no_value.with(side))?;
        }
        match main {
            Some(main) => self.main.record(no_value.with(main)),
            None => Ok(()),
        }
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.side.watermark(watermark)?;
        self.main.watermark(watermark)
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.side.status(status)?;
        self.main.status(status)
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        self.main.latency(marker)
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        self.main.readiness().max(self.side.readiness())
    }
}

impl<T, A, B, D, Main, Side> Link<T> for Split<T, D, Main, Side>
where
    D: FnMut(T) -> (Option<A>, Option<B>),
    Main: Link<A>,
    Side: Link<B>,
{
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.side.open(&setting.after(self.main.operators()))?;
        self.main.open(setting)
    }

    fn operators(&self) -> usize {
        self.main.operators() + self.side.operators()
    }

    fn advance(&mut self) -> Outcome {
        if self.side.readiness() == Readiness::Unfinished {
            self.side.advance()?;
        }
        if self.main.readiness() == Readiness::Unfinished {
            self.main.advance()?;
        }
        Ok(())
    }

    fn processing_time(&mut self, operator: usize, now_ms: i64) -> Outcome {
        match operator.checked_sub(self.main.operators()) {
            None => self.main.processing_time(operator, now_ms),
            Some(of_side) => self.side.processing_time(of_side, now_ms),
        }
    }

    fn finish(&mut self, operator: usize) -> Outcome {
        match operator.checked_sub(self.main.operators()) {
            None => self.main.finish(operator),
            Some(of_side) => self.side.finish(of_side),
        }
    }

    fn event(&mut self, event: Event) -> Outcome {
        self.side.event(event)?;
        self.main.event(event)
    }

    fn flush(&mut self) {
        self.side.flush();
        self.main.flush();
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let side = self.side.poll_room(cx);
        let main = self.main.poll_room(cx);
        if main.is_pending() { main } else { side }
    }

    fn prepare_snapshot(&mut self, id: CheckpointId) -> Outcome {
        self.main.prepare_snapshot(id)?;
        self.side.prepare_snapshot(id)
    }

    fn snapshot(&mut self, id: CheckpointId, into: &mut ChainSnapshot) -> Outcome {
        self.side.snapshot(id, into)?;
        self.main.snapshot(id, into)
    }

    fn notify(&mut self, notice: CheckpointNotice, failed: &mut Outcome) {
        self.side.notify(notice, failed);
        self.main.notify(notice, failed);
    }

    fn close(&mut self, failed: &mut Outcome) {
        self.side.close(failed);
        self.main.close(failed);
    }

    fn report(&self, reports: &mut Reports) {
        self.main.report(reports);
        self.side.report(reports);
    }
}

/// Builds a [`Split`].
pub(crate) struct SplitFactory<T, A, B, D, Main, Side> {
    divide: D,
    main: Main,
    side: Side,
    values: PhantomData<fn(T) -> (A, B)>,
}

impl<T, A, B, D, Main, Side> SplitFactory<T, A, B, D, Main, Side> {
    pub(crate) fn new(divide: D, main: Main, side: Side) -> Self {
        Self {
            divide,
            main,
            side,
            values: PhantomData,
        }
    }
}

impl<T, A, B, D: Clone, Main: Clone, Side: Clone> Clone for SplitFactory<T, A, B, D, Main, Side> {
    fn clone(&self) -> Self {
        Self::new(self.divide.clone(), self.main.clone(), self.side.clone())
    }
}

impl<T, A, B, D, Main, Side> LinkFactory<T> for SplitFactory<T, A, B, D, Main, Side>
where
    T: 'static,
    A: 'static,
    B: 'static,
    D: FnMut(T) -> (Option<A>, Option<B>) + Clone + Send + 'static,
    Main: LinkFactory<A>,
    Side: LinkFactory<B>,
{
    type Link = Split<T, D, Main::Link, Side::Link>;

    fn names(&self, names: &mut Vec<&'static str>) {
        self.main.names(names);
        self.side.names(names);
    }

    fn build(self, deployment: &mut Deployment) -> Result<Self::Link, BoxError> {
        let side = self.side.build(deployment)?;
        let main = self.main.build(deployment)?;
        Ok(Split {
            divide: self.divide,
            main,
            side,
            values: PhantomData,
        })
    }
}

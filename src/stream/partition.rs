//! The end of a chain that gives to another vertex: one channel for each of its subtasks.
//!
//! P1. What is put out for a channel comes in that order: while some of it waits for room, all that
//!     follows waits behind it.
//! P2. It is not ready from when something had to wait for room, until none does.

use super::checkpointing::{ChainSnapshot, CheckpointNotice};
use super::element::{
    CheckpointId, Element, Event, LatencyMarker, Record, Watermark, WatermarkStatus,
};
use super::link::Link;
use super::output::{Output, Readiness};
use super::partitioner::{Partitioner, Route};
use super::report::Reports;
use super::setting::Setting;
use crate::letter::{BoxError, Outcome};
use crate::ring::TryPostError;
use crate::ring::spsc::{Producer, Staging};
use core::fmt;
use core::task::{Context, Poll};
use std::collections::VecDeque;

/// A partitioner asked for what cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouteError {
    /// A channel that there is not.
    NoSuchChannel {
        /// Where the record was sent.
        asked: usize,
        /// How many channels there are.
        channels: usize,
    },
    /// All channels, for a value that it cannot duplicate.
    CannotDuplicate,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchChannel { asked, channels } => write!(
                f,
                "a partitioner sent a record to channel {asked}: there are {channels}, from 0 on"
            ),
            Self::CannotDuplicate => {
                f.write_str("a partitioner sent a record to all channels and duplicates none")
            }
        }
    }
}

impl core::error::Error for RouteError {}

/// One channel, as its sender has it.
struct Subpartition<T> {
    ring: Staging<Element<T>>,
    /// What waits for room (P1).
    waiting: VecDeque<Element<T>>,
}

impl<T> Subpartition<T> {
    /// Whether the element found room.
    #[inline(always)]
    fn push(&mut self, element: Element<T>) -> bool {
        match self.ring.try_stage(element) {
            Ok(()) => true,
            Err(TryPostError::Full(element) | TryPostError::Closed(element)) => {
                self.wait(element);
                false
            }
        }
    }

    #[cold]
    fn wait(&mut self, element: Element<T>) {
        self.publish();
        self.ring.hold();
        self.waiting.push_back(element);
    }

    #[inline]
    fn publish(&mut self) {
        // Who took from a closed channel is gone; its end is told to who looks after the job.
        let _closed = self.ring.publish();
    }

    /// Moves what waits to where there is room, and shows it.
    fn make_way(&mut self) {
        self.ring.go_on();
        while let Some(element) = self.waiting.pop_front() {
            if let Err(TryPostError::Full(element) | TryPostError::Closed(element)) =
                self.ring.try_stage(element)
            {
                self.waiting.push_front(element);
                self.ring.hold();
                break;
            }
        }
        self.publish();
    }

    /// Whether nothing waits; else `cx` is woken when there is room.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.make_way();
            if self.waiting.is_empty() {
                return Poll::Ready(());
            }
            match self.ring.poll_room(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
                // Nobody will take it.
                Poll::Ready(Err(_)) => self.waiting.clear(),
            }
        }
    }
}

/// Where the records of a chain go that are for another vertex.
pub(crate) struct ResultPartition<T, P> {
    channels: Vec<Subpartition<T>>,
    partitioner: P,
    /// P2.
    has_room: bool,
    /// For latency markers, which go to one channel each.
    next_marked: usize,
    records: u64,
}

impl<T, P: Partitioner<T>> ResultPartition<T, P> {
    pub(crate) fn new(
        channels: Vec<Producer<Element<T>>>,
        mut partitioner: P,
        subtask: &super::Subtask,
        batch_max: usize,
    ) -> Self {
        partitioner.set_up(subtask.index, channels.len(), subtask.max_parallelism);
        let channels = channels.into_iter().map(|producer| Subpartition {
            ring: Staging::new(producer).in_batches(batch_max),
            waiting: VecDeque::new(),
        });
        Self {
            channels: channels.collect(),
            partitioner,
            has_room: true,
            next_marked: subtask.index as usize,
            records: 0,
        }
    }

    #[inline]
    fn send(&mut self, channel: usize, record: Record<T>) -> Outcome {
        let channels = self.channels.len();
        let Some(to) = self.channels.get_mut(channel) else {
            return Err(RouteError::NoSuchChannel {
                asked: channel,
                channels,
            }
            .into());
        };
        if !to.push(Element::Record(record)) {
            self.has_room = false;
        }
        Ok(())
    }

    fn broadcast(&mut self, element: impl Fn() -> Element<T>) {
        for channel in &mut self.channels {
            self.has_room &= channel.push(element());
        }
    }
}

impl<T, P: Partitioner<T>> Output<T> for ResultPartition<T, P> {
    #[inline]
    fn record(&mut self, record: Record<T>) -> Outcome {
        self.records += 1;
        match self.partitioner.route(&record.value) {
            Route::To(channel) => self.send(channel, record),
            Route::All => {
                for channel in 1..self.channels.len() {
                    let value = self.partitioner.duplicate(&record.value);
                    let copy = record.with(value.ok_or(RouteError::CannotDuplicate)?);
                    self.send(channel, copy)?;
                }
                self.send(0, record)
            }
        }
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.broadcast(|| Element::Watermark(watermark));
        Ok(())
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.broadcast(|| Element::Status(status));
        Ok(())
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        let channel = self.next_marked % self.channels.len();
        self.next_marked = channel + 1;
        self.has_room &= self.channels[channel].push(Element::Latency(marker));
        Ok(())
    }

    #[inline(always)]
    fn readiness(&self) -> Readiness {
        if self.has_room {
            Readiness::Ready
        } else {
            Readiness::NoRoom
        }
    }
}

impl<T, P: Partitioner<T>> Link<T> for ResultPartition<T, P> {
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
        self.broadcast(|| Element::Event(event));
        Ok(())
    }

    fn flush(&mut self) {
        for channel in &mut self.channels {
            channel.publish();
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut all = Poll::Ready(());
        for channel in &mut self.channels {
            if channel.poll_room(cx).is_pending() {
                all = Poll::Pending;
            }
        }
        self.has_room = all.is_ready();
        all
    }

    fn snapshot(&mut self, _id: CheckpointId, _into: &mut ChainSnapshot) -> Outcome {
        Ok(())
    }

    fn notify(&mut self, _notice: CheckpointNotice, _failed: &mut Outcome) {}

    fn close(&mut self, _failed: &mut Outcome) {}

    fn report(&self, reports: &mut Reports) {
        reports.records_out += self.records;
        for channel in &self.channels {
            reports.elements_out += channel.ring.cursor() + channel.waiting.len() as u64;
            reports.output_depth += channel.ring.len() + channel.waiting.len();
        }
    }
}

/// Builds a [`ResultPartition`] for an edge.
pub(crate) struct PartitionFactory<T, P> {
    pub(crate) edge: super::EdgeId,
    pub(crate) partitioner: P,
    pub(crate) records: core::marker::PhantomData<fn(T)>,
}

impl<T, P: Clone> Clone for PartitionFactory<T, P> {
    fn clone(&self) -> Self {
        Self {
            edge: self.edge,
            partitioner: self.partitioner.clone(),
            records: core::marker::PhantomData,
        }
    }
}

impl<T: Send + 'static, P: Partitioner<T>> super::LinkFactory<T> for PartitionFactory<T, P> {
    type Link = ResultPartition<T, P>;

    fn names(&self, _names: &mut Vec<&'static str>) {}

    fn build(self, deployment: &mut super::Deployment) -> Result<Self::Link, BoxError> {
        let channels = deployment.take_output(self.edge);
        let batch_max = deployment.pace().batch_max;
        Ok(ResultPartition::new(
            channels,
            self.partitioner,
            deployment.subtask(),
            batch_max,
        ))
    }
}

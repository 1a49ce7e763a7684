//! Scenarios T10 to T28, T31 and T32 of the input side, by their numbers, and case B60.
//!
//! An element lies in a ring whole, and is taken out of it one by one: there are no buffers that hold
//! several and none that hold a part. T10 and T13 are therefore run with a channel of bytes, and T28
//! is about what is staged. T12, T26, T27, T33 and the priority events of T21 are of unaligned
//! checkpoints, T14 of recovered channels: there is neither yet.
//!
//! Known faults of an input side, and where it is seen that they are none of this one:
//! - K1, a record behind a barrier comes before its checkpoint: `k1`, T11.
//! - K2, K9 and K40, what is written, recycled or released by two: an element is moved through a ring, whose
//!   slots have one writer and one reader.
//! - K5, the wrong channel is resumed: an event tells its gate and its channel, `b60`.
//! - K10, a channel that is blocked keeps room from others: a ring's room is its own, T25.
//! - K16, a call within a call for each channel: a gate reads in a loop, and who wakes another sets a mark.
//! - K28, a callback more with each look: a ring has one waker, and a later one takes its place.
//! - K29, more than 31 inputs: T20. K33, an idle input stops event time: `tests/watermarks/combined.rs`.
//! - K34, an end of event time that is not that of all: T130. K41, one end for two meanings: T16, T17.
//! - K42, a channel that has ended is read: T22. K43, a wake that is missed at a resume: T23, T24.

mod byte_channel;
mod channels;
mod ends;
mod flow;
mod order;
mod rig;

use crate::ring::spsc;
use crate::stream::local::LocalChannel;
use crate::stream::{CheckpointBarrier, CheckpointId, Element, Event, Record, StopMode};
use core::cell::Cell;
use core::num::NonZeroU64;
use core::task::{Context, Waker};
use std::rc::Rc;

use byte_channel::{ByteChannel, ByteSender, Numbers, byte_channel};

fn record(value: u64) -> Element<u64> {
    Element::Record(Record::new(value))
}

fn end_of_data(mode: StopMode) -> Element<u64> {
    Element::Event(Event::EndOfData(mode))
}

const END_OF_PARTITION: Element<u64> = Element::Event(Event::EndOfPartition);

fn barrier(id: u64) -> Element<u64> {
    let id = CheckpointId(NonZeroU64::new(id).expect("counted from 1"));
    Element::Event(Event::Barrier(CheckpointBarrier::new(id, 0)))
}

fn cancel(id: u64) -> Element<u64> {
    let id = CheckpointId(NonZeroU64::new(id).expect("counted from 1"));
    Element::Event(Event::CancelBarrier(id))
}

/// What puts elements into a channel.
trait Sender {
    /// Puts it where the receiver sees it.
    fn send(&mut self, element: Element<u64>);
}

impl Sender for spsc::Staging<Element<u64>> {
    fn send(&mut self, element: Element<u64>) {
        self.try_stage(element).expect("there is room");
        self.publish().expect("somebody takes it");
    }
}

impl Sender for ByteSender<Numbers> {
    fn send(&mut self, element: Element<u64>) {
        ByteSender::send(self, &element);
    }
}

fn local() -> (spsc::Staging<Element<u64>>, LocalChannel<u64>) {
    let (producer, consumer) = spsc::bounded(64).expect("small");
    (spsc::Staging::new(producer), LocalChannel::new(consumer))
}

/// A channel of bytes with buffers enough, and packets of 20 bytes, which is less than a record.
fn bytes() -> (ByteSender<Numbers>, ByteChannel<Numbers>) {
    byte_channel(Numbers, 2, &Rc::new(Cell::new(64)), 20)
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(crate::sync::Counter);

impl std::task::Wake for Woken {
    fn wake(self: crate::sync::PlainArc<Self>) {
        self.0.increment();
    }
}

impl Woken {
    fn new() -> crate::sync::PlainArc<Self> {
        crate::sync::PlainArc::new(Self::default())
    }

    fn count(&self) -> u64 {
        self.0.get()
    }
}

fn with_waker<R>(woken: &crate::sync::PlainArc<Woken>, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let waker = Waker::from(crate::sync::PlainArc::clone(woken));
    f(&mut Context::from_waker(&waker))
}

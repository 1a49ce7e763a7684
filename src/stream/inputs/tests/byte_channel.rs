//! A channel whose elements cross as bytes: the double of one that leaves the process.
//!
//! Elements are framed, and may span packets; an event has a packet of its own. A sender sends while
//! the receiver has credit: buffers of the channel's own, and some of a pool that others share.

use crate::letter::{BoxError, Outcome};
use crate::stream::{
    ChannelState, CheckpointBarrier, CheckpointId, Codec, Element, Event, InputChannel,
    LatencyMarker, Record, ResumeError, StopMode, Watermark, WatermarkStatus,
};
use core::cell::{Cell, RefCell};
use core::fmt;
use core::num::NonZeroU64;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::rc::Rc;

/// Numbers, as eight bytes each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers;

impl Codec<u64> for Numbers {
    fn encode(&self, value: &u64, bytes: &mut Vec<u8>) -> Outcome {
        bytes.extend(value.to_le_bytes());
        Ok(())
    }

    fn decode(&self, bytes: &mut &[u8]) -> Result<u64, BoxError> {
        take(bytes).map(u64::from_le_bytes)
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], BoxError> {
    let (front, rest) = bytes.split_first_chunk().ok_or("too few bytes")?;
    *bytes = rest;
    Ok(*front)
}

fn take_i64(bytes: &mut &[u8]) -> Result<i64, BoxError> {
    take(bytes).map(i64::from_le_bytes)
}

fn take_u64(bytes: &mut &[u8]) -> Result<u64, BoxError> {
    take(bytes).map(u64::from_le_bytes)
}

fn take_id(bytes: &mut &[u8]) -> Result<CheckpointId, BoxError> {
    let id = NonZeroU64::new(take_u64(bytes)?).ok_or("checkpoints are counted from 1")?;
    Ok(CheckpointId(id))
}

fn encode<T>(codec: &impl Codec<T>, element: &Element<T>, bytes: &mut Vec<u8>) -> Outcome {
    match element {
        Element::Record(record) => {
            bytes.push(0);
            bytes.extend(record.timestamp_ms().unwrap_or(i64::MIN).to_le_bytes());
            codec.encode(&record.value, bytes)?;
        }
        Element::Watermark(Watermark(ms)) => {
            bytes.push(1);
            bytes.extend(ms.to_le_bytes());
        }
        Element::Status(WatermarkStatus::Active) => bytes.push(2),
        Element::Status(WatermarkStatus::Idle) => bytes.push(3),
        Element::Latency(marker) => {
            bytes.push(4);
            bytes.extend(marker.marked_ns.to_le_bytes());
            bytes.extend(marker.subtask.to_le_bytes());
            bytes.extend(marker.vertex.to_le_bytes());
        }
        Element::Event(Event::EndOfData(StopMode::Drain)) => bytes.push(5),
        Element::Event(Event::EndOfData(StopMode::NoDrain)) => bytes.push(6),
        Element::Event(Event::EndOfPartition) => bytes.push(7),
        Element::Event(Event::Barrier(barrier)) => {
            bytes.push(8);
            bytes.extend(barrier.id.0.get().to_le_bytes());
            bytes.extend(barrier.begun_ns.to_le_bytes());
        }
        Element::Event(Event::CancelBarrier(id)) => {
            bytes.push(9);
            bytes.extend(id.0.get().to_le_bytes());
        }
    }
    Ok(())
}

fn decode<T>(codec: &impl Codec<T>, bytes: &mut &[u8]) -> Result<Element<T>, BoxError> {
    let [tag] = take(bytes)?;
    Ok(match tag {
        0 => {
            let timestamp_ms = take_i64(bytes)?;
            Element::Record(Record::at(codec.decode(bytes)?, timestamp_ms))
        }
        1 => Element::Watermark(Watermark(take_i64(bytes)?)),
        2 => Element::Status(WatermarkStatus::Active),
        3 => Element::Status(WatermarkStatus::Idle),
        4 => Element::Latency(LatencyMarker {
            marked_ns: take_u64(bytes)?,
            subtask: take(bytes).map(u32::from_le_bytes)?,
            vertex: take(bytes).map(u32::from_le_bytes)?,
        }),
        5 => Element::Event(Event::EndOfData(StopMode::Drain)),
        6 => Element::Event(Event::EndOfData(StopMode::NoDrain)),
        7 => Element::Event(Event::EndOfPartition),
        8 => Element::Event(Event::Barrier(CheckpointBarrier::new(
            take_id(bytes)?,
            take_u64(bytes)?,
        ))),
        9 => Element::Event(Event::CancelBarrier(take_id(bytes)?)),
        tag => return Err(format!("there is no element with tag {tag}").into()),
    })
}

/// Packets came in another order than they were sent in, or one is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceGap {
    pub(super) expected: u32,
    pub(super) came: u32,
}

impl fmt::Display for SequenceGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, came } = self;
        write!(f, "packet {came} came and packet {expected} was to come")
    }
}

impl core::error::Error for SequenceGap {}

struct Packet {
    sequence: u32,
    bytes: Vec<u8>,
    blocks: bool,
}

/// What is on its way.
struct Wire {
    /// At the sender, finished.
    backlog: VecDeque<Packet>,
    /// In the receiver's buffers.
    received: VecDeque<Packet>,
    is_blocked: bool,
    is_gone: bool,
    is_released: bool,
    exclusive: usize,
    floating: usize,
    pool: Rc<Cell<usize>>,
    waker: Option<Waker>,
}

impl Wire {
    /// Sends as much as there is credit for.
    fn send(&mut self) {
        if self.is_blocked {
            return;
        }
        let wanted = (self.received.len() + self.backlog.len()).saturating_sub(self.exclusive);
        let more = wanted.saturating_sub(self.floating).min(self.pool.get());
        self.floating += more;
        self.pool.set(self.pool.get() - more);
        let had = self.received.len();
        while self.received.len() < self.exclusive + self.floating && !self.is_blocked {
            let Some(packet) = self.backlog.pop_front() else {
                break;
            };
            self.is_blocked = packet.blocks;
            self.received.push_back(packet);
        }
        if self.received.len() > had {
            self.wake();
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Gives what is not needed back to the pool.
    fn give_back(&mut self) {
        let needed = self.received.len().saturating_sub(self.exclusive);
        self.pool.set(self.pool.get() + self.floating - needed);
        self.floating = needed;
    }
}

/// The sender's end.
pub(super) struct ByteSender<C> {
    wire: Rc<RefCell<Wire>>,
    codec: C,
    unfinished: Vec<u8>,
    packet_bytes: usize,
    sequence: u32,
}

impl<C> ByteSender<C> {
    /// Puts an element out; it goes on its way with a packet that is full, or flushed. An event
    /// finishes what is before it.
    pub(super) fn put<T>(&mut self, element: &Element<T>)
    where
        C: Codec<T>,
    {
        let mut bytes = Vec::new();
        encode(&self.codec, element, &mut bytes).expect("can be encoded");
        let len = (bytes.len() as u32).to_le_bytes();
        let frame: Vec<u8> = len.into_iter().chain(bytes).collect();
        if let Element::Event(event) = element {
            self.finish();
            self.packet(frame, event.blocks_channel());
        } else {
            self.unfinished.extend(frame);
            while self.unfinished.len() >= self.packet_bytes {
                let rest = self.unfinished.split_off(self.packet_bytes);
                let full = core::mem::replace(&mut self.unfinished, rest);
                self.packet(full, false);
            }
        }
        self.wire.borrow_mut().send();
    }

    /// As [`put`](Self::put), and at once on its way.
    pub(super) fn send<T>(&mut self, element: &Element<T>)
    where
        C: Codec<T>,
    {
        self.put(element);
        self.flush();
    }

    /// Sends what is unfinished.
    pub(super) fn flush(&mut self) {
        self.finish();
        self.wire.borrow_mut().send();
    }

    /// Has a packet get lost.
    pub(super) fn lose_one(&mut self) {
        self.sequence += 1;
    }

    fn finish(&mut self) {
        if !self.unfinished.is_empty() {
            let unfinished = core::mem::take(&mut self.unfinished);
            self.packet(unfinished, false);
        }
    }

    fn packet(&mut self, bytes: Vec<u8>, blocks: bool) {
        self.wire.borrow_mut().backlog.push_back(Packet {
            sequence: self.sequence,
            bytes,
            blocks,
        });
        self.sequence += 1;
    }
}

impl<C> Drop for ByteSender<C> {
    fn drop(&mut self) {
        let mut wire = self.wire.borrow_mut();
        wire.is_gone = true;
        wire.wake();
    }
}

/// Called when a channel is resumed.
type Resumed = Box<dyn FnMut()>;

/// The receiver's end.
pub(super) struct ByteChannel<C> {
    wire: Rc<RefCell<Wire>>,
    codec: C,
    /// What is decoded next.
    current: VecDeque<u8>,
    /// The sequence of the next packet.
    expected: u32,
    /// What blocked it was given.
    is_blocked: bool,
    resumed: Option<Resumed>,
}

/// A channel with `exclusive` buffers of its own and those of a `pool`, and packets of
/// `packet_bytes`.
pub(super) fn byte_channel<C: Copy>(
    codec: C,
    exclusive: usize,
    pool: &Rc<Cell<usize>>,
    packet_bytes: usize,
) -> (ByteSender<C>, ByteChannel<C>) {
    let wire = Rc::new(RefCell::new(Wire {
        backlog: VecDeque::new(),
        received: VecDeque::new(),
        is_blocked: false,
        is_gone: false,
        is_released: false,
        exclusive,
        floating: 0,
        pool: Rc::clone(pool),
        waker: None,
    }));
    let sender = ByteSender {
        wire: Rc::clone(&wire),
        codec,
        unfinished: Vec::new(),
        packet_bytes,
        sequence: 0,
    };
    let channel = ByteChannel {
        wire,
        codec,
        current: VecDeque::new(),
        expected: 0,
        is_blocked: false,
        resumed: None,
    };
    (sender, channel)
}

impl<C> ByteChannel<C> {
    /// Has `resumed` called when it is resumed.
    pub(super) fn on_resume(mut self, resumed: impl FnMut() + 'static) -> Self {
        self.resumed = Some(Box::new(resumed));
        self
    }

    /// Moves a packet's bytes to what is decoded, if there is one.
    fn fetch(&mut self) -> Result<bool, SequenceGap> {
        let mut wire = self.wire.borrow_mut();
        let Some(packet) = wire.received.pop_front() else {
            return Ok(false);
        };
        if packet.sequence != self.expected {
            return Err(SequenceGap {
                expected: self.expected,
                came: packet.sequence,
            });
        }
        self.expected += 1;
        self.current.extend(packet.bytes);
        if packet.blocks {
            wire.give_back();
        }
        wire.send();
        Ok(true)
    }

    /// The next whole frame of what is there.
    fn frame(&self) -> Option<usize> {
        let len: Vec<u8> = self.current.iter().copied().take(4).collect();
        let len = 4 + u32::from_le_bytes(len.try_into().ok()?) as usize;
        (self.current.len() >= len).then_some(len)
    }

    fn next<T>(&mut self) -> Result<Option<Element<T>>, BoxError>
    where
        C: Codec<T>,
    {
        loop {
            if let Some(len) = self.frame() {
                let frame: Vec<u8> = self.current.drain(..len).skip(4).collect();
                return decode(&self.codec, &mut &frame[..]).map(Some);
            }
            if !self.fetch()? {
                return Ok(None);
            }
        }
    }
}

impl<T, C: Codec<T>> InputChannel<T> for ByteChannel<C> {
    fn drain(
        &mut self,
        max: usize,
        mut handler: impl FnMut(Element<T>) -> bool,
    ) -> Result<usize, BoxError> {
        let mut taken = 0;
        while taken < max && !self.is_blocked {
            let Some(element) = self.next()? else { break };
            if let Element::Event(event) = &element {
                self.is_blocked = event.blocks_channel();
            }
            taken += 1;
            if !handler(element) {
                break;
            }
        }
        Ok(taken)
    }

    fn has_elements(&self) -> bool {
        !self.is_blocked && (self.frame().is_some() || !self.wire.borrow().received.is_empty())
    }

    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<ChannelState> {
        if self.is_blocked {
            return Poll::Ready(ChannelState::Blocked);
        }
        if InputChannel::<T>::has_elements(self) {
            return Poll::Ready(ChannelState::Elements);
        }
        let mut wire = self.wire.borrow_mut();
        if wire.is_gone || wire.is_released {
            return Poll::Ready(ChannelState::Gone);
        }
        wire.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    fn resume_consumption(&mut self) -> Result<(), ResumeError> {
        if self.wire.borrow().is_released {
            return Err(ResumeError::Released);
        }
        if !core::mem::take(&mut self.is_blocked) {
            return Err(ResumeError::NotBlocked);
        }
        let mut wire = self.wire.borrow_mut();
        wire.is_blocked = false;
        wire.send();
        drop(wire);
        if let Some(resumed) = &mut self.resumed {
            resumed();
        }
        Ok(())
    }

    fn release(&mut self) {
        let mut wire = self.wire.borrow_mut();
        wire.is_released = true;
        wire.received.clear();
        wire.backlog.clear();
        wire.give_back();
        self.current.clear();
        self.is_blocked = false;
    }

    fn depth(&self) -> usize {
        self.wire.borrow().received.len()
    }

    fn credits(&self) -> usize {
        let wire = self.wire.borrow();
        wire.exclusive + wire.floating
    }
}

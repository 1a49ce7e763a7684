//! What flows from task to task: records, the elements of time between them, and events.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A value and the time it happened at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Record<T> {
    /// What the record is about.
    pub value: T,
    timestamp_ms: i64,
}

impl<T> Record<T> {
    /// What stands for no timestamp; no event can happen then.
    const NONE: i64 = i64::MIN;

    /// A record without a timestamp.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            value,
            timestamp_ms: Self::NONE,
        }
    }

    /// A record of an event at `timestamp_ms`, in milliseconds since 1970-01-01 00:00.
    /// `i64::MIN` is no timestamp.
    #[inline]
    #[must_use]
    pub const fn at(value: T, timestamp_ms: i64) -> Self {
        Self {
            value,
            timestamp_ms,
        }
    }

    /// When the event happened, in milliseconds since 1970-01-01 00:00.
    #[inline]
    #[must_use]
    pub const fn timestamp_ms(&self) -> Option<i64> {
        if self.timestamp_ms == Self::NONE {
            None
        } else {
            Some(self.timestamp_ms)
        }
    }

    /// A record of `value` at the same time.
    #[inline]
    #[must_use]
    pub fn with<U>(&self, value: U) -> Record<U> {
        Record {
            value,
            timestamp_ms: self.timestamp_ms,
        }
    }

    /// The record of what `f` makes of the value, at the same time.
    #[inline]
    #[must_use]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Record<U> {
        Record {
            value: f(self.value),
            timestamp_ms: self.timestamp_ms,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Record<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.timestamp_ms() {
            None => write!(f, "{:?}", self.value),
            Some(timestamp_ms) => write!(f, "{:?} at {timestamp_ms} ms", self.value),
        }
    }
}

/// How far event time has come: no record with a timestamp at or before it is to follow, but for
/// late ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watermark(
    /// In milliseconds since 1970-01-01 00:00.
    pub i64,
);

impl Watermark {
    /// Nothing is known of event time yet.
    pub const MIN: Self = Self(i64::MIN);
    /// Event time is over.
    pub const MAX: Self = Self(i64::MAX);
}

impl fmt::Debug for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MIN => f.write_str("Watermark(MIN)"),
            Self::MAX => f.write_str("Watermark(MAX)"),
            Self(ms) => write!(f, "Watermark({ms})"),
        }
    }
}

/// Whether watermarks are to be expected from where it comes: an idle one holds nobody's event time
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatermarkStatus {
    /// Watermarks come, and are heeded.
    Active,
    /// None come until it is active again.
    Idle,
}

/// Made by a source now and then, to tell how long its elements are on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LatencyMarker {
    /// When it was made, in nanoseconds of the job's clock since the job was started.
    pub marked_ns: u64,
    /// The subtask of the source that made it.
    pub subtask: u32,
    /// The vertex of that source.
    pub vertex: u32,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopMode {
    /// All that there was has come: windows fire, and operators finish.
    Drain,
    /// The stream is to be gone on with later, from a snapshot: nothing fires, nothing finishes.
    NoDrain,
}

/// Which checkpoint; they are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CheckpointId(
    /// The number.
    pub core::num::NonZeroU64,
);

impl CheckpointId {
    /// The checkpoint of that number; `None` for 0.
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        match core::num::NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a snapshot is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SnapshotType {
    /// Recovery: a later one takes its place.
    #[default]
    Checkpoint,
    /// The user's, who keeps it.
    Savepoint,
}

/// How a barrier is to be met by a task with many channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Alignment {
    /// Records behind a barrier go on while barriers of other channels are awaited: they may count
    /// twice after a restore.
    AtLeastOnce,
    /// A channel whose barrier has come waits for those of the others: each record counts once.
    #[default]
    Aligned,
    /// Barriers overtake records, which are stored with the snapshot.
    Unaligned,
    /// As `Aligned`, where `Unaligned` was asked for but the edge does not allow it.
    ForcedAligned,
}

/// How a checkpoint is to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CheckpointOptions {
    /// What it is for.
    pub snapshot: SnapshotType,
    /// How barriers are met.
    pub alignment: Alignment,
    /// After how long, in milliseconds since the checkpoint was begun, an aligned checkpoint becomes
    /// an unaligned one; 0 for never.
    pub alignment_timeout_ms: u32,
    /// Whether all sources had come to their end when it was triggered: no record comes behind its
    /// barriers. Known to who meets them, and not stored.
    #[serde(skip)]
    pub is_final: bool,
}

/// Divides what comes before a checkpoint from what comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointBarrier {
    /// The checkpoint.
    pub id: CheckpointId,
    /// When the checkpoint was begun, in nanoseconds of the job's clock since the job was started.
    pub begun_ns: u64,
    /// How it is taken.
    pub options: CheckpointOptions,
}

impl CheckpointBarrier {
    /// The barrier of a checkpoint that was begun at `begun_ns`, aligned.
    #[must_use]
    pub fn new(id: CheckpointId, begun_ns: u64) -> Self {
        Self {
            id,
            begun_ns,
            options: CheckpointOptions::default(),
        }
    }
}

/// Which channel of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId {
    /// The gate, counted from 0 in the order of the operator's inputs.
    pub gate: u16,
    /// The place in the gate, counted from 0.
    pub channel: u32,
}

/// What is told to a task rather than to its operators, in line with the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// No record follows; barriers may.
    EndOfData(StopMode),
    /// Nothing follows.
    EndOfPartition,
    /// A checkpoint.
    Barrier(CheckpointBarrier),
    /// The barrier of that checkpoint will not come.
    CancelBarrier(CheckpointId),
}

impl Event {
    /// Whether its channel gives nothing more until
    /// [`resume_consumption`](super::InputChannel::resume_consumption).
    #[must_use]
    pub const fn blocks_channel(&self) -> bool {
        matches!(self, Self::Barrier(_))
    }
}

/// What flows from task to task, in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element<T> {
    /// A record.
    Record(Record<T>),
    /// Event time goes on.
    Watermark(Watermark),
    /// Whether watermarks come.
    Status(WatermarkStatus),
    /// How long it takes to here.
    Latency(LatencyMarker),
    /// Something for the task.
    Event(Event),
}

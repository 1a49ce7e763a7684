//! What is measured, as numbers: the key under which results are compared.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// How long the machine itself stops a thread now and then.
    Hiccup,
    /// Time per letter, from core to core, with the queue kept busy.
    Throughput,
    /// Time of a letter there and another one back.
    Rtt,
    /// Time from when a letter was to be posted until it was taken, at a given rate.
    Latency,
    /// CPU time of a consumer that waits and gets nothing.
    Idle,
    /// Round trips of a cache line between each two CPUs.
    Cores,
    /// What it costs to hand work to an owner.
    Mail,
    /// What a turn of an owner's loop costs.
    Loop,
    /// How soon a task runs a mail whose thread sleeps.
    Wake,
    /// What tasks cost: mails between them, questions to them, their lives and their memory.
    Tasks,
    /// What a record costs that flows from a source through operators into a sum.
    Pipeline,
    /// What checkpoints cost a job, and how long they and restores take.
    Checkpoint,
}

/// What exactly is measured of an owner, by its mail or its loop, of tasks, of a pipeline or of
/// checkpoints.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Small mails from other threads, as fast as they go.
    AcrossCores,
    /// Small mails from the owner to itself.
    SelfPost,
    /// A marker that is pending is posted once more.
    Marker,
    /// From post to run, for an owner that sleeps.
    Parked,
    /// From post to run, for an owner that does something else in between.
    Busy,
    /// A turn without a mail, and with nothing else to do.
    Turn,
    /// The same while a timer is armed.
    Timer,
    /// A yield that finds nothing.
    Yield,
    /// The question whether there is a mail.
    Interrupt,
    /// A mail to another task of the same thread and one back.
    OneThread,
    /// The same while there are many tasks more that have nothing to do.
    AmongIdle,
    /// A mail to a task of another thread and one back, both threads awake.
    TwoThreads,
    /// A question to a task of another thread and its answer, both threads awake.
    Ask,
    /// The life of a task, from its start until its end is known to another thread.
    SpawnStop,
    /// The memory of a task that has nothing to do.
    Memory,
    /// Operators that call each other.
    Chained,
    /// From a task of one thread to a task of another.
    Hop,
    /// Sums by key, records being sent to the task of their key: one task.
    #[serde(rename = "keyed-1")]
    #[value(name = "keyed-1")]
    KeyedOne,
    /// The same with two tasks, on two threads.
    #[serde(rename = "keyed-2")]
    #[value(name = "keyed-2")]
    KeyedTwo,
    /// The same while letters arrive at those who sum.
    KeyedLetters,
    /// Windows of event time over a year of flights.
    Flights,
    /// Sums by key while a checkpoint is taken each second.
    #[serde(rename = "every-1s")]
    #[value(name = "every-1s")]
    EverySecond,
    /// The same ten times a second.
    #[serde(rename = "every-100ms")]
    #[value(name = "every-100ms")]
    EveryTenth,
    /// The same, of fewer keys.
    FewerKeys,
    /// For how long a task does nothing else when its state is taken.
    Sync,
    /// From record to record, in the time after a task's state was taken.
    Pause,
    /// From when a checkpoint is asked for until it is complete, of tasks without state.
    Empty,
    /// From stored bytes to an operator that is opened.
    Restore,
    /// From the start of a job that goes on from a checkpoint to its first result.
    Restart,
}

impl Part {
    /// Those of mail.
    pub const MAIL: [Self; 5] = [
        Self::AcrossCores,
        Self::SelfPost,
        Self::Marker,
        Self::Parked,
        Self::Busy,
    ];
    /// Those of the loop.
    pub const LOOP: [Self; 4] = [Self::Turn, Self::Timer, Self::Yield, Self::Interrupt];
    /// Those of tasks.
    pub const TASKS: [Self; 6] = [
        Self::OneThread,
        Self::AmongIdle,
        Self::TwoThreads,
        Self::Ask,
        Self::SpawnStop,
        Self::Memory,
    ];
    /// Those of pipelines.
    pub const PIPELINE: [Self; 6] = [
        Self::Chained,
        Self::Hop,
        Self::KeyedOne,
        Self::KeyedTwo,
        Self::KeyedLetters,
        Self::Flights,
    ];
    /// Those of checkpoints.
    pub const CHECKPOINT: [Self; 8] = [
        Self::EverySecond,
        Self::EveryTenth,
        Self::FewerKeys,
        Self::Sync,
        Self::Pause,
        Self::Empty,
        Self::Restore,
        Self::Restart,
    ];

    /// Whether two threads of it stay awake for each other, each on a CPU of its own.
    pub(crate) fn spins_on_two(self) -> bool {
        matches!(self, Self::TwoThreads | Self::Ask | Self::SpawnStop)
    }

    /// Whether its records have keys of which there can be more or fewer.
    pub(crate) fn has_keys(self) -> bool {
        matches!(self, Self::KeyedOne | Self::KeyedTwo | Self::KeyedLetters)
            || (Self::CHECKPOINT.contains(&self) && self != Self::Empty)
    }

    /// Whether a job's throughput with checkpoints is compared to that without.
    pub(crate) fn is_with_and_without(self) -> bool {
        matches!(self, Self::EverySecond | Self::EveryTenth | Self::FewerKeys)
    }

    /// Whether times come out of it that are too few, or too far apart, for more than a median of each
    /// round.
    pub(crate) fn times_checkpoints(self) -> bool {
        matches!(self, Self::Sync | Self::Empty | Self::Restart)
    }
}

/// Who waits, and how.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each subject waits in its own best way.
    AsShipped,
    /// This tool waits, in the same way for all, around calls that do not.
    SameWaiting,
}

/// When letters are to be posted in an open loop.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// Independently of each other, as most things that come from many sources.
    Poisson,
    /// In groups of 32 at one moment, the groups at equal distances.
    Burst,
}

/// From when a latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    /// From the moment at which the letter was to be posted, so that a stall counts for all letters
    /// it held up.
    Response,
    /// From the moment at which its post began.
    Service,
}

/// What is measured, but for the subject.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Case {
    /// The kind of measurement.
    pub workload: Workload,
    /// Who waits.
    pub mode: Mode,
    /// Threads that post.
    pub producers: usize,
    /// Letters to a claim.
    pub batch: usize,
    /// Letters the queue holds.
    pub capacity: usize,
    /// Size of a letter.
    pub payload_bytes: usize,
    /// Letters a second, of all producers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
    /// When they are to be posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// How long one who asks thinks between two round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ns: Option<u64>,
    /// From when a latency counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Between which two CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pair: Option<[usize; 2]>,
    /// What exactly is measured of an owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Tasks that have nothing to do, beside those that have or alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_tasks: Option<usize>,
    /// Keys that records have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<usize>,
    /// From the beginning of a checkpoint to that of the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_ms: Option<u64>,
}

impl Case {
    /// The case of a workload in which nothing else matters: one producer, unbatched, 1024 letters
    /// of 8 bytes.
    #[must_use]
    pub fn plain(workload: Workload, mode: Mode) -> Self {
        Self {
            workload,
            mode,
            producers: 1,
            batch: 1,
            capacity: 1024,
            payload_bytes: 8,
            rate_per_s: None,
            arrivals: None,
            think_ns: None,
            time: None,
            cpu_pair: None,
            part: None,
            idle_tasks: None,
            keys: None,
            checkpoint_ms: None,
        }
    }

    /// Whether mails or letters come at a given rate, and each is timed.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.workload == Workload::Latency || matches!(self.part, Some(Part::Parked | Part::Busy))
    }

    /// Whether mails, letters or records come as fast as they go, so that they make so many a
    /// second.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.workload, Workload::Throughput | Workload::Pipeline)
            || matches!(self.part, Some(Part::AcrossCores | Part::Restore))
            || self.part.is_some_and(Part::is_with_and_without)
    }

    /// Whether its figures are those of a tail, beside which the machine's own is shown.
    #[must_use]
    pub fn tells_tail(&self) -> bool {
        self.is_open_loop() || self.part == Some(Part::Pause)
    }

    /// What it is of which each is timed, in words.
    pub(crate) fn each(&self) -> &'static str {
        match self.part {
            Some(Part::SpawnStop) => "life of a task",
            Some(Part::Sync) => "sync part of a snapshot",
            Some(Part::Empty) => "checkpoint",
            Some(Part::Restart) => "start",
            _ => "round trip",
        }
    }

    /// Whether each round trip, each life of a task or each checkpoint is timed.
    #[must_use]
    pub fn times_each(&self) -> bool {
        let is_each = |part: Part| part.spins_on_two() || part.times_checkpoints();
        self.workload == Workload::Rtt || self.part.is_some_and(is_each)
    }

    /// Threads that run in it at once.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.workload {
            Workload::Hiccup => 1,
            Workload::Throughput | Workload::Latency => self.producers + 1,
            Workload::Rtt | Workload::Cores => 2,
            Workload::Idle => 1,
            Workload::Mail | Workload::Loop => match self.part {
                Some(Part::AcrossCores | Part::Parked | Part::Busy) => self.producers + 1,
                _ => 1,
            },
            Workload::Wake => self.producers + 1,
            Workload::Tasks => match self.part {
                Some(part) if part.spins_on_two() => 2,
                _ => 1,
            },
            // Who posts letters meanwhile sleeps nearly all the time.
            Workload::Pipeline => match self.part {
                Some(Part::Hop | Part::KeyedTwo | Part::KeyedLetters | Part::Flights) => 2,
                _ => 1,
            },
            // Whoever stores state beside the tasks has no CPU of its own.
            Workload::Checkpoint => match self.part {
                Some(Part::Pause) => 2,
                Some(Part::Sync | Part::Restore | Part::Restart) => 1,
                _ => self.producers,
            },
        }
    }

    /// What its figures are.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.workload {
            Workload::Throughput => "ns/letter",
            Workload::Rtt | Workload::Cores => "ns/round trip",
            Workload::Latency | Workload::Hiccup | Workload::Wake => "ns",
            Workload::Idle => "% of a CPU",
            Workload::Mail | Workload::Loop => match self.part {
                Some(Part::Parked | Part::Busy) => "ns",
                Some(Part::Marker) => "ns/post",
                Some(Part::Turn | Part::Timer) => "ns/turn",
                Some(Part::Yield | Part::Interrupt) => "ns/call",
                _ => "ns/mail",
            },
            Workload::Tasks => match self.part {
                Some(Part::SpawnStop) => "ns/task",
                Some(Part::Memory) => "bytes/task",
                _ => "ns/round trip",
            },
            Workload::Pipeline => "ns/record",
            Workload::Checkpoint => match self.part {
                Some(Part::Sync) => "ns/snapshot",
                Some(Part::Pause) => "ns",
                Some(Part::Empty) => "ns/checkpoint",
                Some(Part::Restore) => "ns/byte",
                Some(Part::Restart) => "ns/start",
                _ => "ns/record",
            },
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hiccup => "hiccup",
            Self::Throughput => "throughput",
            Self::Rtt => "rtt",
            Self::Latency => "latency",
            Self::Idle => "idle",
            Self::Cores => "cores",
            Self::Mail => "mail",
            Self::Loop => "loop",
            Self::Wake => "wake",
            Self::Tasks => "tasks",
            Self::Pipeline => "pipeline",
            Self::Checkpoint => "checkpoint",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AcrossCores => "across-cores",
            Self::SelfPost => "self-post",
            Self::Marker => "marker",
            Self::Parked => "parked",
            Self::Busy => "busy",
            Self::Turn => "turn",
            Self::Timer => "timer",
            Self::Yield => "yield",
            Self::Interrupt => "interrupt",
            Self::OneThread => "one-thread",
            Self::AmongIdle => "among-idle",
            Self::TwoThreads => "two-threads",
            Self::Ask => "ask",
            Self::SpawnStop => "spawn-stop",
            Self::Memory => "memory",
            Self::Chained => "chained",
            Self::Hop => "hop",
            Self::KeyedOne => "keyed-1",
            Self::KeyedTwo => "keyed-2",
            Self::KeyedLetters => "keyed-letters",
            Self::Flights => "flights",
            Self::EverySecond => "every-1s",
            Self::EveryTenth => "every-100ms",
            Self::FewerKeys => "fewer-keys",
            Self::Sync => "sync",
            Self::Pause => "pause",
            Self::Empty => "empty",
            Self::Restore => "restore",
            Self::Restart => "restart",
        })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsShipped => "as shipped",
            Self::SameWaiting => "same waiting",
        })
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Burst => "burst",
        })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Response => "response",
            Self::Service => "service",
        })
    }
}

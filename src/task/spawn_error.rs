//! Why a task was not spawned.

use super::cpu_set::CpuSet;
use crate::ring::CapacityError;
use core::fmt;

/// A task was not spawned.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// The engine ends, or is gone.
    ShutDown,
    /// All threads that it might run on have as many tasks as they may.
    TooManyTasks {
        /// How many that is, for each thread.
        tasks_max: usize,
    },
    /// No slot is free: of that name, if one was asked for.
    NoSlot {
        /// The slot that was asked for.
        asked: Option<Box<str>>,
        /// The names of the slots of each thread.
        slots: Vec<Box<str>>,
    },
    /// There is no such thread.
    NoThread {
        /// The thread that was asked for, counted from 0.
        asked: usize,
        /// How many there are.
        threads: usize,
    },
    /// No thread of the engine runs on that CPU alone.
    NoThreadOnCpu {
        /// The system's number of the CPU that was asked for.
        asked: usize,
        /// The CPUs of all threads.
        cpus: CpuSet,
    },
    /// A capacity is 0 or absurd, or memory is short.
    Capacity(CapacityError),
    /// Letters that are not delivered were to be handed to something made for other types.
    OtherTypes,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown => f.write_str("the engine has been shut down"),
            Self::TooManyTasks { tasks_max } => {
                write!(f, "there are {tasks_max} tasks on each thread already, as many as it may have")
            }
            Self::NoSlot { asked: None, slots } => {
                write!(f, "no slot is free; each thread has: {}", slots.join(", "))
            }
            Self::NoSlot {
                asked: Some(asked),
                slots,
            } if slots.is_empty() => write!(f, "there is no slot {asked}: this engine has none"),
            Self::NoSlot {
                asked: Some(asked),
                slots,
            } => write!(
                f,
                "no slot {asked} is free; each thread has: {}",
                slots.join(", ")
            ),
            Self::NoThread { asked, threads } => {
                write!(f, "there is no thread {asked}: this engine has threads 0 to {}", threads - 1)
            }
            Self::NoThreadOnCpu { asked, cpus } => {
                write!(f, "no thread runs on CPU {asked} alone; all run on {}", cpus.named())
            }
            Self::Capacity(error) => error.fmt(f),
            Self::OtherTypes => f.write_str(
                "undelivered letters were to be handed to something made for another type of letter",
            ),
        }
    }
}

impl core::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Capacity(error) => Some(error),
            _ => None,
        }
    }
}

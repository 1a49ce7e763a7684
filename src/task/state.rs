//! Where a task is in its life, and which steps there are.

use core::fmt;

/// Where a task is in its life.
///
/// `Created → Deploying → Initializing → Running → Finished` is a life without trouble; from each of
/// the first four a task may go to `Canceling` and then `Canceled`, or to `Failed`. The states and
/// steps are those of Flink's tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[repr(u32)]
pub enum TaskState {
    /// Spawned; its thread has not got to it.
    Created,
    /// Its thread makes room for it.
    Deploying,
    /// Its state is being built.
    Initializing,
    /// It takes letters.
    Running,
    /// It was cancelled, and ends when its thread gets to it.
    Canceling,
    /// It did all it had to do.
    Finished,
    /// It was cancelled.
    Canceled,
    /// It failed, and ends when its thread gets to it, or has ended.
    Failed,
}

impl TaskState {
    const ALL: [Self; 8] = [
        Self::Created,
        Self::Deploying,
        Self::Initializing,
        Self::Running,
        Self::Canceling,
        Self::Finished,
        Self::Canceled,
        Self::Failed,
    ];

    pub(super) fn from_word(word: u32) -> Self {
        Self::ALL[word as usize]
    }

    pub(super) fn word(self) -> u32 {
        self as u32
    }

    /// Whether a task stays in this state for ever.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Failed)
    }

    /// Whether a task in this state may be cancelled, or fail.
    #[must_use]
    pub fn is_live(self) -> bool {
        self < Self::Canceling
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "created",
            Self::Deploying => "deploying",
            Self::Initializing => "initializing",
            Self::Running => "running",
            Self::Canceling => "canceling",
            Self::Finished => "finished",
            Self::Canceled => "canceled",
            Self::Failed => "failed",
        })
    }
}

/// What became of a step that somebody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "another step may have come first"]
pub(super) enum Transition {
    /// The task is there now.
    Made,
    /// Another step came first: the task is in this state.
    Not(TaskState),
}

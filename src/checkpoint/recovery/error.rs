//! Why a job cannot go on from a checkpoint, and what it would have to be like.

use crate::checkpoint::SubtaskId;
use core::fmt;

/// State for which a job has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonRestored {
    /// That of a vertex which the job does not have.
    Vertex {
        /// The vertex.
        vertex: Box<str>,
        /// How much state it has, in bytes.
        state_bytes: u64,
    },
    /// That of an operator which its vertex does not have any more.
    Operator {
        /// The vertex.
        vertex: Box<str>,
        /// The operator.
        operator: Box<str>,
        /// How much state it has, in bytes.
        state_bytes: u64,
        /// The operators that the vertex has.
        chain: Vec<Box<str>>,
    },
    /// That of the coordinator of an operator which the job does not have.
    OperatorCoordinator {
        /// The operator.
        operator: Box<str>,
    },
    /// That of a hook which the job does not have.
    MasterHook {
        /// The hook.
        hook: Box<str>,
    },
}

impl fmt::Display for NonRestored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vertex {
                vertex,
                state_bytes,
            } => write!(
                f,
                "{state_bytes} bytes of vertex {vertex}, which the job does not have"
            ),
            Self::Operator {
                vertex,
                operator,
                state_bytes,
                chain,
            } => write!(
                f,
                "{state_bytes} bytes of operator {operator} of vertex {vertex}, whose operators \
                 are {}",
                listed(chain)
            ),
            Self::OperatorCoordinator { operator } => write!(
                f,
                "that of the coordinator of operator {operator}, which the job does not have"
            ),
            Self::MasterHook { hook } => {
                write!(f, "that of hook {hook}, which the job does not have")
            }
        }
    }
}

/// Why a job cannot go on from a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The job has another number of key groups.
    MaxParallelism {
        /// How many it had when the checkpoint was taken.
        before: u32,
        /// How many it has.
        now: u32,
    },
    /// A vertex with state, or with subtasks that had finished, has another number of subtasks.
    Parallelism {
        /// The vertex.
        vertex: Box<str>,
        /// How many it had when the checkpoint was taken.
        before: u32,
        /// How many it has.
        now: u32,
    },
    /// There is state for which the job has no place.
    NonRestoredState {
        /// All of it.
        dropped: Vec<NonRestored>,
    },
    /// Several vertices have one name, and not as many as before: whose state is whose is not known.
    AmbiguousVertices {
        /// The name.
        vertex: Box<str>,
        /// How many had it when the checkpoint was taken.
        before: usize,
        /// How many have it.
        now: usize,
    },
    /// Several operators of a vertex have one name, and not as many as before: whose state is whose is
    /// not known.
    AmbiguousOperators {
        /// The vertex.
        vertex: Box<str>,
        /// The name.
        operator: Box<str>,
        /// How many had it when the checkpoint was taken.
        before: usize,
        /// How many have it.
        now: usize,
    },
    /// The operators with state of a vertex stand in another order.
    OperatorsReordered {
        /// The vertex.
        vertex: Box<str>,
        /// All its operators when the checkpoint was taken.
        before: Vec<Box<str>>,
        /// All it has.
        now: Vec<Box<str>>,
    },
    /// A subtask had finished, and one that it reads from has not: what that one sends would be lost.
    FinishedBehindRunning {
        /// The vertex of the subtask that had finished.
        vertex: Box<str>,
        /// The subtask.
        subtask: SubtaskId,
        /// The vertex of the one that has not.
        upstream: Box<str>,
        /// The one that has not.
        running: SubtaskId,
    },
    /// Subtasks of one vertex have state of different operators: no job of this kind wrote that.
    DifferentChains {
        /// The vertex.
        vertex: Box<str>,
        /// The first subtask that differs from those before it.
        index: u32,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxParallelism { before, now } => write!(
                f,
                "the job has {now} key groups, and had {before} when the checkpoint was taken: its \
                 maximum parallelism has to stay {before}"
            ),
            Self::Parallelism {
                vertex,
                before,
                now,
            } => write!(
                f,
                "vertex {vertex} has {now} subtasks, and had {before} when the checkpoint was taken: \
                 its parallelism has to stay {before}"
            ),
            Self::NonRestoredState { dropped } => {
                f.write_str("the checkpoint has state for which the job has no place: ")?;
                for (index, state) in dropped.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{state}")?;
                }
                f.write_str("; give those names back, or allow state that is not restored")
            }
            Self::AmbiguousVertices {
                vertex,
                before,
                now,
            } => write!(
                f,
                "{now} vertices are called {vertex}, and {before} were when the checkpoint was \
                 taken: which of them has the state is not known; there have to be {before}, in \
                 the same order"
            ),
            Self::AmbiguousOperators {
                vertex,
                operator,
                before,
                now,
            } => write!(
                f,
                "{now} operators of vertex {vertex} are called {operator}, and {before} were when \
                 the checkpoint was taken: which of them has the state is not known; there have to \
                 be {before}, in the same order"
            ),
            Self::OperatorsReordered {
                vertex,
                before,
                now,
            } => write!(
                f,
                "the operators of vertex {vertex} are {}, and were {} when the checkpoint was \
                 taken: those with state have to stand in the same order",
                listed(now),
                listed(before)
            ),
            Self::FinishedBehindRunning {
                vertex,
                subtask,
                upstream,
                running,
            } => write!(
                f,
                "subtask {subtask} of vertex {vertex} had finished when the checkpoint was taken, \
                 and would read from subtask {running} of vertex {upstream}, which had not: a \
                 vertex that had finished can have none but finished ones before it"
            ),
            Self::DifferentChains { vertex, index } => write!(
                f,
                "the checkpoint is damaged: subtask {index} of vertex {vertex} has state of other \
                 operators than those before it"
            ),
        }
    }
}

impl core::error::Error for RestoreError {}

/// Names in words.
fn listed(names: &[Box<str>]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

//! The job that is to go on from a checkpoint.

use crate::checkpoint::JobTopology;

/// A vertex of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetVertex {
    /// Its name.
    pub name: Box<str>,
    /// The names of the operators of its chain, from the head on.
    pub operators: Vec<Box<str>>,
}

/// The job that is to go on from a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreTarget {
    /// How many key groups it has.
    pub max_parallelism: u32,
    /// In the order of the graph.
    pub vertices: Vec<TargetVertex>,
    /// The graph; it has as many vertices.
    pub topology: JobTopology,
    /// The names of the hooks that take part in its checkpoints.
    pub master_hooks: Vec<Box<str>>,
}

/// What becomes of state for which the job has no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NonRestoredState {
    /// The job does not go on from such a checkpoint.
    #[default]
    Refused,
    /// It is left out.
    Allowed,
}

//! A job's graph as far as checkpoints need it: vertices, edges, and the state of each subtask.

use crate::checkpoint::SubtaskId;
use core::ops::Range;

/// Which subtasks of two vertices are joined by a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DistributionPattern {
    /// Each with each.
    AllToAll,
    /// Each with those at its height: with the same one where both vertices have as many.
    Pointwise,
}

/// A vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopologyVertex {
    /// How many subtasks it has.
    pub parallelism: u32,
    /// Whether it begins a stream: it has no input.
    pub is_source: bool,
}

/// An edge; vertices are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopologyEdge {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Which of their subtasks are joined.
    pub pattern: DistributionPattern,
}

/// A job's graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTopology {
    /// In the order of the job.
    pub vertices: Vec<TopologyVertex>,
    /// In any order.
    pub edges: Vec<TopologyEdge>,
}

impl JobTopology {
    /// All subtasks, by vertex and index.
    pub fn subtasks(&self) -> impl Iterator<Item = SubtaskId> {
        let vertices = (0u32..).zip(&self.vertices);
        vertices.flat_map(|(vertex, of)| {
            (0..of.parallelism).map(move |index| SubtaskId { vertex, index })
        })
    }

    /// How many subtasks there are.
    #[must_use]
    pub fn subtasks_len(&self) -> usize {
        let vertices = self.vertices.iter();
        vertices.map(|vertex| vertex.parallelism as usize).sum()
    }

    /// The edges into a vertex.
    pub fn inputs(&self, vertex: u32) -> impl Iterator<Item = &TopologyEdge> {
        self.edges.iter().filter(move |edge| edge.to == vertex)
    }

    /// Which subtasks of the sender have a channel to subtask `index` of the receiver.
    ///
    /// # Panics
    /// If the edge is not one of this graph.
    #[must_use]
    pub fn producers(&self, edge: &TopologyEdge, index: u32) -> Range<u32> {
        let from = self.vertices[edge.from as usize].parallelism;
        match edge.pattern {
            DistributionPattern::AllToAll => 0..from,
            DistributionPattern::Pointwise => {
                let to = u64::from(self.vertices[edge.to as usize].parallelism);
                let at = |index: u32| {
                    let at = u64::from(index) * u64::from(from) / to;
                    u32::try_from(at).expect("no more than the sender has subtasks")
                };
                let begin = at(index);
                begin..at(index + 1).max(begin + 1)
            }
        }
    }
}

/// What a subtask is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubtaskStatus {
    /// It is not there yet.
    Created,
    /// It opens its operators, or restores their state.
    Deploying,
    /// It works.
    Running,
    /// Its operators have finished; it waits for its last checkpoint, and takes part in it.
    DataEnded,
    /// It is over, and did all that it had to do.
    Finished,
    /// It is over, and goes on later from the last checkpoint.
    Suspended,
    /// It is over or about to be, and did not.
    Failed,
}

impl SubtaskStatus {
    /// Whether nothing comes of it any more.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Suspended | Self::Failed)
    }

    /// Whether it can take part in a checkpoint.
    #[must_use]
    pub const fn takes_part(self) -> bool {
        matches!(self, Self::Running | Self::DataEnded)
    }
}

#[cfg(test)]
mod tests;

//! What a subtask is deployed with: who it is, and its ends of the channels.

use super::checkpointing::{MakeParticipant, RestoredSubtask};
use super::element::Element;
use super::local::LocalChannel;
use super::setting::Subtask;
use crate::ring::spsc;
use core::any::Any;
use core::time::Duration;

/// Which edge of a job: all channels from the subtasks of one vertex to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdgeId(pub(crate) usize);

/// How the tasks of a job move records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How many records a call of the default action processes at most.
    pub(crate) records_max: usize,
    /// How many records are processed between two looks at the letters; by the pace, without it.
    pub(crate) records_per_look: Option<usize>,
    /// How many elements are put out for another task before it is shown them, at most.
    pub(crate) batch_max: usize,
    /// How long elements wait for that, at most, while input goes on.
    pub(crate) flush_timeout: Duration,
    /// How many elements a channel holds.
    pub(crate) channel_capacity: usize,
    /// How often sources make a latency marker.
    pub(crate) latency_every: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            records_max: 8_192,
            records_per_look: None,
            batch_max: 128,
            flush_timeout: Duration::ZERO,
            channel_capacity: 1024,
            latency_every: None,
        }
    }
}

/// A subtask's end of one edge: its channels, by the subtask at the other end.
struct End {
    edge: EdgeId,
    channels: Box<dyn Any + Send>,
}

/// What a subtask is deployed with. It is made where the job is started, and used up on the
/// subtask's own thread, where channels, outputs and operators are built of it.
pub struct Deployment {
    subtask: Subtask,
    pace: Pace,
    inputs: Vec<End>,
    outputs: Vec<End>,
    restored: Option<RestoredSubtask>,
    participant: Option<MakeParticipant>,
}

impl Deployment {
    pub(crate) fn new(subtask: Subtask, pace: Pace) -> Self {
        Self {
            subtask,
            pace,
            inputs: Vec::new(),
            outputs: Vec::new(),
            restored: None,
            participant: None,
        }
    }

    /// The subtask begins with this state.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(crate) fn restore(&mut self, restored: RestoredSubtask) {
        self.restored = Some(restored);
    }

    /// The subtask takes part in checkpoints.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(crate) fn take_part(&mut self, participant: MakeParticipant) {
        self.participant = Some(participant);
    }

    pub(super) fn take_restored(&mut self) -> Option<RestoredSubtask> {
        self.restored.take()
    }

    pub(super) fn take_participant(&mut self) -> Option<MakeParticipant> {
        self.participant.take()
    }

    /// The subtask.
    #[must_use]
    pub fn subtask(&self) -> &Subtask {
        &self.subtask
    }

    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    pub(crate) fn add_input<T: Send + 'static>(
        &mut self,
        edge: EdgeId,
        channels: Vec<spsc::Consumer<Element<T>>>,
    ) {
        self.inputs.push(End {
            edge,
            channels: Box::new(channels),
        });
    }

    pub(crate) fn add_output<T: Send + 'static>(
        &mut self,
        edge: EdgeId,
        channels: Vec<spsc::Producer<Element<T>>>,
    ) {
        self.outputs.push(End {
            edge,
            channels: Box::new(channels),
        });
    }

    /// Takes the channels that come in by `edge`, whose records are of type `T`.
    pub(crate) fn take_input<T: Send + 'static>(&mut self, edge: EdgeId) -> Vec<LocalChannel<T>> {
        let consumers: Vec<spsc::Consumer<Element<T>>> = take(&mut self.inputs, edge);
        consumers.into_iter().map(LocalChannel::new).collect()
    }

    /// Takes the channels that go out by `edge`, whose records are of type `T`.
    pub(crate) fn take_output<T: Send + 'static>(
        &mut self,
        edge: EdgeId,
    ) -> Vec<spsc::Producer<Element<T>>> {
        take(&mut self.outputs, edge)
    }
}

fn take<C: 'static>(ends: &mut Vec<End>, edge: EdgeId) -> Vec<C> {
    let place = ends.iter().position(|end| end.edge == edge);
    let end = place.map(|place| ends.swap_remove(place).channels);
    let channels = end.and_then(|channels| channels.downcast::<Vec<C>>().ok());
    *channels.expect("an edge's channels are taken once at each end, by who was deployed with them")
}

impl core::fmt::Debug for Deployment {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deployment")
            .field("subtask", &self.subtask)
            .field("inputs", &self.inputs.len())
            .field("outputs", &self.outputs.len())
            .finish_non_exhaustive()
    }
}

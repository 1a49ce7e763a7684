//! The input gate: all channels of one input, read in turn.
//!
//! G1. A channel whose end of partition was taken is read no more, and calls nobody.
//! G2. After at most `run_max` elements of one channel, those of all others that have any come first.
//! G3. A channel that gave what blocks it is passed over until it is resumed.

use super::channel::{ChannelState, InputChannel, ResumeError};
use super::element::{Element, Event};
use crate::letter::BoxError;
use core::fmt;
use core::marker::PhantomData;
use core::task::{Context, Poll};

/// Where a channel is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Records may come.
    Open,
    /// Its data has ended; events may come.
    DataEnded,
    /// Nothing comes any more.
    Ended,
}

struct Entry<C> {
    channel: C,
    reach: Reach,
}

/// What came by a channel is not to be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum GateError {
    /// A record came by a channel whose data had ended.
    RecordAfterEnd {
        /// The channel.
        channel: usize,
    },
    /// There is something wrong with what came by a channel.
    Channel {
        /// The channel.
        channel: usize,
        /// What.
        error: BoxError,
    },
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordAfterEnd { channel } => write!(
                f,
                "a record came by channel {channel} after the end of its data"
            ),
            Self::Channel { channel, error } => write!(f, "channel {channel}: {error}"),
        }
    }
}

impl core::error::Error for GateError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::RecordAfterEnd { .. } => None,
            Self::Channel { error, .. } => Some(&**error),
        }
    }
}

/// What a gate gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gave {
    /// So many elements. The handler took no more, or there were no more, or that was the most.
    Elements(usize),
    /// Nothing: no channel has any.
    Nothing,
}

/// The channels of one input.
pub struct InputGate<T, C> {
    entries: Vec<Entry<C>>,
    /// The channel to be read next.
    next: usize,
    run_max: usize,
    ended: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T, C: InputChannel<T>> InputGate<T, C> {
    /// The most elements that are read from one channel while others have some.
    pub const RUN_MAX: usize = 64;

    /// A gate of `channels`, numbered from 0.
    #[must_use]
    pub fn new(channels: Vec<C>) -> Self {
        Self::with_run_max(channels, Self::RUN_MAX)
    }

    /// A gate that reads at most `run_max` elements, and at least one, of a channel while others have
    /// some.
    #[must_use]
    pub fn with_run_max(channels: Vec<C>, run_max: usize) -> Self {
        let entries = channels.into_iter().map(|channel| Entry {
            channel,
            reach: Reach::Open,
        });
        Self {
            entries: entries.collect(),
            next: 0,
            run_max: run_max.max(1),
            ended: 0,
            elements: PhantomData,
        }
    }

    /// How many channels there are.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.entries.len()
    }

    /// Whether every channel gave its end of partition.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.ended == self.entries.len()
    }

    /// Whether channel `channel` may still give records.
    #[must_use]
    pub fn has_data_ended(&self, channel: usize) -> bool {
        self.entries[channel].reach != Reach::Open
    }

    /// Whether there is something to take. A look at each channel, no more.
    #[must_use]
    pub fn has_elements(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.reach != Reach::Ended && entry.channel.has_elements())
    }

    /// Gives `handler` elements of the next channel that has any, with the channel's number, until
    /// that says by `false` that it takes no more; at most `max`. An event is the last of a call.
    ///
    /// # Errors
    /// [`GateError`]; a record after the end is dropped.
    #[inline]
    pub fn drain(
        &mut self,
        max: usize,
        mut handler: impl FnMut(usize, Element<T>) -> bool,
    ) -> Result<Gave, GateError> {
        let channels = self.entries.len();
        for step in 0..channels {
            let index = match self.next + step {
                index if index < channels => index,
                index => index - channels,
            };
            let Entry { channel, reach } = &mut self.entries[index];
            if *reach == Reach::Ended {
                continue;
            }
            // Alone it need not give way to any other (G2).
            let run = match channels {
                1 => max,
                _ => max.min(self.run_max),
            };
            let was = *reach;
            let mut now = was;
            let mut is_after_end = false;
            let taken = channel.drain(run, |element| {
                let is_event = match &element {
                    Element::Event(Event::EndOfData(_)) => {
                        now = Reach::DataEnded;
                        true
                    }
                    Element::Event(Event::EndOfPartition) => {
                        now = Reach::Ended;
                        true
                    }
                    Element::Event(_) => true,
                    Element::Record(_) if was != Reach::Open => {
                        is_after_end = true;
                        return false;
                    }
                    _ => false,
                };
                handler(index, element) && !is_event
            });
            *reach = now;
            let taken = taken.map_err(|error| GateError::Channel {
                channel: index,
                error,
            })?;
            if is_after_end {
                return Err(GateError::RecordAfterEnd { channel: index });
            }
            if taken > 0 {
                if self.entries[index].reach == Reach::Ended {
                    self.entries[index].channel.release();
                    self.ended += 1;
                }
                // G2: its turn is over, whether it has more or not.
                self.next = if index + 1 == channels { 0 } else { index + 1 };
                return Ok(Gave::Elements(taken));
            }
        }
        Ok(Gave::Nothing)
    }

    /// Whether there is something to take, or nothing to come. Where there is neither, `cx` is woken
    /// when there is.
    pub fn poll_elements(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_finished() {
            return Poll::Ready(());
        }
        for Entry { channel, reach } in &mut self.entries {
            // A channel that is blocked, or whose sender is gone, has nothing to wait for: who
            // blocked it, and who looks after the job, have this task called.
            if *reach != Reach::Ended
                && channel.poll_state(cx) == Poll::Ready(ChannelState::Elements)
            {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// Lets a blocked channel give again.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub fn resume_consumption(&mut self, channel: usize) -> Result<(), ResumeError> {
        self.entries[channel].channel.resume_consumption()
    }

    /// Whether channel `channel` waits to be resumed.
    #[must_use]
    pub fn is_blocked(&self, channel: usize) -> bool {
        self.entries[channel].channel.is_blocked()
    }

    /// How many elements wait, and how many could, in all channels.
    #[must_use]
    pub fn depth(&self) -> (usize, usize) {
        let channels = self.entries.iter().map(|entry| &entry.channel);
        channels.fold((0, 0), |(depth, credits), channel| {
            (depth + channel.depth(), credits + channel.credits())
        })
    }
}

impl<T, C> fmt::Debug for InputGate<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputGate")
            .field("channels", &self.entries.len())
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

//! The subjects this tool brings: our rings, their peers in their best idiomatic form, and what
//! the machine itself can do.

mod channels;
mod crossbeam_array_queue;
mod crossfire;
mod disruptor;
mod itself;
mod kanal;
mod mailring;
mod one_way;
mod owners;
mod pipelines;
mod raw;
mod rtrb;
mod tasks;
mod thingbuf;
mod tokio_mpsc;

pub use channels::{CrossbeamChannel, Flume, StdMpsc};
pub use crossbeam_array_queue::CrossbeamArrayQueue;
pub use crossfire::{Crossfire, CrossfireSpsc};
pub use disruptor::{DisruptorMulti, DisruptorSingle};
pub(crate) use itself::Machine;
pub use kanal::Kanal;
pub use mailring::{MailringMpsc, MailringSpsc};
pub use rtrb::Rtrb;
pub use thingbuf::Thingbuf;
pub use tokio_mpsc::TokioMpsc;

use crate::pause::Pause;
use crate::registry::Registry;

/// All of them.
#[must_use]
pub fn all() -> Registry {
    let queues = Registry::new()
        .with::<MailringMpsc>()
        .with::<MailringSpsc>()
        .with::<DisruptorMulti>()
        .with::<DisruptorSingle>()
        .with::<CrossbeamChannel>()
        .with::<CrossbeamArrayQueue>()
        .with::<StdMpsc>()
        .with::<Kanal>()
        .with::<Flume>()
        .with::<Crossfire>()
        .with::<CrossfireSpsc>()
        .with::<Thingbuf>()
        .with::<Rtrb>()
        .with::<TokioMpsc>()
        .with_measured(raw::PingPong)
        .with_measured(raw::PARK)
        .with_measured(raw::FUTEX);
    pipelines::with_all(tasks::with_all(owners::with_all(queues)))
}

/// A half of a queue that leaves waiting to its user, and how it waits here.
#[derive(Debug)]
pub struct Half<H> {
    half: H,
    pause: Pause,
}

impl<H> Half<H> {
    /// Looks until there is something.
    #[inline]
    fn until<T>(&mut self, mut look: impl FnMut(&mut H) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(&mut self.half) {
                self.pause.found();
                return found;
            }
            self.pause.wait();
        }
    }
}

#[cfg(test)]
mod tests;

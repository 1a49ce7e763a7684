//! Makes a ring for one producer.

use super::consumer_side::ConsumerSide;
use super::producer_side::ProducerSide;
use super::shared::{Cold, Fixed, Ring, UNDECIDED};
use super::{Consumer, Producer};
use crate::ring::builder;
use crate::ring::capacity::{self, CapacityError};
use crate::sync::{AtomicU32, AtomicU64, Counter, LineArc, StoreLoad, UnsafeCell};
use crate::wait::Sleeper;
use core::mem::MaybeUninit;
use crossbeam_utils::CachePadded;

/// Settings of a ring for one producer; see [`Builder::build`].
pub type Builder = builder::Builder<Options>;

/// What only this kind of ring can be set to.
#[derive(Debug, Default)]
pub struct Options {
    start: u64,
    fences: bool,
    #[cfg(mailring_loom)]
    unfenced: bool,
}

impl Builder {
    /// A ring that holds exactly `capacity` letters.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with_kind(capacity, Options::default())
    }

    /// Uses a fence per post or release, two per batch, instead of `membarrier(2)`, as on systems
    /// without it: posts cost more, going to sleep costs less and interrupts no other thread.
    ///
    /// Also for processes that a sandbox will forbid the call after the ring was made: refused
    /// then, it ends the process, for to go on would lose wake-ups.
    #[must_use]
    pub fn fences(mut self) -> Self {
        self.kind.fences = true;
        self
    }

    /// Both barriers do nothing: shows what the other orderings carry alone, as they must where
    /// `membarrier(2)` makes the light barrier one for the compiler only. Not for models in which
    /// somebody sleeps, or that count what is delivered when the consumer closes against a post.
    #[cfg(mailring_loom)]
    #[must_use]
    pub fn unfenced(mut self) -> Self {
        self.kind.unfenced = true;
        self
    }

    /// Starts at another sequence than 0, for models of wrap-around.
    #[cfg(any(test, mailring_loom))]
    #[must_use]
    pub fn start(mut self, sequence: u64) -> Self {
        self.kind.start = sequence;
        self
    }

    /// Makes the ring.
    ///
    /// # Errors
    /// [`CapacityError`] where the capacity is 0 or absurd, before any slot is allocated, or
    /// where memory is short.
    pub fn build<T>(self) -> Result<(Producer<T>, Consumer<T>), CapacityError> {
        let (config, options) = self.into_config();
        let Options { start, fences, .. } = options;
        let slots = capacity::slots(config.capacity, 0, |_, _| {
            UnsafeCell::new(MaybeUninit::uninit())
        })?;
        #[cfg(mailring_loom)]
        let fences = fences || !options.unfenced;
        let barrier = if fences {
            StoreLoad::Fences
        } else {
            StoreLoad::detect()
        };
        let ring = LineArc::new(Ring {
            tail: CachePadded::new(AtomicU64::new(start)),
            head: CachePadded::new(AtomicU64::new(start)),
            posting: CachePadded::new(AtomicU32::new(0)),
            consumer_word: CachePadded::new(AtomicU32::new(0)),
            producer_word: CachePadded::new(AtomicU32::new(0)),
            fixed: CachePadded::new(Fixed {
                slots,
                config,
                barrier,
            }),
            cold: CachePadded::new(Cold {
                end: AtomicU64::new(UNDECIDED),
                consumer: Sleeper::new(None),
                producer: Sleeper::new(None),
                producer_waits: Counter::default(),
            }),
        });
        let producer = Producer::new(LineArc::clone(&ring), ProducerSide::new(start));
        let consumer = Consumer::new(ring, ConsumerSide::new(start));
        Ok((producer, consumer))
    }
}

//! Makes a ring for many producers: reservations and hook, beside what every ring has.

use super::claim::Limit;
use super::owner::Owner;
use super::shared::{Cold, Fixed, Pending, Ring};
use super::slots::Slots;
use super::{Consumer, Producer};
use crate::ring::builder;
use crate::ring::capacity::CapacityError;
use crate::sync::{AtomicU64, AtomicUsize, Counter, LineArc};
use crate::wait::{Hook, Line, Sleeper};
use crossbeam_utils::CachePadded;

/// Settings of a ring for many producers; see [`Builder::build`].
pub type Builder = builder::Builder<Options>;

/// What only this kind of ring can be set to.
#[derive(Default)]
pub struct Options {
    reserved: usize,
    rights: usize,
    lean: bool,
    start: u64,
    hook: Option<Hook>,
}

impl core::fmt::Debug for Options {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Options")
            .field("reserved", &self.reserved)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// A ring that holds exactly `capacity` letters.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with_kind(capacity, Options::default())
    }

    /// Letters beyond the capacity that always fit, one of each; see
    /// [`Reservation`](super::Reservation).
    #[must_use]
    pub fn reserved(mut self, count: usize) -> Self {
        self.kind.reserved = count;
        self
    }

    /// Letters beyond the capacity that are posted by rights which others keep count of; see
    /// [`WeakProducer::post_by_right`](super::WeakProducer::post_by_right).
    #[must_use]
    pub(crate) fn rights(mut self, count: usize) -> Self {
        self.kind.rights = count;
        self
    }

    /// A small ring: no places in the line for room are made in advance, and the reservations' words
    /// lie close together.
    #[must_use]
    pub(crate) fn lean(mut self) -> Self {
        self.kind.lean = true;
        self
    }

    /// For an owner driven by somebody else's loop: whoever ends the owner's rest calls `hook`
    /// on its own thread, after what it brought can be seen. See
    /// [`Consumer::rest`](super::Consumer::rest).
    #[must_use]
    pub fn wake_by(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.kind.hook = Some(Box::new(hook));
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
        let Options {
            reserved,
            rights,
            lean,
            start,
            hook,
        } = options;
        let slots = Slots::new(config.capacity, reserved.saturating_add(rights), start)?;
        let pending = Pending::new(config.capacity, reserved, lean)?;
        let ring = LineArc::new(Ring {
            tail: CachePadded::new(AtomicU64::new(start)),
            head: CachePadded::new(AtomicU64::new(start)),
            fixed: CachePadded::new(Fixed {
                slots,
                config,
                pending,
            }),
            cold: CachePadded::new(Cold {
                producers: AtomicUsize::new(1),
                sleeper: Sleeper::new(hook),
                line: Line::with_places(if lean { 0 } else { Line::READY }),
                producer_waits: Counter::default(),
            }),
        });
        let producer = Producer::new(LineArc::clone(&ring), Limit::default());
        let consumer = Consumer::new(ring, Owner::new(start));
        Ok((producer, consumer))
    }
}

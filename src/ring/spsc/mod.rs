//! Bounded ring for one producer and one consumer: no locked instruction on either side.
//!
//! The producer publishes by a plain store of the tail, the consumer releases by a plain store of
//! the head. Whoever goes to sleep says so in a flag and then makes the other side's store
//! visible, by `membarrier(2)` where there is one: see `README.md` of this layer, rows s1 to s7.

mod builder;
mod consumer_side;
mod producer_side;
mod shared;
mod staging;
#[cfg(all(test, not(mailring_loom)))]
mod tests;

pub use builder::{Builder, Options};
#[doc(hidden)]
pub use shared::Ring;
pub use staging::Staging;

use super::capacity::CapacityError;

/// Posts letters; there is one per ring.
pub type Producer<T> = super::Producer<Ring<T>>;

/// Takes letters; there is one per ring.
pub type Consumer<T> = super::Consumer<Ring<T>>;

/// Makes a ring that holds exactly `capacity` letters, with [`Parking`](crate::wait::Parking) on
/// both sides.
///
/// # Errors
/// [`CapacityError`] where the capacity is 0 or absurd, before any slot is allocated.
///
/// ```
/// use mailring::ring::spsc;
///
/// let (producer, mut consumer) = spsc::bounded::<String>(16)?;
/// std::thread::spawn(move || producer.post("hello".to_owned()));
/// assert_eq!(consumer.take().unwrap(), "hello");
/// # Ok::<(), mailring::ring::CapacityError>(())
/// ```
pub fn bounded<T>(capacity: usize) -> Result<(Producer<T>, Consumer<T>), CapacityError> {
    Builder::new(capacity).build()
}

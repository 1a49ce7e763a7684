//! Bounded ring for many producers and one consumer.
//!
//! A post claims a sequence by one compare-exchange on the tail, writes its slot and publishes it
//! by a store of the slot's stamp. The consumer looks at stamps alone; it never touches the tail
//! while there are letters, and never writes a slot.

mod builder;
mod claim;
mod handle;
mod owner;
mod reserve;
mod rest;
mod right;
mod room;
mod shared;
mod slots;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod words;

pub use builder::{Builder, Options};
pub use handle::WeakProducer;
pub use reserve::{Reservation, ReservedPost};
pub use rest::Rest;
pub(crate) use rest::Rested;
#[doc(hidden)]
pub use shared::Ring;

use super::capacity::CapacityError;

/// Posts letters; clone it for more producers, or share it between threads.
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
/// use mailring::ring::mpsc;
///
/// let (producer, mut consumer) = mpsc::bounded::<u64>(100)?;
/// let other = producer.clone();
/// std::thread::spawn(move || other.post(1)).join().unwrap().unwrap();
/// producer.post(2).unwrap();
/// drop(producer);
/// assert_eq!(consumer.iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), mailring::ring::CapacityError>(())
/// ```
pub fn bounded<T>(capacity: usize) -> Result<(Producer<T>, Consumer<T>), CapacityError> {
    Builder::new(capacity).build()
}

//! A mailbox: two rings of letters, what the owner took out of them and has not run yet, and a life
//! cycle.
//!
//! Any number of [`Sender`]s post; the one [`Mailbox`] takes. Ordinary letters come through one
//! ring, urgent ones through a small second one, so that they never wait behind ordinary letters;
//! [`Marker`]s are letters that always fit and are pending at most once. The owner's own posts go
//! to a queue in its own memory and cannot block.
//!
//! - M1. What was accepted is handed out once: taken, or returned by [`Mailbox::close`].
//! - M2. Letters of one sender and one lane keep their order, but for those that a
//!   [priority](Mailbox::try_take_from) hides. Urgent ones overtake all others, also those of a batch
//!   that was begun; at most [`URGENT_RUN_MAX`] in a row while others are to be had.
//! - M3. A batch is what was there when it was begun. What is posted while it is worked off comes
//!   after it.
//! - M4. The owner looks for urgent letters once more after it has announced its sleep; their
//!   senders end a sleep after they have published.
//!
//! ```
//! use mailring::letter::Mail;
//! use mailring::mailbox::{self, MarkerPost};
//!
//! let (sender, mut mailbox) = mailbox::bounded::<u32, Mail<u32>>(64)?;
//! let double = mailbox.marker("double", |sum: &mut u32| *sum *= 2)?;
//! sender.post(Mail::new(|sum: &mut u32| *sum += 20))?;
//! assert_eq!(double.post(), MarkerPost::Posted);
//! assert_eq!(double.post(), MarkerPost::AlreadyPending);
//! sender.post_urgent(Mail::new(|sum: &mut u32| *sum = 1))?;
//!
//! let mut sum = 0;
//! while let Ok(taken) = mailbox.try_take() {
//!     mailbox.run(taken, &mut sum)?;
//! }
//! assert_eq!(sum, 42);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! An owner without a processor works in batches, until it wants no more:
//! ```
//! use mailring::letter::Mail;
//! use mailring::mailbox::{self, State, TakeError};
//!
//! let (sender, mut mailbox) = mailbox::bounded::<Vec<u32>, Mail<Vec<u32>>>(64)?;
//! for n in 1..=4 {
//!     sender.post(Mail::new(move |seen: &mut Vec<u32>| seen.push(n)))?;
//! }
//!
//! // A batch is what is there when it is begun.
//! let mut seen = Vec::new();
//! while mailbox.begin_batch() {
//!     while let Some(taken) = mailbox.try_take_from_batch() {
//!         mailbox.run(taken, &mut seen)?;
//!     }
//! }
//! assert_eq!(seen, [1, 2, 3, 4]);
//!
//! sender.post(Mail::new(|seen: &mut Vec<u32>| seen.clear()))?;
//! mailbox.quiesce();
//! assert!(sender.post(Mail::new(|_: &mut Vec<u32>| ())).is_err());
//! assert_eq!(mailbox.state(), State::Quiesced);
//! assert_eq!(mailbox.close().len(), 1);
//! assert!(matches!(mailbox.take(), Err(TakeError::Closed)));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod bell;
mod builder;
mod envelope;
mod error;
mod fifo;
mod life;
mod marker;
mod owner;
mod queue;
mod rest;
mod room;
mod running;
mod sender;
mod shared;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod undelivered;
mod urgent;
mod waiting;

pub use builder::{Builder, bounded};
#[doc(hidden)]
pub use envelope::Token;
pub(crate) use envelope::{Deferrable, Envelope};
pub use envelope::{MarkerId, Taken};
pub use error::{PostError, QuiescedError, TakeError, TooManyMarkers};
pub(crate) use marker::Callback;
pub use marker::{Marker, MarkerCounters, MarkerOptions, MarkerPost};
pub use owner::{Mailbox, State};
pub use queue::URGENT_RUN_MAX;
pub use room::RoomFuture;
pub use sender::{Sender, WeakSender};
pub use shared::Counters;
pub use undelivered::Undelivered;

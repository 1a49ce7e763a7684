//! Bounded rings of any `T`: many producers or one, and one consumer.
//!
//! [`mpsc`] has one locked instruction per post (or per batch), [`spsc`] none; both share their
//! faces, [`Producer`] and [`Consumer`], and wait only through [`crate::wait`]. Nothing is
//! allocated after creation but what `README.md` beside this file lists, together with the
//! invariants, the ordering table and the progress guarantee of each operation.

mod ahead;
mod batch;
mod budget;
mod builder;
mod capacity;
mod consumer;
mod error;
mod iter;
mod leftovers;
mod lines;
pub mod mpsc;
mod polling;
mod post_future;
mod producer;
mod protocol;
mod room_future;
pub mod spsc;
mod take_future;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod undelivered;
mod waiting;

pub use batch::{Batch, Buffered, IntoBatch};
pub use budget::Budget;
pub(crate) use budget::Stopwatch;
pub use builder::Builder;
pub use capacity::CapacityError;
pub use consumer::{Consumer, Waited};
pub use error::{
    BatchError, Closed, PostTimeoutError, Refusal, TakeTimeoutError, TryPostError, TryTakeError,
};
pub use iter::{IntoIter, Iter, TryIter};
pub use post_future::PostFuture;
pub use producer::Producer;
pub use protocol::{Counters, Ring};
pub use room_future::RoomFuture;
pub use take_future::TakeFuture;
pub use undelivered::Undelivered;

//! The only door to `std::sync`, `std::thread`, `std::cell::UnsafeCell`, loom and shuttle.
//!
//! Everything above takes its atomics, cells, locks and threads from here, so that one cfg
//! (`mailring_loom`) turns the whole engine into something a model checker can run: loom, or
//! shuttle where `mailring_shuttle` is set beside it. This layer adds no behaviour of its own: a
//! parker parks, a counter counts, a clock tells the time.

#[cfg(not(mailring_loom))]
mod native;
#[cfg(not(mailring_loom))]
pub(crate) use native::*;

#[cfg(all(mailring_loom, not(mailring_shuttle)))]
mod modeled;
#[cfg(all(mailring_loom, not(mailring_shuttle)))]
pub(crate) use modeled::*;

#[cfg(mailring_shuttle)]
mod shuttled;
#[cfg(mailring_shuttle)]
pub(crate) use shuttled::*;

/// A value made once per process; no part of any protocol, so the same in the model.
#[cfg_attr(mailring_loom, allow(unused_imports))]
pub(crate) use std::sync::OnceLock;

/// A value that is set once, where others look for it meanwhile.
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub(crate) use std::sync::OnceLock as SetOnce;

/// What a waker is made of; std's in the model too, for a waker knows no other.
pub(crate) use std::sync::Arc as WakerArc;

/// Shared ownership of what is no part of any protocol, so the same in the model.
#[cfg_attr(mailring_loom, allow(unused_imports))]
pub(crate) use std::sync::{Arc as PlainArc, Weak as PlainWeak};

mod clock;
mod counter;
mod cpus;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod futex;
#[cfg(not(mailring_loom))]
mod line_arc;
pub(crate) mod order;
mod parker;
mod per_thread;
mod prefetch;
mod store_load;
mod threads;
mod waking;
mod watched;

#[cfg(mailring_loom)]
pub(crate) use Arc as LineArc;
pub(crate) use clock::SharedClock;
pub use clock::{Bell, Clock, ManualClock, SystemClock};
pub(crate) use counter::{Counter, Estimate, Tally};
pub use cpus::Cpus;
#[cfg(not(mailring_loom))]
pub(crate) use line_arc::LineArc;
pub(crate) use order::order;
pub(crate) use parker::Parker;
pub(crate) use per_thread::this_thread;
pub(crate) use prefetch::prefetch_to_write;
pub(crate) use store_load::StoreLoad;
pub(crate) use threads::{JoinHandle, spawn_named};
pub(crate) use waking::WakingParker;
pub(crate) use watched::Watched;

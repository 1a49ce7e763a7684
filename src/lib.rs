//! A lock-free ring-buffer mailbox engine, layer by layer from the ground:
//!
//! - `sync`: the only door to std's threads and atomics, and to the model checker; [`Clock`],
//!   [`ManualClock`], [`Cpus`];
//! - [`wait`]: how a thread waits: [`WaitStrategy`](wait::WaitStrategy), the line of those who wait
//!   for room, the one-shot [`Reply`](wait::Reply), the fair lock [`Handoff`](wait::Handoff);
//! - [`ring`]: bounded rings of any `T`, for many producers ([`ring::mpsc`]) or one
//!   ([`ring::spsc`]), and one consumer;
//! - [`letter`]: what a mailbox carries, [`Letter`](letter::Letter): the closure
//!   [`Mail`](letter::Mail), or an enum of your own;
//! - [`mailbox`]: lanes, markers, batches and a life cycle: [`Sender`](mailbox::Sender),
//!   [`Mailbox`](mailbox::Mailbox), [`Marker`](mailbox::Marker);
//! - [`processor`]: one owner, its letters and what it does between them:
//!   [`MailboxProcessor`](processor::MailboxProcessor), [`Executor`](processor::Executor),
//!   [`Timer`](processor::Timer), [`Suspension`](processor::Suspension);
//! - [`task`]: pinned threads that each drive many owners: [`Engine`](task::Engine),
//!   [`TaskHandle`](task::TaskHandle), [`Placement`](task::Placement), [`IoPool`](task::IoPool);
//! - `stream` (feature `stream`): single-threaded dataflow on a task: elements, channels, operators,
//!   watermarks, keyed state;
//! - `checkpoint` (feature `checkpoint`): consistent snapshots: barriers, coordinator, storage,
//!   recovery;
//! - `job` (feature `stream`): streams written down, and run by an engine's tasks.
//!
//! Each layer imports only from those before it.
//!
//! ```
//! use mailring::task::{Engine, Shutdown};
//! use std::time::Duration;
//!
//! let engine = Engine::builder().build()?;
//! let counter = engine.spawn("counter", |_cx| 0)?;
//! counter.post(|sum| *sum += 42)?;
//! assert_eq!(counter.ask(|sum| *sum)?.wait()?, 42);
//! engine.shutdown(Shutdown::drain_within(Duration::from_millis(500)))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// loom's models have no engine: its threads are the system's. What only that uses is unused there.
#![cfg_attr(
    all(mailring_loom, not(mailring_shuttle)),
    allow(dead_code, unused_imports)
)]

mod sync;

pub mod wait;

pub mod ring;

pub mod letter;

pub mod mailbox;

pub mod processor;

pub mod task;

// Without the layer above it nobody takes part in checkpoints.
#[cfg(all(feature = "stream", not(mailring_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "stream")))]
#[cfg_attr(not(feature = "checkpoint"), allow(dead_code, unused_imports))]
pub mod stream;

#[cfg(all(feature = "checkpoint", not(mailring_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "checkpoint")))]
pub mod checkpoint;

#[cfg(all(feature = "stream", not(mailring_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "stream")))]
pub mod job;

#[cfg(mailring_loom)]
pub mod model;

pub use sync::{Bell, Clock, Cpus, ManualClock, SystemClock};

/// The README's code is compiled and run with the documentation's.
#[cfg(all(doctest, feature = "checkpoint"))]
#[doc = include_str!("../README.md")]
struct Readme;

//! A lock-free ring-buffer mailbox engine, layer by layer from the ground:
//!
//! - `sync`: the only door to std's threads and atomics, and to the model checker;
//! - [`wait`]: how a thread waits: strategies, parking, the line of those who wait for room,
//!   one-shot replies, and a lock that is handed on;
//! - [`ring`]: bounded rings of any `T`, for many producers or one, and one consumer;
//! - [`letter`]: what a mailbox carries: a closure over its owner, or an enum of your own.
//!
//! Each layer imports only from those before it.
//!
//! ```
//! let (producer, mut consumer) = mailring::ring::mpsc::bounded(1024)?;
//! let posting = std::thread::spawn(move || producer.post_batch(1..=100));
//! let sum: u64 = consumer.iter().sum();
//! assert_eq!(sum, 5050);
//! assert_eq!(posting.join().unwrap().unwrap(), 100);
//! # Ok::<(), mailring::ring::CapacityError>(())
//! ```
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod sync;

pub mod wait;

pub mod ring;

pub mod letter;

pub mod mailbox;

pub mod processor;

#[cfg(mailring_loom)]
pub mod model;

pub use sync::{Bell, Clock, Cpus, ManualClock, SystemClock};

/// The README's code is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

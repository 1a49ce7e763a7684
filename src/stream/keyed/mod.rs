//! Operators on keyed streams: each record is about a key, and what is kept is kept per key.

mod aggregate;
mod co_process;
mod context;
mod opened;
mod process;
mod reduce;

#[cfg(test)]
mod tests;

pub use aggregate::{Keyed, KeyedAggregate};
pub use co_process::{KeyedCoProcess, KeyedCoProcessFunction};
pub use context::KeyedContext;
pub use opened::NotOpen;
pub(crate) use opened::Opened;
pub use process::{KeyedProcess, KeyedProcessFunction};
pub use reduce::KeyedReduce;

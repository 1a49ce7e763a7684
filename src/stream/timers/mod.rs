//! Timers per key and namespace, in event time and in processing time, fired in the order of their
//! times.
//!
//! TM1. There is one timer to a time, a key and a namespace: another like it is the same.
//! TM2. A watermark goes out once all timers up to it have fired. One that comes meanwhile raises
//!      it, and the firing goes on to the larger.
//! TM3. Firing gives way between two timers, never before the first: each call comes further.

mod group;
mod order;
mod queue;
mod service;

#[cfg(test)]
mod tests;

pub(crate) use queue::{DueTimer, TimerQueue};
pub use queue::{FrozenTimers, TimersSnapshot};
pub(crate) use service::{Emission, TimerService};
pub use service::{FiredTimer, TimeDomain};

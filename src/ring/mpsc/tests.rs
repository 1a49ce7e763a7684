//! Tests of what only the inside can show: claims that are not published, and where sequences start.

mod claims;
mod reserve;
mod stall;
mod teardown;
mod wrap;

use super::claim::Claim;
use super::{Builder, Consumer, Producer};
use crate::ring::protocol::{Claim as _, Ring as _, Turn};
use crate::sync::thread;
use crate::wait::Parking;
use core::time::Duration;
use std::time::Instant;

/// A ring whose sides park after the first empty look.
fn parking<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    Builder::new(capacity)
        .wait(|| Parking::after(Duration::ZERO))
        .build()
        .unwrap()
}

/// What a producer holds that was stopped halfway through a post.
fn claim<T>(producer: &Producer<T>, count: usize) -> Claim<'_, T> {
    let claim = producer
        .ring
        .claim(&producer.side, count, Turn::Now)
        .unwrap();
    assert_eq!(claim.count(), count);
    claim
}

/// Yields until `holds`; for conditions that another thread is sure to bring about.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(240), "hangs");
        thread::yield_now();
    }
}

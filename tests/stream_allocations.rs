//! A stream between two tasks allocates nothing while it runs, however often both are suspended and
//! woken.
//!
//! Alone in its file, for it counts allocations by one counter of the process.
#![cfg(feature = "stream")]

#[path = "counting/mod.rs"]
mod counting;

use counting::{ALLOCATIONS, COUNTS, this_thread_counts};
use mailring::ManualClock;
use mailring::job::Job;
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::FromIter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

#[test]
fn no_wake_allocates() {
    const RECORDS: u64 = 20_000;
    this_thread_counts();
    let arrived = Arc::new(AtomicU64::new(0));
    let sink = Arc::clone(&arrived);
    let mut job = Job::new("hop")
        .channel_capacity(4)
        .source("numbers", FromIter::new(0_u64..))
        .forward()
        .sink("count", move |_number: u64| {
            sink.fetch_add(1, SeqCst);
        })
        .on_this_thread(ManualClock::new())
        .unwrap();
    let mut suspended = [0_u64; 2];
    let mut run_until = |records| {
        while arrived.load(SeqCst) < records {
            for (task, suspended) in suspended.iter_mut().enumerate() {
                // Until it waits, for room or for input.
                while job.step(task, Budget::letters(1)).unwrap() != Step::Idle {}
                *suspended += 1;
            }
        }
    };
    run_until(100);
    COUNTS.store(true, SeqCst);
    run_until(RECORDS);
    COUNTS.store(false, SeqCst);
    assert_eq!(ALLOCATIONS.load(SeqCst), 0);
    assert!(
        suspended.iter().all(|times| *times > 1_000),
        "{suspended:?}"
    );
    // The counter itself counts.
    COUNTS.store(true, SeqCst);
    drop(std::hint::black_box(Box::new(0)));
    COUNTS.store(false, SeqCst);
    assert_eq!(ALLOCATIONS.load(SeqCst), 1);
}

//! A stream between two tasks allocates nothing while it runs, however often both are suspended and
//! woken.
//!
//! Alone in its file, for it counts what the whole process allocates.
#![cfg(feature = "stream")]

use mailring::ManualClock;
use mailring::job::Job;
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::FromIter;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// The system's allocator; counts while it is told to.
struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

fn count() {
    if COUNTS.load(SeqCst) {
        ALLOCATIONS.fetch_add(1, SeqCst);
    }
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(address, layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(address, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn no_wake_allocates() {
    const RECORDS: u64 = 20_000;
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
}

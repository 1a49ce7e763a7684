//! Counts what the threads of a test allocate, while it is told to: for tests that are alone in their
//! files.
//!
//! A thread says itself that it is one of them. The test harness's own does not: it may still have to
//! get ready when its test is long under way.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// The system's allocator; counts while it is told to.
struct Counting;

pub(crate) static COUNTS: AtomicBool = AtomicBool::new(false);
pub(crate) static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// From now on what this thread allocates is counted.
pub(crate) fn this_thread_counts() {
    IS_COUNTED.set(true);
}

fn count() {
    if COUNTS.load(SeqCst) && IS_COUNTED.get() {
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

//! What belongs to one thread: its number.

use core::cell::Cell;
use core::num::NonZeroU64;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

#[cfg(mailring_loom)]
use super::thread_local;
#[cfg(not(mailring_loom))]
use std::thread_local;

/// Numbers threads; plain in the model too, where it decides nothing.
static NEXT: AtomicU64 = AtomicU64::new(1);

#[cfg(not(mailring_loom))]
thread_local! {
    static NUMBER: Cell<Option<NonZeroU64>> = const { Cell::new(None) };
}

#[cfg(mailring_loom)]
thread_local! {
    static NUMBER: Cell<Option<NonZeroU64>> = Cell::new(None);
}

/// The number of the calling thread, not that of any other thread of this process, dead or alive.
#[inline]
pub(crate) fn this_thread() -> NonZeroU64 {
    NUMBER.with(|number| number.get().unwrap_or_else(|| name_thread(number)))
}

#[cold]
fn name_thread(number: &Cell<Option<NonZeroU64>>) -> NonZeroU64 {
    // Relaxed: a number is handed out once by the read-modify-write alone.
    let next = NonZeroU64::new(NEXT.fetch_add(1, Relaxed)).unwrap_or(NonZeroU64::MAX);
    number.set(Some(next));
    next
}

//! Cache lines of slots are asked for before they are written.
//!
//! A slot was last touched by the consumer, in another core's cache. A store to it must fetch the
//! line from there; and a claim's locked instruction waits until all stores before it are done, so
//! a producer would wait for its lines one claim at a time. Asked for some claims ahead, they come
//! meanwhile.

use crate::sync::prefetch_to_write;

/// How far ahead at most, in slots: far enough for the way between distant cores, and not so far
/// that lines are lost again before they are written. Measured best of 32 to 512.
const SLOTS_MAX: u64 = 64;

/// How far ahead in a ring of this capacity: not into slots that the consumer is still to read
/// while the ring is less than three quarters full.
#[inline(always)]
pub(super) fn distance(capacity: usize) -> u64 {
    (capacity as u64 / 4).min(SLOTS_MAX)
}

/// Asks for the cache lines of `count` of the slots from sequence `first` on. Only a hint: whoever
/// may touch them may go on doing so.
#[inline(always)]
pub(super) fn ask_for<S>(slots: &[S], first: u64, count: u64) {
    const LINE_BYTES: usize = 64;
    let slots_of_line = (LINE_BYTES / size_of::<S>().max(1)).max(1);
    for nth in (0..count).step_by(slots_of_line) {
        let index = (first + nth) as usize & (slots.len() - 1);
        prefetch_to_write(slots.as_ptr().wrapping_add(index));
    }
}

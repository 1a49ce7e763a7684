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

/// How many slots share a cache line: a power of two, so that each line has a first sequence.
const fn slots_of_line<S>() -> usize {
    const LINE_BYTES: usize = 64;
    match size_of::<S>() {
        0 => LINE_BYTES,
        LINE_BYTES.. => 1,
        bytes => 1 << (LINE_BYTES / bytes).ilog2(),
    }
}

/// Asks for the cache lines of `count` of the slots from sequence `first` on. Only a hint: whoever
/// may touch them may go on doing so.
#[inline(always)]
pub(super) fn ask_for<S>(slots: &[S], first: u64, count: u64) {
    let of_line = const { slots_of_line::<S>() };
    if count == 1 && first as usize & (of_line - 1) != 0 {
        // The line has been asked for with its first slot.
        return;
    }
    for nth in (0..count).step_by(of_line) {
        let index = (first + nth) as usize & (slots.len() - 1);
        prefetch_to_write(slots.as_ptr().wrapping_add(index));
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shared_by_a_power_of_two_of_slots() {
        assert_eq!(slots_of_line::<()>(), 64);
        assert_eq!(slots_of_line::<u64>(), 8);
        assert_eq!(slots_of_line::<[u64; 2]>(), 4);
        assert_eq!(slots_of_line::<[u64; 3]>(), 2);
        assert_eq!(slots_of_line::<[u64; 8]>(), 1);
        assert_eq!(slots_of_line::<[u64; 9]>(), 1);
    }

    #[test]
    fn a_small_ring_is_asked_for_no_further_than_a_quarter_ahead() {
        assert_eq!([1, 4, 64, 1024].map(distance), [0, 1, 16, 64]);
    }
}

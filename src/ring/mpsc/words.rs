//! The two shared words: tail and head, flags on top, sequence below.
//!
//! R7. Flags are the top bits, so a flagged tail is above every limit: one unsigned compare tells
//!     that the ring is open, its owner awake, and that there is room.
//! R8. Start sequence plus letters of a lifetime stay below 2^60: a sequence never carries into
//!     the flags. At a billion letters a second that is 36 years.

/// Tail: letters are refused; the tail's sequence is the end for ever.
pub(super) const CLOSED: u64 = 1 << 63;
/// Tail: the owner sleeps; whoever clears this wakes it.
pub(super) const PARKED: u64 = 1 << 62;
/// Tail: there is work for the owner outside this ring.
pub(super) const KICK: u64 = 1 << 61;
/// Tail, beside `PARKED`: the owner sleeps by its hook, which is to be called; else as a thread or a
/// task. Set and cleared together with it, so who ends a sleep knows which one it was.
pub(super) const RESTING: u64 = 1 << 60;
/// Tail: what is cleared with a sleep.
pub(super) const ASLEEP: u64 = PARKED | RESTING;
/// Tail: the sequence that is claimed next.
pub(super) const SEQUENCE: u64 = RESTING - 1;

/// Head: somebody stands in line for room.
pub(super) const WAITERS: u64 = 1 << 63;
/// Head: the sequence released last, exclusive.
pub(super) const RELEASED: u64 = WAITERS - 1;

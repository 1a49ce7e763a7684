//! Linux's futex: sleep while a word holds a value, wake one sleeper.

use super::AtomicU32;
use std::time::Instant;

/// Sleeps while `word` holds `expected`, until woken, interrupted, or past `deadline`. May return
/// for no reason.
pub(super) fn wait(word: &AtomicU32, expected: u32, deadline: Option<Instant>) {
    let timeout = match deadline {
        None => None,
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            Some(libc::timespec {
                // Longer than a time_t can say: as long as it can.
                tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: left.subsec_nanos().into(),
            })
        }
    };
    let timeout = timeout
        .as_ref()
        .map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: P1: the word outlives the call, and the timeout is null or points to a timespec that
    // does; FUTEX_WAIT reads both and writes neither.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout,
        );
    }
}

/// Wakes one thread that sleeps on `word`.
pub(super) fn wake_one(word: &AtomicU32) {
    // SAFETY: P1: the word is alive; FUTEX_WAKE uses its address only as a key.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}

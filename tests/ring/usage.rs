//! What a thread has used so far: CPU time and context switches.
#![cfg(target_os = "linux")]

use std::time::Duration;

/// CPU time and context switches by choice, of the calling thread.
pub(crate) fn usage_of_this_thread() -> (Duration, i64) {
    // SAFETY: getrusage fills the whole struct, which zeroes are a value of.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    (
        time(usage.ru_utime) + time(usage.ru_stime),
        usage.ru_nvcsw as i64,
    )
}

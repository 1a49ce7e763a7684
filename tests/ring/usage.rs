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

/// Asserts that what `measure` measures, CPU time and switches, is below these bounds in one try of
/// ten: a machine may count what its host takes of its time as that of a thread, now and then; a wait
/// that does not sleep costs too much each time.
pub(crate) fn assert_cheap(
    cpu_max: Duration,
    switches_max: i64,
    measure: impl Fn() -> (Duration, i64),
) {
    let mut tries = Vec::new();
    while tries.len() < 10 {
        let (cpu, switches) = measure();
        if cpu < cpu_max && switches < switches_max {
            return;
        }
        tries.push((cpu, switches));
    }
    panic!("never below {cpu_max:?} and {switches_max} switches: {tries:?}");
}

//! Linux's affinity masks, of any length.
//!
//! AF1. A mask given to the kernel is a live slice of words, and its size in bytes goes with it.

use super::cpu_list::CPU_MAX;
use super::cpu_set::CpuSet;
use libc::{c_ulong, cpu_set_t, pid_t};
use std::io;

const WORD_BITS: usize = c_ulong::BITS as usize;

/// The words of the first mask tried, for 1024 CPUs.
const WORDS_FIRST: usize = 1_024 / WORD_BITS;

/// The words of the longest mask.
const WORDS_MAX: usize = (CPU_MAX + 1) / WORD_BITS;

/// To the kernel, whoever asks.
const THIS_THREAD: pid_t = 0;

/// The mask of the calling thread.
pub(super) fn of_thread() -> io::Result<CpuSet> {
    get(THIS_THREAD)
}

/// The mask of the main thread, whose number is the process's.
pub(super) fn of_process() -> io::Result<CpuSet> {
    // SAFETY: AF1: no mask is given; the call only returns a number.
    get(unsafe { libc::getpid() })
}

/// Gives the calling thread the mask `cpus`.
pub(super) fn set(cpus: &CpuSet) -> io::Result<()> {
    let last = cpus.last().unwrap_or(0);
    if last > CPU_MAX {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut mask: Vec<c_ulong> = vec![0; WORDS_FIRST.max(last / WORD_BITS + 1)];
    for cpu in cpus {
        mask[cpu / WORD_BITS] |= 1 << (cpu % WORD_BITS);
    }
    let address = mask.as_ptr().cast::<cpu_set_t>();
    // SAFETY: AF1: `mask` lives until the call returns and is as long as told; it is only read.
    let outcome =
        unsafe { libc::sched_setaffinity(THIS_THREAD, size_of_val(mask.as_slice()), address) };
    match outcome {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get(thread: pid_t) -> io::Result<CpuSet> {
    let mut words = WORDS_FIRST;
    loop {
        let mut mask: Vec<c_ulong> = vec![0; words];
        let address = mask.as_mut_ptr().cast::<cpu_set_t>();
        // SAFETY: AF1: `mask` lives until the call returns and is as long as told; the kernel
        // writes words, of which any value is one.
        let outcome =
            unsafe { libc::sched_getaffinity(thread, size_of_val(mask.as_slice()), address) };
        if outcome == 0 {
            return Ok(cpus(&mask));
        }
        let error = io::Error::last_os_error();
        // The kernel's own mask is longer.
        if error.raw_os_error() != Some(libc::EINVAL) || words >= WORDS_MAX {
            return Err(error);
        }
        words *= 2;
    }
}

fn cpus(mask: &[c_ulong]) -> CpuSet {
    let numbers = (0..mask.len() * WORD_BITS).filter(|cpu| {
        let word = mask[cpu / WORD_BITS];
        word >> (cpu % WORD_BITS) & 1 == 1
    });
    numbers.collect()
}

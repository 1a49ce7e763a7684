//! The store-load barrier of a sleeper and the one who may have to wake it.
//!
//! S1. Sleeper: store the flag, `heavy`, look at the data. Other side: store the data, `light`,
//!     look at the flag. At least one of the two sees what the other stored.
//!
//! Where the kernel has `membarrier(2)` with private expedited commands, `heavy` is that call and
//! `light` only stops the compiler; else, and in the model, both are sequentially consistent fences.

use core::sync::atomic::Ordering::SeqCst;

/// Which barrier this process uses; made once per ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreLoad {
    /// The sleeper pays for both sides.
    #[cfg_attr(any(mailring_loom, not(target_os = "linux")), allow(dead_code))]
    Membarrier,
    /// Both sides fence.
    Fences,
}

impl StoreLoad {
    /// The cheapest kind that this system has.
    pub(crate) fn detect() -> Self {
        #[cfg(all(target_os = "linux", not(mailring_loom)))]
        if membarrier::register() {
            return Self::Membarrier;
        }
        if cfg!(mailring_loom) {
            Self::Membarrier
        } else {
            Self::Fences
        }
    }

    /// The side that runs often: between its store and its look at the sleeper's flag.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            // SeqCst: for the compiler only; the sleeper's membarrier is the other half (S1).
            Self::Membarrier => core::sync::atomic::compiler_fence(SeqCst),
            Self::Fences => full("s3"),
        }
    }

    /// The side that goes to sleep: between its flag and its last look at the data.
    pub(crate) fn heavy(self) {
        match self {
            #[cfg(all(target_os = "linux", not(mailring_loom)))]
            Self::Membarrier => membarrier::all_threads(),
            #[cfg(not(all(target_os = "linux", not(mailring_loom))))]
            Self::Membarrier => {}
            Self::Fences => full("s4"),
        }
    }
}

#[cfg(not(mailring_loom))]
fn full(_row: &str) {
    // SeqCst: the other side's fence is the other half (S1).
    core::sync::atomic::fence(SeqCst);
}

#[cfg(mailring_loom)]
fn full(row: &str) {
    if !super::order::is_weakened(row) {
        // SeqCst: the other side's fence is the other half (S1).
        super::fence(SeqCst);
    }
}

#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod membarrier {
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    /// Registers this process; whether the kernel has the command.
    pub(super) fn register() -> bool {
        call(REGISTER_PRIVATE_EXPEDITED)
    }

    /// Makes every running thread of this process pass a full barrier.
    pub(super) fn all_threads() {
        let done = call(PRIVATE_EXPEDITED);
        debug_assert!(done, "membarrier fails after it was registered");
        if !done {
            // A registered process is never refused; were it, going on would lose wake-ups.
            std::process::abort();
        }
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: S1: membarrier touches no memory of ours; flags and cpu id are zero.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::StoreLoad;

    #[test]
    fn what_is_detected_can_be_used() {
        let barrier = StoreLoad::detect();
        barrier.light();
        barrier.heavy();
        StoreLoad::Fences.light();
        StoreLoad::Fences.heavy();
    }
}

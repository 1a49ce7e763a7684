//! Asking the CPU for a cache line before it is needed.
//!
//! F1. A prefetch reads and writes nothing, and cannot fault wherever it points.

/// Asks for the cache line at `address`, to be written soon. A hint: it changes nothing, and
/// `address` may be anywhere. Does nothing but on x86-64.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(mailring_loom), not(miri)))]
    // SAFETY: F1.
    unsafe {
        core::arch::asm!(
            "prefetchw [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(mailring_loom), not(miri))))]
    let _ = address;
}

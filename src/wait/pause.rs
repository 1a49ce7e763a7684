//! A pause of known length made of spin hints.

use crate::sync::spin_hint;

/// Spins for about `ns` nanoseconds without touching memory.
pub(crate) fn pause_for_ns(ns: u64) {
    let hints = if cfg!(mailring_loom) {
        1
    } else {
        ns / hint_ns()
    };
    for _ in 0..hints.max(1) {
        spin_hint();
    }
}

/// What one spin hint costs here, in nanoseconds, at least one. It differs by a factor of ten
/// between CPUs, so it is measured once, in about 20 µs.
#[cfg(not(mailring_loom))]
pub(crate) fn hint_ns() -> u64 {
    use crate::sync::OnceLock;
    use std::time::Instant;

    const HINTS: u32 = 200;
    const ROUNDS: usize = 5;
    static HINT_NS: OnceLock<u64> = OnceLock::new();
    *HINT_NS.get_or_init(|| {
        // The shortest round: the others were interrupted.
        let shortest = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..HINTS {
                    spin_hint();
                }
                start.elapsed()
            })
            .min()
            .unwrap_or_default();
        (shortest / HINTS)
            .as_nanos()
            .try_into()
            .unwrap_or(u64::MAX)
            .clamp(1, 1_000)
    })
}

#[cfg(mailring_loom)]
pub(crate) fn hint_ns() -> u64 {
    10
}

//! Memory orderings by row name, so that the model tests can weaken one row at a time.
//!
//! `order!(c, Release)` is the constant `Ordering::Release` in normal builds. Under
//! `mailring_loom` the row `c` of the table in `ring/README.md` can be weakened by name, and a
//! model must then fail: an ordering that no model needs is an ordering without a reason.

#[cfg(not(mailring_loom))]
macro_rules! order {
    ($row:ident, $ordering:ident) => {
        ::core::sync::atomic::Ordering::$ordering
    };
}

#[cfg(mailring_loom)]
macro_rules! order {
    ($row:ident, $ordering:ident) => {
        $crate::sync::order::of(stringify!($row), ::core::sync::atomic::Ordering::$ordering)
    };
}

pub(crate) use order;

/// Which row is weakened, and to what, in this process.
#[cfg(mailring_loom)]
static WEAKENED: std::sync::OnceLock<(String, core::sync::atomic::Ordering)> =
    std::sync::OnceLock::new();

/// The ordering of `row`: as written, unless this process has weakened the row.
#[cfg(mailring_loom)]
pub(crate) fn of(row: &str, written: core::sync::atomic::Ordering) -> core::sync::atomic::Ordering {
    use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
    let Some((weak_row, to)) = WEAKENED.get() else {
        return written;
    };
    if weak_row != row {
        return written;
    }
    match (written, *to) {
        (AcqRel, Acquire) => Acquire,
        (AcqRel, Release) => Release,
        (Acquire, Acquire) | (Release, Release) => written,
        _ => Relaxed,
    }
}

/// Weakens `row` to `to` for the rest of this process; the first call wins.
#[cfg(mailring_loom)]
pub(crate) fn weaken(row: &str, to: core::sync::atomic::Ordering) {
    let _ = WEAKENED.set((row.to_owned(), to));
}

/// Whether `row`, a fence, has been taken out for this process.
#[cfg(mailring_loom)]
pub(crate) fn is_weakened(row: &str) -> bool {
    WEAKENED.get().is_some_and(|(weak_row, _)| weak_row == row)
}

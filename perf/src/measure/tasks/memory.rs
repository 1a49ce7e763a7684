//! The memory of tasks that have nothing to do, by what the allocator has given away.

use crate::registry::{RoundError, Unfit};
use crate::tasks::{Seats, Tasks};

/// Whether this system tells.
pub(crate) const fn is_told() -> bool {
    cfg!(all(target_os = "linux", target_env = "gnu"))
}

/// Bytes of each idle task. What their runtime or engine itself takes is in it: divided by thousands
/// of tasks it is little, and what it keeps ready for them is theirs.
pub(super) fn of_each(tasks: &impl Tasks, seats: &Seats<'_>) -> Result<f64, RoundError> {
    let before = allocated().ok_or(Unfit::Untold)?;
    let mut after = before;
    tasks.rest(seats, || after = allocated().unwrap_or(before))?;
    // The system counts round and round, up to 4 GiB.
    let bytes = after.wrapping_sub(before) as u32;
    Ok(f64::from(bytes) / seats.idle().max(1) as f64)
}

/// Bytes that are given away at the moment, modulo 4 GiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn allocated() -> Option<i32> {
    #[expect(unsafe_code, reason = "no crate wraps it")]
    // SAFETY: it takes nothing, gives plain numbers, and locks what it reads.
    let info = unsafe { nix::libc::mallinfo() };
    // In its arenas, and by mappings of their own.
    Some(info.uordblks.wrapping_add(info.hblkhd))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn allocated() -> Option<i32> {
    None
}

//! Which processors the calling thread is inside of: how a handle finds its owner's side.
//!
//! F1. A thread's pointer is null, or leads to the frame that was entered last on this thread and
//!     has not been left; each frame leads to the one entered before it. A frame lives on the stack
//!     of `enter`, which takes it out again on every way out.
//! F2. A frame's `core` is the `Core<O, L>` that was entered, borrowed for as long as the frame
//!     lives. One mailbox has one `Shared`, made for its own `O` and `L` and alive while a handle or
//!     the core is; so where the address of a handle's is the frame's, their types are the same.

use super::core::Core;
use crate::sync::{set_thread_pointer, thread_pointer};

struct Frame {
    shared: usize,
    core: *const (),
    before: *const Frame,
}

/// Takes the frame out again.
struct Leave {
    before: *const (),
}

impl Drop for Leave {
    fn drop(&mut self) {
        set_thread_pointer(self.before);
    }
}

/// Runs `inside` with `core` to be found by handles of its mailbox on this thread.
#[inline]
pub(super) fn enter<O, L, R>(core: &Core<O, L>, inside: impl FnOnce() -> R) -> R {
    let before = thread_pointer();
    let frame = Frame {
        shared: core.sender.address(),
        core: (&raw const *core).cast(),
        before: before.cast(),
    };
    let _leave = Leave {
        before: set_thread_pointer((&raw const frame).cast()),
    };
    inside()
}

/// Calls `here` where the calling thread is inside the processor of that mailbox, and hands `input`
/// back where it is not.
#[inline(always)]
pub(super) fn with<O, L, T, R>(
    shared: usize,
    input: T,
    here: impl FnOnce(&Core<O, L>, T) -> R,
) -> Result<R, T> {
    let mut next: *const Frame = thread_pointer().cast();
    // SAFETY: F1: frames that can be reached are alive while this thread is in here.
    while let Some(frame) = unsafe { next.as_ref() } {
        if frame.shared == shared {
            // SAFETY: F2: the core is borrowed while its frame lives, and is of these types.
            let core = unsafe { &*frame.core.cast::<Core<O, L>>() };
            return Ok(here(core, input));
        }
        next = frame.before;
    }
    Err(input)
}

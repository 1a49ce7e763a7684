//! Whether the calling thread drives a processor: how a handle finds its owner's side.
//!
//! F1. A mailbox's home is null, or the `Core<O, L>` that was made with it, put there by the thread
//!     that drives it; it is taken away, by the same thread, before that core goes or moves to
//!     another thread. One mailbox has one `Shared`, made for its own `O` and `L`: so the home that a
//!     handle finds there is of the handle's types.
//! F2. While a handle on the owner's thread uses the core, nobody drops it: who drives a processor
//!     does nothing else meanwhile, for it is further down on the same stack.
//! F3. From where it is kept until it is dropped, a core is reached by shared references alone. So its
//!     home stays good while its processor moves, and what is changed in it is borrowed for that: a
//!     handle in the midst of it, called from a waker for instance, finds it in use.

use super::core::Core;
#[cfg(mailring_loom)]
use super::executor::Executor;
use crate::mailbox::Sender;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

/// A core in a place of its own (F3).
pub(super) struct Kept<O, L> {
    core: NonNull<Core<O, L>>,
    owns: PhantomData<Core<O, L>>,
}

// SAFETY: F3: it owns its core, as a box does.
unsafe impl<O, L> Send for Kept<O, L> where Core<O, L>: Send {}

impl<O, L> Kept<O, L> {
    pub(super) fn new(core: Core<O, L>) -> Self {
        Self {
            core: NonNull::from(Box::leak(Box::new(core))),
            owns: PhantomData,
        }
    }
}

impl<O, L> Deref for Kept<O, L> {
    type Target = Core<O, L>;

    #[inline(always)]
    fn deref(&self) -> &Core<O, L> {
        // SAFETY: F3: it is there until this is dropped, and nobody has it to change.
        unsafe { self.core.as_ref() }
    }
}

impl<O, L> Drop for Kept<O, L> {
    fn drop(&mut self) {
        // SAFETY: F2 and F3: it came from a box, and nobody uses it any more.
        drop(unsafe { Box::from_raw(self.core.as_ptr()) });
    }
}

/// Leaves what was entered.
struct Leave<'a, O, L> {
    core: &'a Core<O, L>,
    was_inside: bool,
    /// What was on the shared line; `None` for who is settled, whose home stays there: handles look
    /// at that line for each post, and it is to be quiet.
    before: Option<(*const (), u64)>,
}

impl<O, L> Drop for Leave<'_, O, L> {
    fn drop(&mut self) {
        self.core.inside.set(self.was_inside);
        if let Some((home, answering)) = self.before {
            let shared = self.core.sender.shared();
            shared.answering().move_to(answering);
            shared.set_home(home);
        }
    }
}

/// Runs `inside` with `core` to be found by handles of its mailbox on this thread.
#[inline]
pub(super) fn enter<O, L, R>(core: &Core<O, L>, inside: impl FnOnce() -> R) -> R {
    let before = core.near.get().is_none().then(|| {
        let shared = core.sender.shared();
        let answering = shared.answering().move_here();
        (shared.set_home((&raw const *core).cast()), answering)
    });
    let _leave = Leave {
        core,
        was_inside: core.inside.replace(true),
        before,
    };
    inside()
}

/// Calls `here` where the calling thread drives the processor of that mailbox, inside of it or not,
/// and hands `input` back where it does not.
#[inline(always)]
pub(super) fn at_home<O, L, T, R>(
    sender: &Sender<O, L>,
    input: T,
    here: impl FnOnce(&Core<O, L>, T) -> R,
) -> Result<R, T> {
    let home = sender.shared().home().cast::<Core<O, L>>();
    // SAFETY: F1 and F2: it is null, or the core of this mailbox on this thread, which stays while
    // this is on.
    match unsafe { home.as_ref() } {
        Some(core) => Ok(here(core, input)),
        None => Err(input),
    }
}

/// As `at_home`, where the calling thread is inside of the processor.
#[inline(always)]
pub(super) fn with<O, L, T, R>(
    sender: &Sender<O, L>,
    input: T,
    here: impl FnOnce(&Core<O, L>, T) -> R,
) -> Result<R, T> {
    at_home(sender, input, |core, input| {
        if core.inside.get() {
            Ok(here(core, input))
        } else {
            Err(input)
        }
    })
    .and_then(|done| done)
}

#[cfg(mailring_loom)]
impl<O, L> Executor<O, L> {
    /// For models: whether `at_home` would use the core.
    #[cfg_attr(
        mailring_shuttle,
        expect(dead_code, reason = "asked by loom's models alone")
    )]
    pub(crate) fn is_at_home(&self) -> bool {
        !self.sender.shared().home().is_null()
    }
}

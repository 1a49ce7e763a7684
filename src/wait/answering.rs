//! Which thread answers and no other can: told by whoever drives what answers, asked by whoever waits
//! for it.

use crate::sync::{Arc, AtomicU64, this_thread};
use core::sync::atomic::Ordering::Relaxed;

/// The number of the thread that answers; 0 while none does.
#[derive(Clone, Debug)]
pub(crate) struct Answering(Arc<AtomicU64>);

impl Answering {
    pub(crate) fn nowhere() -> Self {
        Self(Arc::new(AtomicU64::new(0)))
    }

    /// Thread number `thread` answers from here on.
    pub(crate) fn move_to(&self, thread: u64) {
        // Relaxed: asked by a thread of itself; what another thread reads here is no number of its
        // own.
        self.0.store(thread, Relaxed);
    }

    /// The calling thread answers from here on. Returns what was before, to be put back.
    pub(crate) fn move_here(&self) -> u64 {
        let here = this_thread().get();
        // Relaxed: as for `move_to`.
        let before = self.0.load(Relaxed);
        if before != here {
            self.move_to(here);
        }
        before
    }

    /// Whether it is the calling thread that answers.
    pub(crate) fn is_here(&self) -> bool {
        // Relaxed: as above. One from which it has just moved away may not see that yet, as it may
        // not know of a move that is still to come.
        self.0.load(Relaxed) == this_thread().get()
    }
}

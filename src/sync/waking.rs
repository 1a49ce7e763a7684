//! A parker that is unparked as a task is woken: for threads that poll.

use super::Parker;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;
use std::time::Instant;

/// A parker of one thread, and what wakes that thread where a waker is asked for. Clones are the
/// same parker.
#[derive(Clone, Debug)]
pub(crate) struct WakingParker(Arc<Unparked>);

#[derive(Debug)]
struct Unparked(Parker);

impl Wake for Unparked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

impl WakingParker {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Unparked(Parker::new())))
    }

    /// Sleeps until unparked or woken, or until `deadline` where there is one; may return for no
    /// reason.
    pub(crate) fn park(&self, deadline: Option<Instant>) {
        self.0.0.park(deadline);
    }

    /// Wakes the thread that parks here, or lets its next park return at once.
    pub(crate) fn unpark(&self) {
        self.0.0.unpark();
    }

    /// What unparks it.
    pub(crate) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::WakingParker;

    #[test]
    fn a_wake_is_an_unpark() {
        let parker = WakingParker::new();
        let waker = parker.waker();
        waker.wake_by_ref();
        parker.park(None);
        waker.wake();
        parker.park(None);
    }
}

//! Who holds the owner: the processor alone, or together with another thread, under a lock.

use crate::sync::{self, Arc};
use crate::wait::{Handoff, HandoffGuard};

/// The owner, as the processor reaches it.
pub(super) enum Holder<O> {
    Alone(O),
    Shared(Arc<Handoff<O>>),
}

impl<O> Holder<O> {
    /// The owner, unless another thread has a way to it.
    pub(super) fn into_inner(self) -> Option<O> {
        match self {
            Self::Alone(owner) => Some(owner),
            Self::Shared(lock) => sync::into_inner(lock).map(Handoff::into_inner),
        }
    }

    /// Calls `f` with the owner; under the lock where it is shared.
    #[inline(always)]
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut O) -> R) -> R {
        match self {
            Self::Alone(owner) => f(owner),
            Self::Shared(lock) => f(&mut lock.lock()),
        }
    }
}

/// A second thread's way to an owner whose letters run under a hand-off lock: for a source with a
/// loop of its own, which cannot be called in small steps.
///
/// The lock is fair. Whoever locks again at once goes behind a letter that waits: it gets in after
/// at most one turn. While the source waits for something, let go by [`HandoffGuard::unlocked`].
///
/// ```
/// use mailring::processor::{MailboxProcessor, NoAction};
///
/// let builder = MailboxProcessor::<Vec<u32>>::builder();
/// let (mut processor, exclusive) = builder.build_exclusive(Vec::new(), NoAction)?;
/// let executor = processor.executor();
/// let source = std::thread::spawn(move || {
///     for record in 0..100 {
///         // A letter that waits runs before the next record.
///         exclusive.lock().push(record);
///     }
///     executor.all_done();
/// });
/// processor.run()?;
/// source.join().unwrap();
/// assert_eq!(processor.with_owner(|records| records.len()), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Exclusive<O> {
    lock: Arc<Handoff<O>>,
}

impl<O> Exclusive<O> {
    pub(super) fn new(owner: O) -> (Self, Holder<O>) {
        let lock = Arc::new(Handoff::new(owner));
        let holder = Holder::Shared(Arc::clone(&lock));
        (Self { lock }, holder)
    }

    /// Waits for its turn to have the owner, and has it until the guard is dropped. No letter runs
    /// meanwhile. In a letter of this processor it would wait for ever.
    pub fn lock(&self) -> HandoffGuard<'_, O> {
        self.lock.lock()
    }

    /// Has the owner if it is free.
    #[must_use]
    pub fn try_lock(&self) -> Option<HandoffGuard<'_, O>> {
        self.lock.try_lock()
    }

    /// Whether somebody waits for the owner, a letter as a rule: no promise that it still does. By
    /// this a source may choose when to let go.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        self.lock.has_waiters()
    }
}

impl<O> Clone for Exclusive<O> {
    fn clone(&self) -> Self {
        Self {
            lock: Arc::clone(&self.lock),
        }
    }
}

impl<O> core::fmt::Debug for Exclusive<O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Exclusive").finish_non_exhaustive()
    }
}

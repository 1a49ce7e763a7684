//! The door under shuttle: its primitives under the names the engine uses, and memory that is watched.
//!
//! Shuttle has one order of all steps, whatever the orderings say, and switches threads at its own
//! primitives alone. Its clocks say which step came before which by more than chance: cells and
//! shared handles ask them, so that a race is told also where it did no harm.

use core::cell::RefCell;
use core::ops::Deref;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

pub(crate) use shuttle::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
pub(crate) use shuttle::sync::{Condvar, MutexGuard};
pub(crate) use shuttle::thread_local;

/// A cell that fails an execution in which two threads come to it with nothing to order them.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T> {
    value: std::cell::UnsafeCell<T>,
    /// The clock of whoever came last.
    last: RefCell<Vec<u32>>,
    /// Makes each access a step of its own.
    step: AtomicU32,
}

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: std::cell::UnsafeCell::new(value),
            last: RefCell::new(shuttle::current::clock().to_vec()),
            step: AtomicU32::new(0),
        }
    }

    /// Calls `f` with the cell's address; what may be done there is the caller's to justify.
    #[track_caller]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        // Relaxed: nobody stores there; shuttle lets another thread run before it.
        self.step.load(Relaxed);
        let now = shuttle::current::clock().to_vec();
        let last = self.last.replace(now.clone());
        // A thread that knows of fewer others knows nothing of theirs. Outside an execution there
        // are no clocks, and a panic while another unwinds would hide why it does.
        let known = last.iter().enumerate().all(|(thread, time)| {
            let seen = now.get(thread).copied().unwrap_or_default();
            *time <= seen
        });
        assert!(
            known || now.is_empty() || std::thread::panicking(),
            "race: a cell is reached with nothing to order it after {last:?} at {now:?}"
        );
        f(self.value.get())
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// Shared ownership whose count is shuttle's: others may run before a handle is made or goes, and
/// the last to go comes after all others.
#[derive(Debug)]
pub(crate) struct Arc<T>(std::sync::Arc<Counted<T>>);

#[derive(Debug)]
struct Counted<T> {
    handles: AtomicUsize,
    value: T,
}

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::sync::Arc::new(Counted {
            handles: AtomicUsize::new(1),
            value,
        }))
    }

    pub(crate) fn ptr_eq(one: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&one.0, &other.0)
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        // Relaxed: who has a handle keeps what it stands for.
        self.0.handles.fetch_add(1, Relaxed);
        Self(std::sync::Arc::clone(&self.0))
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        // AcqRel: pairs with itself; what others did comes before the last handle's end. It is one
        // step with the drop of the handle within: shuttle lets others run before it, not after.
        self.0.handles.fetch_sub(1, AcqRel);
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

/// shuttle's mutex without poisoning; boxed, for it is many times the size of std's.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(Box<shuttle::sync::Mutex<T>>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Box::new(shuttle::sync::Mutex::new(value)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A retry: another thread runs first, else a spin might never end.
pub(crate) fn spin_hint() {
    shuttle::hint::spin_loop();
}

/// Lets another thread run first.
pub(crate) fn yield_now() {
    shuttle::thread::yield_now();
}

/// The value, without synchronisation: nobody else has it.
pub(crate) fn get_mut(atomic: &mut AtomicU64) -> u64 {
    *atomic.get_mut()
}

/// The value, without synchronisation: nobody else has it.
pub(crate) fn get_mut_u32(atomic: &mut AtomicU32) -> u32 {
    *atomic.get_mut()
}

/// The value, where this is the last handle.
pub(crate) fn into_inner<T>(shared: Arc<T>) -> Option<T> {
    let inside = std::sync::Arc::clone(&shared.0);
    drop(shared);
    std::sync::Arc::into_inner(inside).map(|counted| counted.value)
}

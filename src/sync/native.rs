//! The door in normal builds: std's primitives under the names the engine uses.

pub(crate) use std::sync::Arc;
#[cfg(not(target_os = "linux"))]
pub(crate) use std::sync::Condvar;
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
#[cfg(test)]
pub(crate) use std::thread;

/// `std::cell::UnsafeCell` with loom's closure interface, at no cost.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with the cell's address; what may be done there is the caller's to justify.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A mutex without poisoning: no caller code runs under any lock of this crate; wakers too are
/// cloned before a lock is taken, and called or dropped after it is left.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

pub(crate) use std::sync::MutexGuard;

/// Tells the CPU that this thread is spinning.
#[inline(always)]
pub(crate) fn spin_hint() {
    std::hint::spin_loop();
}

/// Gives the CPU to another runnable thread, if there is one.
pub(crate) fn yield_now() {
    std::thread::yield_now();
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
    Arc::into_inner(shared)
}

//! The door under the model checker: loom's primitives under the names the engine uses.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
pub(crate) use loom::sync::{Arc, Condvar, MutexGuard};
pub(crate) use loom::thread_local;

/// loom's mutex without poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A value that is set once, as std's `OnceLock` is: the checker knows what comes before it, and that
/// who looks may look too soon.
#[derive(Debug)]
pub(crate) struct SetOnce<T> {
    value: std::sync::OnceLock<T>,
    is_set: AtomicU32,
}

impl<T> SetOnce<T> {
    pub(crate) fn new() -> Self {
        Self {
            value: std::sync::OnceLock::new(),
            is_set: AtomicU32::new(0),
        }
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        self.value.set(value)?;
        // Release: pairs with Acquire in `get`.
        self.is_set.store(1, core::sync::atomic::Ordering::Release);
        Ok(())
    }

    pub(crate) fn get(&self) -> Option<&T> {
        // Acquire: pairs with Release in `set`; the value comes first.
        let is_set = self.is_set.load(core::sync::atomic::Ordering::Acquire) == 1;
        is_set.then(|| self.value.get()).flatten()
    }
}

/// A retry: the model runs another thread first, else a spin would never end.
pub(crate) fn spin_hint() {
    loom::hint::spin_loop();
}

/// Lets the model run another thread first.
pub(crate) fn yield_now() {
    loom::thread::yield_now();
}

/// The value, without synchronisation: nobody else has it.
pub(crate) fn get_mut(atomic: &mut AtomicU64) -> u64 {
    atomic.with_mut(|value| *value)
}

/// The value, without synchronisation: nobody else has it.
pub(crate) fn get_mut_u32(atomic: &mut AtomicU32) -> u32 {
    atomic.with_mut(|value| *value)
}

/// The value, where this is the last handle.
pub(crate) fn into_inner<T>(shared: Arc<T>) -> Option<T> {
    Arc::try_unwrap(shared).ok()
}
